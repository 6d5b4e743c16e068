// What the engine does about addresses kept in memory. Nothing is looked for while everything fits. When
// memory first runs short, all that is enqueued may touch anything, and all memory is gone over once; after
// that, what accesses of kinds not yet trusted have written to.
#include <algorithm>
#include <cstdlib>

#include "src/base/log.hpp"
#include "vmm/engine.hpp"

namespace tencache::vmm {

// The fast path closes. False while somebody is still on the fast path.
bool Engine::begin_shortage() {
  if (state_.short_of_memory) return true;
  if (!fast_path_.close()) return false;
  state_.short_of_memory = true;
  for (StreamIndex i = 0; i < state_.order.stream_count(); ++i) {
    state_.opaque_uses.add({i, state_.order.stream(i).last_enqueued});
  }
  for (const auto& record : state_.records) {
    if (!record->active || record->opaque) continue;
    record->opaque = true;
    ++state_.opaque_in_flight;
  }
  const auto unknown = state_.new_judgement({0, true});
  for (Group& group : state_.groups) {
    if (census_ && group.exists && !group.freed) group.await_census(unknown);
  }
  return true;
}

// A shortage that is over for so long was a passing one.
void Engine::consider_plenty() {
  constexpr Nanoseconds kLooksEvery = 50_ms;
  constexpr Nanoseconds kOverAfter = 1000_ms;
  const Nanoseconds now = state_.clock.now();
  if (!state_.short_of_memory || now - looked_for_plenty_ < kLooksEvery) return;
  looked_for_plenty_ = now;
  const bool busy = !state_.waiting.empty() || state_.held > 0 || !moves_.empty() || !in_census_.empty();
  if (!all_is_in_hbm()) {
    plenty_since_ = Nanoseconds();
  } else if (plenty_since_ == Nanoseconds()) {
    plenty_since_ = now;
  } else if (!busy && now - plenty_since_ >= kOverAfter) {
    state_.short_of_memory = false;
    for (Group& group : state_.groups) group.forget_writers();
    plenty_since_ = Nanoseconds();
    fast_path_.open();
  }
}

bool Engine::all_is_in_hbm() const {
  return std::all_of(state_.extents.begin(), state_.extents.end(), [this](const Extent& extent) {
    if (extent.group == kNoGroup || state_.groups[extent.group].freed) return true;
    return usable_in_hbm(extent.state) || extent.state == ExtentState::kAbsent;
  });
}

bool Engine::look_for_addresses() {
  if (!census_) return false;
  bool progress = !in_census_.empty() && retire_census();
  if (in_census_.empty()) progress |= start_census();
  return progress;
}

bool Engine::lies_on_host(const Group& group) const {
  return std::any_of(group.extents.begin(), group.extents.end(), [this](ExtentIndex index) {
    const Extent& extent = state_.extents[index];
    return extent.host != nullptr && (extent.hbm == nullptr || !usable_in_hbm(extent.state));
  });
}

std::vector<Census::Piece> Engine::pieces_of(const Group& group, std::uint32_t row) const {
  std::vector<Census::Piece> pieces;
  for (const ExtentIndex index : group.extents) {
    const Extent& extent = state_.extents[index];
    const Block* block = extent.hbm != nullptr && usable_in_hbm(extent.state) ? extent.hbm : extent.host;
    if (block == nullptr || block->handle == 0)
      continue;  // detached: what is out was gone over before it left
    pieces.push_back({row, {block->address, extent.size}});
  }
  return pieces;
}

std::size_t Engine::extents_with_bytes(const Group& group) const {
  return static_cast<std::size_t>(
      std::count_if(group.extents.begin(), group.extents.end(), [this](ExtentIndex index) {
        return state_.extents[index].hbm != nullptr || state_.extents[index].host != nullptr;
      }));
}

bool Engine::start_census() {
  std::vector<Census::Piece> pieces;
  std::uint64_t units = 0;
  {
    const Lock lock(state_.mutex);
    if (!state_.short_of_memory) return false;
    units = heap_.units_in_use();
    const std::uint32_t most = census_->rows_for(units);
    for (GroupIndex index = 0; index < state_.groups.size() && in_census_.size() < most; ++index) {
      Group& group = state_.groups[index];
      const auto unsettled = [this](ExtentIndex extent) {
        const Extent& one = state_.extents[extent];
        return changing(one.state) || one.state == ExtentState::kArriving;
      };
      if (!group.suspect || !state_.idle(group)) continue;
      if (lies_on_host(group) && !group.census_awaited) continue;  // read when it is in HBM, or wanted
      if (std::any_of(group.extents.begin(), group.extents.end(), unsettled)) continue;
      const auto more = pieces_of(group, static_cast<std::uint32_t>(in_census_.size()));
      pieces.insert(pieces.end(), more.begin(), more.end());
      group.in_census = true;
      group.census_awaited = false;
      group.census_is_whole = more.size() == extents_with_bytes(group);
      group.judged.swap(group.writers);
      group.writers.clear();
      in_census_.push_back(index);
    }
  }
  if (in_census_.empty()) return false;
  count(state_.statistics.census_runs);
  if (census_->start(pieces, static_cast<std::uint32_t>(in_census_.size()), units)) return true;
  log::error("a census could not be started; addresses in memory are not followed any more");
  const Lock lock(state_.mutex);
  for (Group& group : state_.groups) group.suspect = group.in_census = false;
  state_.settings.census = Settings::Census::kOff;
  in_census_.clear();
  census_.reset();
  return true;
}

bool Engine::retire_census() {
  const Census::Progress progress = census_->poll();
  if (progress == Census::Progress::kRunning) return false;
  const Lock lock(state_.mutex);
  for (std::uint32_t row = 0; row < in_census_.size(); ++row) {
    Group& group = state_.groups[in_census_[row]];
    group.in_census = false;
    if (progress == Census::Progress::kDone) take_findings(row, in_census_[row]);
  }
  in_census_.clear();
  return true;
}

// What the memory keeps now takes the place of what it kept, where all of it was read.
void Engine::take_findings(std::uint32_t row, GroupIndex index) {
  Group& group = state_.groups[index];
  const auto unit = state_.settings.small_block.count();
  const std::vector<GroupIndex> known = group.holds;
  if (group.census_is_whole) group.holds.clear();
  bool found_new = false;
  for (std::uint64_t i = 0; i < census_->units(); ++i) {
    if (!census_->points_into(row, i)) continue;
    const GroupIndex held = state_.units.group_at(state_.units.base() + i * unit);
    if (held == kNoGroup) continue;
    // An old word may have come to mean a younger allocation: that is nobody's doing either.
    const bool could_be_seen = state_.groups[held].creation_order <= group.read_when;
    found_new |= could_be_seen && std::find(known.begin(), known.end(), held) == known.end();
    if (std::find(group.holds.begin(), group.holds.end(), held) == group.holds.end())
      group.holds.push_back(held);
  }
  judge_writers(group, found_new && !group.has_old_bytes);
  if (group.census_is_whole) group.has_old_bytes = false;
  group.read_when = heap_.created();
  // Who wrote while the census was reading makes it suspect anew.
  group.suspect = !group.writers.empty();
}

// A new address is put down to those not trusted, where there are any. What held addresses before shows
// nothing about who wrote it.
void Engine::judge_writers(Group& group, bool found_new) {
  const auto known_good = [this](const std::shared_ptr<Judgement>& writer) {
    return !writer->inconclusive && state_.learned.trusted(writer->signature);
  };
  const bool all_good = std::all_of(group.judged.begin(), group.judged.end(), known_good);
  if (found_new && all_good && !group.judged.empty()) {
    log::warn("a function trusted not to write addresses wrote one; it is not trusted any more");
    if (state_.settings.census == Settings::Census::kAlways) std::abort();
    for (const auto& writer : group.judged) state_.learned.found_writer(writer->signature);
  }
  for (const auto& writer : group.judged) {
    if (found_new && !writer->inconclusive && !known_good(writer))
      state_.learned.found_writer(writer->signature);
    if (!group.holds.empty()) writer->inconclusive = true;
    if (!writer->inconclusive && writer.use_count() == 1) state_.learned.found_clean(writer->signature);
  }
  group.judged.clear();
}

}  // namespace tencache::vmm
