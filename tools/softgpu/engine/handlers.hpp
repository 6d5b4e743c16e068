// The handlers that the decoder puts into instructions, by family. Thread rule and failure rule: state.hpp.
#pragma once

#include "tools/softgpu/engine/code.hpp"

namespace softgpu::engine::handlers {

#define SOFTGPU_HANDLER(name) const Instruction* name(Pack& pack, const Instruction& instruction)

// elementwise.cpp: d = eval(a, b, c) on each lane.
SOFTGPU_HANDLER(unary);
SOFTGPU_HANDLER(binary);
SOFTGPU_HANDLER(ternary);
SOFTGPU_HANDLER(recognise);  // binary whose result may be evenly spaced
// affine.cpp: the same for instructions that keep base + lane * stride.
SOFTGPU_HANDLER(affine);

// predicate.cpp
SOFTGPU_HANDLER(guard);    // narrows the mask to `guard`, then runs `guarded`
SOFTGPU_HANDLER(compare);  // setp; code: 0 alone, 1 and, 2 or, 3 xor with predicate c (flag: negated); b-side
                           // q in elements[0]
SOFTGPU_HANDLER(logic);  // on predicates; code: mov, and, or, xor, not; is_signed: a negated, flag: b negated
SOFTGPU_HANDLER(select);  // selp; c is the predicate

// memory.cpp
SOFTGPU_HANDLER(load);
SOFTGPU_HANDLER(store);
SOFTGPU_HANDLER(load_parameter);  // of an entry at a fixed offset
SOFTGPU_HANDLER(copy_async);      // cp.async: a plain copy
// atomic.cpp
SOFTGPU_HANDLER(atomic);

// warp.cpp
SOFTGPU_HANDLER(shuffle);
SOFTGPU_HANDLER(vote);
SOFTGPU_HANDLER(match);
SOFTGPU_HANDLER(reduce);
SOFTGPU_HANDLER(active_mask);
SOFTGPU_HANDLER(warp_barrier);
// barrier.cpp
SOFTGPU_HANDLER(barrier);

// control.cpp
SOFTGPU_HANDLER(join);  // stands at every branch target
SOFTGPU_HANDLER(branch);
SOFTGPU_HANDLER(branch_indexed);
SOFTGPU_HANDLER(exit);
SOFTGPU_HANDLER(trap);
SOFTGPU_HANDLER(nothing);
SOFTGPU_HANDLER(pause);  // nanosleep: lets others run
SOFTGPU_HANDLER(clock);
SOFTGPU_HANDLER(space_test);  // isspacep
// call.cpp
SOFTGPU_HANDLER(call);
SOFTGPU_HANDLER(call_indirect);
SOFTGPU_HANDLER(call_return);
// syscalls.cpp
SOFTGPU_HANDLER(print);
SOFTGPU_HANDLER(assert_fail);
SOFTGPU_HANDLER(allocate);
SOFTGPU_HANDLER(release);

#undef SOFTGPU_HANDLER

}  // namespace softgpu::engine::handlers
