// What the fake driver's GPU does, and when: streams as lists of steps, performed in any order that ordering
// allows.
#include <cstring>

#include "tests/vmm/fake_driver.hpp"

namespace tencache::test {

using Lock = FakeDriver::Lock;

CUresult FakeDriver::called(const char* name) {
  ++calls_[name];
  if (lost_ != CUDA_SUCCESS) return lost_;
  const auto failure = failures_.find(name);
  if (failure == failures_.end()) return CUDA_SUCCESS;
  const CUresult code = failure->second;
  failures_.erase(failure);
  return code;
}

void FakeDriver::fault(const std::string& why) { faults_.push_back(why); }

unsigned char* FakeDriver::translate(CUdeviceptr address, std::size_t size) {
  auto after = mappings_.upper_bound(address);
  if (after != mappings_.begin()) {
    const auto& [start, mapping] = *std::prev(after);
    if (address + size <= start + mapping.size) {
      if (mapping.accessible) return mapping.physical->bytes.data() + (address - start);
    }
  }
  fault("dead address " + std::to_string(address));
  return nullptr;
}

FakeDriver::Stream& FakeDriver::stream_at(CUstream stream) { return streams_.at(stream); }

void FakeDriver::push(CUstream stream, std::vector<Step> steps) {
  stream_at(stream).operations.push_back({std::move(steps), 0, nullptr});
}

CUresult FakeDriver::move_bytes(CUstream stream, const std::function<unsigned char*(FakeDriver&)>& to,
                                const std::function<unsigned char*(FakeDriver&)>& from, std::size_t size) {
  some_progress();
  constexpr std::size_t kPieces = 4;  // so that others' stores can fall between
  std::vector<Step> steps;
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    steps.emplace_back([=](FakeDriver& gpu) {
      const std::size_t first = size * piece / kPieces;
      const std::size_t length = size * (piece + 1) / kPieces - first;
      unsigned char* target = to(gpu);
      const unsigned char* source = from(gpu);
      if (target != nullptr && source != nullptr) std::memcpy(target + first, source + first, length);
    });
  }
  push(stream, std::move(steps));
  return CUDA_SUCCESS;
}

void FakeDriver::launch(CUstream stream, std::vector<Step> steps) {
  const Lock lock(mutex_);
  some_progress();
  push(stream, std::move(steps));
}

void FakeDriver::launch_waiting(CUstream stream, std::function<bool(FakeDriver&)> ready) {
  const Lock lock(mutex_);
  stream_at(stream).operations.push_back({{}, 0, std::move(ready)});
}

CUstream FakeDriver::make_stream() {
  const Lock lock(mutex_);
  auto stream = reinterpret_cast<CUstream>(++last_handle_);
  streams_[stream];
  return stream;
}

std::vector<CUstream> FakeDriver::streams() {
  const Lock lock(mutex_);
  std::vector<CUstream> all;
  for (const auto& [stream, state] : streams_) all.push_back(stream);
  return all;
}

bool FakeDriver::run_step(CUstream stream) {
  const Lock lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.operations.empty())
    return false;  // destroyed meanwhile, or done
  Stream& state = found->second;
  Operation& operation = state.operations.front();
  if (operation.ready && !operation.ready(*this)) return false;
  if (operation.next < operation.steps.size()) operation.steps[operation.next++](*this);
  if (operation.next >= operation.steps.size()) state.operations.pop_front();
  return true;
}

void FakeDriver::run_all(CUstream stream) {
  while (run_step(stream)) {
  }
}

void FakeDriver::run_everything() {
  bool any = true;
  while (any) {
    any = false;
    for (const CUstream stream : streams()) any |= run_step(stream);
  }
}

// A random stream gets a random few steps further, or nothing happens.
void FakeDriver::some_progress() {
  if (limits_.seed == 0) return;
  for (std::uint64_t steps = random_() % 4; steps > 0; --steps) {
    auto stream = streams_.begin();
    std::advance(stream, static_cast<long>(random_() % streams_.size()));
    // Odd seeds: the program runs far ahead of its streams, while our copies (made first) are quick.
    const bool ours = std::distance(streams_.begin(), stream) < 4;
    if (!ours && limits_.seed % 2 == 1 && random_() % 8 != 0) continue;
    run_step(stream->first);
  }
}

std::size_t FakeDriver::queued(CUstream stream) {
  const Lock lock(mutex_);
  return stream_at(stream).operations.size();
}

std::uint32_t FakeDriver::load(CUdeviceptr address) {
  const Lock lock(mutex_);
  std::uint32_t value = 0;
  if (const unsigned char* bytes = translate(address, sizeof value)) std::memcpy(&value, bytes, sizeof value);
  return value;
}

void FakeDriver::store(CUdeviceptr address, std::uint32_t value) {
  const Lock lock(mutex_);
  if (unsigned char* bytes = translate(address, sizeof value)) std::memcpy(bytes, &value, sizeof value);
}

bool FakeDriver::mapped(CUdeviceptr address) {
  const Lock lock(mutex_);
  auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return false;
  const auto& [start, mapping] = *std::prev(after);
  return address < start + mapping.size && mapping.accessible;
}

std::vector<std::string> FakeDriver::faults() {
  const Lock lock(mutex_);
  return faults_;
}

std::size_t FakeDriver::calls(const std::string& name) {
  const Lock lock(mutex_);
  return calls_[name];
}

void FakeDriver::fail_next(const std::string& name, CUresult code) {
  const Lock lock(mutex_);
  failures_[name] = code;
}

void FakeDriver::lose_context(CUresult code) {
  const Lock lock(mutex_);
  lost_ = code;
}

std::size_t FakeDriver::hbm_created() {
  const Lock lock(mutex_);
  return hbm_created_;
}

void FakeDriver::read(const Reading& reading) {
  vmm::Fingerprint sums;
  for (std::uint64_t i = 0; i < reading.words; ++i) {
    std::uint64_t word = 0;
    const unsigned char* bytes = translate(reading.address + i * sizeof word, sizeof word);
    if (bytes == nullptr) return;
    std::memcpy(&word, bytes, sizeof word);
    sums.add(reading.seeds, i, word);
    if (word - reading.base >= reading.size) continue;
    if (unsigned char* mark = translate(reading.map + ((word - reading.base) >> reading.shift), 1)) *mark = 1;
  }
  if (reading.result != nullptr) *reading.result = sums;
}

}  // namespace tencache::test
