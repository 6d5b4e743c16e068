// The operations of atom and red, as the decoder names them to the handler. Thread rule: none.
#pragma once

#include <cstdint>

namespace softgpu::engine {

enum class AtomicOperation : std::uint8_t {
  kAdd,
  kAddFloat,  // the instruction's eval adds; also min and max of floating-point types
  kAnd,
  kOr,
  kXor,
  kExchange,
  kMinUnsigned,
  kMaxUnsigned,
  kMinSigned,
  kMaxSigned,
  kIncrement,
  kDecrement,
  kCompareAndSwap,
};

}  // namespace softgpu::engine
