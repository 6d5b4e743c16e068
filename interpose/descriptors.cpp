// Descriptors that name memory of ours: textures over linear memory, tensor maps. A kernel is given the
// descriptor and no address, so what it names may be touched by every kernel while it lives.
#include <cstring>
#include <map>
#include <mutex>

#include "interpose/handlers.gen.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

namespace {

// Descriptor -> what it names. Both left as they are at the end of the process, when other threads may still
// be in a door.
template <class Handle>
class Named {
 public:
  // The descriptor names another address from now on; 0: none of ours.
  void set(const Visit& visit, Handle handle, CUdeviceptr address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Held fresh{address, address == 0 ? 0 : visit->hold(address)};
    Held& named = addresses_[handle];
    if (named.address != 0) visit->let_go(named.address, named.hold);
    named = fresh;
    if (address == 0) addresses_.erase(handle);
  }

 private:
  struct Held {
    CUdeviceptr address;
    std::uint64_t hold;
  };
  std::mutex mutex_;
  std::map<Handle, Held> addresses_;
};

template <class Handle>
Named<Handle>& named() {
  static auto& lasting = *new Named<Handle>;
  return lasting;
}

CUdeviceptr if_ours(const Visit& visit, CUdeviceptr address) {
  const runtime::Arena arena = visit->arena();
  return address - arena.base < arena.size ? address : 0;
}

CUdeviceptr address_of(const CUDA_RESOURCE_DESC& resource) {
  if (resource.resType == CU_RESOURCE_TYPE_LINEAR) return resource.res.linear.devPtr;
  if (resource.resType == CU_RESOURCE_TYPE_PITCH2D) return resource.res.pitch2D.devPtr;
  return 0;
}

template <class Call>
CUresult set_reference(CUtexref reference, CUdeviceptr address, const Call& call) {
  const Visit visit;
  const CUresult result = visit.with_room(call);
  if (visit && result == CUDA_SUCCESS)
    named<CUtexref>().set(visit, reference, address == 0 ? 0 : if_ours(visit, address));
  return result;
}

// Where the driver keeps the address in the map as it is, it is found like any other in a launch's parameters
// or in memory. Where it does not, every kernel may touch what the map names, for as long as that lives.
bool shows_address(const CUtensorMap& map, const void* address) {
  for (std::size_t at = 0; at < sizeof(map.opaque); at += sizeof(address)) {
    if (std::memcmp(reinterpret_cast<const char*>(map.opaque) + at, &address, sizeof(address)) == 0)
      return true;
  }
  return false;
}

template <class Call>
CUresult encode(const CUtensorMap* map, const void* address, const Call& call) {
  const Visit visit;
  const CUresult result = visit.with_room(call);
  if (!visit || result != CUDA_SUCCESS) return result;
  const CUdeviceptr ours = if_ours(visit, reinterpret_cast<CUdeviceptr>(address));
  if (ours != 0 && !shows_address(*map, address)) visit->hold_until_freed(ours);
  return result;
}

}  // namespace

CUresult cuTexObjectCreate(const Genuine<decltype(&::cuTexObjectCreate)>& driver, CUtexObject* texture,
                           const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* description,
                           const CUDA_RESOURCE_VIEW_DESC* view) noexcept {
  const Visit visit;
  const CUresult result = visit.with_room([&] { return driver(texture, resource, description, view); });
  if (!visit || result != CUDA_SUCCESS) return result;
  const CUdeviceptr address = if_ours(visit, address_of(*resource));
  if (address != 0) named<CUtexObject>().set(visit, *texture, address);
  return result;
}

CUresult cuTexObjectDestroy(const Genuine<decltype(&::cuTexObjectDestroy)>& driver,
                            CUtexObject texture) noexcept {
  const Visit visit;
  const CUresult result = driver(texture);
  if (visit && result == CUDA_SUCCESS) named<CUtexObject>().set(visit, texture, 0);
  return result;
}

CUresult cuTexRefSetAddress(const Genuine<decltype(&::cuTexRefSetAddress_v2)>& driver, std::size_t* offset,
                            CUtexref reference, CUdeviceptr address, std::size_t size) noexcept {
  return set_reference(reference, address, [&] { return driver(offset, reference, address, size); });
}

CUresult cuTexRefSetAddress2D(const Genuine<decltype(&::cuTexRefSetAddress2D_v3)>& driver, CUtexref reference,
                              const CUDA_ARRAY_DESCRIPTOR* description, CUdeviceptr address,
                              std::size_t pitch) noexcept {
  return set_reference(reference, address, [&] { return driver(reference, description, address, pitch); });
}

CUresult cuTexRefSetArray(const Genuine<decltype(&::cuTexRefSetArray)>& driver, CUtexref reference,
                          CUarray array, unsigned flags) noexcept {
  return set_reference(reference, 0, [&] { return driver(reference, array, flags); });
}

CUresult cuTexRefSetMipmappedArray(const Genuine<decltype(&::cuTexRefSetMipmappedArray)>& driver,
                                   CUtexref reference, CUmipmappedArray array, unsigned flags) noexcept {
  return set_reference(reference, 0, [&] { return driver(reference, array, flags); });
}

CUresult cuTensorMapEncodeTiled(const Genuine<decltype(&::cuTensorMapEncodeTiled)>& driver, CUtensorMap* map,
                                CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) noexcept {
  return encode(map, address, [&] {
    return driver(map, type, rank, address, sizes, strides, box, element_strides, interleave, swizzle,
                  promotion, fill);
  });
}

CUresult cuTensorMapEncodeIm2col(const Genuine<decltype(&::cuTensorMapEncodeIm2col)>& driver,
                                 CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* sizes, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill fill) noexcept {
  return encode(map, address, [&] {
    return driver(map, type, rank, address, sizes, strides, lower, upper, channels, pixels, element_strides,
                  interleave, swizzle, promotion, fill);
  });
}

CUresult cuTensorMapEncodeIm2colWide(const Genuine<decltype(&::cuTensorMapEncodeIm2colWide)>& driver,
                                     CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                     void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                     int lower, int upper, cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill) noexcept {
  return encode(map, address, [&] {
    return driver(map, type, rank, address, sizes, strides, lower, upper, channels, pixels, element_strides,
                  interleave, mode, swizzle, promotion, fill);
  });
}

CUresult cuTensorMapReplaceAddress(const Genuine<decltype(&::cuTensorMapReplaceAddress)>& driver,
                                   CUtensorMap* map, void* address) noexcept {
  return encode(map, address, [&] { return driver(map, address); });
}

}  // namespace tencache::doors::handlers
