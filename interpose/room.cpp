// Memory of the driver's own whose size is known: where it runs out, that much room is made.
#include <algorithm>

#include "interpose/handlers.gen.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

namespace {

std::size_t bytes_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    default:
      return 4;
  }
}

// About: the driver rounds, and packs some formats.
Bytes size_of(const CUDA_ARRAY3D_DESCRIPTOR& array) {
  const std::size_t rows = std::max<std::size_t>(array.Height, 1) * std::max<std::size_t>(array.Depth, 1);
  return Bytes(array.Width * rows * array.NumChannels * bytes_of(array.Format));
}

}  // namespace

CUresult cuMemCreate(const Genuine<decltype(&::cuMemCreate)>& driver, CUmemGenericAllocationHandle* handle,
                     std::size_t size, const CUmemAllocationProp* properties,
                     unsigned long long flags) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(handle, size, properties, flags); };
  const bool on_device = properties != nullptr && properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  return on_device ? visit.with_room(call, Bytes(size)) : call();
}

CUresult cuMemAllocManaged(const Genuine<decltype(&::cuMemAllocManaged)>& driver, CUdeviceptr* dptr,
                           std::size_t size, unsigned flags) noexcept {
  const Visit visit;
  return visit.with_room([&] { return driver(dptr, size, flags); }, Bytes(size));
}

CUresult cuArrayCreate(const Genuine<decltype(&::cuArrayCreate_v2)>& driver, CUarray* array,
                       const CUDA_ARRAY_DESCRIPTOR* description) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(array, description); };
  if (description == nullptr) return call();
  const CUDA_ARRAY3D_DESCRIPTOR flat{description->Width,  description->Height,      0,
                                     description->Format, description->NumChannels, 0};
  return visit.with_room(call, size_of(flat));
}

CUresult cuArray3DCreate(const Genuine<decltype(&::cuArray3DCreate_v2)>& driver, CUarray* array,
                         const CUDA_ARRAY3D_DESCRIPTOR* description) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(array, description); };
  return description == nullptr ? call() : visit.with_room(call, size_of(*description));
}

// All levels together are less than twice the first.
CUresult cuMipmappedArrayCreate(const Genuine<decltype(&::cuMipmappedArrayCreate)>& driver,
                                CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned levels) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(array, description, levels); };
  return description == nullptr ? call() : visit.with_room(call, size_of(*description) * 2);
}

}  // namespace tencache::doors::handlers
