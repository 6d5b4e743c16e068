#include "tests/softgpu/cudart_stub_driver.hpp"

#include <cstring>
#include <string>

namespace {

StubDriver stub;
CUcontext current_context = nullptr;

constexpr CUdeviceptr kVariable = 0x7000;
constexpr size_t kVariableSize = 16;
constexpr CUdeviceptr kAllocation = 0x10000;

template <class T>
T handle(std::uintptr_t value) {
  return reinterpret_cast<T>(value);
}

CUresult note(const char* name, const std::string& rest = "") {
  stub.calls.push_back(rest.empty() ? name : std::string(name) + " " + rest);
  const auto failing = stub.failing.find(name);
  return failing == stub.failing.end() ? CUDA_SUCCESS : failing->second;
}

template <int Flag>
std::string flavour(CUstream stream) {
  return std::to_string(Flag) + " stream " + std::to_string(reinterpret_cast<std::uintptr_t>(stream));
}

CUresult init(unsigned int) { return note("cuInit"); }

CUresult context_get(CUcontext* context) {
  *context = current_context;
  return CUDA_SUCCESS;
}

CUresult context_set(CUcontext context) {
  current_context = context;
  return note("cuCtxSetCurrent");
}

CUresult primary_retain(CUcontext* context, CUdevice device) {
  if (device > 1) return CUDA_ERROR_INVALID_DEVICE;
  *context = handle<CUcontext>(0x100 + static_cast<std::uintptr_t>(device));
  return note("cuDevicePrimaryCtxRetain", std::to_string(device));
}

CUresult context_device(CUdevice* device) {
  *device = static_cast<CUdevice>(reinterpret_cast<std::uintptr_t>(current_context) - 0x100);
  return CUDA_SUCCESS;
}

CUresult allocate(CUdeviceptr* pointer, size_t size) {
  *pointer = kAllocation;
  return note("cuMemAlloc", std::to_string(size));
}

CUresult deallocate(CUdeviceptr) { return note("cuMemFree"); }

CUresult synchronize() { return note("cuCtxSynchronize"); }

CUresult library_load(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned int,
                      CUlibraryOption*, void**, unsigned int) {
  *library = handle<CUlibrary>(0x200);
  return note("cuLibraryLoadData", static_cast<const char*>(code));
}

CUresult library_kernel(CUkernel* kernel, CUlibrary, const char* name) {
  *kernel = handle<CUkernel>(0x300);
  return note("cuLibraryGetKernel", name);
}

CUresult library_global(CUdeviceptr* address, size_t* size, CUlibrary, const char* name) {
  *address = kVariable;
  *size = kVariableSize;
  return note("cuLibraryGetGlobal", name);
}

template <int Flag>
CUresult launch(CUfunction function, unsigned int grid, unsigned int, unsigned int, unsigned int block,
                unsigned int, unsigned int, unsigned int shared, CUstream stream, void**, void**) {
  return note("cuLaunchKernel", flavour<Flag>(stream) + " function " +
                                    std::to_string(reinterpret_cast<std::uintptr_t>(function)) + " " +
                                    std::to_string(grid) + "x" + std::to_string(block) + "+" +
                                    std::to_string(shared));
}

template <int Flag>
CUresult copy_to_device(CUdeviceptr to, const void*, size_t count) {
  return note("cuMemcpyHtoD",
              std::to_string(Flag) + " to " + std::to_string(to) + " " + std::to_string(count));
}

template <int Flag>
CUresult copy_to_device_async(CUdeviceptr, const void*, size_t count, CUstream stream) {
  return note("cuMemcpyHtoDAsync", flavour<Flag>(stream) + " " + std::to_string(count));
}

template <int Flag>
CUresult memset_2d(CUdeviceptr to, size_t pitch, unsigned char, size_t width, size_t height) {
  return note("cuMemsetD2D8", std::to_string(Flag) + " to " + std::to_string(to) + " " +
                                  std::to_string(pitch) + " " + std::to_string(width) + "x" +
                                  std::to_string(height));
}

template <int Flag>
CUresult copy_3d(const CUDA_MEMCPY3D* copy) {
  return note("cuMemcpy3D", std::to_string(Flag) + " types " + std::to_string(copy->srcMemoryType) + "-" +
                                std::to_string(copy->dstMemoryType) + " " +
                                std::to_string(copy->WidthInBytes) + "x" + std::to_string(copy->Height) +
                                "x" + std::to_string(copy->Depth) + " from " +
                                std::to_string(copy->srcXInBytes) + "," + std::to_string(copy->srcY));
}

CUresult event_query(CUevent) { return note("cuEventQuery"); }

// The name, and its legacy and per-thread forms; one form where there is one.
struct Entry {
  const char* name;
  void* legacy;
  void* per_thread;
};

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

const Entry kEntries[] = {
    {"cuInit", address(init), nullptr},
    {"cuCtxGetCurrent", address(context_get), nullptr},
    {"cuCtxSetCurrent", address(context_set), nullptr},
    {"cuCtxGetDevice", address(context_device), nullptr},
    {"cuCtxSynchronize", address(synchronize), nullptr},
    {"cuDevicePrimaryCtxRetain", address(primary_retain), nullptr},
    {"cuMemAlloc", address(allocate), nullptr},
    {"cuMemFree", address(deallocate), nullptr},
    {"cuLibraryLoadData", address(library_load), nullptr},
    {"cuLibraryGetKernel", address(library_kernel), nullptr},
    {"cuLibraryGetGlobal", address(library_global), nullptr},
    {"cuEventQuery", address(event_query), nullptr},
    {"cuLaunchKernel", address(launch<0>), address(launch<2>)},
    {"cuMemcpyHtoD", address(copy_to_device<0>), address(copy_to_device<2>)},
    {"cuMemcpyHtoDAsync", address(copy_to_device_async<0>), address(copy_to_device_async<2>)},
    {"cuMemsetD2D8", address(memset_2d<0>), address(memset_2d<2>)},
    {"cuMemcpy3D", address(copy_3d<0>), address(copy_3d<2>)},
};

}  // namespace

extern "C" StubDriver* stub_driver() { return &stub; }

extern "C" CUresult cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult* status) {
  stub.asked.push_back(std::string(symbol) + " " + std::to_string(flags));
  *function = nullptr;
  *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, symbol) != 0) continue;
    const bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    *function = per_thread && entry.per_thread != nullptr ? entry.per_thread : entry.legacy;
    *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}
