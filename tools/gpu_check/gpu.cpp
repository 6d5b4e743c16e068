#include "tools/gpu_check/gpu.hpp"

#include <algorithm>

#include "tools/gpu_check/kernels.hpp"

namespace gpu_check {

Gpu::Gpu(const std::string& question, const AnswerWriter& out, Scale scale, const char* driver)
    : scale(scale), question_(question), out_(out) {
  if (const std::string problem = api.open(driver); !problem.empty()) {
    text("stopped", problem);
    _exit(0);
  }
  open_device();
  find_granularity();
}

void Gpu::open_device() {
  Context context = nullptr;
  must("cuInit", api.cuInit(0));
  must("cuDevicePrimaryCtxRetain", api.cuDevicePrimaryCtxRetain(&context, 0));
  must("cuCtxSetCurrent", api.cuCtxSetCurrent(context));
  multiprocessors = static_cast<unsigned>(std::max(attribute(kMultiprocessors), 1));
}

void Gpu::find_granularity() {
  AllocationProperties properties{};
  properties.type = kPinned;
  properties.location = on_device();
  must("cuMemGetAllocationGranularity",
       api.cuMemGetAllocationGranularity(&granularity, &properties, kGranularityBest));
  must("cuMemGetAllocationGranularity",
       api.cuMemGetAllocationGranularity(&least_granularity, &properties, kGranularityLeast));
}

void Gpu::number(const std::string& name, double value, const std::string& unit) const {
  out_.number(question_ + "." + name, value, unit);
}
void Gpu::text(const std::string& name, const std::string& text) const {
  out_.text(question_ + "." + name, text);
}

void Gpu::must(const char* call, Status status) const {
  if (status == 0) return;
  text("stopped", std::string(call).append(": ").append(api.name_of(status)));
  _exit(0);
}

std::string Gpu::verdict(Status status) const {
  return status == 0 ? std::string("works") : api.name_of(status);
}

Stream Gpu::new_stream() const {
  Stream stream = nullptr;
  must("cuStreamCreate", api.cuStreamCreate(&stream, kNonBlocking));
  return stream;
}

Function Gpu::function(const char* name) const {
  // At the first use, for a driver without its PTX compiler can still answer what needs no kernel.
  if (module_ == nullptr) must("cuModuleLoadData", api.cuModuleLoadData(&module_, kKernels));
  Function function = nullptr;
  must("cuModuleGetFunction", api.cuModuleGetFunction(&function, module_, name));
  return function;
}

Status Gpu::try_launch(Function function, unsigned blocks, unsigned threads, Stream stream,
                       std::vector<std::uint64_t> arguments) const {
  std::array<void*, 8> pointers{};
  for (std::size_t i = 0; i < arguments.size(); ++i) pointers[i] = &arguments[i];
  return api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers.data(), nullptr);
}

void Gpu::launch(Function function, unsigned blocks, unsigned threads, Stream stream,
                 std::vector<std::uint64_t> arguments) const {
  must("cuLaunchKernel", try_launch(function, blocks, threads, stream, std::move(arguments)));
}

void Gpu::spin(Stream stream, std::uint64_t nanoseconds) const {
  launch(function("spin"), 1, 1, stream, {nanoseconds});
}

std::size_t Gpu::pass_size(std::size_t bytes) const {
  const std::size_t turn =
      std::size_t{multiprocessors} * kBlocksPerMultiprocessor * kPassThreads * kBytesPerThreadTurn;
  return std::max<std::size_t>(bytes / turn, 1) * turn;
}

void Gpu::pass(Function function, Address buffer, std::size_t bytes, Address out, Stream stream) const {
  launch(function, multiprocessors * kBlocksPerMultiprocessor, kPassThreads, stream,
         {buffer, bytes / 16, out});
}

Status Gpu::try_create(Location location, std::size_t bytes, Handle* handle) const {
  AllocationProperties properties{};
  properties.type = kPinned;
  properties.location = location;
  return api.cuMemCreate(handle, bytes, &properties, 0);
}

Handle Gpu::create(Location location, std::size_t bytes) const {
  Handle handle = 0;
  must("cuMemCreate", try_create(location, bytes, &handle));
  return handle;
}

Address Gpu::reserve(std::size_t bytes) const {
  Address address = 0;
  must("cuMemAddressReserve", api.cuMemAddressReserve(&address, bytes, 0, 0, 0));
  return address;
}

Status Gpu::try_access(Address address, std::size_t bytes, Location from) const {
  const AccessDescription access{from, kReadWrite};
  return api.cuMemSetAccess(address, bytes, &access, 1);
}

void Gpu::map(Address address, std::size_t bytes, Handle handle) const {
  must("cuMemMap", api.cuMemMap(address, bytes, 0, handle, 0));
  must("cuMemSetAccess", try_access(address, bytes, on_device()));
}

Address Gpu::allocate(std::size_t bytes) const {
  Address address = 0;
  must("cuMemAlloc", api.cuMemAlloc_v2(&address, bytes));
  return address;
}

unsigned char* Gpu::pinned(std::size_t bytes) const {
  void* memory = nullptr;
  must("cuMemHostAlloc", api.cuMemHostAlloc(&memory, bytes, 0));
  return static_cast<unsigned char*>(memory);
}

std::size_t Gpu::free_memory() const {
  std::size_t free_bytes = 0, total = 0;
  must("cuMemGetInfo", api.cuMemGetInfo_v2(&free_bytes, &total));
  return free_bytes;
}

int Gpu::attribute(int which) const {
  int value = 0;
  return api.cuDeviceGetAttribute(&value, which, 0) == 0 ? value : -1;
}

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(last * percent / 100)];
}

double median(std::vector<double> values) { return percentile(std::move(values), 50); }

std::string size_text(std::size_t bytes) { return std::to_string(bytes / kMiB) + "MiB"; }

}  // namespace gpu_check
