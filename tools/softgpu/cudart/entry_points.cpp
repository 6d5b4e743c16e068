#include "tools/softgpu/cudart/entry_points.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <mutex>

#include "tools/softgpu/cudart/load_entry_points.hpp"

namespace softgpu::cudart {

PlainEntryPoints driver;

namespace per_thread {
void load_stream_entry_points();
}

namespace {

std::once_flag load_once;
cudaError_t load_result = cudaErrorInsufficientDriver;

void load_plain_entry_points() {
#define CUDART_LOAD_PLAIN(name, version) CUDART_LOAD(driver.name, #name, version, CU_GET_PROC_ADDRESS_DEFAULT)
  CUDART_PLAIN_ENTRY_POINTS(CUDART_LOAD_PLAIN)
#undef CUDART_LOAD_PLAIN
}

void load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return;
  driver.get_proc_address =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (driver.get_proc_address == nullptr) return;
  load_plain_entry_points();
  load_stream_entry_points();
  per_thread::load_stream_entry_points();
  load_result = static_cast<cudaError_t>(driver.cuInit(0));
}

}  // namespace

CUresult refuse_missing(const char* name) {
  std::fprintf(stderr, "softgpu: the driver has no %s\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

void* find_entry_point(const char* name, int version, CUdriverProcAddress_flags flag) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (driver.get_proc_address(name, &found, version, flag, &status) != CUDA_SUCCESS) return nullptr;
  return found;
}

cudaError_t load_driver() {
  std::call_once(load_once, load);
  return load_result;
}

}  // namespace softgpu::cudart
