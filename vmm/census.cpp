#include "vmm/census.hpp"

#include <algorithm>
#include <bit>

namespace tencache::vmm {

namespace {

constexpr std::uint64_t kMapBytes = 256 << 10;
constexpr unsigned kThreads = 128;
constexpr unsigned kMostBlocks = 512;

// for (i = thread; i < words; i += threads) { d = p[i] - base; if (d < size) map[d >> shift] = 1; }
constexpr char kKernel[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry tencache_census(.param .u64 p, .param .u64 words, .param .u64 base, .param .u64 size,
                                .param .u32 shift, .param .u64 map)
{
  .reg .pred %q<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<12>;
  ld.param.u64 %d0, [p];
  ld.param.u64 %d1, [words];
  ld.param.u64 %d2, [base];
  ld.param.u64 %d3, [size];
  ld.param.u32 %r0, [shift];
  ld.param.u64 %d4, [map];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d4, %d4;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  mul.lo.u32 %r6, %r2, %r4;
  mov.u32 %r7, 1;
  cvt.u64.u32 %d5, %r5;
  cvt.u64.u32 %d6, %r6;
next:
  setp.ge.u64 %q0, %d5, %d1;
  @%q0 bra done;
  shl.b64 %d7, %d5, 3;
  add.u64 %d7, %d0, %d7;
  ld.global.u64 %d8, [%d7];
  sub.u64 %d9, %d8, %d2;
  add.u64 %d5, %d5, %d6;
  setp.ge.u64 %q1, %d9, %d3;
  @%q1 bra next;
  shr.u64 %d10, %d9, %r0;
  add.u64 %d11, %d4, %d10;
  st.global.u8 [%d11], %r7;
  bra next;
done:
  ret;
}
)";

}  // namespace

Result<Census> Census::open(const Driver& driver, const Arena& arena) {
  Census census(driver, arena);
  const CUresult made = census.make();
  if (made == CUDA_SUCCESS) return census;
  census.close();
  return Status(StatusCode::kDriverFailed, "the census kernel cannot be had", made);
}

CUresult Census::make() {
  CUresult result = driver_->cuModuleLoadData(&module_, kKernel);
  if (result == CUDA_SUCCESS) result = driver_->cuModuleGetFunction(&function_, module_, "tencache_census");
  if (result == CUDA_SUCCESS) result = driver_->cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS) result = driver_->cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING);
  if (result == CUDA_SUCCESS) result = driver_->cuMemAlloc_v2(&map_, kMapBytes);
  void* found = nullptr;
  if (result == CUDA_SUCCESS) result = driver_->cuMemHostAlloc(&found, kMapBytes, CU_MEMHOSTALLOC_PORTABLE);
  found_ = static_cast<unsigned char*>(found);
  return result;
}

void Census::close() {
  if (stream_ != nullptr) driver_->cuStreamSynchronize(stream_);
  if (found_ != nullptr) driver_->cuMemFreeHost(found_);
  if (map_ != 0) driver_->cuMemFree_v2(map_);
  if (event_ != nullptr) driver_->cuEventDestroy_v2(event_);
  if (stream_ != nullptr) driver_->cuStreamDestroy_v2(stream_);
  if (module_ != nullptr) driver_->cuModuleUnload(module_);
  found_ = nullptr;
  map_ = 0;
  event_ = nullptr;
  stream_ = nullptr;
  module_ = nullptr;
}

std::uint32_t Census::rows_for(std::uint64_t units) const {
  return static_cast<std::uint32_t>(kMapBytes / std::max<std::uint64_t>(units, 1));
}

bool Census::start(std::span<const Piece> pieces, std::uint32_t rows, std::uint64_t units) {
  units_ = units;
  const std::size_t bytes = rows * units;
  CUresult result = driver_->cuMemsetD8Async(map_, 0, bytes, stream_);
  for (const Piece& piece : pieces) {
    if (result == CUDA_SUCCESS) result = launch(piece);
  }
  if (result == CUDA_SUCCESS) result = driver_->cuMemcpyDtoHAsync_v2(found_, map_, bytes, stream_);
  if (result == CUDA_SUCCESS) result = driver_->cuEventRecord(event_, stream_);
  if (result == CUDA_SUCCESS) return true;
  driver_->cuStreamSynchronize(stream_);  // nothing may read the blocks any more
  return false;
}

CUresult Census::launch(const Piece& piece) {
  CUdeviceptr address = piece.address;
  std::uint64_t words = piece.size.count() / sizeof(std::uint64_t);
  CUdeviceptr base = arena_.base;
  std::uint64_t size = units_ * arena_.unit.count();
  auto shift = static_cast<std::uint32_t>(std::countr_zero(arena_.unit.count()));
  CUdeviceptr map = map_ + piece.row * units_;
  void* parameters[] = {&address, &words, &base, &size, &shift, &map};
  const auto blocks = static_cast<unsigned>((words + kThreads - 1) / kThreads);
  return driver_->cuLaunchKernel(function_, std::min(blocks, kMostBlocks), 1, 1, kThreads, 1, 1, 0, stream_,
                                 parameters, nullptr);
}

Census::Progress Census::poll() {
  const CUresult result = driver_->cuEventQuery(event_);
  if (result == CUDA_ERROR_NOT_READY) return Progress::kRunning;
  return result == CUDA_SUCCESS ? Progress::kDone : Progress::kFailed;
}

}  // namespace tencache::vmm
