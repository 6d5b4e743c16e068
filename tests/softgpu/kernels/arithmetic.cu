// One operation a result, over values that include the awkward ones.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" {

__global__ void floats(const float* a, const float* b, const float* c, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float* o = out + i * 20;
  o[0] = __fadd_rn(a[i], b[i]);
  o[1] = __fsub_rn(a[i], b[i]);
  o[2] = __fmul_rn(a[i], b[i]);
  o[3] = __fmaf_rn(a[i], b[i], c[i]);
  o[4] = __fdiv_rn(a[i], b[i]);
  o[5] = __fsqrt_rn(a[i]);
  o[6] = __frcp_rn(a[i]);
  o[7] = fminf(a[i], b[i]);
  o[8] = fmaxf(a[i], b[i]);
  o[9] = __fadd_rz(a[i], b[i]);
  o[10] = __fmul_ru(a[i], b[i]);
  o[11] = __fmaf_rd(a[i], b[i], c[i]);
  o[12] = __saturatef(a[i]);
  o[13] = rintf(a[i]);
  o[14] = floorf(a[i]);
  o[15] = ceilf(a[i]);
  o[16] = truncf(a[i]);
  o[17] = copysignf(a[i], b[i]);
  o[18] = fabsf(a[i]);
  o[19] = -a[i];
}
__global__ void flushes(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(out[i * 4]) : "f"(a[i]), "f"(b[i]));
  asm("mul.ftz.f32 %0, %1, %2;" : "=f"(out[i * 4 + 1]) : "f"(a[i]), "f"(b[i]));
  asm("fma.rn.ftz.f32 %0, %1, %2, %1;" : "=f"(out[i * 4 + 2]) : "f"(a[i]), "f"(b[i]));
  asm("{ .reg .pred p; setp.lt.ftz.f32 p, %1, %2; selp.f32 %0, 0f3F800000, 0f00000000, p; }" : "=f"(out[i * 4 + 3]) : "f"(a[i]), "f"(b[i]));
}
__global__ void approximations(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  asm("ex2.approx.f32 %0, %1;" : "=f"(out[i * 7]) : "f"(a[i]));
  asm("lg2.approx.f32 %0, %1;" : "=f"(out[i * 7 + 1]) : "f"(a[i]));
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(out[i * 7 + 2]) : "f"(a[i]));
  asm("sin.approx.f32 %0, %1;" : "=f"(out[i * 7 + 3]) : "f"(a[i]));
  asm("cos.approx.f32 %0, %1;" : "=f"(out[i * 7 + 4]) : "f"(a[i]));
  asm("tanh.approx.f32 %0, %1;" : "=f"(out[i * 7 + 5]) : "f"(a[i]));
  asm("rcp.approx.f32 %0, %1;" : "=f"(out[i * 7 + 6]) : "f"(a[i]));
}
__global__ void doubles(const double* a, const double* b, const double* c, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double* o = out + i * 9;
  o[0] = a[i] + b[i];
  o[1] = __dmul_rn(a[i], b[i]);
  o[2] = fma(a[i], b[i], c[i]);
  o[3] = a[i] / b[i];
  o[4] = sqrt(a[i]);
  o[5] = fmin(a[i], b[i]);
  o[6] = static_cast<float>(a[i]);
  o[7] = static_cast<double>(static_cast<long long>(a[i]));
  o[8] = __dadd_ru(a[i], b[i]);
}
__global__ void to_integers(const float* a, long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long* o = out + i * 7;
  o[0] = __float2int_rz(a[i]);
  o[1] = __float2uint_rz(a[i]);
  o[2] = __float2int_rn(a[i]);
  o[3] = __float2ll_rz(a[i]);
  o[4] = __float2ull_rz(a[i]);
  o[5] = __float2int_rd(a[i]);
  o[6] = __float2int_ru(a[i]);
}
__global__ void integers(const int* a, const int* b, const int* c, long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned ua = a[i], ub = b[i];
  const long long la = (static_cast<long long>(a[i]) << 31) ^ b[i], lb = (static_cast<long long>(c[i]) << 7) + a[i];
  long long* o = out + i * 34;
  o[0] = a[i] + b[i];
  o[1] = a[i] * b[i] + c[i];
  o[2] = __mulhi(a[i], b[i]);
  o[3] = __umulhi(ua, ub);
  o[4] = static_cast<long long>(a[i]) * b[i];
  o[5] = b[i] == 0 ? 0 : a[i] / b[i];
  o[6] = b[i] == 0 ? 0 : a[i] % b[i];
  o[7] = ub == 0 ? 0 : ua / ub;
  o[8] = ub == 0 ? 0 : ua % ub;
  o[9] = lb == 0 ? 0 : la / lb;
  o[10] = lb == 0 ? 0 : la % lb;
  o[11] = la * lb;
  o[12] = __mul64hi(la, lb);
  o[13] = a[i] << (b[i] & 31);
  o[14] = a[i] >> (b[i] & 31);
  o[15] = ua >> (b[i] & 31);
  o[16] = __popc(ua);
  o[17] = __clz(a[i]);
  o[18] = __ffs(a[i]);
  o[19] = __brev(ua);
  o[20] = __byte_perm(ua, ub, c[i] & 0x7777);
  o[21] = __funnelshift_l(ua, ub, c[i]);
  o[22] = min(a[i], b[i]);
  o[23] = max(ua, ub);
  o[24] = abs(a[i]);
  o[25] = __sad(a[i], b[i], c[i]);
  o[26] = static_cast<signed char>(a[i]);
  o[27] = static_cast<unsigned short>(b[i]);
  o[28] = __popcll(la);
  o[29] = __clzll(la);
  unsigned d;
  asm("bfe.u32 %0, %1, 5, 9;" : "=r"(d) : "r"(ua));
  o[30] = d;
  asm("bfi.b32 %0, %1, %2, 7, 12;" : "=r"(d) : "r"(ua), "r"(ub));
  o[31] = d;
  unsigned high;
  asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %4, 0;" : "=r"(d), "=r"(high) : "r"(ua), "r"(ub), "r"(c[i]));
  o[32] = static_cast<long long>(high) << 32 | d;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(d) : "r"(ua), "r"(ub), "r"(c[i]));
  o[33] = d;
}
__global__ void halves(const __half* a, const __half* b, const __half* c, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half* o = out + i * 8;
  o[0] = __hadd(a[i], b[i]);
  o[1] = __hmul(a[i], b[i]);
  o[2] = __hfma(a[i], b[i], c[i]);
  const __half2 pair = __hfma2(__halves2half2(a[i], b[i]), __halves2half2(b[i], c[i]), __halves2half2(c[i], a[i]));
  o[3] = __low2half(pair);
  o[4] = __high2half(pair);
  o[5] = __float2half_rn(__half2float(a[i]) * 1.37f);
  o[6] = __hlt(a[i], b[i]) ? a[i] : b[i];
  o[7] = __hneg(a[i]);
}
__global__ void bfloats(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i * 2] = __float2bfloat16_rn(__bfloat162float(a[i]) * __bfloat162float(b[i]));
  out[i * 2 + 1] = __hfma(a[i], b[i], a[i]);
}
}
