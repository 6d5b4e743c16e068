#include "tools/softgpu/cudart/registry.hpp"

#include <memory>
#include <unordered_map>

#include "tools/softgpu/cudart/call.hpp"

namespace softgpu::cudart {
namespace {

// Never destroyed: the programs' own exit handlers come here after static destructors may have run.
struct Registry {
  std::mutex mutex;
  std::unordered_map<Binary*, std::unique_ptr<Binary>> binaries;
  std::unordered_map<const void*, std::unique_ptr<Kernel>> kernels;
  std::unordered_map<const void*, std::unique_ptr<Variable>> variables;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

Variable* find_variable(const void* symbol) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().variables.find(symbol);
  return found == registry().variables.end() ? nullptr : found->second.get();
}

}  // namespace

CUresult Binary::load(CUlibrary* loaded) {
  *loaded = library.load(std::memory_order_acquire);
  if (*loaded != nullptr) return CUDA_SUCCESS;
  const std::lock_guard lock(load_mutex);
  *loaded = library.load(std::memory_order_relaxed);
  if (*loaded != nullptr) return CUDA_SUCCESS;
  const CUresult result = driver.cuLibraryLoadData(loaded, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result == CUDA_SUCCESS) library.store(*loaded, std::memory_order_release);
  return result;
}

CUresult Binary::bind_managed() {
  CUlibrary loaded = nullptr;
  CUresult result = load(&loaded);
  for (const ManagedVariable& variable : managed) {
    if (result != CUDA_SUCCESS) break;
    CUdeviceptr address = 0;
    size_t size = 0;
    result = driver.cuLibraryGetManaged(&address, &size, loaded, variable.name.c_str());
    if (result == CUDA_SUCCESS) *variable.host_pointer = reinterpret_cast<void*>(address);
  }
  return result;
}

CUresult Kernel::resolve(CUkernel* resolved) {
  *resolved = handle.load(std::memory_order_acquire);
  if (*resolved != nullptr) return CUDA_SUCCESS;
  CUlibrary library = nullptr;
  CUresult result = binary->load(&library);
  if (result == CUDA_SUCCESS) result = driver.cuLibraryGetKernel(resolved, library, name.c_str());
  if (result == CUDA_SUCCESS) handle.store(*resolved, std::memory_order_release);
  return result;
}

CUresult Variable::resolve(CUdeviceptr* address, size_t* size) {
  CUlibrary library = nullptr;
  const CUresult result = binary->load(&library);
  return result == CUDA_SUCCESS ? driver.cuLibraryGetGlobal(address, size, library, name.c_str()) : result;
}

Binary* add_binary(const void* image) {
  auto binary = std::make_unique<Binary>();
  binary->image = image;
  Binary* const key = binary.get();
  const std::lock_guard lock(registry().mutex);
  registry().binaries.emplace(key, std::move(binary));
  return key;
}

void add_kernel(Binary* binary, const void* host_function, const char* name) {
  auto kernel = std::make_unique<Kernel>();
  kernel->binary = binary;
  kernel->name = name;
  const std::lock_guard lock(registry().mutex);
  registry().kernels[host_function] = std::move(kernel);
}

void add_variable(Binary* binary, const void* host_variable, const char* name) {
  auto variable = std::make_unique<Variable>();
  variable->binary = binary;
  variable->name = name;
  const std::lock_guard lock(registry().mutex);
  registry().variables[host_variable] = std::move(variable);
}

void remove_binary(Binary* binary) {
  const auto of_binary = [binary](const auto& entry) { return entry.second->binary == binary; };
  const std::lock_guard lock(registry().mutex);
  std::erase_if(registry().kernels, of_binary);
  std::erase_if(registry().variables, of_binary);
  registry().binaries.erase(binary);
}

Kernel* find_kernel(const void* host_function) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().kernels.find(host_function);
  return found == registry().kernels.end() ? nullptr : found->second.get();
}

CUresult kernel_of(const void* function, CUkernel* kernel) {
  if (function == nullptr) return static_cast<CUresult>(cudaErrorInvalidDeviceFunction);
  if (Kernel* const registered = find_kernel(function); registered != nullptr) {
    return registered->resolve(kernel);
  }
  // A cudaKernel_t is the driver's own handle.
  *kernel = static_cast<CUkernel>(const_cast<void*>(function));
  return CUDA_SUCCESS;
}

CUresult function_of(const void* function, CUfunction* result) {
  CUkernel kernel = nullptr;
  const CUresult resolved = kernel_of(function, &kernel);
  return resolved == CUDA_SUCCESS ? driver.cuKernelGetFunction(result, kernel) : resolved;
}

cudaError_t variable_of(const void* symbol, CUdeviceptr* address, size_t* size) {
  Variable* const variable = find_variable(symbol);
  return variable == nullptr ? cudaErrorInvalidSymbol : to_runtime(variable->resolve(address, size));
}

}  // namespace softgpu::cudart
