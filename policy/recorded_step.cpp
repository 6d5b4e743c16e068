#include "policy/recorded_step.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace tencache::policy {
namespace {

constexpr std::uint64_t kSoonAfter =
    200'000;  // nanoseconds after work has ended that a waiting program goes on

// Of a function's arguments: what was found out at any of its accesses holds for the others.
class KnownWrites {
 public:
  KnownWrites(const History& history, AccessIndex begin, std::uint64_t length) {
    for (AccessIndex i = begin; i < begin + length; ++i) {
      for (std::uint32_t slot = 0; slot < history[i].touches; ++slot) {
        const Writes writes = history.touch(history[i].first + slot).writes;
        if (writes != Writes::kUnknown) add(key(history[i], slot), writes);
      }
    }
  }
  [[nodiscard]] Writes of(const RecordedAccess& access, std::uint32_t slot) const {
    const auto found = known_.find(key(access, slot));
    return found == known_.end() ? Writes::kUnknown : found->second;
  }

 private:
  static std::uint64_t key(const RecordedAccess& access, std::uint32_t slot) {
    return access.token + slot * 0xD6E8FEB86659FD93u;
  }
  void add(std::uint64_t key, Writes writes) {
    const auto [known, is_new] = known_.try_emplace(key, writes);
    if (!is_new && known->second != writes) known->second = Writes::kUnknown;
  }
  std::unordered_map<std::uint64_t, Writes> known_;
};

class Recorder {
 public:
  Recorder(const History& history, AccessIndex begin, std::uint64_t length, const SizeOf& size_of,
           Touches touches)
      : history_(history),
        size_of_(size_of),
        touches_(touches),
        known_writes_(history, begin, touches == Touches::kWrite ? length : 0),  // a bound takes no guess
        created_before_(history[begin - 1].created),
        persistent_before_(history[begin - 1 - std::min(begin - 1, length)].created) {
    step_.begin = begin;
    step_.first = history[begin].first;
    step_.trace.name = "recorded";
    ended_ = end_of(begin - 1);
  }
  bool add(AccessIndex index) {
    const RecordedAccess& access = history_[index];
    TraceKernel kernel;
    kernel.name = std::to_string(access.token % 100000);
    kernel.duration = Nanoseconds(std::max<std::uint32_t>(access.took, 1));
    kernel.stream = access.stream;
    enqueued_ += host_time(index);
    kernel.enqueued_at = enqueued_;
    for (std::uint32_t slot = 0; slot < access.touches; ++slot) {
      const RecordedTouch& touch = history_.touch(access.first + slot);
      const Writes writes = touch.writes == Writes::kUnknown ? known_writes_.of(access, slot) : touch.writes;
      if (!add_use(kernel, touch, writes)) return false;
    }
    step_.trace.kernels.push_back(std::move(kernel));
    step_.tokens.push_back(access.token);
    ended_ = std::max(ended_, end_of(index));
    return true;
  }
  RecordedStep take() { return std::move(step_); }

 private:
  bool add_use(TraceKernel& kernel, const RecordedTouch& touch, Writes writing) {
    const auto [known, is_new] =
        tensors_.try_emplace(touch.identity, static_cast<TensorIndex>(step_.trace.tensors.size()));
    const TensorIndex tensor = known->second;
    if (is_new) {
      const Bytes size = size_of_(touch);
      if (size.count() == 0) return false;
      step_.trace.tensors.push_back({size, touch.identity <= persistent_before_});
    }
    const bool writes = (is_new && touch.identity > created_before_) || writing == Writes::kYes ||
                        (writing == Writes::kUnknown && touches_ == Touches::kWrite);
    (writes ? kernel.writes : kernel.reads).push_back(tensor);
    return true;
  }
  [[nodiscard]] std::uint64_t end_of(AccessIndex index) const {
    const RecordedAccess& access = history_[index];
    return access.ended == 0 ? 0 : access.time + access.ended;
  }
  // What the program did itself since its last access. Where all work had just ended it waited for that.
  [[nodiscard]] Nanoseconds host_time(AccessIndex index) const {
    const RecordedAccess& access = history_[index];
    const std::uint64_t asked = access.time - std::min<std::uint64_t>(access.time, access.waited);
    const std::uint64_t before = history_[index - 1].time;
    const std::uint64_t since = ended_ <= asked + kSoonAfter ? std::max(before, ended_) : before;
    return Nanoseconds(asked > since ? asked - since : 0);
  }

  const History& history_;
  const SizeOf& size_of_;
  const Touches touches_;
  const KnownWrites known_writes_;
  const Identity created_before_;
  const Identity persistent_before_;  // what was made a whole period earlier lives on
  RecordedStep step_;
  std::unordered_map<Identity, TensorIndex> tensors_;
  Nanoseconds enqueued_;
  std::uint64_t ended_ = 0;  // when all that was recorded so far had ended
};

AccessIndex least_alive(const History& history, const Period& period) {
  AccessIndex best = period.end - period.length;
  for (AccessIndex i = best; i > period.end - 2 * period.length; --i) {
    if (history[i - 1].live < history[best - 1].live) best = i;
  }
  return best;
}

}  // namespace

std::optional<RecordedStep> recorded_step(const History& history, const Period& period, const SizeOf& size_of,
                                          Touches touches) {
  const std::uint64_t reach = 3 * period.length;
  if (period.length == 0 || period.end <= 2 * period.length) return std::nullopt;
  if (!history.kept(period.end > reach ? period.end - reach - 1 : 0)) return std::nullopt;
  const AccessIndex begin = least_alive(history, period);
  Recorder recorder(history, begin, period.length, size_of, touches);
  for (AccessIndex i = begin; i < begin + period.length; ++i) {
    if (!recorder.add(i)) return std::nullopt;
  }
  return recorder.take();
}

}  // namespace tencache::policy
