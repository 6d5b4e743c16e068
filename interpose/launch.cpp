// The launches: cuLaunchKernel, cuLaunchKernelEx, cuLaunchCooperativeKernel.
#include "interpose/handlers.gen.hpp"
#include "interpose/kernels.hpp"
#include "interpose/parameters.hpp"
#include "interpose/signature.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors {

namespace {

ParameterReader reader;

// From values, not from a struct of them: this is the launch path, and halves just stored are slow to load as
// wholes.
inline std::uint64_t signature_of(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                  unsigned block_x, unsigned block_y, unsigned block_z) {
  std::uint64_t hash = mix(0, reinterpret_cast<std::uintptr_t>(function));
  hash = mix(hash, (std::uint64_t{grid_y} << 32) | grid_x);
  hash = mix(hash, (std::uint64_t{block_y} << 32) | block_x);
  return mix(hash, (std::uint64_t{block_z} << 32) | grid_z);
}

struct Launch {
  CUfunction function;
  std::uint64_t signature;
  runtime::Stream stream;
  void** parameters;
  void** extra;
};

template <class Call>
CUresult launch_kernel(const Visit& visit, const Launch& launch, const Call& call) {
  PointerList pointers;
  const bool known = reader.read(launch.function, launch.parameters, launch.extra, visit->arena(), &pointers);
  runtime::Access access{};
  access.kind = runtime::AccessKind::kLaunch;
  access.stream = launch.stream;
  access.function = launch.function;
  access.signature = launch.signature;
  access.opaque = !known;
  access.pointers = pointers.pointers();
  return visit.access(access, call);
}

}  // namespace

void start_reading_kernels(const Driver& driver) noexcept {
  reader.start({driver.cuFuncGetParamInfo, driver.cuKernelGetParamInfo});
}

void forget_kernels() noexcept { reader.forget_layouts(); }

bool read_kernel_parameters(CUfunction function, void** parameters, void** extra, const runtime::Arena& arena,
                            PointerList* pointers) noexcept {
  return reader.read(function, parameters, extra, arena, pointers, ParameterReader::Step::kCareful);
}

namespace handlers {

CUresult cuLaunchKernel(const Genuine<decltype(&::cuLaunchKernel)>& driver, CUfunction f, unsigned grid_x,
                        unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void** extra) noexcept {
  const Visit visit;
  const auto call = [&] {
    return driver(f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,
                  extra);
  };
  if (!visit) return call();
  const auto signature = signature_of(f, grid_x, grid_y, grid_z, block_x, block_y, block_z);
  return launch_kernel(visit, {f, signature, driver.stream(stream), parameters, extra}, call);
}

CUresult cuLaunchKernelEx(const Genuine<decltype(&::cuLaunchKernelEx)>& driver, const CUlaunchConfig* config,
                          CUfunction f, void** parameters, void** extra) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(config, f, parameters, extra); };
  if (!visit || config == nullptr) return call();
  const auto signature = signature_of(f, config->gridDimX, config->gridDimY, config->gridDimZ,
                                      config->blockDimX, config->blockDimY, config->blockDimZ);
  return launch_kernel(visit, {f, signature, driver.stream(config->hStream), parameters, extra}, call);
}

CUresult cuLaunchCooperativeKernel(const Genuine<decltype(&::cuLaunchCooperativeKernel)>& driver,
                                   CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, CUstream stream, void** parameters) noexcept {
  const Visit visit;
  const auto call = [&] {
    return driver(f, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters);
  };
  if (!visit) return call();
  const auto signature = signature_of(f, grid_x, grid_y, grid_z, block_x, block_y, block_z);
  return launch_kernel(visit, {f, signature, driver.stream(stream), parameters, nullptr}, call);
}

}  // namespace handlers
}  // namespace tencache::doors
