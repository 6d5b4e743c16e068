// One process's hold on the device: driver, context, kernels, and the few operations that questions are made
// of. Made at the start of each question's child process. Thread rule: a question may launch from one thread
// and map from another. Failure rule: must() ends the process after saying which call stopped it, so a
// question reads as if nothing could fail; what is expected to fail is called without it.
#pragma once

#include <unistd.h>

#include <array>
#include <ctime>
#include <string>
#include <vector>

#include "tools/gpu_check/answers.hpp"
#include "tools/gpu_check/driver_api.hpp"

namespace gpu_check {

inline constexpr std::size_t kMiB = 1024 * 1024;

inline std::uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// How large and how often, for a GPU or (quick) for a test.
struct Scale {
  bool quick;
  [[nodiscard]] int times(int often) const { return quick ? 3 : often; }
  [[nodiscard]] std::size_t bytes(std::size_t many) const { return quick ? 4 * kMiB : many; }
  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t long_time) const {
    return quick ? 20000000 : long_time;
  }
};

class Gpu {
 public:
  Gpu(const std::string& question, const AnswerWriter& out, Scale scale, const char* driver = "libcuda.so.1");

  void number(const std::string& name, double value, const std::string& unit) const;
  void text(const std::string& name, const std::string& text) const;
  void must(const char* call, Status status) const;
  // "works" or the error's name.
  [[nodiscard]] std::string verdict(Status status) const;

  [[nodiscard]] Stream new_stream() const;
  void finish(Stream stream) const { must("cuStreamSynchronize", api.cuStreamSynchronize(stream)); }
  void finish_all() const { must("cuCtxSynchronize", api.cuCtxSynchronize()); }

  // Kernels. `arguments` are the kernel's 64-bit parameters.
  [[nodiscard]] Function function(const char* name) const;
  [[nodiscard]] Status try_launch(Function function, unsigned blocks, unsigned threads, Stream stream,
                                  std::vector<std::uint64_t> arguments) const;
  void launch(Function function, unsigned blocks, unsigned threads, Stream stream,
              std::vector<std::uint64_t> arguments) const;
  void spin(Stream stream, std::uint64_t nanoseconds) const;
  // A kernel over a whole buffer (kernels.hpp); pass_size() cuts a size to what it covers exactly.
  [[nodiscard]] std::size_t pass_size(std::size_t bytes) const;
  void pass(Function function, Address buffer, std::size_t bytes, Address out, Stream stream) const;

  // Memory.
  [[nodiscard]] static Location on_device() { return {kDevice, 0}; }
  [[nodiscard]] Status try_create(Location location, std::size_t bytes, Handle* handle) const;
  [[nodiscard]] Handle create(Location location, std::size_t bytes) const;
  [[nodiscard]] Address reserve(std::size_t bytes) const;
  [[nodiscard]] Status try_access(Address address, std::size_t bytes, Location from) const;
  void map(Address address, std::size_t bytes, Handle handle) const;  // and gives the device access
  void unmap(Address address, std::size_t bytes) const { must("cuMemUnmap", api.cuMemUnmap(address, bytes)); }
  [[nodiscard]] Address allocate(std::size_t bytes) const;
  [[nodiscard]] unsigned char* pinned(std::size_t bytes) const;
  [[nodiscard]] std::size_t free_memory() const;
  [[nodiscard]] int attribute(int which) const;

  DriverApi api;
  Scale scale;
  std::size_t granularity = 2 * kMiB;
  std::size_t least_granularity = 0;
  unsigned multiprocessors = 1;

 private:
  void open_device();
  void find_granularity();

  std::string question_;
  AnswerWriter out_;
  mutable Module module_ = nullptr;
};

[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double percentile(std::vector<double> values, double percent);
[[nodiscard]] std::string size_text(std::size_t bytes);  // "32MiB"

// Nanoseconds that `operation` takes.
template <class Operation>
double timed(Operation&& operation) {
  const std::uint64_t begin = now_ns();
  operation();
  return static_cast<double>(now_ns() - begin);
}

}  // namespace gpu_check
