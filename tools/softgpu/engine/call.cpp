// Calls of device functions. A call makes a frame for the lanes that make it together; they come back at
// their own time and meet again behind the call.
#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine::handlers {
namespace {

constexpr std::uint32_t kMaxDepth = 4096;

std::uint8_t* frame_memory(const Pack& pack, const Frame& frame, int lane) {
  return pack.local + static_cast<std::size_t>(lane) * pack.block->kernel->local_stride + frame.local_base;
}
void transfer(const Pack& pack, const Frame& from, const Frame& to, const std::vector<Transfer>& transfers) {
  for (const Transfer& t : transfers) {
    for_each_lane(pack.mask, [&](int lane) {
      std::memcpy(frame_memory(pack, to, lane) + t.to, frame_memory(pack, from, lane) + t.from, t.bytes);
    });
  }
}
// Argument k of the call goes to parameter k, result k of the callee to result k.
std::vector<Transfer> pair_up(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to,
                              const std::vector<std::uint32_t>& bytes) {
  std::vector<Transfer> transfers;
  for (std::size_t k = 0; k < from.size() && k < to.size() && k < bytes.size(); ++k) {
    transfers.push_back({from[k], to[k], bytes[k]});
  }
  return transfers;
}
const Instruction* enter(Pack& pack, const Instruction& i, std::uint32_t function) {
  const Code& callee = (*pack.block->kernel->codes)[function];
  if (!callee.error.empty()) return fail(pack, i, OutcomeKind::kLaunchFailed, callee.error);
  Frame* caller = pack.frame;
  Frame* frame = take_frame(pack, function, caller, pack.mask);
  frame->call = &i;
  current_group(pack).frame = frame;
  pack.frame = frame;
  if (frame->depth > kMaxDepth || frame->local_base + callee.local_bytes > pack.block->kernel->local_stride)
    return fail(pack, i, OutcomeKind::kLaunchFailed, "the call stack of a thread overflowed");
  clear_local(pack, *frame, callee.local_bytes);
  const CallSite& site = caller->code->calls[i.extra];
  transfer(pack, *caller, *frame,
           pair_up(site.argument_offsets, callee.parameter_offsets, callee.parameter_sizes));
  pack.code = callee.instructions.data();
  pack.registers = frame->registers;
  pack.full = true;
  return pack.code;
}

}  // namespace

const Instruction* call(Pack& pack, const Instruction& i) { return enter(pack, i, i.target); }

// a: the function's address. Lanes that call another function wait at this instruction.
const Instruction* call_indirect(Pack& pack, const Instruction& i) {
  const auto* addresses = static_cast<const std::uint64_t*>(vector_of(pack, reg(pack, i.a)));
  int first = -1;
  for_each_lane(pack.mask, [&](int lane) { first = first < 0 ? lane : first; });
  const std::uint64_t address = addresses[first], function = (address & ~kWindowMask) >> 4;
  if ((address & kWindowMask) != kFunctionWindow || function >= pack.block->kernel->codes->size())
    return fail_access(pack, i, OutcomeKind::kIllegalAddress, address, false);
  Mask same;
  for_each_lane(pack.mask, [&](int lane) {
    if (addresses[lane] == address) same.add(lane);
  });
  if (!(same == pack.mask)) {
    Group rest = current_group(pack);
    rest.mask = without(pack.mask, same);
    rest.at = index_of(pack, i);
    pack.groups.push_back(rest);
    current_group(pack).mask = same;
    narrow_to(pack, same);
  }
  return enter(pack, i, static_cast<std::uint32_t>(function));
}

const Instruction* call_return(Pack& pack, const Instruction& i) {
  Frame* frame = pack.frame;
  Frame* caller = frame->parent;
  if (caller == nullptr) return exit(pack, i);
  const CallSite& site = caller->code->calls[frame->call->extra];
  transfer(pack, *frame, *caller,
           pair_up(frame->code->result_offsets, site.result_offsets, frame->code->result_sizes));
  Group& group = current_group(pack);
  group.frame = caller;
  group.at = static_cast<std::uint32_t>(frame->call - caller->code->instructions.data()) + 1;
  frame->lanes = without(frame->lanes, pack.mask);
  if (frame->lanes.empty()) give_back(pack, frame);
  if (pack.groups.size() > 1) return nullptr;
  return resume(pack, pack.current);
}

}  // namespace softgpu::engine::handlers
