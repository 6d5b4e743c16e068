#include "tools/softgpu/device/physical_memory.hpp"

#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/softgpu/device/settings.hpp"

namespace softgpu {
namespace {

std::uint8_t* map_memory(std::uint64_t bytes, int file) {
  const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

std::atomic<std::uint64_t> host_bytes_granted{0};

bool take_host_bytes(std::uint64_t bytes) {
  if (host_bytes_granted.fetch_add(bytes) + bytes <= settings().host_vmm) return true;
  host_bytes_granted.fetch_sub(bytes);
  return false;
}

}  // namespace

Hbm::Hbm(std::uint64_t bytes, std::uint8_t poison)
    : base_(map_memory(round_up(bytes, kPageBytes), -1)),
      frame_count_(bytes >> kPageShift),
      poison_(poison),
      used_(frame_count_),
      poisoned_(frame_count_),
      free_frames_(frame_count_) {
  if (base_ != nullptr) return;
  std::fprintf(stderr, "softgpu: the host cannot reserve SOFTGPU_HBM=%llu bytes\n",
               static_cast<unsigned long long>(bytes));
  std::abort();
}

Hbm::~Hbm() { munmap(base_, round_up(frame_count_ << kPageShift, kPageBytes)); }

std::uint64_t Hbm::available() const {
  const std::lock_guard lock(mutex_);
  return free_frames_ << kPageShift;
}

std::optional<std::vector<std::uint8_t*>> Hbm::take(std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  if (count > free_frames_) return std::nullopt;
  std::vector<std::uint8_t*> frames;
  frames.reserve(count);
  for (; frames.size() < count; next_ = (next_ + 1) % frame_count_) {
    if (used_[next_]) continue;
    used_[next_] = true;
    frames.push_back(base_ + (next_ << kPageShift));
    if (!poisoned_[next_]) std::memset(frames.back(), poison_, kPageBytes);
  }
  free_frames_ -= count;
  return frames;
}

void Hbm::give_back(std::span<std::uint8_t* const> frames) {
  for (std::uint8_t* frame : frames) std::memset(frame, poison_, kPageBytes);
  const std::lock_guard lock(mutex_);
  for (const std::uint8_t* frame : frames) {
    const auto index = static_cast<std::uint64_t>(frame - base_) >> kPageShift;
    used_[index] = false;
    poisoned_[index] = true;
  }
  free_frames_ += frames.size();
}

std::shared_ptr<PhysicalBlock> PhysicalBlock::on_device(Hbm& hbm, int device, std::uint64_t bytes) {
  if (bytes > ~std::uint64_t{0} - kPageBytes) return nullptr;
  auto frames = hbm.take(round_up(bytes, kPageBytes) >> kPageShift);
  if (!frames) return nullptr;
  std::shared_ptr<PhysicalBlock> block(new PhysicalBlock);
  block->hbm_ = &hbm;
  block->frames_ = std::move(*frames);
  block->bytes_ = round_up(bytes, kPageBytes);
  block->location_type_ = CU_MEM_LOCATION_TYPE_DEVICE;
  block->location_id_ = device;
  return block;
}

std::shared_ptr<PhysicalBlock> PhysicalBlock::on_host(int location_type, int location_id,
                                                      std::uint64_t bytes) {
  if (!take_host_bytes(bytes)) return nullptr;
  std::shared_ptr<PhysicalBlock> block(new PhysicalBlock);
  block->bytes_ = bytes;
  block->location_type_ = location_type;
  block->location_id_ = location_id;
  block->host_file_ = memfd_create("softgpu-host", MFD_CLOEXEC);
  if (block->host_file_ < 0 || ftruncate(block->host_file_, static_cast<off_t>(bytes)) != 0) return nullptr;
  block->host_ = map_memory(bytes, block->host_file_);
  if (block->host_ == nullptr) return nullptr;
  std::memset(block->host_, static_cast<int>(settings().poison), bytes);
  return block;
}

PhysicalBlock::~PhysicalBlock() {
  if (hbm_ != nullptr) {
    hbm_->give_back(frames_);
    return;
  }
  if (host_ != nullptr) munmap(host_, bytes_);
  if (host_file_ >= 0) close(host_file_);
  host_bytes_granted.fetch_sub(bytes_);
}

std::uint8_t* PhysicalBlock::page(std::uint64_t index) const {
  return hbm_ != nullptr ? frames_[index] : host_ + (index << kPageShift);
}

}  // namespace softgpu
