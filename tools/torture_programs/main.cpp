// torture-program: performs the programs of a range of seeds and prints what they saw.
//   torture-program --seed S [--programs N] [--operations N] [--live BYTES] [--largest BYTES] [--named BYTES]
//   [--drop a,b,c] [--without KINDS] [--list]
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "tools/torture_programs/coverage.hpp"
#include "tools/torture_programs/executor.hpp"

extern "C" const char torture_kernels_ptx[];

namespace {

using namespace torture;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint32_t programs = 1;
  Shape shape;
  std::vector<std::uint32_t> dropped;
  std::vector<std::string_view> without;  // beginnings of names of kinds
  bool list = false;
};

void read_dropped(const char* text, std::vector<std::uint32_t>* dropped) {
  while (*text != '\0') {
    char* end = nullptr;
    dropped->push_back(static_cast<std::uint32_t>(std::strtoul(text, &end, 10)));
    text = *end == ',' ? end + 1 : end;
  }
}

bool read_arguments(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--list") == 0) {
      arguments->list = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const char* name = argv[i];
    const char* value = argv[++i];
    const auto number = static_cast<std::uint32_t>(std::strtoull(value, nullptr, 10));
    if (std::strcmp(name, "--seed") == 0)
      arguments->seed = std::strtoull(value, nullptr, 10);
    else if (std::strcmp(name, "--programs") == 0)
      arguments->programs = number;
    else if (std::strcmp(name, "--operations") == 0)
      arguments->shape.operations = number;
    else if (std::strcmp(name, "--live") == 0)
      arguments->shape.live_bytes = number;
    else if (std::strcmp(name, "--largest") == 0)
      arguments->shape.largest = number;
    else if (std::strcmp(name, "--named") == 0)
      arguments->shape.named = number;
    else if (std::strcmp(name, "--drop") == 0)
      read_dropped(value, &arguments->dropped);
    else if (std::strcmp(name, "--without") == 0)
      arguments->without.emplace_back(value);
    else
      return false;
  }
  return true;
}

bool load_kernels(Kernels* kernels) {
  if (cuModuleLoadData(&kernels->module, torture_kernels_ptx) != CUDA_SUCCESS) return false;
  const struct {
    const char* name;
    CUfunction* function;
  } wanted[] = {{"fill", &kernels->fill},
                {"mix", &kernels->mix},
                {"mix_struct", &kernels->mix_struct},
                {"mix_packed", &kernels->mix_packed},
                {"make_table", &kernels->make_table},
                {"copy_table", &kernels->copy_table},
                {"gather", &kernels->gather},
                {"scatter", &kernels->scatter},
                {"block_sums", &kernels->block_sums},
                {"histogram", &kernels->histogram},
                {"add_device_symbol", &kernels->add_device_symbol},
                {"add_constant_symbol", &kernels->add_constant_symbol}};
  for (const auto& one : wanted)
    if (cuModuleGetFunction(one.function, kernels->module, one.name) != CUDA_SUCCESS) return false;
  return true;
}

bool wanted(const Arguments& arguments, const Operation& operation) {
  const std::string_view name = name_of(operation.kind);
  const bool without = std::any_of(arguments.without.begin(), arguments.without.end(),
                                   [name](std::string_view start) { return name.starts_with(start); });
  return !without && std::count(arguments.dropped.begin(), arguments.dropped.end(), operation.number) == 0;
}

void run_program(const Arguments& arguments, std::uint64_t seed, CUcontext context, const Kernels& kernels) {
  std::printf("program %llu\n", static_cast<unsigned long long>(seed));
  Executor executor(context, kernels, arguments.shape);
  for (const Operation& operation : generate(seed, arguments.shape)) {
    if (wanted(arguments, operation)) executor.perform(operation);
  }
  executor.finish();
  std::fputs(executor.output().c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments(argc, argv, &arguments)) {
    std::fputs(
        "usage: torture-program --seed S [--programs N] [--operations N] [--live BYTES] [--largest BYTES]"
        " [--named BYTES] [--drop a,b,c] [--without KINDS] [--list]\n",
        stderr);
    return 2;
  }
  if (arguments.list) {
    for (const Operation& operation : generate(arguments.seed, arguments.shape))
      std::printf("%u %.*s\n", operation.number, static_cast<int>(name_of(operation.kind).size()),
                  name_of(operation.kind).data());
    return 0;
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
  Kernels kernels;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS || !load_kernels(&kernels)) {
    std::fputs("torture-program: no usable device\n", stderr);
    return 1;
  }
  for (std::uint32_t p = 0; p < arguments.programs; ++p)
    run_program(arguments, arguments.seed + p, context, kernels);
  std::printf("end %d\n", static_cast<int>(cuCtxSynchronize()));
  print_coverage();
  return 0;
}
