#include "tools/gpu_check/kernels.hpp"

namespace gpu_check {

// The head of a kernel that passes over `words` 16-byte words from `p`: %rd1 is the first word of this
// thread, %rd4 the bytes from one thread's word to its next (all threads once), %rd5 the end, %rd6 the step
// of a turn (four times that).
#define PASS_HEAD                    \
  ".reg .pred %p1;\n"                \
  ".reg .b32 %r<5>;\n"               \
  ".reg .b64 %rd<32>;\n"             \
  "ld.param.u64 %rd0, [p];\n"        \
  "cvta.to.global.u64 %rd0, %rd0;\n" \
  "ld.param.u64 %rd2, [words];\n"    \
  "mov.u32 %r0, %ctaid.x;\n"         \
  "mov.u32 %r1, %ntid.x;\n"          \
  "mov.u32 %r2, %tid.x;\n"           \
  "mad.lo.u32 %r3, %r0, %r1, %r2;\n" \
  "mov.u32 %r4, %nctaid.x;\n"        \
  "mul.lo.u32 %r4, %r4, %r1;\n"      \
  "mul.wide.u32 %rd1, %r3, 16;\n"    \
  "add.u64 %rd1, %rd0, %rd1;\n"      \
  "mul.wide.u32 %rd4, %r4, 16;\n"    \
  "shl.b64 %rd5, %rd2, 4;\n"         \
  "add.u64 %rd5, %rd0, %rd5;\n"      \
  "shl.b64 %rd6, %rd4, 2;\n"         \
  "add.u64 %rd7, %rd1, %rd4;\n"      \
  "add.u64 %rd8, %rd7, %rd4;\n"      \
  "add.u64 %rd9, %rd8, %rd4;\n"

#define PASS_NEXT                  \
  "add.u64 %rd1, %rd1, %rd6;\n"    \
  "add.u64 %rd7, %rd7, %rd6;\n"    \
  "add.u64 %rd8, %rd8, %rd6;\n"    \
  "add.u64 %rd9, %rd9, %rd6;\n"    \
  "setp.lt.u64 %p1, %rd1, %rd5;\n" \
  "@%p1 bra TURN;\n"

#define PASS_LOADS                             \
  "TURN:\n"                                    \
  "ld.global.v2.u64 {%rd10, %rd11}, [%rd1];\n" \
  "ld.global.v2.u64 {%rd12, %rd13}, [%rd7];\n" \
  "ld.global.v2.u64 {%rd14, %rd15}, [%rd8];\n" \
  "ld.global.v2.u64 {%rd16, %rd17}, [%rd9];\n"

#define MIX(sum, word, address)       \
  "xor.b64 %rd24, " word ", " address \
  ";\n"                               \
  "mad.lo.u64 " sum ", %rd24, %rd22, " sum ";\n"

// What a pass found goes to `out`, so that no load can be left out.
#define PASS_RESULT                      \
  "ld.param.u64 %rd25, [out];\n"         \
  "cvta.to.global.u64 %rd25, %rd25;\n"   \
  "red.global.add.u64 [%rd25], %rd20;\n" \
  "ret;\n"

#define THREE_PARAMETERS "(.param .u64 p, .param .u64 words, .param .u64 out)\n"

const char kKernels[] =
    ".version 7.0\n"
    ".target sm_75\n"
    ".address_size 64\n"

    ".visible .entry nothing() { ret; }\n"

    // Runs for `duration` nanoseconds.
    ".visible .entry spin(.param .u64 duration)\n"
    "{\n"
    ".reg .pred %p1;\n"
    ".reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd0, [duration];\n"
    "mov.u64 %rd1, %globaltimer;\n"
    "TURN:\n"
    "mov.u64 %rd2, %globaltimer;\n"
    "sub.u64 %rd3, %rd2, %rd1;\n"
    "setp.lt.u64 %p1, %rd3, %rd0;\n"
    "@%p1 bra TURN;\n"
    "ret;\n"
    "}\n"

    // For `duration` nanoseconds each thread adds to words of its own, one in each of `pages` places `stride`
    // bytes apart, and notes the longest time between two of them: out[0] the longest, out[1] all turns.
    ".visible .entry pulse(.param .u64 p, .param .u64 stride, .param .u64 pages, .param .u64 duration,\n"
    "                      .param .u64 out)\n"
    "{\n"
    ".reg .pred %p1;\n"
    ".reg .b32 %r<4>;\n"
    ".reg .b64 %rd<20>;\n"
    "ld.param.u64 %rd0, [p];\n"
    "cvta.to.global.u64 %rd0, %rd0;\n"
    "ld.param.u64 %rd1, [stride];\n"
    "ld.param.u64 %rd2, [pages];\n"
    "ld.param.u64 %rd3, [duration];\n"
    "ld.param.u64 %rd4, [out];\n"
    "cvta.to.global.u64 %rd4, %rd4;\n"
    "mov.u32 %r0, %ctaid.x;\n"
    "mov.u32 %r1, %ntid.x;\n"
    "mov.u32 %r2, %tid.x;\n"
    "mad.lo.u32 %r3, %r0, %r1, %r2;\n"
    "mul.wide.u32 %rd5, %r3, 8;\n"
    "add.u64 %rd0, %rd0, %rd5;\n"
    "mov.u64 %rd6, 0;\n"             // place
    "mov.u64 %rd7, 0;\n"             // longest gap
    "mov.u64 %rd8, 0;\n"             // turns
    "mov.u64 %rd9, %globaltimer;\n"  // start
    "mov.u64 %rd10, %rd9;\n"         // last turn
    "TURN:\n"
    "mad.lo.u64 %rd11, %rd6, %rd1, %rd0;\n"
    "ld.volatile.global.u64 %rd12, [%rd11];\n"
    "add.u64 %rd12, %rd12, 1;\n"
    "st.volatile.global.u64 [%rd11], %rd12;\n"
    "add.u64 %rd6, %rd6, 1;\n"
    "setp.eq.u64 %p1, %rd6, %rd2;\n"
    "@%p1 mov.u64 %rd6, 0;\n"
    "mov.u64 %rd13, %globaltimer;\n"
    "sub.u64 %rd14, %rd13, %rd10;\n"
    "max.u64 %rd7, %rd7, %rd14;\n"
    "mov.u64 %rd10, %rd13;\n"
    "add.u64 %rd8, %rd8, 1;\n"
    "sub.u64 %rd15, %rd13, %rd9;\n"
    "setp.lt.u64 %p1, %rd15, %rd3;\n"
    "@%p1 bra TURN;\n"
    "red.global.max.u64 [%rd4], %rd7;\n"
    "red.global.add.u64 [%rd4+8], %rd8;\n"
    "ret;\n"
    "}\n"

    ".visible .entry read_all" THREE_PARAMETERS "{\n" PASS_HEAD "mov.u64 %rd20, 0;\n" PASS_LOADS
    "xor.b64 %rd10, %rd10, %rd11;\n"
    "xor.b64 %rd12, %rd12, %rd13;\n"
    "xor.b64 %rd14, %rd14, %rd15;\n"
    "xor.b64 %rd16, %rd16, %rd17;\n"
    "xor.b64 %rd10, %rd10, %rd12;\n"
    "xor.b64 %rd14, %rd14, %rd16;\n"
    "xor.b64 %rd20, %rd20, %rd10;\n"
    "xor.b64 %rd20, %rd20, %rd14;\n" PASS_NEXT PASS_RESULT
    "}\n"

    ".visible .entry write_all" THREE_PARAMETERS "{\n" PASS_HEAD
    "ld.param.u64 %rd20, [out];\n"
    "TURN:\n"
    "st.global.v2.u64 [%rd1], {%rd20, %rd20};\n"
    "st.global.v2.u64 [%rd7], {%rd20, %rd20};\n"
    "st.global.v2.u64 [%rd8], {%rd20, %rd20};\n"
    "st.global.v2.u64 [%rd9], {%rd20, %rd20};\n" PASS_NEXT
    "ret;\n}\n"

    // 128 bits of a sum that depends on every word and its place.
    ".visible .entry fingerprint" THREE_PARAMETERS "{\n" PASS_HEAD
    "mov.u64 %rd20, 0;\n"
    "mov.u64 %rd21, 0;\n"
    "mov.u64 %rd22, 0x9e3779b97f4a7c15;\n" PASS_LOADS MIX("%rd20", "%rd10", "%rd1")
        MIX("%rd21", "%rd11", "%rd1") MIX("%rd20", "%rd12", "%rd7") MIX("%rd21", "%rd13", "%rd7")
            MIX("%rd20", "%rd14", "%rd8") MIX("%rd21", "%rd15", "%rd8") MIX("%rd20", "%rd16", "%rd9")
                MIX("%rd21", "%rd17", "%rd9") PASS_NEXT
    "xor.b64 %rd20, %rd20, %rd21;\n" PASS_RESULT
    "}\n"

    // Every thread adds 1 to the 32-bit word at p and to the 64-bit word at p + 8, and raises p + 16.
    ".visible .entry atomics(.param .u64 p)\n"
    "{\n"
    ".reg .b32 %r<5>;\n"
    ".reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd0, [p];\n"
    "cvta.to.global.u64 %rd0, %rd0;\n"
    "mov.u32 %r0, %ctaid.x;\n"
    "mov.u32 %r1, %ntid.x;\n"
    "mov.u32 %r2, %tid.x;\n"
    "mad.lo.u32 %r3, %r0, %r1, %r2;\n"
    "red.global.add.u32 [%rd0], 1;\n"
    "atom.global.add.u64 %rd1, [%rd0+8], 1;\n"
    "red.global.max.u32 [%rd0+16], %r3;\n"
    "ret;\n"
    "}\n";

}  // namespace gpu_check
