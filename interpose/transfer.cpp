#include "interpose/transfer.hpp"

#include "interpose/process.hpp"

namespace tencache::doors {

const void* pageable_source(const LinearSide& source) noexcept {
  if (source.kind != SideKind::kHost && source.kind != SideKind::kUnified) return nullptr;
  CUmemorytype type{};
  const CUresult known =
      genuine_driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, source.address);
  return known == CUDA_SUCCESS ? nullptr : reinterpret_cast<const void*>(source.address);
}

}  // namespace tencache::doors
