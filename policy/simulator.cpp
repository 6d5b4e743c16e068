#include "policy/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tencache::policy {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kLaunchSeconds = 300e-6;  // ahead of its start that a kernel is enqueued at the latest
constexpr double kNothingLeft = 0.5;       // bytes: what rounding may leave of a finished copy

double seconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-9; }

// Where the last block of [0, end) begins.
std::int64_t last_block(std::int64_t end, std::int64_t block) { return (end - 1) / block * block; }

}  // namespace

Simulator::Simulator(const Step& step, const Machine& machine, Strategy& strategy, const Run& run)
    : step_(step),
      machine_(machine),
      run_(run),
      strategy_(strategy),
      memory_(step, static_cast<std::int64_t>(machine.hbm.count()), machine.writes_known),
      map_seconds_(seconds(machine.map_per_block)),
      run_ahead_(seconds(machine.run_ahead)),
      block_(static_cast<std::int64_t>(machine.block.count())),
      random_(run.seed) {
  derive_mapping_lead();
  if (run_.record == nullptr) return;
  run_.record->dropped.assign(step.positions(), 0);
  run_.record->cleaned.assign(step.positions(), 0);
  run_.record->first_drop.assign(step.positions(), ~std::uint32_t{0});
  run_.record->start.assign(step.kernels(), 0);
  run_.record->fetched_for.assign(step.kernels(), 0);
  run_.record->unchanged.assign(step.tensors(), 0);
}

// How long before a kernel the mapper has to begin with what it and those behind it bring into being, should
// something have to go for all of that: twice around, so that the step's end is no edge.
void Simulator::derive_mapping_lead() {
  const KernelIndex n = step_.kernels();
  mapping_lead_.assign(n, 0);
  double behind = 0;
  for (KernelIndex k = 2 * n; k-- > 0;) {
    behind = std::max(0.0, behind - step_.seconds(k % n)) + map_seconds(step_.births(k % n));
    mapping_lead_[k % n] = behind;
  }
}

Outcome Simulator::run() {
  strategy_.begin(memory_, block_);
  if (recording()) snapshot();
  while (steps_done_ < run_.steps) {
    settle();
    const double next = next_event();
    if (stuck() || (next == kNever && !break_deadlock())) {
      outcome_.feasible = false;
      return outcome_;
    }
    if (next != kNever) advance(next);
  }
  return summary();
}

// The next kernel does not fit, or everything has been moved in and out for it several times over.
bool Simulator::stuck() {
  constexpr std::uint64_t kTooOften = 8;
  const auto blocks = static_cast<std::uint64_t>(step_.peak() / block_) + step_.tensors();
  const bool fits = step_.touched(memory_.next_kernel()) <= memory_.capacity();
  return !fits || ++events_since_admission_ > kTooOften * (blocks + 100);
}

Outcome Simulator::summary() const {
  Outcome outcome = outcome_;
  const std::uint32_t first = first_counted();
  const double counted = run_.steps - first;
  for (std::size_t i = first; i < outcome.steps.size(); ++i)
    outcome.step_seconds += outcome.steps[i] / counted;
  outcome.bytes_in = bytes_in_ / counted;
  outcome.bytes_out = bytes_out_ / counted;
  const LinkRates& link = machine_.link;
  outcome.measured_link = {in_alone_.rate(link.in_alone), out_alone_.rate(link.out_alone),
                           in_duplex_.rate(link.in_duplex), out_duplex_.rate(link.out_duplex)};
  outcome.hit_rate = touched_ > 0 ? hits_ / touched_ : 1;
  return outcome;
}

void Simulator::settle() {
  short_of_room_ = false;
  while (try_admit()) {
  }
  if (gpu_.empty()) count_hits();
  use_links();
  try_check();
}

void Simulator::use_links() {
  if (!machine_.link.better_in_turns()) {
    try_fetch();
    try_clean();
    return;
  }
  const bool out_first = turn_of_out_ && !stalled_;
  if (out_first && !in_.active) try_clean();
  if (!out_.active) try_fetch();
  if (!in_.active) try_clean();
  if (in_.active != out_.active) turn_of_out_ = in_.active;
}

// Bytes of the next kernel that are there when the GPU would run it.
void Simulator::count_hits() {
  if (counted_) return;
  counted_ = true;
  if (steps_done_ < first_counted()) return;
  for (const Use& use : step_.uses(memory_.next_kernel())) {
    touched_ += static_cast<double>(step_.size(use.tensor));
    hits_ += static_cast<double>(use.birth ? step_.size(use.tensor) : memory_[use.tensor].resident);
  }
}

bool Simulator::try_admit() {
  waiting_ = window_open() && now_ >= host_ready_;
  stalled_ = waiting_ && now_ >= latest_start();
  if (!waiting_) return false;
  const KernelIndex kernel = memory_.next_kernel();
  if (map_seconds_ > 0 && !prepare_births(kernel)) return false;
  if (!memory_.inputs_resident(kernel)) return false;
  if (!prepare_births(kernel) || now_ < births_ready_) return false;
  admit(kernel);
  return true;
}

// Takes room for what the kernel brings into being; what must be dropped for it must be mapped anew.
bool Simulator::prepare_births(KernelIndex kernel) {
  if (births_taken_) return true;
  const std::int64_t bytes = step_.births(kernel);
  if (!stalled_ && memory_.free() < bytes) return false;
  std::int64_t dropped = 0;
  const bool room = make_room(
      bytes, memory_.ahead(step_.begin(kernel)) + (step_.end(kernel) - step_.begin(kernel)), &dropped);
  if (dropped > 0 && map_seconds_ > 0) {
    mapper_end_ = std::max(mapper_end_, now_) + map_seconds(dropped);
    births_ready_ = mapper_end_;
  }
  if (!room) return false;
  memory_.reserve(bytes);
  births_taken_ = true;
  return true;
}

// The mapper begins in time for the next kernel's births; or, where the strategy says so, for those of all
// that come, of which it may not be able to map one after the other.
double Simulator::latest_start() const {
  const KernelIndex next = memory_.next_kernel();
  const double mapping = strategy_.maps_ahead() ? mapping_lead_[next] : map_seconds(step_.births(next));
  return work_end_ - std::min(run_ahead_, kLaunchSeconds + 2 * mapping);
}

void Simulator::admit(KernelIndex kernel) {
  if (gpu_.empty()) count_hits();
  if (!counted_ && steps_done_ >= first_counted()) {
    touched_ += static_cast<double>(step_.touched(kernel));
    hits_ += static_cast<double>(step_.touched(kernel));
  }
  counted_ = false;
  memory_.reserve(-step_.births(kernel));
  births_taken_ = false;
  memory_.admit(kernel);
  strategy_.admitted(kernel);
  const double start = std::max(now_, work_end_);
  work_end_ = start + duration(kernel);
  gpu_.push_back({work_end_, kernel, kNoTensor, 0, 0});
  const bool of_recorded_step = started_ / step_.kernels() + 1 == run_.steps;
  if (of_recorded_step && run_.record != nullptr) run_.record->start[kernel] = start - step_start_;
  if (of_recorded_step && run_.schedule != nullptr) {
    run_.schedule->moves.push_back({Move::Kind::kRun, kernel, 0, 0, start, work_end_});
  }
  ++started_;
  events_since_admission_ = 0;
  host_ready_ = now_ + step_.host_gap(memory_.next_kernel());
}

double Simulator::duration(KernelIndex kernel) {
  if (run_.noise == 0) return step_.seconds(kernel);
  random_ += 0x9E3779B97F4A7C15u;  // splitmix64
  std::uint64_t bits = random_;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  const double uniform = static_cast<double>(bits >> 11) * 0x1p-53;
  return step_.seconds(kernel) * (1 + run_.noise * (2 * uniform - 1));
}

bool Simulator::make_room(std::int64_t bytes, Position after, std::int64_t* dropped) {
  while (memory_.free() < bytes) {
    const std::int64_t before = memory_.free();
    const TensorIndex victim = strategy_.victim(moment(), after);
    if (victim == kNoTensor || memory_.droppable(victim) <= 0) {
      short_of_room_ = short_of_room_ || stalled_;
      return false;
    }
    drop(victim);
    if (dropped != nullptr) *dropped += memory_.free() - before;
  }
  return true;
}

void Simulator::drop(TensorIndex tensor) {
  const TensorState& state = memory_[tensor];
  const std::int64_t first = std::max(state.suspect, last_block(state.resident, block_));
  const std::int64_t bytes = state.resident - first;
  if (recording() && run_.record != nullptr) {
    run_.record->dropped[state.last] += bytes;
    const std::uint32_t kernels = step_.kernels();
    const std::uint32_t now = memory_.next_kernel() == 0 ? kernels - 1 : memory_.next_kernel() - 1;
    const std::uint32_t since = (now + kernels - step_.use(state.last).kernel) % kernels;
    std::uint32_t& drop = run_.record->first_drop[state.last];
    drop = std::min(drop, since);
  }
  log(Move::Kind::kDrop, tensor, first, bytes, now_);
  memory_.drop(tensor, bytes);
}

void Simulator::try_fetch() {
  if (in_.active || (map_seconds_ > 0 && mapper_.size() >= machine_.map_queue)) return;
  TensorIndex tensor = strategy_.next_fetch(moment());
  if (tensor == kNoTensor) return;
  const TensorState& state = memory_[tensor];
  const std::int64_t first = state.resident + state.incoming;
  const std::int64_t bytes = std::min((first / block_ + 1) * block_, state.size) - first;
  const Position after = memory_.end_of_kernel(state.next) + strategy_.fetch_margin();
  if (make_room(bytes, after, nullptr)) start_fetch(tensor, bytes);
}

void Simulator::start_fetch(TensorIndex tensor, std::int64_t bytes) {
  const TensorState& state = memory_[tensor];
  const double overhead = strategy_.fetch_overhead() * machine_.link.in_alone;
  in_ = {true, tensor, state.resident + state.incoming, bytes, static_cast<double>(bytes) + overhead, now_,
         0,    0};
  if (recording() && run_.record != nullptr) {
    run_.record->fetched_for[step_.use(state.next).kernel] += bytes;
  }
  memory_.begin_fetch(tensor, bytes);
}

void Simulator::try_clean() {
  if (out_.active) return;
  TensorIndex tensor = strategy_.next_clean(moment());
  if (tensor == kNoTensor && short_of_room_) tensor = memory_.farthest_cleanable(memory_.front());
  if (tensor != kNoTensor) start_clean(tensor);
}

void Simulator::try_check() {
  if (machine_.writes_known) return;
  for (;;) {
    TensorIndex tensor = strategy_.next_check(moment());
    if (tensor == kNoTensor && short_of_room_ && gpu_.empty())
      tensor = memory_.farthest_suspect(memory_.front());
    if (tensor == kNoTensor) return;
    start_check(tensor);
  }
}

void Simulator::start_clean(TensorIndex tensor) {
  const TensorState& state = memory_[tensor];
  const std::int64_t first = last_block(state.dirty, block_);
  const std::int64_t bytes = state.dirty - first;
  const bool compared_later = machine_.fingerprint_rate > 0 && strategy_.wants_print(tensor);
  if (compared_later) fingerprint(kNoTensor - 1, first, bytes);
  if (recording() && run_.record != nullptr) run_.record->cleaned[state.last] += bytes;
  out_ = {true, tensor, first, bytes, static_cast<double>(bytes), now_, 0, state.touches};
}

// Compares bytes that only might have changed with their copy.
void Simulator::start_check(TensorIndex tensor) {
  const TensorState& state = memory_[tensor];
  const std::int64_t unwanted = state.size - strategy_.wanted_clean(tensor);
  const std::int64_t first = std::max(state.dirty, std::min(unwanted, state.suspect - 1) / block_ * block_);
  fingerprint(tensor, first, state.suspect - first);
  memory_.set_checking(tensor, true);
}

void Simulator::fingerprint(TensorIndex tensor, std::int64_t first, std::int64_t bytes) {
  work_end_ = std::max(now_, work_end_) + static_cast<double>(bytes) / machine_.fingerprint_rate;
  gpu_.push_back(
      {work_end_, 0, tensor, tensor < memory_.step().tensors() ? memory_[tensor].touches : 0, first});
}

// Nothing is under way and the next kernel cannot be let in: the strategy has painted itself into a corner.
bool Simulator::break_deadlock() {
  const KernelIndex kernel = memory_.next_kernel();
  const Position after = memory_.front() + (step_.end(kernel) - step_.begin(kernel));
  TensorIndex tensor = memory_.farthest_droppable(after);
  if (tensor != kNoTensor) {
    drop(tensor);
  } else if (tensor = memory_.farthest_cleanable(after); tensor != kNoTensor) {
    start_clean(tensor);
    return true;
  } else if (tensor = memory_.farthest_suspect(after); tensor != kNoTensor) {
    start_check(tensor);
    return true;
  }
  const TensorIndex missing = memory_.nearest_missing();
  if (missing != kNoTensor && memory_.ahead(memory_[missing].next) < after && memory_.free() > 0 &&
      !in_.active) {
    const TensorState& state = memory_[missing];
    const std::int64_t first = state.resident + state.incoming;
    const std::int64_t bytes = std::min((first / block_ + 1) * block_, state.size) - first;
    if (memory_.free() >= bytes) {
      start_fetch(missing, bytes);
      return true;
    }
  }
  return tensor != kNoTensor;
}

double Simulator::next_event() const {
  double next = kNever;
  if (!gpu_.empty()) next = std::min(next, gpu_.front().end);
  if (!mapper_.empty()) next = std::min(next, mapper_.front().end);
  if (in_.active) next = std::min(next, now_ + in_.remaining / rate_in());
  if (out_.active) next = std::min(next, now_ + out_.remaining / rate_out());
  if (births_ready_ > now_) next = std::min(next, births_ready_);
  if (!window_open()) next = std::min(next, work_end_ - run_ahead_);
  if (host_ready_ > now_) next = std::min(next, host_ready_);
  if (latest_start() > now_) next = std::min(next, latest_start());
  return next;
}

void Simulator::advance(double to) {
  const double passed = std::max(0.0, to - now_);
  const double in = rate_in() * passed;
  const double out = rate_out() * passed;
  now_ = to;
  measure(passed);
  if (in_.active) in_.remaining -= in;
  if (out_.active) out_.remaining -= out;
  if (in_.active && in_.remaining < kNothingLeft) finish_fetch();
  if (out_.active && out_.remaining < kNothingLeft) finish_clean();
  while (!mapper_.empty() && mapper_.front().end <= now_) finish_mapping();
  while (!gpu_.empty() && gpu_.front().end <= now_) finish_gpu_work();
}

void Simulator::measure(double seconds) {
  const auto add = [&](Busy& busy, double rate) {
    busy.bytes += rate * seconds;
    busy.seconds += seconds;
  };
  if (in_.active) add(out_.active ? in_duplex_ : in_alone_, rate_in());
  if (out_.active) add(in_.active ? out_duplex_ : out_alone_, rate_out());
}

}  // namespace tencache::policy
