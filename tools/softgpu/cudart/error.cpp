// The last error, and the errors' names.
#include <algorithm>
#include <iterator>

#include "tools/softgpu/cudart/call.hpp"

namespace softgpu::cudart {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
#define CUDART_ERROR(name, text) {name, #name, text},
#include "tools/softgpu/cudart/errors.inc"
#undef CUDART_ERROR
};

const ErrorText* find(cudaError_t error) {
  const auto* row = std::find_if(std::begin(kErrors), std::end(kErrors),
                                 [&](const ErrorText& text) { return text.error == error; });
  return row == std::end(kErrors) ? nullptr : row;
}

// The context is gone for good; every later call says so again.
bool sticky(cudaError_t error) {
  return error == cudaErrorECCUncorrectable || error == cudaErrorIllegalAddress ||
         error == cudaErrorLaunchTimeout || error == cudaErrorAssert ||
         (error >= cudaErrorHardwareStackError && error <= cudaErrorLaunchFailure);
}

}  // namespace

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess && !sticky(last_error)) last_error = error;
  return error;
}

}  // namespace softgpu::cudart

using namespace softgpu::cudart;

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  if (!sticky(error)) last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* row = find(error);
  return row == nullptr ? "unrecognized error code" : row->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* row = find(error);
  return row == nullptr ? "unrecognized error code" : row->text;
}
