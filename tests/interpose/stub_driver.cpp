#include "tests/interpose/stub_driver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

#define STUB_EXPORT extern "C" __attribute__((visibility("default")))

namespace stub {

namespace {

constexpr unsigned kMostRequests = 32768;
#ifdef STUB_NEWEST_VERSION
constexpr int kNewest = STUB_NEWEST_VERSION;
#else
constexpr int kNewest = 13000;
#endif

std::array<std::atomic<unsigned>, kFormCount> calls{};
std::atomic<unsigned> all_calls{0};
std::array<std::atomic<CUresult>, kFormCount> results{};
std::array<Request, kMostRequests> requests{};
unsigned request_count = 0;
std::mutex requesting;
std::atomic<void (*)()> in_init{nullptr};

unsigned index_of(std::string_view symbol) {
  for (unsigned i = 0; i < kFormCount; ++i) {
    if (kForms[i].symbol == symbol) return i;
  }
  return kFormCount;
}

CUresult called_by_name(std::string_view symbol) { return called(index_of(symbol)); }

// The newest form not newer than the version asked for; with the flag, a per-thread form if there is one.
const Form* choose(std::string_view base, int version, bool per_thread) {
  const Form* best = nullptr;
  for (const Form& form : kForms) {
    if (form.base != base || form.per_thread_default_stream != per_thread) continue;
    if (form.version > std::min(version, kNewest)) continue;
    if (best == nullptr || form.version > best->version) best = &form;
  }
  return best == nullptr && per_thread ? choose(base, version, false) : best;
}

CUresult look_up(const char* base, void** function, int version, cuuint64_t flags) {
  if (base == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Form* form = choose(base, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  const std::lock_guard guard(requesting);
  if (request_count < kMostRequests) {
    Request& request = requests[request_count++];
    std::strncpy(request.base, base, sizeof(request.base) - 1);
    request.version = version;
    request.flags = flags;
    request.answer = form;
  }
  *function = form == nullptr ? nullptr : form->address;
  return form == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

}  // namespace

CUresult called(unsigned form) {
  all_calls.fetch_add(1);
  calls[form].fetch_add(1);
  return results[form].load();
}

}  // namespace stub

STUB_EXPORT CUresult cuInit(unsigned) {
  if (auto* const action = stub::in_init.exchange(nullptr)) action();
  return stub::called_by_name("cuInit");
}

STUB_EXPORT CUresult cuDriverGetVersion(int* version) {
  *version = stub::kNewest;
  return stub::called_by_name("cuDriverGetVersion");
}

STUB_EXPORT CUresult cuDeviceGetCount(int* count) {
  *count = 0;
  return stub::called_by_name("cuDeviceGetCount");
}

// The genuine runtime's private way in; refused, it stops there, which is far enough for these tests.
STUB_EXPORT CUresult cuGetExportTable(const void**, const CUuuid*) {
  stub::called_by_name("cuGetExportTable");
  return CUDA_ERROR_NOT_SUPPORTED;
}

STUB_EXPORT CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  stub::called_by_name("cuGetProcAddress");
  return stub::look_up(symbol, function, version, flags);
}

STUB_EXPORT CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                                         CUdriverProcAddressQueryResult* status) {
  stub::called_by_name("cuGetProcAddress_v2");
  const CUresult result = stub::look_up(symbol, function, version, flags);
  if (status != nullptr) {
    *status = result == CUDA_SUCCESS ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return result;
}

// A name that the table does not know, as the genuine driver has some for graphics.
STUB_EXPORT CUresult cuStubOnly() { return CUDA_SUCCESS; }

STUB_EXPORT const stub::Form* stub_forms() { return stub::kForms; }
STUB_EXPORT unsigned stub_calls(const char* symbol) { return stub::calls[stub::index_of(symbol)].load(); }
STUB_EXPORT unsigned stub_all_calls() { return stub::all_calls.load(); }
STUB_EXPORT void stub_set_result(const char* symbol, CUresult result) {
  stub::results[stub::index_of(symbol)].store(result);
}
STUB_EXPORT unsigned stub_request_count() { return stub::request_count; }
STUB_EXPORT const stub::Request* stub_request(unsigned index) { return &stub::requests[index]; }
STUB_EXPORT void stub_set_in_init(void (*action)()) { stub::in_init.store(action); }
