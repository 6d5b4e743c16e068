// Takes all of a GPU's memory but a given amount and keeps it until its standard input closes: `ballast
// BYTES`. The demo on a real GPU makes a small device of a large one with it. Prints one line once it holds
// the memory.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

template <class Function>
bool find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

struct Calls {
  decltype(&cuInit) init;
  decltype(&cuDevicePrimaryCtxRetain) retain;
  decltype(&cuCtxSetCurrent) set_current;
  decltype(&cuMemGetInfo) memory_info;
  decltype(&cuMemAlloc) allocate;
};

bool load(Calls* calls) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  return library != nullptr && find(library, "cuInit", &calls->init) &&
         find(library, "cuDevicePrimaryCtxRetain", &calls->retain) &&
         find(library, "cuCtxSetCurrent", &calls->set_current) &&
         find(library, "cuMemGetInfo_v2", &calls->memory_info) &&
         find(library, "cuMemAlloc_v2", &calls->allocate);
}

bool open_device(const Calls& calls) {
  CUcontext context = nullptr;
  return calls.init(0) == CUDA_SUCCESS && calls.retain(&context, 0) == CUDA_SUCCESS &&
         calls.set_current(context) == CUDA_SUCCESS;
}

// Takes memory in ever smaller pieces, as free memory may not be in one piece.
std::size_t take_all_but(const Calls& calls, std::size_t left) {
  std::size_t taken = 0;
  for (std::size_t piece = std::size_t{1} << 30; piece >= std::size_t{2} << 20;) {
    std::size_t free_bytes = 0, total = 0;
    CUdeviceptr address = 0;
    if (calls.memory_info(&free_bytes, &total) != CUDA_SUCCESS) return taken;
    if (free_bytes >= left + piece && calls.allocate(&address, piece) == CUDA_SUCCESS) {
      taken += piece;
    } else {
      piece /= 2;
    }
  }
  return taken;
}

}  // namespace

int main(int argc, char** argv) {
  Calls calls{};
  if (argc != 2) return std::fputs("usage: ballast BYTES_LEFT_FREE\n", stderr), 2;
  if (!load(&calls) || !open_device(calls)) return std::fputs("ballast: no usable GPU\n", stderr), 1;
  std::printf("holding %zu bytes\n", take_all_but(calls, std::strtoull(argv[1], nullptr, 10)));
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}
