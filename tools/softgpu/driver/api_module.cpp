// Modules and libraries.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/modules.hpp"

namespace softgpu::api {
namespace {

CUresult load(CUmodule* module, const void* image) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::string text;
  SOFTGPU_TRY(image_text(image, &text));
  std::shared_ptr<Module> loaded;
  SOFTGPU_TRY(load_module(context, text, &loaded));
  *module = reinterpret_cast<CUmodule>(loaded.get());
  return CUDA_SUCCESS;
}

// The file's bytes and a terminating NUL, as a module image may be text.
CUresult read_image(const char* name, std::string* bytes) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(name, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  return CUDA_SUCCESS;
}

CUresult find_module(CUmodule handle, std::shared_ptr<Module>* module) {
  SOFTGPU_TRY(check_initialised());
  *module = Modules::instance().find(handle);
  return *module == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult find_library(CUlibrary handle, std::shared_ptr<Library>* library) {
  SOFTGPU_TRY(check_initialised());
  *library = Libraries::instance().find(handle);
  return *library == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult load_library(CUlibrary* result, const void* image) {
  SOFTGPU_TRY(check_initialised());
  if (result == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto library = std::make_shared<Library>();
  SOFTGPU_TRY(image_text(image, &library->image_text));
  std::string error;
  library->program = compile(library->image_text, &error);
  if (library->program == nullptr) {
    std::fprintf(stderr, "softgpu: %s\n", error.c_str());
    return CUDA_ERROR_INVALID_PTX;
  }
  for (std::size_t i = 0; i < library->program->kernels().size(); ++i) {
    auto kernel = std::make_shared<Kernel>();
    kernel->library = library;
    kernel->library_handle = reinterpret_cast<CUlibrary>(library.get());
    kernel->index = i;
    library->kernels.push_back(kernel);
    Kernels::instance().add(std::move(kernel));
  }
  *result = Libraries::instance().add(std::move(library));
  return CUDA_SUCCESS;
}

CUresult current_library_module(CUlibrary handle, std::shared_ptr<Module>* module) {
  std::shared_ptr<Library> library;
  SOFTGPU_TRY(find_library(handle, &library));
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  return library_module(*library, context, module);
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* module, const void* image) { return load(module, image); }

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*, void**) {
  return load(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) { return load(module, fatCubin); }

CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  std::string bytes;
  SOFTGPU_TRY(read_image(fname, &bytes));
  return load(module, bytes.c_str());
}

CUresult cuModuleUnload(CUmodule hmod) {
  SOFTGPU_TRY(check_initialised());
  return unload_module(hmod);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  SOFTGPU_TRY(check_initialised());
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  std::shared_ptr<Module> module;
  SOFTGPU_TRY(find_module(hmod, &module));
  if (hfunc == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const FunctionPtr& function : module->functions) {
    if (function->info().name != name) continue;
    *hfunc = reinterpret_cast<CUfunction>(function.get());
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
  std::shared_ptr<Module> module;
  SOFTGPU_TRY(find_module(mod, &module));
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions, CUmodule mod) {
  std::shared_ptr<Module> module;
  SOFTGPU_TRY(find_module(mod, &module));
  if (functions == nullptr && numFunctions != 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < std::min<std::size_t>(numFunctions, module->functions.size()); ++i)
    functions[i] = reinterpret_cast<CUfunction>(module->functions[i].get());
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, std::size_t* bytes, CUmodule hmod, const char* name) {
  std::shared_ptr<Module> module;
  SOFTGPU_TRY(find_module(hmod, &module));
  return name == nullptr ? CUDA_ERROR_INVALID_VALUE : find_global(*module, name, dptr, bytes);
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned int,
                           CUlibraryOption*, void**, unsigned int) {
  return load_library(library, code);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option*, void**, unsigned int,
                               CUlibraryOption*, void**, unsigned int) {
  std::string bytes;
  SOFTGPU_TRY(read_image(fileName, &bytes));
  return load_library(library, bytes.c_str());
}

CUresult cuLibraryUnload(CUlibrary handle) {
  SOFTGPU_TRY(check_initialised());
  const std::shared_ptr<Library> library = Libraries::instance().remove(handle);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& kernel : library->kernels)
    Kernels::instance().remove(reinterpret_cast<CUkernel>(kernel.get()));
  for (const auto& [context, module] : library->modules)
    unload_module(reinterpret_cast<CUmodule>(module.get()));
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary handle, const char* name) {
  std::shared_ptr<Library> library;
  SOFTGPU_TRY(find_library(handle, &library));
  if (pKernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& kernel : library->kernels) {
    if (library->program->kernels()[kernel->index].name != name) continue;
    *pKernel = reinterpret_cast<CUkernel>(kernel.get());
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  std::shared_ptr<Library> library;
  SOFTGPU_TRY(find_library(handle, &library));
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<unsigned>(library->kernels.size());
  return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary handle) {
  std::shared_ptr<Library> library;
  SOFTGPU_TRY(find_library(handle, &library));
  if (kernels == nullptr && numKernels != 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < std::min<std::size_t>(numKernels, library->kernels.size()); ++i)
    kernels[i] = reinterpret_cast<CUkernel>(library->kernels[i].get());
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
  if (pMod == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  SOFTGPU_TRY(current_library_module(library, &module));
  *pMod = reinterpret_cast<CUmodule>(module.get());
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, std::size_t* bytes, CUlibrary library, const char* name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  SOFTGPU_TRY(current_library_module(library, &module));
  return find_global(*module, name, dptr, bytes);
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
  if (pFunc == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (Kernels::instance().find(kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  FunctionPtr function;
  SOFTGPU_TRY(find_function(reinterpret_cast<CUfunction>(kernel), &function));
  *pFunc = reinterpret_cast<CUfunction>(function.get());
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel handle) {
  const auto kernel = Kernels::instance().find(handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (pLib == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pLib = kernel->library_handle;
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
