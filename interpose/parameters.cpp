#include "interpose/parameters.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace tencache::doors {

namespace {

struct Parameter {
  std::uint32_t index;
  std::uint32_t size;
  bool operator==(const Parameter&) const = default;
};

constexpr std::size_t kMostParameters = 4096;
constexpr std::size_t kAddressSize = sizeof(CUdeviceptr);
constexpr std::size_t kCarefulStep = 4;

// True when the word is an address of the arena.
inline bool add_if_ours(const char* bytes, const runtime::Arena& arena, PointerList* pointers) noexcept {
  CUdeviceptr word;
  std::memcpy(&word, bytes, kAddressSize);
  if (word - arena.base >= arena.size) return false;
  pointers->add(word);
  return true;
}

// True when an address of the arena was found where only a packed struct has one.
bool scan(const char* bytes, std::size_t size, std::size_t step, const runtime::Arena& arena,
          PointerList* pointers) noexcept {
  bool packed = false;
  for (std::size_t offset = 0; offset + kAddressSize <= size; offset += step) {
    packed |= add_if_ours(bytes + offset, arena, pointers) && offset % kAddressSize != 0;
  }
  return packed;
}

struct ParameterBuffer {
  const char* bytes = nullptr;
  std::size_t size = 0;
};

// The `extra` of a launch: pairs of a key and a value, ended by CU_LAUNCH_PARAM_END.
ParameterBuffer buffer_of(void** extra) noexcept {
  ParameterBuffer buffer;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer.bytes = static_cast<const char*>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      buffer.size = *static_cast<const std::size_t*>(extra[1]);
    else
      return {};
  }
  return buffer;
}

enum class Answer : std::uint8_t { kSome, kNone, kRefused };

// The parameters wide enough to hold an address. 'Invalid value' stands behind the last one.
template <class Query, class Handle>
Answer ask(Query query, Handle handle, std::vector<Parameter>* parameters) {
  if (query == nullptr) return Answer::kRefused;
  for (std::uint32_t index = 0; index < kMostParameters; ++index) {
    std::size_t offset = 0;
    std::size_t size = 0;
    const CUresult result = query(handle, index, &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) return index > 0 ? Answer::kSome : Answer::kNone;
    if (result != CUDA_SUCCESS) break;
    if (size >= kAddressSize) parameters->push_back({index, static_cast<std::uint32_t>(size)});
  }
  parameters->clear();
  return Answer::kRefused;
}

// A handle may be a CUkernel in a CUfunction's place, and a handle of the wrong kind may be answered like a
// function without parameters: only when neither query knows any, there are none.
bool ask_layout(const LayoutQuery& query, CUfunction function, std::vector<Parameter>* parameters) {
  const Answer of_function = ask(query.function_parameter, function, parameters);
  if (of_function == Answer::kSome) return true;
  const Answer of_kernel = ask(query.kernel_parameter, reinterpret_cast<CUkernel>(function), parameters);
  return of_kernel != Answer::kRefused || of_function == Answer::kNone;
}

}  // namespace

struct ParameterLayout {
  std::atomic<std::uint32_t> generation{0};
  std::atomic<std::uint32_t> launches{0};
  std::atomic<bool> packed{false};
  bool known = false;
  std::vector<Parameter> parameters;
  // The one this took the place of: it stays allocated, another thread may be reading it.
  const ParameterLayout* replaced = nullptr;

  // 4 bytes while the function is new or has shown an address off the 8-byte grid.
  std::size_t next_step() noexcept {
    const std::uint32_t seen = launches.load(std::memory_order_relaxed);
    if (seen >= kCarefulLaunches) return packed.load(std::memory_order_relaxed) ? kCarefulStep : kAddressSize;
    launches.store(seen + 1, std::memory_order_relaxed);
    return kCarefulStep;
  }
};

ParameterReader::Slot* ParameterReader::slot_of(CUfunction function) noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(function);
  std::size_t at = (key * 0x9E3779B97F4A7C15u) >> 51;
  for (std::size_t probe = 0; probe < kMostProbes; ++probe, at = (at + 1) % kSlots) {
    Slot& slot = slots_[at];
    CUfunction holder = slot.function.load(std::memory_order_acquire);
    if (holder == function) return &slot;
    if (holder != nullptr) continue;
    if (slot.function.compare_exchange_strong(holder, function, std::memory_order_acq_rel)) return &slot;
    if (holder == function) return &slot;
  }
  return nullptr;
}

ParameterLayout* ParameterReader::learn(CUfunction function, Slot* slot) noexcept {
  const std::uint32_t generation = generation_.load(std::memory_order_acquire);
  auto fresh = std::make_unique<ParameterLayout>();
  fresh->known = ask_layout(query_, function, &fresh->parameters);
  fresh->generation.store(generation, std::memory_order_relaxed);
  ParameterLayout* old = slot->layout.load(std::memory_order_acquire);
  if (old != nullptr && old->known == fresh->known && old->parameters == fresh->parameters) {
    old->generation.store(generation, std::memory_order_release);
    return old;
  }
  fresh->replaced = slot->layout.exchange(fresh.get(), std::memory_order_acq_rel);
  return fresh.release();
}

ParameterLayout* ParameterReader::layout_of(CUfunction function) noexcept {
  Slot* const slot = slot_of(function);
  if (slot == nullptr) return nullptr;
  ParameterLayout* const layout = slot->layout.load(std::memory_order_acquire);
  const std::uint32_t generation = generation_.load(std::memory_order_acquire);
  if (layout != nullptr && layout->generation.load(std::memory_order_relaxed) == generation) return layout;
  return learn(function, slot);
}

bool ParameterReader::read(CUfunction function, void** parameters, void** extra, const runtime::Arena& arena,
                           PointerList* pointers, Step careful) noexcept {
  ParameterLayout* const layout = layout_of(function);
  if (layout == nullptr) return false;
  const std::size_t step = careful == Step::kCareful ? kCarefulStep : layout->next_step();
  bool packed = false;
  if (parameters != nullptr) {
    if (!layout->known) return false;
    for (const Parameter& parameter : layout->parameters) {
      const auto* bytes = static_cast<const char*>(parameters[parameter.index]);
      if (parameter.size == kAddressSize) {  // most are just that
        add_if_ours(bytes, arena, pointers);
      } else {
        packed |= scan(bytes, parameter.size, step, arena, pointers);
      }
    }
  } else if (extra != nullptr) {
    const ParameterBuffer buffer = buffer_of(extra);
    if (buffer.bytes == nullptr) return false;
    packed = scan(buffer.bytes, buffer.size, step, arena, pointers);
  } else if (!layout->known || !layout->parameters.empty()) {
    return false;
  }
  if (packed) layout->packed.store(true, std::memory_order_relaxed);
  return !pointers->overflown();
}

}  // namespace tencache::doors
