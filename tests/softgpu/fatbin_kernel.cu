// What the fat binaries of fatbin_test.cpp hold; the architecture tells the variants apart.
__global__ void store_architecture(int* result) {
#ifdef __CUDA_ARCH__
  *result = __CUDA_ARCH__;
#endif
}
