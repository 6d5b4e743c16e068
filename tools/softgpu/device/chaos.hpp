// The adversary: how long an operation is held back and its completion hidden. Asked by the scheduler. Thread
// rule: immutable. Failure rule: nothing fails. Its choices are a function of seed, stream and place in the
// stream.
#pragma once

#include <cstdint>
#include <string>

namespace softgpu {

class Chaos {
 public:
  Chaos() = default;
  Chaos(std::uint64_t seed, std::uint64_t longest_ns)
      : enabled_(true), seed_(seed), longest_ns_(longest_ns) {}
  // From SOFTGPU_CHAOS; empty is no adversary.
  static Chaos from_setting(const std::string& seed, std::uint64_t longest_ns);

  [[nodiscard]] bool enabled() const { return enabled_; }
  [[nodiscard]] std::uint64_t start_delay(std::uint64_t stream, std::uint64_t index) const {
    return enabled_ ? delay(stream, index, 0) : 0;
  }
  [[nodiscard]] std::uint64_t completion_delay(std::uint64_t stream, std::uint64_t index) const {
    return enabled_ ? delay(stream, index, 1) : 0;
  }

 private:
  [[nodiscard]] std::uint64_t delay(std::uint64_t stream, std::uint64_t index, std::uint64_t what) const;
  bool enabled_ = false;
  std::uint64_t seed_ = 0;
  std::uint64_t longest_ns_ = 0;
};

}  // namespace softgpu
