#include "tools/softgpu/driver/modules.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tools/softgpu/driver/memory.hpp"

namespace softgpu {
namespace {

// Writes initial values straight into device memory: a module is loaded before anything can use it.
void write_initial(std::uint64_t address, std::span<const std::uint8_t> bytes, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    std::uint64_t run = 0;
    std::uint8_t* target = machine().space.translate(address + done, true, &run);
    run = std::min(run, size - done);
    std::memset(target, 0, run);
    if (done < bytes.size())
      std::memcpy(target, bytes.data() + done, std::min<std::uint64_t>(run, bytes.size() - done));
    done += run;
  }
}

void free_globals(Module& module) {
  for (const std::uint64_t address : module.global_addresses) release_memory(address);
  module.global_addresses.clear();
}

CUresult place_globals(const ContextPtr& context, Module& module) {
  for (const GlobalInfo& global : module.program->globals()) {
    std::uint64_t address = 0;
    const CUresult placed = allocate_device(context->device.ordinal, module.context, Range::Kind::kGlobal,
                                            std::max<std::uint64_t>(global.size, 1), &address);
    if (placed != CUDA_SUCCESS) {
      free_globals(module);
      return placed;
    }
    module.global_addresses.push_back(address);
  }
  module.program->bind(module.global_addresses);
  for (std::size_t i = 0; i < module.global_addresses.size(); ++i)
    write_initial(module.global_addresses[i], module.program->initial_bytes(i),
                  module.program->globals()[i].size);
  return CUDA_SUCCESS;
}

CUresult compile_text(const std::string& ptx, std::shared_ptr<Program>* program) {
  std::string error;
  *program = compile(ptx, &error);
  if (*program != nullptr) return CUDA_SUCCESS;
  std::fprintf(stderr, "softgpu: %s\n", error.c_str());
  return CUDA_ERROR_INVALID_PTX;
}

}  // namespace

CUresult load_module(const ContextPtr& context, const std::string& ptx, std::shared_ptr<Module>* result) {
  auto module = std::make_shared<Module>();
  module->context = reinterpret_cast<CUcontext>(context.get());
  SOFTGPU_TRY(compile_text(ptx, &module->program));
  SOFTGPU_TRY(place_globals(context, *module));
  for (std::size_t i = 0; i < module->program->kernels().size(); ++i) {
    auto function = std::make_shared<Function>();
    function->module = module;
    function->module_handle = reinterpret_cast<CUmodule>(module.get());
    function->program = module->program;
    function->context = module->context;
    function->fate = context->fate;
    function->kernel = i;
    module->functions.push_back(function);
    Functions::instance().add(std::move(function));
  }
  Modules::instance().add(module);
  *result = std::move(module);
  return CUDA_SUCCESS;
}

CUresult unload_module(CUmodule handle) {
  const std::shared_ptr<Module> module = Modules::instance().remove(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const FunctionPtr& function : module->functions)
    Functions::instance().remove(reinterpret_cast<CUfunction>(function.get()));
  if (const ContextPtr context = Contexts::instance().find(module->context))
    machine().scheduler.wait_group(*context->group);
  free_globals(*module);
  return CUDA_SUCCESS;
}

void release_modules(CUcontext context) {
  const auto gone =
      Modules::instance().remove_if([&](const Module& module) { return module.context == context; });
  for (const auto& module : gone)
    for (const FunctionPtr& function : module->functions)
      Functions::instance().remove(reinterpret_cast<CUfunction>(function.get()));
}

CUresult library_module(Library& library, const ContextPtr& context, std::shared_ptr<Module>* module) {
  const std::lock_guard lock(library.mutex);
  std::shared_ptr<Module>& loaded = library.modules[reinterpret_cast<CUcontext>(context.get())];
  // A context that is gone took its module along; a new one may have its handle.
  const auto live = Modules::instance().find(reinterpret_cast<CUmodule>(loaded.get()));
  if (live == nullptr) SOFTGPU_TRY(load_module(context, library.image_text, &loaded));
  *module = loaded;
  return CUDA_SUCCESS;
}

CUresult find_function(CUfunction handle, FunctionPtr* function) {
  *function = Functions::instance().find(handle);
  if (*function != nullptr) return CUDA_SUCCESS;
  const auto kernel = Kernels::instance().find(reinterpret_cast<CUkernel>(handle));
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto library = kernel->library.lock();
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  std::shared_ptr<Module> module;
  SOFTGPU_TRY(library_module(*library, context, &module));
  *function = module->functions[kernel->index];
  return CUDA_SUCCESS;
}

CUresult find_global(const Module& module, const char* name, CUdeviceptr* address, std::size_t* bytes) {
  const auto globals = module.program->globals();
  for (std::size_t i = 0; i < globals.size(); ++i) {
    if (globals[i].name != name) continue;
    if (address != nullptr) *address = module.global_addresses[i];
    if (bytes != nullptr) *bytes = globals[i].size;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace softgpu
