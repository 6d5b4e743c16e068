// Lets registers that live within one segment share slots, so that a pack's registers stay in the cache; and
// counts how many registers are alive at once, for what is reported of a kernel.
#include <algorithm>

#include "tools/softgpu/engine/decoder.hpp"
#include "tools/softgpu/engine/segments.hpp"

namespace softgpu::engine {
namespace {

struct Span {
  std::uint32_t first = 0xffffffffu, last = 0;
  void cover(std::uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};
std::vector<Span> spans_of(const Code& code) {
  std::vector<Span> spans(code.slots.size());
  for (std::uint32_t at = 0; at < code.instructions.size(); ++at) {
    for_each_slot(code.instructions[at], [&](SlotId s, bool) { spans[s].cover(at); });
  }
  return spans;
}
// What is alive anywhere in a loop and came from before it is alive to its end.
void stretch_over_loops(const Code& code, std::vector<Span>& spans) {
  for (std::uint32_t at = 0; at < code.instructions.size(); ++at) {
    const std::uint32_t target = code.instructions[at].target;
    if (!is_branch(code.instructions[at]) || target > at) continue;
    for (Span& s : spans) {
      if (s.first < target && s.last >= target) s.last = std::max(s.last, at);
    }
  }
}
// 32-bit registers; wider ones count twice, predicates not.
std::uint32_t most_alive(const Code& code, const std::vector<Span>& spans) {
  std::vector<std::int32_t> change(code.instructions.size() + 2, 0);
  for (std::size_t s = 0; s < spans.size(); ++s) {
    if (code.slots[s].kind != SlotKind::kRegister || spans[s].first == 0xffffffffu) continue;
    const std::int32_t size = code.slots[s].width == 8 ? 2 : code.slots[s].width == 0 ? 0 : 1;
    change[spans[s].first] += size;
    change[spans[s].last + 1] -= size;
  }
  std::int32_t alive = 0, most = 0;
  for (const std::int32_t c : change) most = std::max(most, alive += c);
  return static_cast<std::uint32_t>(most);
}

}  // namespace

void share_slots(Code& code, const std::vector<bool>& alone) {
  const std::vector<Span> spans = spans_of(code);
  std::vector<SlotId> order;
  for (SlotId s = 0; s < code.slots.size(); ++s) {
    if (alone[s] && code.slots[s].kind == SlotKind::kRegister) order.push_back(s);
  }
  std::ranges::sort(order, {}, [&](SlotId s) { return std::pair(spans[s].first, s); });
  std::vector<SlotId> renamed(code.slots.size());
  for (SlotId s = 0; s < renamed.size(); ++s) renamed[s] = s;
  struct Shared {
    SlotId slot;
    std::uint32_t last;
  };
  std::vector<Shared> shared;
  for (const SlotId s : order) {
    const auto free = std::ranges::find_if(shared, [&](const Shared& have) {
      return have.last < spans[s].first && code.slots[have.slot].width == code.slots[s].width;
    });
    if (free == shared.end()) {
      shared.push_back({s, spans[s].last});
      continue;
    }
    renamed[s] = free->slot;
    free->last = spans[s].last;
    code.slots[s].kind = SlotKind::kUnused;
  }
  for (Instruction& in : code.instructions) rename_slots(in, renamed);
}

void count_registers(Code& code) {
  std::vector<Span> spans = spans_of(code);
  stretch_over_loops(code, spans);
  code.live_registers = most_alive(code, spans);
}

}  // namespace softgpu::engine
