// Runs PTX kernels on the CPU. The device makes a Program per loaded module and calls run() from its own
// threads. Thread rule: a Program is immutable after bind(); run() from several threads at once. Failure
// rule: compile() says what it does not know, by name and line; run() never throws and ends every kernel with
// an Outcome.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu {

// Address translation, asked at each access while a kernel runs. The device owns and changes it concurrently.
struct Mmu {
  // Flat table over [base, base + (count << page_shift)). An entry is the host address of the page (pages are
  // at least 4 KiB apart) with the access bits below; 0 is unmapped. Backing memory stays valid while any
  // kernel runs.
  static constexpr std::uint64_t kRead = 1, kWrite = 2, kOverLink = 4;  // kOverLink: lies in host memory
  std::uint64_t base = 0;
  unsigned page_shift = 16;
  std::uint64_t count = 0;
  const std::atomic<std::uint64_t>* entries = nullptr;
  // Everything outside the table (pinned host memory by its host address). Returns the entry, page size 4
  // KiB, or 0.
  std::uint64_t (*outside)(const void* context, std::uint64_t address) = nullptr;
  const void* context = nullptr;
};

struct ParameterInfo {
  std::uint32_t offset, size;
};
struct KernelInfo {
  std::string name;
  std::vector<ParameterInfo> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0, local_bytes = 0, constant_bytes = 0;
  std::uint32_t registers = 0;       // as reported to the program
  std::uint32_t max_threads = 1024;  // .maxntid or the device's limit
  std::uint32_t target = 75;         // the architecture its PTX was made for
  bool may_launch_or_print = false;  // calls vprintf, device malloc, ...
};
struct GlobalInfo {
  std::string name;
  std::uint64_t size = 0, align = 1;
  bool constant = false, managed = false;
};

class Program {
 public:
  virtual ~Program() = default;
  [[nodiscard]] virtual std::span<const KernelInfo> kernels() const = 0;
  [[nodiscard]] virtual std::span<const GlobalInfo> globals() const = 0;
  // Gives each global its device address (same order); afterwards initial_bytes(i) has relocations applied.
  virtual void bind(std::span<const std::uint64_t> addresses) = 0;
  [[nodiscard]] virtual std::span<const std::uint8_t> initial_bytes(std::size_t global) const = 0;
};

// Null on failure with `error` saying what and where.
std::shared_ptr<Program> compile(std::string_view ptx, std::string* error);

enum class OutcomeKind : std::uint8_t {
  kDone,
  kIllegalAddress,  // unmapped, or no permission
  kMisaligned,
  kAssert,
  kTrap,
  kDeadlock,  // barrier that can never fill
  kCancelled,
  kLaunchFailed,  // anything else the message names
};
struct Outcome {
  OutcomeKind kind = OutcomeKind::kDone;
  std::uint64_t fault_address = 0;
  bool fault_is_write = false;
  std::uint32_t line = 0;  // of the PTX
  std::string message;
  std::uint64_t lane_instructions = 0;                        // PTX instructions x active lanes
  std::uint64_t bytes_read = 0, bytes_written = 0;            // device memory
  std::uint64_t link_bytes_read = 0, link_bytes_written = 0;  // pages marked kOverLink
};

struct Launch {
  const Program* program = nullptr;
  std::size_t kernel = 0;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::uint8_t> parameters;  // kernel.parameter_bytes of them
  bool cooperative = false;
  std::uint64_t cooperative_workspace = 0;  // device address handed out in %envreg1/2
  const Mmu* mmu = nullptr;
  const std::atomic<bool>* cancel = nullptr;            // polled
  unsigned threads = 1;                                 // results never depend on it
  std::uint64_t (*globaltimer)(const void*) = nullptr;  // nanoseconds
  const void* globaltimer_context = nullptr;
  std::function<void(std::string_view)> print;                // vprintf output, in order
  std::function<std::uint64_t(std::uint64_t)> device_malloc;  // may be null
  std::function<void(std::uint64_t)> device_free;
};
Outcome run(const Launch& launch);

}  // namespace softgpu
