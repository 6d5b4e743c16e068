#include "tools/softgpu/cudart/entry_points.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <mutex>

namespace softgpu::cudart {

PlainEntryPoints driver;

namespace per_thread {
void load_stream_entry_points();
}

namespace {

std::once_flag load_once;
cudaError_t load_result = cudaErrorInsufficientDriver;

const EntryPointRow kPlainRows[] = {
#define CUDART_ROW(name, version) {#name, version, &driver.name, [] { return refuse_missing(#name); }},
    CUDART_PLAIN_ENTRY_POINTS(CUDART_ROW)
#undef CUDART_ROW
};

void* find_entry_point(const char* name, int version, CUdriverProcAddress_flags flag) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (driver.get_proc_address(name, &found, version, flag, &status) != CUDA_SUCCESS) return nullptr;
  return found;
}

void load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return;
  driver.get_proc_address =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (driver.get_proc_address == nullptr) return;
  load_rows(kPlainRows, std::size(kPlainRows), CU_GET_PROC_ADDRESS_DEFAULT);
  load_stream_entry_points();
  per_thread::load_stream_entry_points();
  load_result = static_cast<cudaError_t>(driver.cuInit(0));
}

}  // namespace

CUresult refuse_missing(const char* name) {
  std::fprintf(stderr, "softgpu: the driver has no %s\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

void load_rows(const EntryPointRow* rows, std::size_t count, CUdriverProcAddress_flags flag) {
  // The per-thread forms came with CUDA 7.0, whatever the version of the legacy form.
  const int first_version = flag == CU_GET_PROC_ADDRESS_DEFAULT ? 0 : 7000;
  for (const EntryPointRow* row = rows; row != rows + count; ++row) {
    void* found = find_entry_point(row->name, std::max(row->version, first_version), flag);
    if (found == nullptr) found = reinterpret_cast<void*>(row->refuse);
    std::memcpy(row->member, &found, sizeof(found));
  }
}

cudaError_t load_driver() {
  std::call_once(load_once, load);
  return load_result;
}

}  // namespace softgpu::cudart
