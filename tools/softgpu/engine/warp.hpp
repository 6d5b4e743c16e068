// The operations of shfl, vote and redux, as the decoder names them to the handlers. Thread rule: none.
#pragma once

#include <cstdint>

namespace softgpu::engine {

enum class ShuffleMode : std::uint8_t { kUp, kDown, kButterfly, kIndex };
enum class VoteMode : std::uint8_t { kAll, kAny, kUniform, kBallot };
enum class ReduceOperation : std::uint8_t {
  kAdd,
  kMinUnsigned,
  kMaxUnsigned,
  kMinSigned,
  kMaxSigned,
  kAnd,
  kOr,
  kXor,
};

}  // namespace softgpu::engine
