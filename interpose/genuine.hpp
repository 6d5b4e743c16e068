// How a door calls the genuine function: typed by the prototype, one load and a call. Made by the generated
// wrappers, called by the handlers. Thread rule: after adopt_driver. Failure rule: the driver's answer.
#pragma once

#include <cuda.h>

#include "interpose/entry_index.gen.hpp"
#include "src/runtime/runtime.hpp"

namespace tencache::interpose {
extern void* genuine_table[kEntryPointCount];
}

namespace tencache::doors {

// What stream 0 means: the plain forms mean the legacy stream, _ptsz and _ptds the thread's own.
enum class DefaultStream : bool { kLegacy, kPerThread };

template <class Function>
class Genuine;

template <class... Parameters>
class Genuine<CUresult (*)(Parameters...)> {
 public:
  Genuine(void* function, DefaultStream default_stream, const void* caller) noexcept
      : function_(reinterpret_cast<CUresult (*)(Parameters...)>(function)),
        caller_(caller),
        default_stream_(default_stream) {}

  CUresult operator()(Parameters... arguments) const { return function_(arguments...); }

  // The return address in the program.
  [[nodiscard]] const void* caller() const noexcept { return caller_; }

  [[nodiscard]] runtime::Stream stream(CUstream handle) const noexcept {
    if (handle != nullptr) return {handle};
    return {default_stream_ == DefaultStream::kLegacy ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD};
  }

 private:
  CUresult (*function_)(Parameters...);
  const void* caller_;
  DefaultStream default_stream_;
};

template <class Function>
Genuine<Function> genuine(interpose::EntryIndex index, DefaultStream default_stream,
                          const void* caller) noexcept {
  return {interpose::genuine_table[static_cast<unsigned>(index)], default_stream, caller};
}

}  // namespace tencache::doors
