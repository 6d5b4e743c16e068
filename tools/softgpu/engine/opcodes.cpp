// The table of opcodes: what decodes each, and whether a guard narrows the mask or becomes a branch around.
#include <algorithm>

#include "tools/softgpu/engine/decoder.hpp"
#include "tools/softgpu/engine/handlers.hpp"

namespace softgpu::engine {
namespace {

constexpr bool kMasks = true, kBranches = false;

constexpr Opcode kOpcodes[] = {
    {"abs", &Decoder::arithmetic, kMasks},
    {"activemask", &Decoder::active_mask, kBranches},
    {"add", &Decoder::arithmetic, kMasks},
    {"addc", &Decoder::carry, kMasks},
    {"and", &Decoder::logic, kMasks},
    {"applypriority", &Decoder::hint, kMasks},
    {"atom", &Decoder::atomic, kMasks},
    {"bar", &Decoder::barrier, kBranches},
    {"barrier", &Decoder::barrier, kBranches},
    {"bfe", &Decoder::bit_field, kMasks},
    {"bfi", &Decoder::bit_field, kMasks},
    {"bfind", &Decoder::arithmetic, kMasks},
    {"bmsk", &Decoder::arithmetic, kMasks},
    {"bra", &Decoder::branch, kBranches},
    {"brev", &Decoder::arithmetic, kMasks},
    {"brkpt", &Decoder::trap, kBranches},
    {"brx", &Decoder::branch_indexed, kBranches},
    {"call", &Decoder::call, kBranches},
    {"clz", &Decoder::arithmetic, kMasks},
    {"cnot", &Decoder::arithmetic, kMasks},
    {"copysign", &Decoder::arithmetic, kMasks},
    {"cos", &Decoder::arithmetic, kMasks},
    {"cp", &Decoder::copy_async, kMasks},
    {"cvt", &Decoder::convert, kMasks},
    {"cvta", &Decoder::convert_address, kMasks},
    {"discard", &Decoder::hint, kMasks},
    {"div", &Decoder::arithmetic, kMasks},
    {"dp4a", &Decoder::arithmetic, kMasks},
    {"ex2", &Decoder::arithmetic, kMasks},
    {"exit", &Decoder::leave, kBranches},
    {"fence", &Decoder::fence, kMasks},
    {"fma", &Decoder::arithmetic, kMasks},
    {"isspacep", &Decoder::test_space, kMasks},
    {"ld", &Decoder::load, kMasks},
    {"ldu", &Decoder::load, kMasks},
    {"lg2", &Decoder::arithmetic, kMasks},
    {"lop3", &Decoder::lookup, kMasks},
    {"mad", &Decoder::arithmetic, kMasks},
    {"mad24", &Decoder::arithmetic, kMasks},
    {"madc", &Decoder::carry, kMasks},
    {"match", &Decoder::match, kBranches},
    {"max", &Decoder::arithmetic, kMasks},
    {"membar", &Decoder::fence, kMasks},
    {"min", &Decoder::arithmetic, kMasks},
    {"mov", &Decoder::move, kMasks},
    {"mul", &Decoder::arithmetic, kMasks},
    {"mul24", &Decoder::arithmetic, kMasks},
    {"nanosleep", &Decoder::pause, kBranches},
    {"neg", &Decoder::arithmetic, kMasks},
    {"not", &Decoder::logic, kMasks},
    {"or", &Decoder::logic, kMasks},
    {"pmevent", &Decoder::hint, kMasks},
    {"popc", &Decoder::arithmetic, kMasks},
    {"prefetch", &Decoder::hint, kMasks},
    {"prefetchu", &Decoder::hint, kMasks},
    {"prmt", &Decoder::arithmetic, kMasks},
    {"rcp", &Decoder::arithmetic, kMasks},
    {"red", &Decoder::atomic, kMasks},
    {"redux", &Decoder::reduce, kBranches},
    {"rem", &Decoder::arithmetic, kMasks},
    {"ret", &Decoder::leave, kBranches},
    {"rsqrt", &Decoder::arithmetic, kMasks},
    {"sad", &Decoder::arithmetic, kMasks},
    {"selp", &Decoder::select, kMasks},
    {"set", &Decoder::set, kMasks},
    {"setp", &Decoder::set_predicate, kMasks},
    {"shf", &Decoder::arithmetic, kMasks},
    {"shfl", &Decoder::shuffle, kBranches},
    {"shl", &Decoder::arithmetic, kMasks},
    {"shr", &Decoder::arithmetic, kMasks},
    {"sin", &Decoder::arithmetic, kMasks},
    {"sqrt", &Decoder::arithmetic, kMasks},
    {"st", &Decoder::store, kMasks},
    {"sub", &Decoder::arithmetic, kMasks},
    {"subc", &Decoder::carry, kMasks},
    {"tanh", &Decoder::arithmetic, kMasks},
    {"trap", &Decoder::trap, kBranches},
    {"vote", &Decoder::vote, kBranches},
    {"xor", &Decoder::logic, kMasks},
};

constexpr SystemCall kSystemCalls[] = {
    {"__assertfail", handlers::assert_fail, true},
    {"free", handlers::release, true},
    {"malloc", handlers::allocate, true},
    {"vprintf", handlers::print, true},
};

}  // namespace

const Opcode* find_opcode(std::string_view name) {
  const auto* at = std::ranges::lower_bound(kOpcodes, name, {}, &Opcode::name);
  return at != std::end(kOpcodes) && at->name == name ? at : nullptr;
}
const SystemCall* find_system_call(std::string_view name, std::uint32_t* index) {
  const auto* at = std::ranges::find(kSystemCalls, name, &SystemCall::name);
  if (at == std::end(kSystemCalls)) return nullptr;
  if (index != nullptr) *index = static_cast<std::uint32_t>(at - kSystemCalls);
  return at;
}
const SystemCall& system_call_at(std::uint32_t index) { return kSystemCalls[index]; }

}  // namespace softgpu::engine
