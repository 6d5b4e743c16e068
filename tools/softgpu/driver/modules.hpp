// Modules, libraries and their functions. Called by the module, library, kernel, function and launch entry
// points. Thread rule: immutable once loaded, but for function attributes (atomics) and lazy loading (a
// lock). Failure rule: CUresult; why an image cannot be loaded goes to stderr, once per load.
#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/softgpu/driver/context.hpp"
#include "tools/softgpu/engine/engine.hpp"

namespace softgpu {

struct Module;

struct Function {
  std::weak_ptr<Module> module;
  CUmodule module_handle = nullptr;
  CUcontext context = nullptr;
  std::shared_ptr<Program> program;
  std::shared_ptr<Fate> fate;
  std::size_t kernel = 0;
  std::atomic<int> most_dynamic_shared{48 * 1024};

  [[nodiscard]] const KernelInfo& info() const { return program->kernels()[kernel]; }
};
using FunctionPtr = std::shared_ptr<Function>;
using Functions = Registry<Function, CUfunction>;

struct Module {
  CUcontext context = nullptr;
  std::shared_ptr<Program> program;
  std::vector<std::uint64_t> global_addresses;
  std::vector<FunctionPtr> functions;  // as many as the program has kernels
};
using Modules = Registry<Module, CUmodule>;

struct Kernel;
struct Library {
  std::string image_text;            // the PTX
  std::shared_ptr<Program> program;  // for names and parameters, bound to no context
  std::mutex mutex;
  std::map<CUcontext, std::shared_ptr<Module>> modules;
  std::vector<std::shared_ptr<Kernel>> kernels;
};
using Libraries = Registry<Library, CUlibrary>;

struct Kernel {
  std::weak_ptr<Library> library;
  CUlibrary library_handle = nullptr;
  std::size_t index = 0;
};
using Kernels = Registry<Kernel, CUkernel>;

// The PTX in an image: text, fat binary or its wrapper.
CUresult image_text(const void* image, std::string* text);
CUresult load_module(const ContextPtr& context, const std::string& ptx, std::shared_ptr<Module>* module);
CUresult unload_module(CUmodule handle);
// The library's module in a context, loaded on first use.
CUresult library_module(Library& library, const ContextPtr& context, std::shared_ptr<Module>* module);

// A CUfunction, or a CUkernel given as one.
CUresult find_function(CUfunction handle, FunctionPtr* function);
CUresult find_global(const Module& module, const char* name, CUdeviceptr* address, std::size_t* bytes);

}  // namespace softgpu
