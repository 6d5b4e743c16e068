// cuGetProcAddress: the genuine one answers, and what it answered decides. Substituted by address, never by
// name, version or suffix, so that every rule of the driver's about those holds by itself.
#include "interpose/genuine_driver.hpp"
#include "interpose/handlers.gen.hpp"
#include "src/driver/inside.hpp"

namespace tencache::doors::handlers {

namespace {

void substitute(void** function) {
  if (function == nullptr || *function == nullptr) return;
  if (const auto index = interpose::entry_point_at(*function)) *function = interpose::entry_point(*index);
}

}  // namespace

CUresult cuGetProcAddress(const Genuine<decltype(&::cuGetProcAddress)>& driver, const char* symbol,
                          void** function, int version, cuuint64_t flags) noexcept {
  const bool from_program = inside_depth == 0;
  const Inside inside;
  const CUresult result = driver(symbol, function, version, flags);
  if (from_program && result == CUDA_SUCCESS) substitute(function);
  return result;
}

CUresult cuGetProcAddress(const Genuine<decltype(&::cuGetProcAddress_v2)>& driver, const char* symbol,
                          void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) noexcept {
  const bool from_program = inside_depth == 0;
  const Inside inside;
  const CUresult result = driver(symbol, function, version, flags, status);
  if (from_program && result == CUDA_SUCCESS) substitute(function);
  return result;
}

}  // namespace tencache::doors::handlers
