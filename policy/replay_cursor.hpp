// Walks the recorded past along with what happens: while that agrees, what followed then is what follows now.
// An access that comes a little early or late is found in a window; one that was never seen is passed over;
// what does not fit is looked up by its context. Called by the learning policy. Thread rule: one caller at a
// time. Failure rule: none; without a place in the past it does not follow.
#pragma once

#include <cstdint>
#include <optional>

#include "policy/history.hpp"

namespace tencache::policy {

class ReplayCursor {
 public:
  explicit ReplayCursor(const History& history) : history_(history) {}

  struct Step {
    enum class Kind : std::uint8_t { kNothing, kMatched, kJumped, kLost };
    Kind kind;
    AccessIndex access;  // kMatched and kJumped: what the access repeats
  };
  // The history's last access has just been appended, with its touches.
  Step observe();
  // An access that was expected and has been given up, to be asked for after every observe().
  std::optional<AccessIndex> skipped();

  [[nodiscard]] bool following() const { return following_; }
  // The next access that is expected.
  [[nodiscard]] AccessIndex expected() const { return expected_; }
  // Accesses back to what is now repeated: the period, while it repeats.
  [[nodiscard]] std::uint64_t lag() const { return history_.head() - expected_; }
  // How many accesses have agreed since the place was found, and before it.
  [[nodiscard]] std::uint64_t agreed() const { return agreed_; }
  // A whole period has agreed: the step is known.
  [[nodiscard]] bool locked() const { return following_ && agreed_ >= lag() && agreed_ >= kLeast; }

 private:
  static constexpr std::uint32_t kWindow = 32;   // accesses by which order may vary
  static constexpr std::uint32_t kStrange = 16;  // accesses never seen, in a row
  static constexpr std::uint64_t kLeast = 32;

  [[nodiscard]] std::optional<std::uint32_t> find_in_window(AccessIndex recent) const;
  void take(std::uint32_t offset);
  void pass_taken();

  const History& history_;
  bool following_ = false;
  AccessIndex expected_ = 0;
  std::uint64_t taken_ = 0;  // bit k: expected_ + k has come already
  std::uint64_t agreed_ = 0;
  std::uint32_t strange_ = 0;
};

}  // namespace tencache::policy
