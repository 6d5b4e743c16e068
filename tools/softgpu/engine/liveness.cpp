// Which registers may still be read from each place where a group can be put aside. A group that runs while
// others wait may overwrite what none of them needs, and so keep base and stride.
#include <algorithm>

#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/segments.hpp"

namespace softgpu::engine {
namespace {

using Bits = std::vector<std::uint64_t>;

struct Segment {
  std::uint32_t first = 0, last = 0;  // instructions, the last one ends it
  Bits live_in;
};
// Backwards over one instruction.
void step(const Instruction& in, Bits& live) {
  const bool plain = in.handler != handlers::guard;
  for_each_slot(in, [&](SlotId s, bool written) {
    if (written && plain) live[s / 64] &= ~(std::uint64_t{1} << (s % 64));
  });
  for_each_slot(in, [&](SlotId s, bool written) {
    if (!written) live[s / 64] |= std::uint64_t{1} << (s % 64);
  });
}
bool merge(Bits& into, const Bits& from) {
  std::uint64_t added = 0;
  for (std::size_t w = 0; w < into.size(); ++w) {
    added |= from[w] & ~into[w];
    into[w] |= from[w];
  }
  return added != 0;
}
bool never_goes_on(const Instruction& in) {
  return in.handler == handlers::exit || in.handler == handlers::call_return ||
         in.handler == handlers::trap || in.handler == handlers::branch_indexed ||
         (in.handler == handlers::branch && in.guard == kNoSlot);
}

class Liveness {
 public:
  explicit Liveness(Code& code) : code_(code), words_((code.slots.size() + 63) / 64) {
    std::uint32_t first = 0;
    for (std::uint32_t at = 0; at < code.instructions.size(); ++at) {
      segment_at_.push_back(static_cast<std::uint32_t>(segments_.size()));
      if (!ends_segment(code.instructions[at]) && at + 1 != code.instructions.size()) continue;
      segments_.push_back({first, at, Bits(words_)});
      first = at + 1;
    }
  }
  void solve() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t s = segments_.size(); s-- > 0;) {
        Bits live = after(segments_[s]);
        for (std::uint32_t at = segments_[s].last + 1; at-- > segments_[s].first;)
          step(code_.instructions[at], live);
        changed |= merge(segments_[s].live_in, live);
      }
    }
  }
  void write_rows() {
    code_.live_words = static_cast<std::uint32_t>(words_);
    code_.live_rows.assign(code_.instructions.size(), kNoTarget);
    for (const Segment& s : segments_) {
      Bits at_end = after(s);
      step(code_.instructions[s.last], at_end);
      add_row(s.last, at_end);
      add_row(s.first, s.live_in);
    }
  }

 private:
  [[nodiscard]] Bits after(const Segment& s) const {
    Bits live(words_);
    const Instruction& end = code_.instructions[s.last];
    const auto join_in = [&](std::uint32_t at) {
      if (at < segment_at_.size()) merge(live, segments_[segment_at_[at]].live_in);
    };
    if (!never_goes_on(end)) join_in(s.last + 1);
    if (end.handler == handlers::branch) join_in(end.target);
    if (end.handler == handlers::branch_indexed) {
      for (const std::uint32_t target : code_.tables[end.extra].targets) join_in(target);
    }
    return live;
  }
  void add_row(std::uint32_t at, const Bits& bits) {
    code_.live_rows[at] = static_cast<std::uint32_t>(code_.live_bits.size());
    code_.live_bits.insert(code_.live_bits.end(), bits.begin(), bits.end());
  }

  Code& code_;
  std::size_t words_;
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> segment_at_;
};

}  // namespace

void find_liveness(Code& code) {
  Liveness liveness(code);
  liveness.solve();
  liveness.write_rows();
}

}  // namespace softgpu::engine
