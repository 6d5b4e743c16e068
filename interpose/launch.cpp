// The launches: cuLaunchKernel, cuLaunchKernelEx, cuLaunchCooperativeKernel.
#include <array>

#include "interpose/handlers.gen.hpp"
#include "interpose/kernels.hpp"
#include "interpose/parameters.hpp"
#include "interpose/signature.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors {

namespace {

ParameterReader reader;

using Dimensions = std::array<unsigned, 3>;

std::uint64_t signature_of(CUfunction function, const Dimensions& grid, const Dimensions& block) {
  std::uint64_t hash = mix(0, reinterpret_cast<std::uintptr_t>(function));
  hash = mix(hash, (std::uint64_t{grid[1]} << 32) | grid[0]);
  hash = mix(hash, (std::uint64_t{block[1]} << 32) | block[0]);
  return mix(hash, (std::uint64_t{block[2]} << 32) | grid[2]);
}

struct Launch {
  CUfunction function;
  Dimensions grid;
  Dimensions block;
  runtime::Stream stream;
  void** parameters;
  void** extra;
};

template <class Call>
CUresult launch_kernel(const Visit& visit, const Launch& launch, const Call& call) {
  PointerList pointers;
  const bool known = reader.read(launch.function, launch.parameters, launch.extra, visit->arena(), &pointers);
  const auto describe = [&] {
    runtime::Access access{};
    access.kind = runtime::AccessKind::kLaunch;
    access.stream = launch.stream;
    access.function = launch.function;
    access.signature = signature_of(launch.function, launch.grid, launch.block);
    access.opaque = !known;
    access.pointers = pointers.pointers();
    return access;
  };
  if (!known) return visit.access(describe(), call);
  return visit.access_light(launch.stream, pointers.pointers(), describe, call);
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
  return launch_kernel(
      visit,
      {f, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, driver.stream(stream), parameters, extra},
      call);
}

CUresult cuLaunchKernelEx(const Genuine<decltype(&::cuLaunchKernelEx)>& driver, const CUlaunchConfig* config,
                          CUfunction f, void** parameters, void** extra) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(config, f, parameters, extra); };
  if (!visit || config == nullptr) return call();
  return launch_kernel(visit,
                       {f,
                        {config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        driver.stream(config->hStream),
                        parameters,
                        extra},
                       call);
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
  return launch_kernel(
      visit,
      {f, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, driver.stream(stream), parameters, nullptr},
      call);
}

}  // namespace handlers
}  // namespace tencache::doors
