#include "vmm/reading_kernel.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>

namespace tencache::vmm {

namespace {

constexpr unsigned kThreads = 128;  // whole warps
constexpr unsigned kMostBlocks = 512;
constexpr unsigned kWordsPerThread = 32;  // at least: what a thread does once is spread over them

// for (i = thread; i < words; i += threads) {
//   w = p[i]; if (w - base < size) map[(w - base) >> shift] = 1;
//   if (result) sums += what Fingerprint::add adds
// }
// A warp adds up by shuffles, its first lane with atomics; the last warp to do so writes the result and
// leaves zeros: the ticket wraps by itself.
constexpr char kKernel[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry tencache_read(.param .u64 p, .param .u64 words, .param .u64 base, .param .u64 size,
                              .param .u32 shift, .param .u64 map, .param .u64 place, .param .u64 second,
                              .param .u64 sums, .param .u64 result)
{
  .reg .pred %q<6>;
  .reg .b32 %r<20>;
  .reg .b64 %d<32>;
  ld.param.u64 %d0, [p];
  ld.param.u64 %d1, [words];
  ld.param.u64 %d2, [base];
  ld.param.u64 %d3, [size];
  ld.param.u32 %r0, [shift];
  ld.param.u64 %d4, [map];
  ld.param.u64 %d12, [place];
  ld.param.u64 %d13, [second];
  ld.param.u64 %d14, [sums];
  ld.param.u64 %d15, [result];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d4, %d4;
  cvta.to.global.u64 %d14, %d14;
  cvta.to.global.u64 %d15, %d15;
  setp.eq.u64 %q2, %d15, 0;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  mul.lo.u32 %r6, %r2, %r4;
  mov.u32 %r7, 1;
  cvt.u64.u32 %d5, %r5;
  cvt.u64.u32 %d6, %r6;
  mov.u64 %d16, 0;
  mov.u64 %d17, 0;
next:
  setp.ge.u64 %q0, %d5, %d1;
  @%q0 bra read;
  shl.b64 %d7, %d5, 3;
  add.u64 %d7, %d0, %d7;
  ld.global.u64 %d8, [%d7];
  mad.lo.u64 %d18, %d5, %d12, %d8;
  add.u64 %d5, %d5, %d6;
  sub.u64 %d9, %d8, %d2;
  setp.ge.u64 %q1, %d9, %d3;
  @%q1 bra unmarked;
  shr.u64 %d10, %d9, %r0;
  add.u64 %d11, %d4, %d10;
  st.global.u8 [%d11], %r7;
unmarked:
  @%q2 bra next;
  shr.u64 %d19, %d18, 32;
  xor.b64 %d18, %d18, %d19;
  mul.lo.u64 %d18, %d18, 0xff51afd7ed558ccd;
  shr.u64 %d19, %d18, 29;
  xor.b64 %d18, %d18, %d19;
  mul.lo.u64 %d20, %d18, 0xc4ceb9fe1a85ec53;
  shr.u64 %d19, %d20, 32;
  xor.b64 %d20, %d20, %d19;
  add.u64 %d16, %d16, %d20;
  xor.b64 %d21, %d18, %d13;
  mul.lo.u64 %d21, %d21, 0x9e3779b97f4a7c15;
  shr.u64 %d19, %d21, 31;
  xor.b64 %d21, %d21, %d19;
  add.u64 %d17, %d17, %d21;
  bra next;
read:
  @%q2 bra done;
  bar.warp.sync 0xffffffff;
  mov.u32 %r8, 16;
fold:
  mov.b64 {%r9, %r10}, %d16;
  mov.b64 {%r11, %r12}, %d17;
  shfl.sync.bfly.b32 %r9, %r9, %r8, 0x1f, 0xffffffff;
  shfl.sync.bfly.b32 %r10, %r10, %r8, 0x1f, 0xffffffff;
  shfl.sync.bfly.b32 %r11, %r11, %r8, 0x1f, 0xffffffff;
  shfl.sync.bfly.b32 %r12, %r12, %r8, 0x1f, 0xffffffff;
  mov.b64 %d22, {%r9, %r10};
  mov.b64 %d23, {%r11, %r12};
  add.u64 %d16, %d16, %d22;
  add.u64 %d17, %d17, %d23;
  shr.u32 %r8, %r8, 1;
  setp.ne.u32 %q3, %r8, 0;
  @%q3 bra fold;
  and.b32 %r13, %r3, 31;
  setp.ne.u32 %q4, %r13, 0;
  @%q4 bra done;
  red.global.add.u64 [%d14], %d16;
  red.global.add.u64 [%d14+8], %d17;
  membar.gl;
  shr.u32 %r14, %r6, 5;
  sub.u32 %r14, %r14, 1;
  atom.global.inc.u32 %r15, [%d14+16], %r14;
  setp.ne.u32 %q5, %r15, %r14;
  @%q5 bra done;
  membar.gl;
  atom.global.exch.b64 %d24, [%d14], 0;
  atom.global.exch.b64 %d25, [%d14+8], 0;
  st.global.u64 [%d15], %d24;
  st.global.u64 [%d15+8], %d25;
done:
  ret;
}
)";

Fingerprint::Seeds random_seeds() {
  Fingerprint::Seeds seeds{0x2545f4914f6cdd1du, 0x6c62272e07bb0142u};
  // Where the kernel has none to give, the constants do: nobody chooses a training program's bytes against
  // us.
  const ssize_t got = getrandom(&seeds, sizeof seeds, GRND_NONBLOCK);
  static_cast<void>(got);
  seeds.place |= 1;
  return seeds;
}

}  // namespace

Result<ReadingKernel> ReadingKernel::open(const Driver& driver) {
  ReadingKernel kernel(driver);
  kernel.seeds_ = random_seeds();
  CUresult result = driver.cuModuleLoadData(&kernel.module_, kKernel);
  if (result == CUDA_SUCCESS) {
    result = driver.cuModuleGetFunction(&kernel.function_, kernel.module_, "tencache_read");
  }
  if (result == CUDA_SUCCESS) return kernel;
  kernel.close();
  return Status(StatusCode::kDriverFailed, "the kernel that reads memory cannot be had", result);
}

void ReadingKernel::close() {
  if (module_ != nullptr) driver_->cuModuleUnload(module_);
  module_ = nullptr;
}

CUresult ReadingKernel::launch(const MemoryPiece& piece, const Search& search, const Print& print,
                               CUstream stream) const {
  CUdeviceptr address = piece.address;
  std::uint64_t words = piece.size.count() / sizeof(std::uint64_t);
  CUdeviceptr base = search.base;
  std::uint64_t size = search.size.count();
  auto shift = static_cast<std::uint32_t>(std::countr_zero(search.unit.count()));
  CUdeviceptr map = search.map;
  Fingerprint::Seeds seeds = seeds_;
  CUdeviceptr sums = print.sums;
  Fingerprint* result = print.result;
  void* parameters[] = {&address, &words,       &base,         &size, &shift,
                        &map,     &seeds.place, &seeds.second, &sums, &result};
  constexpr std::uint64_t kWordsPerBlock = kThreads * kWordsPerThread;
  const std::uint64_t blocks =
      std::clamp<std::uint64_t>((words + kWordsPerBlock - 1) / kWordsPerBlock, 1, kMostBlocks);
  return driver_->cuLaunchKernel(function_, static_cast<unsigned>(blocks), 1, 1, kThreads, 1, 1, 0, stream,
                                 parameters, nullptr);
}

}  // namespace tencache::vmm
