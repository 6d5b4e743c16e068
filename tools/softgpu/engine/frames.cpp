// Frames: a call's registers. They are kept by function for the next call; the slots that never change are
// filled once.
#include "tools/softgpu/engine/buffer_pool.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine {
namespace {

std::size_t vector_bytes(const Slot& slot) {
  return slot.kind == SlotKind::kUnused ? 0 : static_cast<std::size_t>(kLanes) * slot.width;
}

std::unique_ptr<Frame> make_frame(const Code& code) {
  auto frame = std::make_unique<Frame>();
  std::size_t bytes = sizeof(Register) * code.slots.size();
  for (const Slot& slot : code.slots) bytes += vector_bytes(slot);
  frame->memory = take_buffer(bytes);
  frame->bytes = bytes;
  frame->registers = reinterpret_cast<Register*>(frame->memory);
  std::uint8_t* at = frame->memory + sizeof(Register) * code.slots.size();
  for (std::size_t s = 0; s < code.slots.size(); ++s) {
    Register& r = *new (frame->registers + s) Register;
    r.width = code.slots[s].width;
    r.log2_width = static_cast<std::uint8_t>(r.width == 0 ? 0 : __builtin_ctz(r.width));
    r.vector = at;
    at += vector_bytes(code.slots[s]);
  }
  frame->code = &code;
  return frame;
}

void set_all(Register& r, std::uint64_t value) {
  for (int h = 0; h < kHalves; ++h) {
    std::memcpy(reinterpret_cast<char*>(r.base) + h * r.width, &value, r.width);
  }
  set_uniform(r, Register::kSame);
}
void set_lanes(Pack& pack, Register& r, std::uint32_t (*value)(const Pack&, std::uint32_t thread)) {
  auto* lanes = static_cast<std::uint32_t*>(r.vector);
  auto* base = reinterpret_cast<std::uint32_t*>(r.base);
  bool regular = pack.scalars;
  for (int l = 0; l < kLanes; ++l)
    lanes[l] = value(pack, static_cast<std::uint32_t>(pack.index * kLanes + l));
  const std::uint32_t stride = lanes[1] - lanes[0];
  for (int h = 0; h < kHalves; ++h) {
    base[h] = lanes[h * kHalfLanes];
    for (int l = 0; l < kHalfLanes; ++l) {
      regular &= lanes[h * kHalfLanes + l] == base[h] + stride * static_cast<std::uint32_t>(l);
    }
  }
  r.stride = static_cast<std::int32_t>(stride);
  r.state = regular ? Register::kAffine | Register::kVector : Register::kVector;
}
std::array<std::uint32_t, 3> thread_id(const Pack& pack, std::uint32_t thread) {
  const auto& block = pack.block->kernel->launch->block;
  return {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]};
}

// Special registers that differ between lanes.
struct LaneSpecial {
  Special special;
  std::uint32_t (*value)(const Pack&, std::uint32_t thread);
};
constexpr LaneSpecial kLaneSpecials[] = {
    {Special::kTidX, [](const Pack& p, std::uint32_t t) { return thread_id(p, t)[0]; }},
    {Special::kTidY, [](const Pack& p, std::uint32_t t) { return thread_id(p, t)[1]; }},
    {Special::kTidZ, [](const Pack& p, std::uint32_t t) { return thread_id(p, t)[2]; }},
    {Special::kLaneid, [](const Pack&, std::uint32_t t) { return t % kWarpLanes; }},
    {Special::kWarpid, [](const Pack&, std::uint32_t t) { return t / kWarpLanes; }},
    {Special::kLanemaskEq, [](const Pack&, std::uint32_t t) { return 1u << t % kWarpLanes; }},
    {Special::kLanemaskLt, [](const Pack&, std::uint32_t t) { return (1u << t % kWarpLanes) - 1; }},
    {Special::kLanemaskLe, [](const Pack&, std::uint32_t t) { return (2u << t % kWarpLanes) - 1; }},
    {Special::kLanemaskGe, [](const Pack&, std::uint32_t t) { return ~((1u << t % kWarpLanes) - 1); }},
    {Special::kLanemaskGt, [](const Pack&, std::uint32_t t) { return ~((2u << t % kWarpLanes) - 1); }},
};
std::uint32_t component(const std::array<std::uint32_t, 3>& values, Special special, Special first) {
  return values[static_cast<std::uint32_t>(special) - static_cast<std::uint32_t>(first)];
}
std::uint64_t special_value(const Pack& pack, Special special) {
  const KernelState& kernel = *pack.block->kernel;
  const Launch& launch = *kernel.launch;
  switch (special) {
    case Special::kNtidX:
    case Special::kNtidY:
    case Special::kNtidZ:
      return component(launch.block, special, Special::kNtidX);
    case Special::kNctaidX:
    case Special::kNctaidY:
    case Special::kNctaidZ:
      return component(launch.grid, special, Special::kNctaidX);
    case Special::kCtaidX:
    case Special::kCtaidY:
    case Special::kCtaidZ:
      return component(pack.block->id, special, Special::kCtaidX);
    case Special::kNwarpid:
      return (kernel.threads + kWarpLanes - 1) / kWarpLanes;
    case Special::kNsmid:
    case Special::kOne:
      return 1;
    case Special::kEnvreg1:
      return launch.cooperative_workspace >> 32;
    case Special::kEnvreg2:
      return launch.cooperative_workspace & 0xffffffffu;
    case Special::kDynamicShared:
      return launch.dynamic_shared_bytes;
    case Special::kTotalShared:
      return kernel.shared_bytes;
    default:
      return 0;
  }
}
void fill_special(Pack& pack, Register& r, Special special) {
  for (const LaneSpecial& row : kLaneSpecials) {
    if (row.special == special) return set_lanes(pack, r, row.value);
  }
  set_all(r, special_value(pack, special));
}
// What stays the same as long as the frame's pack lives.
void fill_lasting(Pack& pack, Frame& frame) {
  const KernelState& kernel = *pack.block->kernel;
  for (std::size_t s = 0; s < frame.code->slots.size(); ++s) {
    const Slot& slot = frame.code->slots[s];
    Register& r = frame.registers[s];
    const auto value = static_cast<std::uint64_t>(slot.value);
    if (slot.kind == SlotKind::kImmediate) set_all(r, value);
    if (slot.kind == SlotKind::kGlobal) set_all(r, (*kernel.global_addresses)[slot.index] + value);
    if (slot.kind == SlotKind::kShared) set_all(r, kernel.shared_offsets[slot.index] + value);
    if (slot.kind == SlotKind::kParam) set_all(r, value);
    if (slot.kind == SlotKind::kFunction) set_all(r, kFunctionWindow | std::uint64_t{slot.index} << 4);
    if (slot.kind == SlotKind::kSpecial) fill_special(pack, r, static_cast<Special>(slot.index));
  }
}
void fill_call(Pack& pack, Frame& frame) {
  const Code& code = *frame.code;
  for (const SlotId s : code.cleared) {
    Register& r = frame.registers[s];
    for (std::uint64_t& base : r.base) base = 0;
    set_uniform(r);
  }
  for (const SlotId s : code.framed) {
    set_all(frame.registers[s], frame.local_base + static_cast<std::uint64_t>(code.slots[s].value));
  }
  if (frame.block_serial == pack.block->serial) return;
  frame.block_serial = pack.block->serial;
  for (const SlotId s : code.placed)
    fill_special(pack, frame.registers[s], static_cast<Special>(code.slots[s].index));
}

}  // namespace

Frame::~Frame() {
  if (memory != nullptr) give_back_buffer(memory, bytes);
}

Frame* take_frame(Pack& pack, std::uint32_t function, Frame* parent, const Mask& lanes) {
  const Code& code = (*pack.block->kernel->codes)[function];
  auto& free = pack.free_frames[function];
  std::unique_ptr<Frame> frame;
  if (free.empty()) {
    frame = make_frame(code);
    frame->function = function;
    fill_lasting(pack, *frame);
  } else {
    frame = std::move(free.back());
    free.pop_back();
  }
  frame->parent = parent;
  frame->call = nullptr;
  frame->lanes = lanes;
  frame->depth = parent == nullptr ? 0 : parent->depth + 1;
  frame->local_base = parent == nullptr ? 0 : parent->local_base + ((parent->code->local_bytes + 15) & ~15u);
  fill_call(pack, *frame);
  return frame.release();
}
void clear_local(Pack& pack, const Frame& frame, std::uint32_t bytes) {
  if (bytes == 0) return;
  const std::size_t stride = pack.block->kernel->local_stride;
  for_each_lane(frame.lanes, [&](int lane) {
    std::memset(pack.local + static_cast<std::size_t>(lane) * stride + frame.local_base, 0, bytes);
  });
}
void give_back(Pack& pack, Frame* frame) { pack.free_frames[frame->function].emplace_back(frame); }

void end_lanes(Pack& pack, const Mask& lanes) {
  for (Frame* frame = pack.frame; frame != nullptr;) {
    Frame* parent = frame->parent;
    frame->lanes = without(frame->lanes, lanes);
    if (frame->lanes.empty()) give_back(pack, frame);
    frame = parent;
  }
  pack.live = without(pack.live, lanes);
  pack.block->live -= static_cast<std::uint32_t>(lanes.count());
}

}  // namespace softgpu::engine
