// atom and red: lane after lane, from lane 0, with the host's atomic operations, since other kernels and the
// CPU may work on the same word.
#include "tools/softgpu/engine/atomic.hpp"

#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/translate.hpp"

namespace softgpu::engine::handlers {
namespace {

template <class T>
T updated(AtomicOperation operation, T old, T value) {
  using S = std::make_signed_t<T>;
  switch (operation) {
    case AtomicOperation::kAdd:
      return static_cast<T>(old + value);
    case AtomicOperation::kAnd:
      return old & value;
    case AtomicOperation::kOr:
      return old | value;
    case AtomicOperation::kXor:
      return old ^ value;
    case AtomicOperation::kExchange:
      return value;
    case AtomicOperation::kMinUnsigned:
      return old < value ? old : value;
    case AtomicOperation::kMaxUnsigned:
      return old < value ? value : old;
    case AtomicOperation::kMinSigned:
      return static_cast<S>(old) < static_cast<S>(value) ? old : value;
    case AtomicOperation::kMaxSigned:
      return static_cast<S>(old) < static_cast<S>(value) ? value : old;
    case AtomicOperation::kIncrement:
      return old >= value ? T{0} : static_cast<T>(old + 1);
    case AtomicOperation::kDecrement:
      return old == 0 || old > value ? value : static_cast<T>(old - 1);
    default:
      return old;
  }
}
// Floating-point additions go through the elementwise row of the same name, on one element.
template <class T>
T added(const Instruction& i, T old, T value) {
  alignas(64) T x[kHalfLanes] = {old}, y[kHalfLanes] = {value}, sum[kHalfLanes];
  i.eval(sum, x, y, nullptr, 1);
  return sum[0];
}
template <class T>
T perform(const Instruction& i, T* at, T value, T swap) {
  const auto operation = static_cast<AtomicOperation>(i.code);
  if (operation == AtomicOperation::kCompareAndSwap) {
    T expected = value;
    __atomic_compare_exchange_n(at, &expected, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
  }
  if (operation == AtomicOperation::kExchange) return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
  if (operation == AtomicOperation::kAdd) return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
  T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  for (;;) {
    const T next =
        operation == AtomicOperation::kAddFloat ? added(i, old, value) : updated(operation, old, value);
    if (__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return old;
  }
}
// a: address, b: value, c: the new value of cas, d: the old one.
template <class T>
const Instruction* atomic_of(Pack& pack, const Instruction& i) {
  const Register& address = reg(pack, i.a);
  const T* values = static_cast<const T*>(vector_of(pack, reg(pack, i.b)));
  const T* swaps = i.c == kNoSlot ? values : static_cast<const T*>(vector_of(pack, reg(pack, i.c)));
  T* results = i.d == kNoSlot ? nullptr : static_cast<T*>(target_of(pack, i, reg(pack, i.d)));
  bool ok = true;
  for_each_lane(pack.mask, [&](int lane) {
    if (!ok) return;
    const std::uint64_t at = address_of(address, lane) + static_cast<std::uint64_t>(i.displacement);
    const bool aligned = at % sizeof(T) == 0;
    const Place place = aligned ? place_of(pack, i.window, at, lane, true) : Place{};
    if (place.host == nullptr) {
      fail_access(pack, i, aligned ? OutcomeKind::kIllegalAddress : OutcomeKind::kMisaligned, at, true);
      ok = false;
      return;
    }
    if (place.device) pack.worker->outcome.bytes_written += sizeof(T);
    if (place.over_link) pack.worker->outcome.link_bytes_written += sizeof(T);
    const T old = perform<T>(i, reinterpret_cast<T*>(place.host), values[lane], swaps[lane]);
    if (results != nullptr) results[lane] = old;
  });
  if (!ok) return nullptr;
  if (results != nullptr) commit(pack, i, reg(pack, i.d));
  return &i + 1;
}

}  // namespace

const Instruction* atomic(Pack& pack, const Instruction& i) {
  switch (i.size) {
    case 2:
      return atomic_of<std::uint16_t>(pack, i);
    case 4:
      return atomic_of<std::uint32_t>(pack, i);
    default:
      return atomic_of<std::uint64_t>(pack, i);
  }
}

}  // namespace softgpu::engine::handlers
