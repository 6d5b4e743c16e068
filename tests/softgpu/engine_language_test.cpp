#include "tests/softgpu/engine_machine.hpp"

namespace softgpu::test {
namespace {

std::vector<int> numbers(int count, int modulus) {
  std::vector<int> values;
  unsigned x = 12345;
  for (int i = 0; i < count; ++i) {
    x = x * 1664525u + 1013904223u;
    values.push_back(static_cast<int>((x >> 8) % static_cast<unsigned>(modulus)));
  }
  return values;
}

class EngineLanguage : public EngineTest {
 protected:
  Machine machine{"language.ptx", GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, EngineLanguage, testing::ValuesIn(kModes), mode_name);

int divergence_of(int in, int i) {
  int total = 0;
  for (int k = 0; k < in; ++k) {
    if (k == 7) continue;
    for (int j = 0; j < k; ++j) {
      if (j * 3 > in) break;
      total += j ^ k;
    }
    if (total > 500) break;
  }
  switch (in & 3) {
    case 0:
      total += 1;
      break;
    case 1:
      total *= 3;
      break;
    case 2:
      total -= i;
      break;
    default:
      if ((i & 1) != 0) return -total;
  }
  return total;
}

TEST_P(EngineLanguage, NestedLoopsBreakContinueAndEarlyReturn) {
  constexpr int kN = 1000;
  const std::vector<int> in = numbers(kN, 40);
  const auto a = machine.upload(in);
  const auto b = machine.upload(std::vector<int>(kN + 24, -7));
  expect_done(machine.launch("divergence", {4, 1, 1}, {256, 1, 1}, a, b, kN));
  const auto out = machine.download<int>(b, kN + 24);
  for (int i = 0; i < kN; ++i) ASSERT_EQ(out[i], divergence_of(in[i], i)) << i;
  for (int i = kN; i < kN + 24; ++i) EXPECT_EQ(out[i], -7);
}

TEST_P(EngineLanguage, ManyBlocksOnEveryThread) {
  constexpr int kN = 60000;
  const std::vector<int> in = numbers(kN, 40);
  const auto a = machine.upload(in);
  const auto b = machine.upload(std::vector<int>(kN));
  expect_done(machine.launch("divergence", {(kN + 255) / 256, 1, 1}, {256, 1, 1}, a, b, kN));
  const auto out = machine.download<int>(b, kN);
  for (int i = 0; i < kN; ++i) ASSERT_EQ(out[i], divergence_of(in[i], i)) << i;
}

TEST_P(EngineLanguage, TheFirstOfManyFaultsCounts) {
  constexpr int kN = 60000;
  const auto a = machine.upload(numbers(kN, 40));
  const auto b = machine.allocate(65536);
  const Outcome outcome = machine.launch("divergence", {(kN + 255) / 256, 1, 1}, {256, 1, 1}, a, b, kN);
  EXPECT_EQ(outcome.kind, OutcomeKind::kIllegalAddress);
  // Blocks of 256 threads fill the page exactly; in the next one the lanes with an early return store first.
  EXPECT_NE(outcome.message.find("block (64, 0, 0)"), std::string::npos) << outcome.message;
}

TEST_P(EngineLanguage, BarriersAcrossPacks) {
  const std::vector<int> in = numbers(900, 1000);
  const auto a = machine.upload(in);
  expect_done(machine.launch("reverse_in_block", {3, 1, 1}, {300, 1, 1}, a));
  const auto out = machine.download<int>(a, 900);
  for (int b = 0; b < 3; ++b) {
    for (int i = 0; i < 300; ++i) ASSERT_EQ(out[b * 300 + i], in[b * 300 + 299 - i]);
  }
}

TEST_P(EngineLanguage, TreeReductionInSharedMemory) {
  constexpr int kN = 10000, kThreads = 512, kBlocks = 6;
  std::vector<float> in;
  for (const int v : numbers(kN, 1000)) in.push_back(static_cast<float>(v) * 0.37f);
  const auto a = machine.upload(in);
  const auto b = machine.upload(std::vector<float>(kBlocks));
  machine.dynamic_shared = kThreads * 4;
  expect_done(machine.launch("reduce", {kBlocks, 1, 1}, {kThreads, 1, 1}, a, b, kN));
  const auto out = machine.download<float>(b, kBlocks);
  for (int block = 0; block < kBlocks; ++block) {
    float partial[kThreads] = {};
    for (int t = 0; t < kThreads; ++t) {
      for (int i = block * kThreads + t; i < kN; i += kThreads * kBlocks) partial[t] += in[i];
    }
    for (int half = kThreads / 2; half > 0; half /= 2) {
      for (int t = 0; t < half; ++t) partial[t] += partial[t + half];
    }
    EXPECT_EQ(out[block], partial[0]);
  }
}

int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
TEST_P(EngineLanguage, RecursionWithDifferentDepths) {
  const auto a = machine.upload(std::vector<int>(64));
  expect_done(machine.launch("recursion", {1, 1, 1}, {64, 1, 1}, a));
  const auto out = machine.download<int>(a, 64);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], fibonacci(t % 13)) << t;
}

TEST_P(EngineLanguage, IndirectCalls) {
  const auto a = machine.upload(std::vector<int>(96));
  expect_done(machine.launch("indirect", {1, 1, 1}, {96, 1, 1}, a));
  const auto out = machine.download<int>(a, 96);
  for (int t = 0; t < 96; ++t) EXPECT_EQ(out[t], t % 3 == 0 ? 2 * t : t % 3 == 1 ? t * t : -t) << t;
}

struct Mixed {
  char c;
  short s;
  int i;
  double d;
  float v[5];
};
TEST_P(EngineLanguage, StructuresByValue) {
  const Mixed m{'x', -300, 70000, 0.125, {1.5f, 2.5f, -3.5f, 4.5f, 5.5f}};
  const auto a = machine.upload(std::vector<double>(40));
  expect_done(machine.launch("structures", {1, 1, 1}, {40, 1, 1}, m, a));
  const auto out = machine.download<double>(a, 40);
  for (int t = 0; t < 40; ++t) EXPECT_EQ(out[t], m.c + m.s + (m.i + t) + m.d + m.v[t % 5]) << t;
}

TEST_P(EngineLanguage, LocalArraysWithVaryingIndex) {
  const std::vector<int> in = numbers(80, 1000);
  const auto a = machine.upload(in);
  const auto b = machine.upload(std::vector<int>(80));
  expect_done(machine.launch("local_array", {1, 1, 1}, {80, 1, 1}, a, b));
  const auto out = machine.download<int>(b, 80);
  for (int t = 0; t < 80; ++t) {
    unsigned values[16];
    for (unsigned k = 0; k < 16; ++k) values[k] = static_cast<unsigned>(in[t]) * k;
    for (unsigned k = 0; k < 40; ++k) values[(k * static_cast<unsigned>(in[t])) & 15] += k;
    unsigned sum = 0;
    for (int k = 0; k < 16; ++k) sum = sum * 31 + values[(k + t) & 15];
    EXPECT_EQ(out[t], static_cast<int>(sum)) << t;
  }
}

TEST_P(EngineLanguage, ConstantsAndVariables) {
  const auto a = machine.upload(std::vector<float>(8));
  expect_done(machine.launch("globals", {2, 1, 1}, {8, 1, 1}, a));
  EXPECT_EQ(machine.download<float>(a, 8),
            (std::vector<float>{1.5f, -2.0f, 0.25f, 8.0f, 1.5f, -2.0f, 0.25f, 8.0f}));
  EXPECT_EQ(machine.download<int>(machine.global("counter"), 1)[0], 5 + 2 * 16);
}

TEST_P(EngineLanguage, Prints) {
  expect_done(machine.launch("prints", {1, 1, 1}, {32, 1, 1}, 3));
  EXPECT_EQ(machine.printed,
            "0 even  0.00 a|7   |123456789abc %\n1 odd  0.50 b|7   |123456789abc %\n2 even  1.00 c|7   "
            "|123456789abc %\n");
}

TEST_P(EngineLanguage, AssertionsTellWhere) {
  const Outcome outcome = machine.launch("asserts", {1, 1, 1}, {32, 1, 1}, 31);
  EXPECT_EQ(outcome.kind, OutcomeKind::kAssert);
  EXPECT_NE(outcome.message.find("thread: [31,0,0] Assertion `threadIdx.x < n` failed."), std::string::npos)
      << outcome.message;
  expect_done(machine.launch("asserts", {1, 1, 1}, {32, 1, 1}, 32));
}

TEST_P(EngineLanguage, TrapEndsTheLaunch) {
  EXPECT_EQ(machine.launch("traps", {1, 1, 1}, {32, 1, 1}, 7).kind, OutcomeKind::kTrap);
  expect_done(machine.launch("traps", {1, 1, 1}, {32, 1, 1}, 77));
}

TEST_P(EngineLanguage, FaultsGiveAddressAndLine) {
  const auto a = machine.allocate(65536);
  expect_done(machine.launch("overruns", {1, 1, 1}, {64, 1, 1}, a, 65536 / 4 - 64));
  const Outcome outcome = machine.launch("overruns", {1, 1, 1}, {64, 1, 1}, a, 65536 / 4 - 40);
  EXPECT_EQ(outcome.kind, OutcomeKind::kIllegalAddress);
  EXPECT_EQ(outcome.fault_address, a + 65536);
  EXPECT_TRUE(outcome.fault_is_write);
  EXPECT_GT(outcome.line, 0u);
  const Outcome misaligned = machine.launch("misaligns", {1, 1, 1}, {64, 1, 1}, a);
  EXPECT_EQ(misaligned.kind, OutcomeKind::kMisaligned);
  EXPECT_EQ(misaligned.fault_address, a + 1);
}

TEST_P(EngineLanguage, ReadOnlyPagesRefuseWrites) {
  const auto a = machine.allocate(65536);
  machine.entry(a) = machine.entry(a) & ~Mmu::kWrite;
  EXPECT_EQ(machine.launch("overruns", {1, 1, 1}, {1, 1, 1}, a, 0).kind, OutcomeKind::kIllegalAddress);
}

TEST_P(EngineLanguage, BarrierThatNeverFillsIsADeadlock) {
  const Outcome outcome = machine.launch("waits_forever", {1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(outcome.kind, OutcomeKind::kDeadlock);
  EXPECT_NE(outcome.message.find("waits_forever"), std::string::npos);
}

TEST_P(EngineLanguage, ThreadsThatEndedCountAtBarriers) {
  const auto a = machine.upload(std::vector<int>(64));
  expect_done(machine.launch("early_exit_then_barrier", {1, 1, 1}, {64, 1, 1}, a));
  const auto out = machine.download<int>(a, 64);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 40 ? 17 : 0);
}

constexpr const char* kHandWritten = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry exotic() {
  .reg .b32 %r<3>;
  mbarrier.unheard.of %r1, %r2;
  ret;
}
.visible .entry table(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  and.b32 %r2, %r1, 3;
  targets: .branchtargets zero, one, two, one;
  brx.idx %r2, targets;
zero:
  mov.u32 %r3, 100;
  bra done;
one:
  mov.u32 %r3, 200;
  bra done;
two:
  add.u32 %r3, %r1, 300;
done:
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

TEST_P(EngineLanguage, OneExoticKernelDoesNotSpoilItsModule) {
  machine.load(kHandWritten);
  const Outcome refused = machine.launch("exotic", {1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(refused.kind, OutcomeKind::kLaunchFailed);
  EXPECT_EQ(refused.message, "exotic: PTX line 7: mbarrier.unheard.of: unknown instruction");
  const auto a = machine.upload(std::vector<unsigned>(64));
  expect_done(machine.launch("table", {1, 1, 1}, {64, 1, 1}, a));
  const auto out = machine.download<unsigned>(a, 64);
  for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 4 == 0 ? 100 : t % 4 == 2 ? 300 + t : 200) << t;
}

TEST_P(EngineLanguage, SpinsUntilTheFlagIsSetElsewhere) {
  const auto flag = machine.upload(std::vector<int>(1));
  const auto a = machine.upload(std::vector<int>(32));
  std::atomic<bool> done{false};
  std::thread kernel([&] {
    expect_done(machine.launch("waits_for_flag", {1, 1, 1}, {32, 1, 1}, flag, a));
    done = true;
  });
  EXPECT_FALSE(done);
  __atomic_store_n(reinterpret_cast<int*>(machine.host(flag)), 9, __ATOMIC_SEQ_CST);
  kernel.join();
  EXPECT_EQ(machine.download<int>(a, 1)[0], 9);
}

TEST_P(EngineLanguage, ACancelledSpinEnds) {
  const auto flag = machine.upload(std::vector<int>(1));
  std::thread kernel([&] {
    EXPECT_EQ(machine.launch("waits_for_flag", {1, 1, 1}, {32, 1, 1}, flag, flag).kind,
              OutcomeKind::kCancelled);
  });
  machine.cancel = true;
  kernel.join();
}

}  // namespace
}  // namespace softgpu::test
