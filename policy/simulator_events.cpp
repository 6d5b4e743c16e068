// What the end of a copy, a mapping, a kernel and a step mean for the simulated memory, and the record of
// them.
#include <algorithm>

#include "policy/simulator.hpp"

namespace tencache::policy {

void Simulator::finish_fetch() {
  in_.active = false;
  if (steps_done_ >= first_counted()) bytes_in_ += static_cast<double>(in_.bytes);
  log(Move::Kind::kFetch, in_.tensor, in_.first + in_.before_step, in_.bytes - in_.before_step, in_.start);
  if (map_seconds_ == 0) return memory_.finish_fetch(in_.tensor, in_.bytes);
  mapper_end_ = std::max(mapper_end_, now_) + map_seconds(in_.bytes);
  mapper_.push_back({mapper_end_, in_.tensor, in_.bytes});
}

void Simulator::finish_mapping() {
  memory_.finish_fetch(mapper_.front().tensor, mapper_.front().bytes);
  mapper_.pop_front();
}

void Simulator::finish_clean() {
  out_.active = false;
  if (steps_done_ >= first_counted()) bytes_out_ += static_cast<double>(out_.bytes);
  if (memory_[out_.tensor].touches != out_.touches) return;  // void: written meanwhile
  log(Move::Kind::kWrite, out_.tensor, out_.first + out_.before_step, out_.bytes - out_.before_step,
      out_.start);
  const TensorState& state = memory_[out_.tensor];
  memory_.set_clean_from(out_.tensor, out_.first, state.suspect > state.dirty ? state.suspect : out_.first);
}

void Simulator::finish_gpu_work() {
  const GpuWork work = gpu_.front();
  gpu_.pop_front();
  if (work.fingerprint == kNoTensor - 1) return;
  if (work.fingerprint != kNoTensor) return finish_fingerprint(work);
  memory_.complete(work.kernel);
  strategy_.completed(work.kernel);
  if (work.kernel + 1 == step_.kernels()) end_step();
}

void Simulator::finish_fingerprint(const GpuWork& work) {
  memory_.set_checking(work.fingerprint, false);
  const TensorState& state = memory_[work.fingerprint];
  if (state.touches != work.touches) return;
  if (run_.record != nullptr && state.dirty < work.first + 1) run_.record->unchanged[work.fingerprint] = 1;
  memory_.set_clean_from(work.fingerprint, state.dirty, work.first);
}

void Simulator::end_step() {
  outcome_.steps.push_back(now_ - step_start_);
  if (recording() && run_.record != nullptr) run_.record->seconds = now_ - step_start_;
  if (recording() && run_.schedule != nullptr) close_schedule();
  step_start_ = now_;
  ++steps_done_;
  if (recording()) snapshot();
}

// What lies in HBM as the recorded step begins. Of copies under way the bytes that have moved count.
void Simulator::snapshot() {
  if (run_.schedule == nullptr) return;
  if (in_.active) in_.before_step = moved(in_);
  if (out_.active) out_.before_step = moved(out_);
  for (TensorIndex tensor = 0; tensor < step_.tensors(); ++tensor) {
    if (step_.persistent(tensor)) snapshot(tensor);
  }
}

void Simulator::snapshot(TensorIndex tensor) {
  const TensorState& state = memory_[tensor];
  const auto add = [&](std::int64_t first, std::int64_t end, bool clean) {
    if (end > first) run_.schedule->resident.push_back({tensor, first, end - first, clean});
  };
  const bool leaving = out_.active && out_.tensor == tensor && out_.touches == state.touches;
  const bool coming = in_.active && in_.tensor == tensor;
  const std::int64_t dirty = leaving ? out_.first : state.dirty;
  add(0, dirty, false);
  if (leaving) add(dirty, dirty + out_.before_step, true);
  if (leaving) add(dirty + out_.before_step, state.dirty, false);
  add(state.dirty, state.resident + state.incoming - (coming ? in_.bytes - in_.before_step : 0), true);
}

void Simulator::log(Move::Kind kind, std::uint32_t index, std::int64_t first, std::int64_t bytes,
                    double start) {
  if (run_.schedule == nullptr || !recording() || bytes == 0) return;
  run_.schedule->moves.push_back({kind, index, first, bytes, std::max(start, step_start_), now_});
}

// Ends the recorded step: copies under way count with the bytes that have moved.
void Simulator::close_schedule() {
  const auto cut = [&](const Copy& copy, Move::Kind kind) {
    log(kind, copy.tensor, copy.first + copy.before_step, moved(copy) - copy.before_step, copy.start);
  };
  if (in_.active) cut(in_, Move::Kind::kFetch);
  if (out_.active && memory_[out_.tensor].touches == out_.touches) cut(out_, Move::Kind::kWrite);
  Schedule& schedule = *run_.schedule;
  schedule.seconds = now_ - step_start_;
  for (Move& move : schedule.moves) {
    move.start -= step_start_;
    move.end -= step_start_;
  }
  std::stable_sort(schedule.moves.begin(), schedule.moves.end(),
                   [](const Move& a, const Move& b) { return a.start < b.start; });
}

}  // namespace tencache::policy
