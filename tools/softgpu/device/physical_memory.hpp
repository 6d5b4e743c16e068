// The physical memory of one device and blocks of it; host blocks of the VMM API. Owned by Device, used by
// the address space. Thread rule: any thread; one small lock inside. Failure rule: an empty pointer is out of
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace softgpu {

inline constexpr unsigned kPageShift = 16;
inline constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kPageShift;

inline std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// A device's HBM: one host mapping cut into frames of one page. Freed frames are poisoned.
class Hbm {
 public:
  Hbm(std::uint64_t bytes, std::uint8_t poison);
  ~Hbm();
  Hbm(const Hbm&) = delete;
  Hbm& operator=(const Hbm&) = delete;

  [[nodiscard]] std::uint64_t total() const { return frame_count_ << kPageShift; }
  [[nodiscard]] std::uint64_t available() const;
  // The host addresses of `count` frames, neighbours where possible.
  std::optional<std::vector<std::uint8_t*>> take(std::uint64_t count);
  void give_back(std::span<std::uint8_t* const> frames);

 private:
  std::uint8_t* base_ = nullptr;
  std::uint64_t frame_count_ = 0;
  std::uint8_t poison_ = 0;
  mutable std::mutex mutex_;
  std::vector<bool> used_;
  std::vector<bool> poisoned_;
  std::uint64_t free_frames_ = 0;
  std::uint64_t next_ = 0;  // where the search for a free frame goes on
};

// What cuMemCreate and cuMemAlloc make. Its frames return to the device when the last mapping and handle go.
class PhysicalBlock {
 public:
  static std::shared_ptr<PhysicalBlock> on_device(Hbm& hbm, int device, std::uint64_t bytes);
  static std::shared_ptr<PhysicalBlock> on_host(int location_type, int location_id, std::uint64_t bytes);
  ~PhysicalBlock();
  PhysicalBlock(const PhysicalBlock&) = delete;
  PhysicalBlock& operator=(const PhysicalBlock&) = delete;

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_host() const { return hbm_ == nullptr; }
  [[nodiscard]] int location_type() const { return location_type_; }
  [[nodiscard]] int location_id() const { return location_id_; }
  [[nodiscard]] std::uint8_t* page(std::uint64_t index) const;
  [[nodiscard]] int host_file() const { return host_file_; }

 private:
  PhysicalBlock() = default;
  Hbm* hbm_ = nullptr;
  std::vector<std::uint8_t*> frames_;
  std::uint8_t* host_ = nullptr;
  int host_file_ = -1;
  std::uint64_t bytes_ = 0;
  int location_type_ = 0;
  int location_id_ = 0;
};

}  // namespace softgpu
