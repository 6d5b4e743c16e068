// What has not been used for long and is out when it is used again: by an address in memory, by a kernel
// still queued, by a stream that others do not wait for.
#include <algorithm>
#include <array>

#include "tools/torture_programs/operations.hpp"

namespace torture {
namespace {

constexpr std::size_t kLegacy = 0;
constexpr std::size_t kNotBlocking = 3;
constexpr std::size_t kReading = 5;  // does not block either

}  // namespace

// Every buffer but those avoided is written, so that those avoided are who leaves.
void Operations::use_others(Executor& x, const Operation& o, std::size_t stream, std::uint64_t avoid) {
  for (std::size_t i = 0; i < x.buffers_.size(); ++i) {
    const Buffer& b = x.buffers_[i];
    if (b.bytes == 0 || b.is_table || (avoid >> i & 1u) != 0) continue;
    x.order(stream, {}, {i});
    x.line(o, cuMemsetD8Async(b.base, static_cast<unsigned char>(o.operands[5] + i), b.bytes,
                              x.streams_[stream]));
  }
}

// Kernels that each wait for the one before, on every stream in turn.
void Operations::kQueues(Executor& x, const Operation& o) {
  for (std::uint32_t i = 0; i < 12; ++i) {
    Operation one = o;
    for (auto& operand : one.operands) operand = (operand >> i) ^ (i * 0x9e37u);
    one.operands[4] = o.operands[4] + i / 3;
    kMix(x, one);
  }
}

// The last of many on the legacy stream is still queued when room is wanted.
void Operations::kLegacyBurst(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  x.order(kLegacy, {c.a, c.b}, {c.target});
  Buffer &t = x.buffers_[c.target], &a = x.buffers_[c.a], &b = x.buffers_[c.b];
  std::uint32_t counts[] = {t.count(), a.count(), b.count()}, salt = o.operands[5];
  void* parameters[] = {&t.base, &counts[0], &a.base, &counts[1], &b.base, &counts[2], &salt};
  for (std::uint32_t i = 0; i < 6; ++i)
    x.line(o, cuMemsetD8Async(t.base, static_cast<unsigned char>(i), 4, CU_STREAM_LEGACY));
  for (std::uint32_t i = 0; i < 3; ++i) x.line(o, x.launch(x.kernels_.mix, kLegacy, counts[0], parameters));
  use_others(x, o, kNotBlocking,
             std::uint64_t{1} << c.target | std::uint64_t{1} << c.a | std::uint64_t{1} << c.b);
}

namespace {

// A table in memory of its own, of nothing but what is written here.
struct FreshTable {
  CUdeviceptr base = 0;
  explicit FreshTable(CUstream stream) {
    if (cuMemAlloc(&base, kOwnExtents) == CUDA_SUCCESS) cuMemsetD8Async(base, 0, kOwnExtents, stream);
  }
};

}  // namespace

// Takes three entries that nothing uses from then on, fills a table of its own by `fill`, and reads through
// it.
template <class Fill>
void Operations::use_table_of_absent(Executor& x, const Operation& o, const Fill& fill) {
  std::array<std::size_t, 3> entries{};
  std::uint64_t avoid = 0;
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone || !x.has_room(3 * kOwnExtents)) return;
  for (std::size_t e = 0; e < 3; ++e) {
    entries[e] = x.data_buffer(o.operands[e + 1], std::uint64_t{1} << target);
    if (entries[e] == kNone) return;
    avoid |= std::uint64_t{1} << entries[e];
  }
  const std::size_t stream = kNotBlocking;
  FreshTable table(x.streams_[stream]);
  CUdeviceptr addresses[3];
  for (std::size_t e = 0; e < 3; ++e) addresses[e] = x.buffers_[entries[e]].base;
  fill(table.base, addresses, x.streams_[stream], [&] { use_others(x, o, stream, avoid); });
  x.order(stream, {entries[0], entries[1], entries[2]}, {target});
  std::uint32_t common = ~0u;
  for (const std::size_t entry : entries) common = std::min(common, x.buffers_[entry].count());
  std::uint32_t count = x.buffers_[target].count(), salt = o.operands[4];
  void* parameters[] = {&x.buffers_[target].base, &count, &table.base, &common, &salt};
  x.line(o, x.launch(x.kernels_.gather, stream, count, parameters));
  x.line(o, cuMemFreeAsync(table.base, x.streams_[stream]));
}

void Operations::kTableOfAbsent(Executor& x, const Operation& o) {
  use_table_of_absent(x, o,
                      [&](CUdeviceptr table, const CUdeviceptr* addresses, CUstream stream, const auto& use) {
                        x.line(o, cuMemcpyHtoDAsync(table, addresses, 24, stream));
                        use();
                      });
}

void Operations::kTableOfAbsentPinned(Executor& x, const Operation& o) {
  use_table_of_absent(x, o,
                      [&](CUdeviceptr table, const CUdeviceptr* addresses, CUstream stream, const auto& use) {
                        std::uint8_t* pinned = x.pinned(24);
                        std::copy_n(addresses, 3, reinterpret_cast<CUdeviceptr*>(pinned));
                        use();
                        x.line(o, cuMemcpyHtoDAsync(table, pinned, 24, stream));
                      });
}

void Operations::kTableOfAbsentCopied(Executor& x, const Operation& o) {
  use_table_of_absent(x, o,
                      [&](CUdeviceptr table, const CUdeviceptr* addresses, CUstream stream, const auto& use) {
                        FreshTable first(stream);
                        x.line(o, cuMemcpyHtoDAsync(first.base, addresses, 24, stream));
                        x.line(o, cuMemcpyDtoDAsync(table, first.base, 24, stream));
                        x.line(o, cuMemFreeAsync(first.base, stream));
                        use();
                      });
}

// Other memory is full of what a census has to read, and the table is behind it in the line.
void Operations::kTableLeaves(Executor& x, const Operation& o) {
  use_table_of_absent(x, o,
                      [&](CUdeviceptr table, const CUdeviceptr* addresses, CUstream stream, const auto& use) {
                        std::uint8_t* pinned = x.pinned(24);
                        std::copy_n(addresses, 3, reinterpret_cast<CUdeviceptr*>(pinned));
                        kQueues(x, o);
                        x.line(o, cuMemcpyHtoDAsync(table, pinned, 24, stream));
                        kQueues(x, o);
                        use();
                      });
}

// Three buffers get the bytes they are always given here, then nothing uses them for long.
bool Operations::restore(Executor& x, const Operation& o, Entries* entries, std::uint64_t avoid) {
  for (std::size_t e = 0; e < entries->size(); ++e) {
    const std::size_t entry = x.data_buffer(o.operands[e], avoid);
    if (entry == kNone) return false;
    (*entries)[e] = entry;
    avoid |= std::uint64_t{1} << entry;
  }
  for (const std::size_t entry : *entries) {
    x.order(kNotBlocking, {}, {entry});
    fill_buffer(x, x.streams_[kNotBlocking], entry, o.operands[4]);
  }
  use_others(x, o, kNotBlocking, avoid);
  return true;
}

void Operations::read_back(Executor& x, const Operation& o, const Entries& entries) {
  for (const std::size_t entry : entries) {
    const Buffer& b = x.buffers_[entry];
    std::uint8_t* target = x.pinned(b.bytes);
    x.order(kNotBlocking, {entry}, {});
    x.line(o, cuMemcpyDtoHAsync(target, b.base, b.bytes, x.streams_[kNotBlocking]));
    x.readbacks_.push_back({o.number, o.kind, static_cast<std::size_t>(target - x.pinned_), b.bytes});
  }
}

// A kernel writes them through a table, where they lie; then they are in HBM what they were before that.
void Operations::kRestored(Executor& x, const Operation& o) {
  Entries entries{};
  if (!x.has_room(kOwnExtents) || !restore(x, o, &entries, 0)) return;
  restore(x, o, &entries, 0);
  FreshTable table(x.streams_[kNotBlocking]);
  CUdeviceptr addresses[3];
  std::uint32_t common = ~0u, salt = o.operands[5];
  for (std::size_t e = 0; e < entries.size(); ++e) {
    addresses[e] = x.buffers_[entries[e]].base;
    common = std::min(common, x.buffers_[entries[e]].count());
  }
  x.line(o, cuMemcpyHtoDAsync(table.base, addresses, sizeof addresses, x.streams_[kNotBlocking]));
  x.order(kNotBlocking, {}, {entries[0], entries[1], entries[2]});
  void* parameters[] = {&table.base, &common, &salt};
  x.line(o, x.launch(x.kernels_.scatter, kNotBlocking, common, parameters));
  restore(x, o, &entries, 0);
  x.line(o, cuMemFreeAsync(table.base, x.streams_[kNotBlocking]));
  read_back(x, o, entries);
}

// They are what they were when they left, kernels read them, and others want the room.
void Operations::kReadUnchanged(Executor& x, const Operation& o) {
  Entries entries{};
  const std::size_t target = x.data_buffer(o.operands[3]);
  if (target == kNone) return;
  const std::uint64_t avoid = std::uint64_t{1} << target;
  if (!restore(x, o, &entries, avoid)) return;
  restore(x, o, &entries, avoid);
  x.order(kReading, {entries[0], entries[1]}, {target});
  const Buffer &t = x.buffers_[target], &a = x.buffers_[entries[0]], &b = x.buffers_[entries[1]];
  CUdeviceptr bases[] = {t.base, a.base, b.base};
  std::uint32_t counts[] = {t.count(), a.count(), b.count()}, salt = o.operands[5];
  void* parameters[] = {&bases[0], &counts[0], &bases[1], &counts[1], &bases[2], &counts[2], &salt};
  for (std::uint32_t i = 0; i < 4; ++i) x.line(o, x.launch(x.kernels_.mix, kReading, counts[0], parameters));
  for (const std::size_t entry : entries) {
    x.order(kReading, {}, {entry});
    x.line(o, cuMemsetD8Async(x.buffers_[entry].base, static_cast<unsigned char>(salt),
                              x.buffers_[entry].bytes, x.streams_[kReading]));
  }
  use_others(x, o, kNotBlocking,
             avoid | std::uint64_t{1} << entries[0] | std::uint64_t{1} << entries[1] |
                 std::uint64_t{1} << entries[2]);
  read_back(x, o, entries);
}

}  // namespace torture
