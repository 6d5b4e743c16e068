#include "vmm/engine.hpp"

#include <algorithm>

#include "src/base/log.hpp"
#include "src/driver/sticky.hpp"

namespace tencache::vmm {

Engine::Engine(MemoryState& state, Heap& heap, const Driver& driver, Copier copier, Mapper mapper,
               BlockPool& hbm, BlockPool& host, const Readers& readers, FastPath& fast_path)
    : state_(state),
      heap_(heap),
      driver_(driver),
      copier_(std::move(copier)),
      mapper_(mapper),
      hbm_(hbm),
      host_(host),
      reading_kernel_(readers.kernel),
      census_(readers.census),
      prints_(readers.prints),
      fast_path_(fast_path) {}

bool Engine::turn() {
  if (state_.context_lost) return polling_ = false;
  bool progress = poll_streams();
  progress |= retire_moves();
  progress |= look_for_addresses();
  progress |= serve();
  progress |= change_mappings();
  if (lost_ != CUDA_SUCCESS) lose_context();
  const Lock lock(state_.mutex);
  consider_plenty();
  polling_ = hbm_.in_use() > hbm_.budget() || !moves_.empty() || !in_census_.empty() ||
             !state_.waiting.empty() || state_.held > 0;
  set_level(state_.statistics.hbm_bytes, state_.statistics.hbm_peak, hbm_.in_use());
  set_level(state_.statistics.host_bytes, state_.statistics.host_peak, host_.in_use());
  if (progress) state_.settled.notify_all();
  return progress;
}

void Engine::note(CUresult code) {
  if (is_sticky(code)) lost_ = code;
}

// After a fault the driver answers every call with its code: nothing can be moved, nothing is worth waiting
// for.
void Engine::lose_context() {
  log::warn("the context has failed (code {}): nothing is moved any more, the driver answers",
            static_cast<int>(lost_));
  const Lock lock(state_.mutex);
  state_.lose_context();
}

// ---- copies that ended

bool Engine::retire_moves() {
  bool any = false;
  for (Move& move : moves_) {
    move.progress = copier_.poll(move.event);
    any |= move.progress != Copier::Progress::kRunning;
  }
  if (!any) return false;
  note(copier_.failure());
  const Lock lock(state_.mutex);
  measure(true);
  measure(false);
  for (const Move& move : moves_) {
    if (move.progress != Copier::Progress::kRunning) retire(move, move.progress == Copier::Progress::kDone);
  }
  std::erase_if(moves_, [](const Move& move) { return move.progress != Copier::Progress::kRunning; });
  return true;
}

void Engine::retire(const Move& move, bool ok) {
  Extent& extent = state_.extents[move.extent];
  const bool valid = extent.move == move.id;
  extent.move_in_flight = false;
  if (valid) extent.move = 0;
  const Fingerprint print = move.print ? prints_->take(*move.print) : Fingerprint();
  if (!ok) log::error("a copy of {} bytes failed; the data stays where it was", extent.size.count());
  switch (move.kind) {
    case MoveKind::kOut:
    case MoveKind::kClean:
      if (valid && move.compares) retire_compare(extent, move, print, ok);
      if (valid && !move.compares) retire_out(extent, move, print, ok);
      break;
    case MoveKind::kIn:
      retire_in(extent, move.extent, valid, ok);
      break;
    case MoveKind::kBackHbm:
    case MoveKind::kBackHost:
      retire_back(extent, move.extent, ok);
      break;
  }
}

bool Engine::other_way_is_busy(MoveKind kind) const {
  const bool in = kind == MoveKind::kIn;
  return std::any_of(moves_.begin(), moves_.end(), [in](const Move& move) {
    const bool running = move.progress == Copier::Progress::kRunning && !move.compares;
    return running &&
           (in ? move.kind == MoveKind::kOut || move.kind == MoveKind::kClean : move.kind == MoveKind::kIn);
  });
}

// What the copies one way that have ended since the last look took: they began when the first of them was
// enqueued, or when those before had ended.
void Engine::measure(bool in) {
  using Beside = Transfer::Beside;
  Bytes size;
  Nanoseconds started;
  bool was_beside = false;
  for (const Move& move : moves_) {
    const bool counts = move.progress == Copier::Progress::kDone && move.kind != MoveKind::kBackHbm &&
                        move.kind != MoveKind::kBackHost && !move.compares &&
                        (move.kind == MoveKind::kIn) == in;
    if (!counts) continue;
    if (size == Bytes()) started = move.started;
    size += state_.extents[move.extent].size;
    was_beside = move.beside;
  }
  if (size == Bytes()) return;
  Nanoseconds& last = in ? last_in_ : last_out_;
  const Nanoseconds now = state_.clock.now();
  const bool is_beside = other_way_is_busy(in ? MoveKind::kIn : MoveKind::kOut);
  state_.advisor.copied({in ? Transfer::Direction::kIn : Transfer::Direction::kOut,
                         is_beside != was_beside ? Beside::kMixed
                         : is_beside             ? Beside::kOther
                                                 : Beside::kNothing,
                         size, now - std::max(started, last)});
  last = now;
}

void Engine::retire_out(Extent& extent, const Move& move, const Fingerprint& print, bool ok) {
  if (!ok) return state_.apply(extent, ExtentEvent::kFail);
  count(state_.statistics.bytes_out, extent.size);
  state_.advisor.examined(move.extent, Finding::kCopied);
  extent.host_printed = move.print.has_value();
  extent.host_print = print;
  if (extent.copies_until_compare > 0) --extent.copies_until_compare;
  settle_copied(extent, move);
}

// The host has its bytes.
void Engine::settle_copied(Extent& extent, const Move& move) {
  extent.host_current = true;
  const bool stays = move.kind == MoveKind::kClean || extent.wanted == turn_;
  if (stays) return state_.apply(extent, ExtentEvent::kCleaned);
  state_.apply(extent, ExtentEvent::kCopiedOut);
  plan_change(move.extent, host_mapping(extent));
}

void Engine::retire_in(Extent& extent, ExtentIndex index, bool valid, bool ok) {
  count(state_.statistics.bytes_in, extent.size);
  if (valid && ok) {
    state_.apply(extent, ExtentEvent::kCopiedIn);
    return plan_change(index, extent.hbm);
  }
  if (valid) state_.apply(extent, ExtentEvent::kFail);
  hbm_.give_back(extent.hbm);
  extent.hbm = nullptr;
}

void Engine::retire_back(Extent& extent, ExtentIndex index, bool ok) {
  if (ok) return plan_change(index, extent.hbm != nullptr ? extent.hbm : host_mapping(extent));
  settle_back(extent, false);
}

const Block* Engine::host_mapping(const Extent& extent) const {
  return state_.settings.detached ? nullptr : extent.host;
}

// ---- mappings

void Engine::plan_change(ExtentIndex index, const Block* block) {
  const Extent& extent = state_.extents[index];
  changes_.push_back({index, {extent.address, extent.size, extent.mapped, block}});
}

bool Engine::change_mappings() {
  if (changes_.empty()) return false;
  std::vector<MappingChange> mappings;
  mappings.reserve(changes_.size());
  for (const Change& change : changes_) mappings.push_back(change.mapping);
  const Nanoseconds before = state_.clock.now();
  mapper_.apply(mappings);
  const Lock lock(state_.mutex);
  state_.advisor.remapped(static_cast<std::uint32_t>(changes_.size()), state_.clock.now() - before);
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    changes_[i].mapping = mappings[i];
    settle(changes_[i]);
  }
  changes_.clear();
  return true;
}

void Engine::settle(const Change& change) {
  Extent& extent = state_.extents[change.extent];
  const bool ok = change.mapping.result == CUDA_SUCCESS;
  if (!ok) {
    log::error("the driver refused to change a mapping (code {}); the data stays where it is",
               static_cast<int>(change.mapping.result));
  }
  const bool still_mapped = change.mapping.mapped;
  const bool was_mapped = extent.mapped;
  extent.mapped = still_mapped;
  switch (extent.state) {
    case ExtentState::kChangingOut:
      settle_out(extent, ok || !still_mapped || !was_mapped);
      break;
    case ExtentState::kChangingIn:
      settle_in(extent, ok);
      break;
    case ExtentState::kBacking:
      settle_back(extent, ok);
      break;
    default:
      settle_release(extent);
      break;
  }
  state_.refresh_ready(extent.group);
}

void Engine::settle_out(Extent& extent, bool ok) {
  if (!ok) return state_.apply(extent, ExtentEvent::kFail);
  state_.apply(extent, ExtentEvent::kChangedOut);
  count(state_.statistics.evictions);
  hbm_.give_back(extent.hbm);
  extent.hbm = nullptr;
  extent.host_current = false;
}

// What came in keeps its host block: it is clean until something touches it.
void Engine::settle_in(Extent& extent, bool ok) {
  if (ok) {
    state_.apply(extent, ExtentEvent::kChangedIn);
    count(state_.statistics.fetches);
    extent.host_current = true;
    return;
  }
  state_.apply(extent, ExtentEvent::kFail);
  hbm_.give_back(extent.hbm);
  extent.hbm = nullptr;
}

void Engine::settle_back(Extent& extent, bool ok) {
  const bool in_hbm = extent.hbm != nullptr;
  if (ok) {
    state_.apply(extent, in_hbm ? ExtentEvent::kBackedHbm : ExtentEvent::kBackedHost);
    return;
  }
  state_.apply(extent, ExtentEvent::kFail);
  if (in_hbm) hbm_.give_back(extent.hbm);
  if (!in_hbm) host_.give_back(extent.host);
  extent.hbm = extent.host = nullptr;
}

// What cannot be unmapped stays as it is, and its blocks with it.
void Engine::settle_release(Extent& extent) {
  if (extent.mapped) return;
  state_.apply(extent, ExtentEvent::kReleased);
  if (extent.hbm != nullptr) hbm_.give_back(extent.hbm);
  if (extent.host != nullptr) host_.give_back(extent.host);
  extent.hbm = extent.host = nullptr;
  extent.host_current = extent.host_printed = false;
}

// ---- closing

void Engine::close_readers() {
  if (census_) census_->close();
  if (prints_) prints_->close();
  if (reading_kernel_) reading_kernel_->close();
}

void Engine::close(Context context) {
  if (context == Context::kAlive) copier_.finish();
  if (context == Context::kAlive) close_readers();
  moves_.clear();
  for (Extent& extent : state_.extents) {
    if (extent.mapped) driver_.cuMemUnmap(extent.address, extent.size.count());
    if (extent.hbm != nullptr) hbm_.give_back(extent.hbm);
    if (extent.host != nullptr) host_.give_back(extent.host);
    extent = Extent{};
  }
  if (context == Context::kAlive) copier_.close();
}

}  // namespace tencache::vmm
