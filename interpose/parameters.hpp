// Reads a launch's parameters: which words of them are addresses in the arena. The layout of each function's
// parameters is asked of the driver once and kept in a fixed table. Called by the launch doors. Thread rule:
// from any thread, without a lock. Failure rule: a layout that cannot be had, or more addresses than fit,
// makes the launch opaque. After a function was seen once, nothing here allocates or calls the driver.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/runtime/runtime.hpp"

namespace tencache::doors {

inline constexpr std::size_t kMostPointers = 512;  // of one launch; one more makes it opaque
inline constexpr unsigned kCarefulLaunches = 16;   // of each function are read in 4-byte steps

class PointerList {
 public:
  void add(CUdeviceptr pointer) noexcept {
    if (count_ < kMostPointers) pointers_[count_] = pointer;
    ++count_;
  }
  [[nodiscard]] bool overflown() const noexcept { return count_ > kMostPointers; }
  [[nodiscard]] std::span<const CUdeviceptr> pointers() const noexcept {
    return {pointers_.data(), overflown() ? 0 : count_};
  }

 private:
  std::size_t count_ = 0;
  std::array<CUdeviceptr, kMostPointers> pointers_;  // left unset: only what was added is read
};

// How the driver is asked for layouts: cuFuncGetParamInfo and cuKernelGetParamInfo, either may be null.
struct LayoutQuery {
  CUresult (*function_parameter)(CUfunction, std::size_t, std::size_t*, std::size_t*);
  CUresult (*kernel_parameter)(CUkernel, std::size_t, std::size_t*, std::size_t*);
};

struct ParameterLayout;

class ParameterReader {
 public:
  // Once, before the first launch is read.
  void start(const LayoutQuery& query) noexcept { query_ = query; }

  enum class Step : bool { kLearned, kCareful };
  // Adds every parameter word in the arena; false: the launch is opaque.
  bool read(CUfunction function, void** parameters, void** extra, const runtime::Arena& arena,
            PointerList* pointers, Step careful = Step::kLearned) noexcept;

  // A module was or will be unloaded: the driver may give a function's handle to another function.
  void forget_layouts() noexcept { generation_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  struct Slot {
    std::atomic<CUfunction> function{nullptr};
    std::atomic<ParameterLayout*> layout{nullptr};
  };
  static constexpr std::size_t kSlots = 8192;
  static constexpr std::size_t kMostProbes = 64;

  ParameterLayout* layout_of(CUfunction function) noexcept;
  ParameterLayout* learn(CUfunction function, Slot* slot) noexcept;
  Slot* slot_of(CUfunction function) noexcept;

  LayoutQuery query_{};
  std::atomic<std::uint32_t> generation_{0};
  std::array<Slot, kSlots> slots_{};
};

}  // namespace tencache::doors
