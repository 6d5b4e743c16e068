// Kernels in every form of launch, and pointer tables in every way they come to be.
#include <algorithm>
#include <cstring>

#include "tools/torture_programs/operations.hpp"
#include "tools/torture_programs/per_thread.hpp"

namespace torture {
namespace {

struct MixOperands {
  CUdeviceptr target, sources[3];
  std::uint32_t counts[4];
  std::uint32_t salt;
};

#pragma pack(push, 4)
struct PackedOperands {
  std::uint32_t salt;
  CUdeviceptr target;
  std::uint32_t count;
  CUdeviceptr source;
  std::uint32_t source_count;
};
#pragma pack(pop)

}  // namespace

void Operations::fill_range(Executor& x, const Operation& o, std::size_t buffer, std::uint32_t from,
                            std::uint32_t count) {
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {}, {buffer});
  CUdeviceptr target = x.buffers_[buffer].base + CUdeviceptr{from} * 4;
  std::uint32_t salt = o.operands[2];
  void* parameters[] = {&target, &count, &salt};
  x.line(o, x.launch(x.kernels_.fill, stream, count, parameters));
}

void Operations::kFill(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer != kNone) fill_range(x, o, buffer, 0, x.buffers_[buffer].count());
}

void Operations::kFillInterior(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::uint32_t count = x.buffers_[buffer].count();
  const std::uint32_t from = o.operands[3] % count;
  fill_range(x, o, buffer, from, 1 + o.operands[4] % (count - from));
}

bool Operations::choose(const Executor& x, const Operation& o, Chosen* chosen) {
  chosen->target = x.data_buffer(o.operands[0]);
  if (chosen->target == kNone) return false;
  const std::uint64_t avoid = std::uint64_t{1} << chosen->target;
  chosen->a = x.data_buffer(o.operands[1], avoid);
  chosen->b = x.data_buffer(o.operands[2], avoid);
  chosen->c = x.data_buffer(o.operands[3], avoid);
  return chosen->a != kNone;
}

void Operations::kMix(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {c.a, c.b}, {c.target});
  Buffer &t = x.buffers_[c.target], &a = x.buffers_[c.a], &b = x.buffers_[c.b];
  std::uint32_t counts[] = {t.count(), a.count(), b.count()}, salt = o.operands[5];
  void* parameters[] = {&t.base, &counts[0], &a.base, &counts[1], &b.base, &counts[2], &salt};
  x.line(o, x.launch(x.kernels_.mix, stream, counts[0], parameters));
}

void Operations::kMixPerThread(Executor& x, const Operation& o) {
  static const auto launch = per_thread(&cuLaunchKernel, "cuLaunchKernel");
  Chosen c;
  if (!choose(x, o, &c)) return;
  x.order(1, {c.a, c.b}, {c.target});
  Buffer &t = x.buffers_[c.target], &a = x.buffers_[c.a], &b = x.buffers_[c.b];
  std::uint32_t counts[] = {t.count(), a.count(), b.count()}, salt = o.operands[5];
  void* parameters[] = {&t.base, &counts[0], &a.base, &counts[1], &b.base, &counts[2], &salt};
  x.line(o, launch(x.kernels_.mix, 4, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
}

namespace {

MixOperands mix_operands(const Operation& o, const Buffer& t, const Buffer& a, const Buffer& b,
                         const Buffer& c) {
  return {t.base, {a.base, b.base, c.base}, {t.count(), a.count(), b.count(), c.count()}, o.operands[5]};
}

}  // namespace

void Operations::kMixStruct(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {c.a, c.b, c.c}, {c.target});
  MixOperands operands =
      mix_operands(o, x.buffers_[c.target], x.buffers_[c.a], x.buffers_[c.b], x.buffers_[c.c]);
  void* parameters[] = {&operands};
  x.line(o, x.launch(x.kernels_.mix_struct, stream, operands.counts[0], parameters));
}

void Operations::kMixExtra(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {c.a, c.b, c.c}, {c.target});
  MixOperands operands =
      mix_operands(o, x.buffers_[c.target], x.buffers_[c.a], x.buffers_[c.b], x.buffers_[c.c]);
  std::size_t size = sizeof operands;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &operands, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  x.line(o, cuLaunchKernel(x.kernels_.mix_struct, 4, 1, 1, 64, 1, 1, 0, x.streams_[stream], nullptr, extra));
}

void Operations::kMixPacked(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {c.a}, {c.target});
  const Buffer &t = x.buffers_[c.target], &a = x.buffers_[c.a];
  PackedOperands operands{o.operands[5], t.base, t.count(), a.base, a.count()};
  void* parameters[] = {&operands};
  x.line(o, x.launch(x.kernels_.mix_packed, stream, operands.count, parameters));
}

void Operations::kLaunchEx(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {}, {buffer});
  Buffer& b = x.buffers_[buffer];
  std::uint32_t count = b.count(), salt = o.operands[2];
  void* parameters[] = {&b.base, &count, &salt};
  CUlaunchConfig config{};
  config.gridDimX = 3;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 96;
  config.hStream = x.streams_[stream];
  x.line(o, cuLaunchKernelEx(&config, x.kernels_.fill, parameters, nullptr));
}

// Buffers that may not become tables any more. Small ones share an extent, and a kernel that may touch one of
// them may touch what every table there names, or has named.
std::uint64_t Operations::never_tables(const Executor& x) {
  std::uint64_t never = 0;
  if (x.named_by_small_ + 3 * x.shape_.largest <= x.shape_.named) return never;
  for (std::size_t b = 0; b < x.buffers_.size(); ++b)
    if (x.buffers_[b].bytes < kOwnExtents) never |= std::uint64_t{1} << b;
  return never;
}

bool Operations::pick_table(Executor& x, const Operation& o, std::size_t* table,
                            std::array<std::size_t, 3>* entries) {
  *table = x.data_buffer(o.operands[0], never_tables(x));
  if (*table == kNone) return false;
  const std::uint64_t avoid = std::uint64_t{1} << *table;
  for (std::size_t e = 0; e < 3; ++e) {
    (*entries)[e] = x.data_buffer(o.operands[e + 1], avoid);
    if ((*entries)[e] == kNone) return false;
  }
  return true;
}

void Operations::mark_table(Executor& x, std::size_t table, const std::array<std::size_t, 3>& entries) {
  Buffer& t = x.buffers_[table];
  t.is_table = true;
  t.entries = entries;
  for (std::size_t e = 0; e < 3; ++e) {
    const Buffer& entry = x.buffers_[entries[e]];
    t.generations[e] = entry.generation;
    if (t.bytes < kOwnExtents) x.named_by_small_ += entry.bytes;
  }
}

std::uint32_t Operations::common_count(const Executor& x, const Buffer& table) {
  std::uint32_t count = ~0u;
  for (std::size_t entry : table.entries) count = std::min(count, x.buffers_[entry].count());
  return count;
}

void Operations::kTableFromHost(Executor& x, const Operation& o) {
  std::size_t table;
  std::array<std::size_t, 3> entries;
  if (!pick_table(x, o, &table, &entries)) return;
  CUdeviceptr addresses[3];
  for (std::size_t e = 0; e < 3; ++e) addresses[e] = x.buffers_[entries[e]].base;
  x.order(0, {}, {table});
  x.line(o, cuMemcpyHtoD(x.buffers_[table].base, addresses, sizeof addresses));
  mark_table(x, table, entries);
}

void Operations::kTableFromPinned(Executor& x, const Operation& o) {
  std::size_t table;
  std::array<std::size_t, 3> entries;
  if (!pick_table(x, o, &table, &entries)) return;
  auto* addresses = reinterpret_cast<CUdeviceptr*>(x.pinned(3 * sizeof(CUdeviceptr)));
  for (std::size_t e = 0; e < 3; ++e) addresses[e] = x.buffers_[entries[e]].base;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {}, {table});
  x.line(o,
         cuMemcpyHtoDAsync(x.buffers_[table].base, addresses, 3 * sizeof(CUdeviceptr), x.streams_[stream]));
  mark_table(x, table, entries);
}

void Operations::kTableFromDevice(Executor& x, const Operation& o) {
  std::size_t table;
  std::array<std::size_t, 3> entries;
  if (!pick_table(x, o, &table, &entries)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {}, {table});
  void* parameters[] = {&x.buffers_[table].base, &x.buffers_[entries[0]].base, &x.buffers_[entries[1]].base,
                        &x.buffers_[entries[2]].base};
  x.line(o, x.launch(x.kernels_.make_table, stream, 1, parameters));
  mark_table(x, table, entries);
}

void Operations::kTableCopied(Executor& x, const Operation& o) {
  const std::size_t source = x.table_buffer(o.operands[0]),
                    target = x.data_buffer(o.operands[1], never_tables(x));
  if (source == kNone || target == kNone) return;
  for (std::size_t entry : x.buffers_[source].entries)
    if (entry == target) return;
  const std::size_t stream = x.stream_of(o.operands[2]);
  x.order(stream, {source}, {target});
  x.line(o, cuMemcpyDtoDAsync(x.buffers_[target].base, x.buffers_[source].base, 24, x.streams_[stream]));
  mark_table(x, target, x.buffers_[source].entries);
}

void Operations::kTableCopiedByKernel(Executor& x, const Operation& o) {
  const std::size_t source = x.table_buffer(o.operands[0]),
                    target = x.data_buffer(o.operands[1], never_tables(x));
  if (source == kNone || target == kNone) return;
  for (std::size_t entry : x.buffers_[source].entries)
    if (entry == target) return;
  const std::size_t stream = x.stream_of(o.operands[2]);
  x.order(stream, {source}, {target});
  void* parameters[] = {&x.buffers_[target].base, &x.buffers_[source].base};
  x.line(o, x.launch(x.kernels_.copy_table, stream, 1, parameters));
  mark_table(x, target, x.buffers_[source].entries);
}

void Operations::kGather(Executor& x, const Operation& o) {
  const std::size_t table = x.table_buffer(o.operands[0]);
  if (table == kNone) return;
  const auto entries = x.buffers_[table].entries;
  std::uint64_t avoid = 0;
  for (std::size_t entry : entries) avoid |= std::uint64_t{1} << entry;
  const std::size_t target = x.data_buffer(o.operands[1], avoid);
  if (target == kNone) return;
  const std::size_t stream = x.stream_of(o.operands[2]);
  x.order(stream, {table, entries[0], entries[1], entries[2]}, {target});
  std::uint32_t count = x.buffers_[target].count(), common = common_count(x, x.buffers_[table]),
                salt = o.operands[3];
  void* parameters[] = {&x.buffers_[target].base, &count, &x.buffers_[table].base, &common, &salt};
  x.line(o, x.launch(x.kernels_.gather, stream, count, parameters));
}

void Operations::kScatter(Executor& x, const Operation& o) {
  const std::size_t table = x.table_buffer(o.operands[0]);
  if (table == kNone) return;
  const auto entries = x.buffers_[table].entries;
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {table}, {entries[0], entries[1], entries[2]});
  std::uint32_t common = common_count(x, x.buffers_[table]), salt = o.operands[2];
  void* parameters[] = {&x.buffers_[table].base, &common, &salt};
  x.line(o, x.launch(x.kernels_.scatter, stream, common, parameters));
}

void Operations::kBlockSums(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {c.a}, {c.target});
  Buffer &t = x.buffers_[c.target], &a = x.buffers_[c.a];
  std::uint32_t counts[] = {t.count(), a.count()};
  void* parameters[] = {&t.base, &counts[0], &a.base, &counts[1]};
  // One block per word of the target, so that no two add to the same.
  const unsigned blocks = std::min(5u, counts[0]);
  x.line(o, cuLaunchKernel(x.kernels_.block_sums, blocks, 1, 1, 128, 1, 1, 0, x.streams_[stream], parameters,
                           nullptr));
}

void Operations::kHistogram(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {c.a}, {c.target});
  Buffer &t = x.buffers_[c.target], &a = x.buffers_[c.a];
  std::uint32_t counts[] = {t.count(), a.count()};
  void* parameters[] = {&t.base, &counts[0], &a.base, &counts[1]};
  x.line(o, x.launch(x.kernels_.histogram, stream, counts[1], parameters));
}

}  // namespace torture
