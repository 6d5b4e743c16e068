// The answers where no driver can be found. Without us the program's dlopen would have failed; with us it
// succeeded, so the calls say what a driver on a machine without a device says.
#include <cuda.h>

#include <string_view>

#include "interpose/preload.hpp"

namespace tencache::interpose {

namespace {

CUresult init(unsigned) { return CUDA_ERROR_NO_DEVICE; }
CUresult not_initialized() { return CUDA_ERROR_NOT_INITIALIZED; }
CUresult not_found() { return CUDA_ERROR_NOT_FOUND; }

CUresult version(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = 0;
  return CUDA_SUCCESS;
}

CUresult error_name(CUresult, const char** name) {
  *name = "CUDA_ERROR_NO_DEVICE";
  return CUDA_SUCCESS;
}

CUresult error_string(CUresult, const char** text) {
  *text = "no CUDA-capable device is detected";
  return CUDA_SUCCESS;
}

struct Answer {
  std::string_view symbol;
  void* function;
};

const Answer kAnswers[] = {
    {"cuInit", reinterpret_cast<void*>(&init)},
    {"cuDriverGetVersion", reinterpret_cast<void*>(&version)},
    {"cuGetErrorName", reinterpret_cast<void*>(&error_name)},
    {"cuGetErrorString", reinterpret_cast<void*>(&error_string)},
};

}  // namespace

void* answer_without_driver(std::size_t index) noexcept {
  for (const Answer& answer : kAnswers) {
    if (answer.symbol == kEntryPoints[index].symbol) return answer.function;
  }
  return reinterpret_cast<void*>(&not_initialized);
}

void* answer_of_missing_symbol() noexcept { return reinterpret_cast<void*>(&not_found); }

}  // namespace tencache::interpose
