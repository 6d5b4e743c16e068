// Performs a generated program on the driver API and prints one line an operation: its number, its kind, the
// driver's code, and a hash of every byte it read back. Two runs of one program must print the same. Called
// by main. Thread rule: one thread (an operation may start threads of its own and joins them). Failure rule:
// an unexpected code is printed like any other, and the program goes on.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/torture_programs/program.hpp"

namespace torture {

inline constexpr std::size_t kStreams = 6;               // legacy, per-thread, four of our own
inline constexpr std::size_t kMostBuffers = 60;          // sets of buffers are bits of a word
inline constexpr std::uint32_t kOwnExtents = 40u << 10;  // what is smaller may share them
inline constexpr std::size_t kNone = ~std::size_t{0};

struct Kernels {
  CUmodule module = nullptr;
  CUfunction fill, mix, mix_struct, mix_packed, make_table, copy_table, gather, scatter, block_sums,
      histogram, add_device_symbol, add_constant_symbol;
};

struct Buffer {
  CUdeviceptr base = 0;
  std::uint32_t bytes = 0;  // multiple of 4; 0: the slot is free
  std::uint32_t generation = 0;
  bool is_table = false;
  std::array<std::size_t, 3> entries{};  // of a table: buffers, with the generation they had
  std::array<std::uint32_t, 3> generations{};
  std::size_t writer = kNone;  // stream of the last write, unless known to be complete
  std::uint32_t readers = 0;   // streams that have read since, as bits
  [[nodiscard]] std::uint32_t count() const { return bytes / 4; }
};

class Executor {
 public:
  Executor(CUcontext context, const Kernels& kernels, const Shape& shape);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void perform(const Operation& operation);
  // Completes everything, prints what is pending, frees everything.
  void finish();
  [[nodiscard]] const std::string& output() const { return output_; }

 private:
  friend struct Operations;
  struct Readback {
    std::uint32_t number;
    Kind kind;
    std::size_t offset, bytes;
  };

  // Which buffer or stream an operand means now.
  [[nodiscard]] std::size_t data_buffer(std::uint32_t operand, std::uint64_t avoid = 0) const;
  [[nodiscard]] std::size_t table_buffer(std::uint32_t operand) const;
  [[nodiscard]] std::size_t stream_of(std::uint32_t operand) const { return operand % kStreams; }
  // May `bytes` more be allocated?
  [[nodiscard]] bool has_room(std::uint64_t bytes) const;
  [[nodiscard]] bool entries_live(const Buffer& table) const;

  // Makes `stream` wait for every conflicting use, then notes the new one.
  void order(std::size_t stream, std::initializer_list<std::size_t> reads,
             std::initializer_list<std::size_t> writes);
  void wait_for(std::size_t stream, std::size_t other);
  void completed(std::size_t stream);
  void all_completed();

  std::size_t add_buffer(CUdeviceptr base, std::uint32_t bytes);
  void first_write(std::size_t buffer, std::size_t stream, const Operation& operation);
  CUresult launch(CUfunction function, std::size_t stream, std::uint32_t count, void** parameters);
  // Pinned scratch of at least `bytes` that nothing pending uses; null when larger than all of it.
  std::uint8_t* pinned(std::size_t bytes);
  void line(const Operation& operation, CUresult result);
  void line(const Operation& operation, CUresult result, std::uint64_t hash);
  // The value is asked for when the call is done: arguments are evaluated in no particular order.
  template <class Value>
  auto line(const Operation& operation, CUresult result, const Value& value)
      -> decltype(static_cast<void>(value())) {
    line(operation, result, static_cast<std::uint64_t>(value()));
  }
  void flush_readbacks();

  CUmemoryPool pool();  // of the program's own, made when first asked for

  CUcontext context_;
  const Kernels& kernels_;
  Shape shape_;
  std::vector<Buffer> buffers_;
  std::array<CUstream, kStreams> streams_{};
  CUevent event_ = nullptr;
  CUmemoryPool pool_ = nullptr;
  std::uint64_t live_bytes_ = 0;
  std::uint32_t generation_ = 0;
  std::uint64_t named_by_small_ = 0;  // bytes that tables in small buffers have named
  std::uint8_t* pinned_ = nullptr;
  std::size_t pinned_used_ = 0;
  std::vector<Readback> readbacks_;
  std::string output_;
};

std::uint64_t hash_bytes(const void* bytes, std::size_t size);

}  // namespace torture
