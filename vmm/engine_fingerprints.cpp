// What was not written since its last copy need not be copied again: an access makes its extents suspect, a
// fingerprint that equals the copy's clears them (DESIGN 7). It reads at the speed of HBM, a copy goes over
// the link.
#include <algorithm>

#include "vmm/engine.hpp"

namespace tencache::vmm {

namespace {
constexpr std::uint8_t kMostCompares = 4;   // failed in a row that count
constexpr double kWorthReading = 1.0 / 16;  // of comparisons that find nothing changed
constexpr unsigned kSampled = 16;           // of copies, where fewer do
constexpr double kWeight = 1.0 / 8;         // of the latest comparison
}  // namespace

bool Engine::worth_comparing(const Extent& extent) const {
  return prints_ && extent.host_printed && extent.copies_until_compare == 0;
}

// A print of what is copied out now is for the comparison at the next departure. Where nearly all is written
// each time only a sample is taken: reading costs the GPU something, if little.
bool Engine::worth_printing(const Extent& extent) {
  if (!prints_ || extent.copies_until_compare > 1) return false;
  return unchanged_share_ >= kWorthReading || ++not_printed_ % kSampled == 0;
}

// As a copy out, to the states as well: a touch makes it void.
bool Engine::start_compare(Lock& lock, ExtentIndex index, MoveKind kind) {
  Extent& extent = state_.extents[index];
  state_.apply(extent, ExtentEvent::kStartOut);
  const std::uint64_t id = begin_move(extent);
  const Block hbm = *extent.hbm;
  lock.unlock();
  Move move{index, id, kind, true};
  const Result<CUevent> event = copier_.read(hbm, &*prints_, &move.print);
  lock.lock();
  enqueue(move, event);
  return true;
}

// Written to: it stays, and is copied the next time.
void Engine::retire_compare(Extent& extent, const Move& move, const Fingerprint& print, bool ok) {
  const bool same = ok && print == extent.host_print;
  if (ok) {
    unchanged_share_ += ((same ? 1.0 : 0.0) - unchanged_share_) * kWeight;
    state_.advisor.examined(move.extent, same ? Finding::kUnchanged : Finding::kWritten);
  }
  if (!same) {
    extent.compares_failed = std::min<std::uint8_t>(extent.compares_failed + 1, kMostCompares);
    extent.copies_until_compare = static_cast<std::uint8_t>((1u << extent.compares_failed) - 1);
    return state_.apply(extent, ExtentEvent::kFail);
  }
  extent.compares_failed = 0;
  count(state_.statistics.found_unchanged, extent.size);
  settle_copied(extent, move);
  if (extent.state != ExtentState::kChangingOut) return;
  count(state_.statistics.clean_drops);
  count(state_.statistics.dropped_clean, extent.size);
}

}  // namespace tencache::vmm
