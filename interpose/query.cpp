// The questions: how much memory there is, and what an address is.
#include "interpose/handlers.gen.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

CUresult cuMemGetInfo(const Genuine<decltype(&::cuMemGetInfo_v2)>& driver, std::size_t* free_bytes,
                      std::size_t* total_bytes) noexcept {
  const Visit visit;
  if (visit && visit->memory_info(free_bytes, total_bytes)) return CUDA_SUCCESS;
  return driver(free_bytes, total_bytes);
}

CUresult cuDeviceTotalMem(const Genuine<decltype(&::cuDeviceTotalMem_v2)>& driver, std::size_t* bytes,
                          CUdevice device) noexcept {
  const Visit visit;
  if (visit && bytes != nullptr && visit->total_memory(device, bytes)) return CUDA_SUCCESS;
  return driver(bytes, device);
}

CUresult cuMemGetAddressRange(const Genuine<decltype(&::cuMemGetAddressRange_v2)>& driver, CUdeviceptr* base,
                              std::size_t* size, CUdeviceptr dptr) noexcept {
  const Visit visit;
  if (visit && visit->address_range(dptr, base, size)) return CUDA_SUCCESS;
  return driver(base, size, dptr);
}

CUresult cuPointerGetAttribute(const Genuine<decltype(&::cuPointerGetAttribute)>& driver, void* data,
                               CUpointer_attribute attribute, CUdeviceptr ptr) noexcept {
  const Visit visit;
  CUresult result;
  if (visit && visit->pointer_attribute(data, attribute, ptr, &result)) return result;
  return driver(data, attribute, ptr);
}

CUresult cuPointerGetAttributes(const Genuine<decltype(&::cuPointerGetAttributes)>& driver, unsigned count,
                                CUpointer_attribute* attributes, void** data, CUdeviceptr ptr) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(count, attributes, data, ptr); };
  if (!visit || attributes == nullptr || data == nullptr) return call();
  // Whatever the driver refuses, it refuses as one call; of what is ours the driver knows less than we do.
  const CUresult result = call();
  if (result != CUDA_SUCCESS) return result;
  for (unsigned i = 0; i < count; ++i) {
    CUresult of_one;
    const bool ours = visit->pointer_attribute(data[i], attributes[i], ptr, &of_one);
    // In this form an attribute that the memory has not is no error: it gets what an unknown address gets.
    if (ours && of_one != CUDA_SUCCESS) driver(1, &attributes[i], &data[i], 0);
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const Genuine<decltype(&::cuPointerSetAttribute)>& driver, const void* value,
                               CUpointer_attribute attribute, CUdeviceptr ptr) noexcept {
  const Visit visit;
  CUresult result;
  if (visit && visit->set_pointer_attribute(value, attribute, ptr, &result)) return result;
  return driver(value, attribute, ptr);
}

}  // namespace tencache::doors::handlers
