// Loads and stores. Where the address is base + lane * stride, one look-up serves a half of 16 lanes; else
// each lane is looked up. Lanes outside the mask touch nothing.
#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/translate.hpp"

namespace softgpu::engine {

Place place_special(const Pack& pack, Window window, std::uint64_t address, int lane, bool write) {
  Block& block = *pack.block;
  switch (window) {
    case Window::kShared:
      return place_in(block.shared.data(), block.shared.size(), address);
    case Window::kLocal:
      return place_in(pack.local + static_cast<std::size_t>(lane) * block.kernel->local_stride,
                      block.kernel->local_stride, address);
    case Window::kParam: {
      if (write) return {};
      const auto parameters = block.kernel->launch->parameters;
      return place_in(const_cast<std::uint8_t*>(parameters.data()), parameters.size(), address);
    }
    default:
      return {};
  }
}

namespace handlers {
namespace {

// Where the lanes of one access are.
struct Places {
  bool strided = false;
  std::ptrdiff_t stride = 0;
  alignas(64) std::uint8_t* host[kLanes];  // strided: one a half, of its lane 0
};

constexpr std::int64_t kFar = std::int64_t{1} << 48;  // strides beyond which sums may wrap

void count_bytes(Pack& pack, const Place& place, std::uint64_t bytes, bool write) {
  if (!place.device) return;
  Outcome& outcome = pack.worker->outcome;
  (write ? outcome.bytes_written : outcome.bytes_read) += bytes;
  if (place.over_link) (write ? outcome.link_bytes_written : outcome.link_bytes_read) += bytes;
}

// An address is often used several times, with different displacements.
const Spread& spread_of(Pack& pack, Register& r) {
  if ((r.state & Register::kSpread) != 0 && r.spread_first == pack.first_half &&
      r.spread_last == pack.last_half)
    return r.spread;
  r.spread = pack.kernels->spread(r.base, r.width, pack.first_half, pack.last_half);
  r.spread_first = static_cast<std::uint8_t>(pack.first_half);
  r.spread_last = static_cast<std::uint8_t>(pack.last_half);
  r.state |= Register::kSpread;
  return r.spread;
}
// All halves with one look-up, where whatever their lanes could touch lies in one page.
bool place_at_once(Pack& pack, const Instruction& i, Register& r, Places& places, bool write) {
  if (i.window == Window::kLocal) return false;
  const std::uint64_t bytes = static_cast<std::uint64_t>(i.size) * i.count;
  const Spread& spread = spread_of(pack, r);
  const std::int64_t reach = r.stride * (kHalfLanes - 1);
  if (((spread.bits | static_cast<std::uint64_t>(r.stride) | static_cast<std::uint64_t>(i.displacement)) &
       (bytes - 1)) != 0)
    return false;
  const std::uint64_t below = reach < 0 ? static_cast<std::uint64_t>(-reach) : 0;
  const std::uint64_t extent =
      spread.greatest - spread.least + static_cast<std::uint64_t>(reach < 0 ? -reach : reach) + bytes;
  if (spread.least < below || (r.width == 4 && (spread.least + extent) >> 32 != 0)) return false;
  const std::uint64_t lowest = spread.least - below + static_cast<std::uint64_t>(i.displacement);
  if (i.window == Window::kGeneric && (lowest & kWindowMask) == kLocalWindow) return false;
  const Place place = place_of(pack, i.window, lowest, 0, write);
  if (place.host == nullptr || place.left < extent) return false;
  places.stride = r.stride;
  const auto* narrow = reinterpret_cast<const std::uint32_t*>(r.base);
  for (int h = pack.first_half; h < pack.last_half; ++h) {
    places.host[h] = place.host + below + ((r.width == 8 ? r.base[h] : narrow[h]) - spread.least);
  }
  const auto touched = static_cast<unsigned>(pack.last_half - pack.first_half);
  count_bytes(pack, place, r.stride == 0 ? bytes * touched : bytes * pack.lanes, write);
  return places.strided = true;
}
// One half whose addresses are first + lane * stride. False: look at each lane.
bool place_half(Pack& pack, const Instruction& i, const Register& r, int half, Places& places, bool write) {
  const std::uint32_t bits = pack.mask.halves[half];
  const int first = __builtin_ctz(bits), last = 31 - __builtin_clz(bits);
  const std::uint64_t at_first = address_of(r, half * kHalfLanes + first);
  const std::uint64_t at_last = address_of(r, half * kHalfLanes + last);
  const std::int64_t distance = r.stride * (last - first);
  if (static_cast<std::int64_t>(at_last - at_first) != distance) return false;
  const std::uint64_t bytes = static_cast<std::uint64_t>(i.size) * i.count;
  const std::uint64_t lowest =
      (distance < 0 ? at_last : at_first) + static_cast<std::uint64_t>(i.displacement);
  const std::uint64_t extent = static_cast<std::uint64_t>(distance < 0 ? -distance : distance) + bytes;
  if (((lowest | static_cast<std::uint64_t>(r.stride)) & (bytes - 1)) != 0) return false;
  const int lowest_lane = distance < 0 ? last : first;
  const Place place = place_of(pack, i.window, lowest, half * kHalfLanes + lowest_lane, write);
  if (place.host == nullptr || place.left < extent) return false;
  places.stride = r.stride;
  if (window_of(i.window, lowest) == Window::kLocal) places.stride += pack.block->kernel->local_stride;
  places.host[half] = place.host - lowest_lane * places.stride;
  count_bytes(pack, place, places.stride == 0 ? bytes : bytes * ones_in(bits), write);
  return true;
}
bool place_halves(Pack& pack, const Instruction& i, const Register& r, Places& places, bool write) {
  std::ptrdiff_t stride = 0;
  bool any = false;
  for (int h = pack.first_half; h < pack.last_half; ++h) {
    places.host[h] = nullptr;
    if (pack.mask.halves[h] == 0) continue;
    if (!place_half(pack, i, r, h, places, write)) return false;
    if (any && places.stride != stride) return false;
    stride = places.stride;
    any = true;
  }
  return places.strided = true;
}
// Lanes anywhere within one page, of a 64-bit address held lane by lane.
bool place_within_page(Pack& pack, const Instruction& i, const Register& r, Places& places, bool write) {
  if (r.width != 8 || i.window == Window::kLocal) return false;
  const int first = pack.first_half * kHalfLanes, lanes = pack.last_half * kHalfLanes - first;
  const auto* addresses = static_cast<const std::uint64_t*>(r.vector) + first;
  alignas(64) std::uint64_t among[kLanes];
  // Lanes that take no part stand where one that does stands.
  const int one = first_lane(pack.mask) - first;
  for (int l = 0; l < lanes; ++l) among[l] = addresses[one];
  pack.kernels->blend[3](among, addresses, pack.mask.halves + pack.first_half,
                         pack.last_half - pack.first_half);
  const Spread spread = pack.kernels->spread(among, 8, 0, lanes);
  const std::uint64_t bytes = static_cast<std::uint64_t>(i.size) * i.count;
  if (((spread.bits | static_cast<std::uint64_t>(i.displacement)) & (bytes - 1)) != 0) return false;
  const std::uint64_t lowest = spread.least + static_cast<std::uint64_t>(i.displacement);
  if (i.window == Window::kGeneric && (lowest & kWindowMask) == kLocalWindow) return false;
  const Place place = place_of(pack, i.window, lowest, 0, write);
  if (place.host == nullptr || place.left < spread.greatest - spread.least + bytes) return false;
  for (int l = 0; l < lanes; ++l) places.host[first + l] = place.host + (among[l] - spread.least);
  count_bytes(pack, place, bytes * pack.lanes, write);
  return true;
}
// Each lane alone. Returns false after a fault.
bool place_lanes(Pack& pack, const Instruction& i, const Register& r, Places& places, bool write) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(i.size) * i.count;
  bool ok = true;
  for_each_lane(pack.mask, [&](int lane) {
    if (!ok) return;
    const std::uint64_t address = address_of(r, lane) + static_cast<std::uint64_t>(i.displacement);
    const bool aligned = (address & (bytes - 1)) == 0;
    const Place place = aligned ? place_of(pack, i.window, address, lane, write) : Place{};
    if (place.host == nullptr || place.left < bytes) {
      fail_access(pack, i, aligned ? OutcomeKind::kIllegalAddress : OutcomeKind::kMisaligned, address, write);
      ok = false;
      return;
    }
    places.host[lane] = place.host;
    count_bytes(pack, place, bytes, write);
  });
  return ok;
}
bool find_places(Pack& pack, const Instruction& i, Places& places, bool write) {
  Register& r = reg(pack, i.a);
  const bool near = r.stride < kFar && r.stride > -kFar;
  if (r.is_affine() && near &&
      (place_at_once(pack, i, r, places, write) || place_halves(pack, i, r, places, write)))
    return true;
  if (!r.is_affine() && place_within_page(pack, i, r, places, write)) return true;
  return place_lanes(pack, i, r, places, write);
}

// The next element of each lane's vector.
void advance(const Pack& pack, const Instruction& i, Places& places) {
  for (int h = pack.first_half; h < pack.last_half; ++h) {
    if (places.host[h] != nullptr) places.host[h] += i.size;
  }
}
void load_element(Pack& pack, const Instruction& i, const Places& places, int element) {
  const SlotId slot = i.elements[static_cast<std::size_t>(element)];
  if (slot == kNoSlot) return;
  Register& d = reg(pack, slot);
  const int first = pack.first_half, last = pack.last_half;
  if (!places.strided) {
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(element) * i.size;
    i.mover->gathered(target_of(pack, i, d), places.host, offset, pack.mask.halves, first, last);
    return commit(pack, i, d);
  }
  if (places.stride == 0 && writes_scalar(pack, i, d)) {
    i.mover->uniform(d.base, places.host, first, last);
    return set_uniform(d);
  }
  i.mover->strided(target_of(pack, i, d), places.host, places.stride, pack.mask.halves, first, last);
  commit(pack, i, d);
}

}  // namespace

const Instruction* load(Pack& pack, const Instruction& i) {
  Places places;
  if (!find_places(pack, i, places, false)) return nullptr;
  for (int element = 0; element < i.count; ++element) {
    if (element != 0 && places.strided) advance(pack, i, places);
    load_element(pack, i, places, element);
  }
  return &i + 1;
}

const Instruction* store(Pack& pack, const Instruction& i) {
  Places places;
  if (!find_places(pack, i, places, true)) return nullptr;
  const int first = pack.first_half, last = pack.last_half;
  for (int element = 0; element < i.count; ++element) {
    void* source = vector_of(pack, reg(pack, i.elements[static_cast<std::size_t>(element)]));
    if (!places.strided) {
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(element) * i.size;
      i.mover->gathered(source, places.host, offset, pack.mask.halves, first, last);
      continue;
    }
    if (element != 0) advance(pack, i, places);
    i.mover->strided(source, places.host, places.stride, pack.mask.halves, first, last);
  }
  return &i + 1;
}

const Instruction* load_parameter(Pack& pack, const Instruction& i) {
  const std::uint8_t* parameters = pack.block->kernel->launch->parameters.data();
  for (int element = 0; element < i.count; ++element) {
    const SlotId slot = i.elements[static_cast<std::size_t>(element)];
    if (slot == kNoSlot) continue;
    std::uint8_t* host[kHalves];
    for (auto& at : host) at = const_cast<std::uint8_t*>(parameters) + i.displacement + element * i.size;
    Register& d = reg(pack, slot);
    if (writes_scalar(pack, i, d)) {
      i.mover->uniform(d.base, host, 0, kHalves);
      set_uniform(d, Register::kSame);
    } else {
      i.mover->strided(target_of(pack, i, d), host, 0, pack.mask.halves, pack.first_half, pack.last_half);
      commit(pack, i, d);
    }
  }
  return &i + 1;
}

// cp.async: a is the shared destination, b the global source, code the bytes that are zero-filled.
const Instruction* copy_async(Pack& pack, const Instruction& i) {
  Places from, to;
  Instruction source = i;
  source.a = i.b;
  source.window = Window::kGlobal;
  source.displacement = static_cast<std::int64_t>(i.extra);
  source.count = static_cast<std::uint8_t>(i.count - i.code);
  if (!place_lanes(pack, i, reg(pack, i.a), to, true) ||
      !place_lanes(pack, source, reg(pack, i.b), from, false))
    return nullptr;
  for_each_lane(pack.mask, [&](int lane) {
    std::memcpy(to.host[lane], from.host[lane], source.count);
    std::memset(to.host[lane] + source.count, 0, i.code);
  });
  return &i + 1;
}

}  // namespace handlers
}  // namespace softgpu::engine
