#include <algorithm>

#include "tests/softgpu/engine_machine.hpp"

namespace softgpu::test {
namespace {

class EngineWarps : public EngineTest {
 protected:
  Machine machine{"warps.ptx", GetParam()};
  static std::vector<int> numbers(int count) {
    std::vector<int> values;
    for (int i = 0; i < count; ++i) values.push_back((i * 37 + i / 5) % 100);
    return values;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, EngineWarps, testing::ValuesIn(kModes), mode_name);

TEST_P(EngineWarps, Shuffles) {
  constexpr int kThreads = 96;
  const auto a = machine.upload(std::vector<int>(kThreads * 8));
  expect_done(machine.launch("shuffles", {1, 1, 1}, {kThreads, 1, 1}, a));
  const auto out = machine.download<int>(a, kThreads * 8);
  for (int t = 0; t < kThreads; ++t) {
    const int lane = t % 32, warp = t - lane;
    const auto value = [&](int from) { return (warp + from) * 7; };
    const std::vector<int> expected{
        value(5),         value(lane >= 3 ? lane - 3 : lane),    value(lane + 9 < 32 ? lane + 9 : lane),
        value(lane ^ 10), value((lane & 24) | ((lane + 1) & 7)), value(lane % 16 >= 2 ? lane - 2 : lane),
        value(lane),  // four lanes down in segments of four: always outside
        value(lane ^ 1),
    };
    EXPECT_EQ(std::vector<int>(out.begin() + t * 8, out.begin() + t * 8 + 8), expected) << t;
  }
}

TEST_P(EngineWarps, VotesAndCounts) {
  constexpr int kThreads = 320;
  const auto in = numbers(kThreads);
  const auto a = machine.upload(in);
  const auto b = machine.upload(std::vector<unsigned>(kThreads * 6));
  expect_done(machine.launch("votes", {1, 1, 1}, {kThreads, 1, 1}, a, b));
  const auto out = machine.download<unsigned>(b, kThreads * 6);
  unsigned twos = 0;
  for (const int v : in) twos += (v & 2) != 0 ? 1 : 0;
  for (int t = 0; t < kThreads; ++t) {
    const int warp = t - t % 32;
    unsigned odd = 0, same = 0, any = 0, all = 1;
    for (int l = 0; l < 32; ++l) {
      const int v = in[warp + l];
      odd |= static_cast<unsigned>(v & 1) << l;
      same |= static_cast<unsigned>((v & 3) == (in[t] & 3)) << l;
      any |= v > 90 ? 1 : 0;
      all &= v < 95 ? 1 : 0;
    }
    const std::vector<unsigned> expected{odd, any, all, same, (in[t] & 1) != 0 ? odd : 0, twos};
    EXPECT_EQ(std::vector<unsigned>(out.begin() + t * 6, out.begin() + t * 6 + 6), expected) << t;
  }
}

TEST_P(EngineWarps, LanesMeetAgainBeforeAnExchange) {
  constexpr int kThreads = 128;
  const auto in = numbers(kThreads);
  const auto a = machine.upload(in);
  const auto b = machine.upload(std::vector<int>(kThreads));
  expect_done(machine.launch("divergent_shuffle", {1, 1, 1}, {kThreads, 1, 1}, a, b));
  const auto out = machine.download<int>(b, kThreads);
  const auto grown = [&](int t) {
    int v = in[t];
    for (int k = 0; k < (in[t] & 7); ++k) v = v * 3 + 1;
    return v;
  };
  for (int t = 0; t < kThreads; ++t) {
    int expected = grown(t ^ 1);
    if ((t & 4) != 0) expected += grown(t % 4 == 3 ? t : t + 1);
    EXPECT_EQ(out[t], expected) << t;
  }
}

TEST_P(EngineWarps, LanesMeetAtBarriersInDifferentBranches) {
  constexpr int kThreads = 96;
  const auto a = machine.upload(std::vector<int>(kThreads));
  expect_done(machine.launch("barriers_in_branches", {1, 1, 1}, {kThreads, 1, 1}, a));
  const auto passed = [](int t) {
    const int k = t & 3;
    return (t & 16) != 0 ? t * 3 : t * 5 + k * (k - 1) / 2;
  };
  const auto out = machine.download<int>(a, kThreads);
  for (int t = 0; t < kThreads; ++t)
    EXPECT_EQ(out[t], passed(t ^ 16) + ((t & 16) != 0 ? 0 : 1) + passed(t)) << t;
}

TEST_P(EngineWarps, TilesOfCooperativeGroups) {
  constexpr int kThreads = 64;
  const auto in = numbers(kThreads);
  const auto a = machine.upload(in);
  const auto b = machine.upload(std::vector<int>(kThreads));
  expect_done(machine.launch("tiles", {1, 1, 1}, {kThreads, 1, 1}, a, b));
  const auto out = machine.download<int>(b, kThreads);
  for (int t = 0; t < kThreads; t += 8) {
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += in[t + k];
    EXPECT_EQ(out[t], sum) << t;
  }
}

TEST_P(EngineWarps, AtomicsInLinearOrder) {
  constexpr int kBlocks = 3, kThreads = 200, kAll = kBlocks * kThreads;
  std::vector<int> ints(8 + kAll);
  std::vector<unsigned> words{~0u, 0, 0, 0, 0};
  const auto i = machine.upload(ints);
  const auto u = machine.upload(words);
  const auto l = machine.upload(std::vector<std::uint64_t>(1));
  const auto f = machine.upload(std::vector<float>(1));
  const auto d = machine.upload(std::vector<double>(1));
  expect_done(machine.launch("atomics", {kBlocks, 1, 1}, {kThreads, 1, 1}, i, u, l, f, d));
  float float_sum = 0;
  double double_sum = 0;
  for (int t = 0; t < kAll; ++t) {
    ints[0] += t;
    ints[1] = std::min(ints[1], -t);
    ints[2] = std::max(ints[2], t);
    words[0] &= ~(1u << (t & 31));
    words[1] |= 1u << (t & 7);
    words[2] ^= static_cast<unsigned>(t);
    words[3] = words[3] >= 100 ? 0 : words[3] + 1;
    words[4] = words[4] == 0 || words[4] > 77 ? 77 : words[4] - 1;
    float_sum += 0.1f * static_cast<float>(t);
    double_sum += 0.1 * t;
    ints[8 + t] = ints[3];
    ints[3] = t;
    ints[4] = ints[4] == t ? t + 1 : ints[4];
  }
  EXPECT_EQ(machine.download<int>(i, 8 + kAll), ints);
  EXPECT_EQ(machine.download<unsigned>(u, 5), words);
  EXPECT_EQ(machine.download<std::uint64_t>(l, 1)[0], std::uint64_t{kAll} << 33);
  EXPECT_EQ(machine.download<float>(f, 1)[0], float_sum);
  EXPECT_EQ(machine.download<double>(d, 1)[0], double_sum);
}

TEST_P(EngineWarps, SharedAtomics) {
  constexpr int kN = 1000;
  const auto in = numbers(kN);
  const auto a = machine.upload(in);
  const auto b = machine.upload(std::vector<int>(16));
  expect_done(machine.launch("histogram", {2, 1, 1}, {128, 1, 1}, a, b, kN));
  std::vector<int> expected(16);
  for (const int v : in) expected[static_cast<std::size_t>(v & 15)] += 2;
  EXPECT_EQ(machine.download<int>(b, 16), expected);
}

TEST_P(EngineWarps, SpinLockWithinAWarp) {
  const auto lock = machine.upload(std::vector<int>(1));
  const auto counter = machine.upload(std::vector<int>(1));
  expect_done(machine.launch("spin_lock", {2, 1, 1}, {64, 1, 1}, lock, counter));
  EXPECT_EQ(machine.download<int>(counter, 1)[0], 128);
}

TEST_P(EngineWarps, LastBlockSumsUp) {
  constexpr int kBlocks = 20;
  const auto in = numbers(kBlocks * 32);
  const auto a = machine.upload(in);
  const auto partial = machine.upload(std::vector<int>(kBlocks));
  const auto out = machine.upload(std::vector<int>(1));
  int total = 0;
  for (const int v : in) total += v;
  for (int round = 0; round < 2; ++round) {
    expect_done(machine.launch("last_block", {kBlocks, 1, 1}, {32, 1, 1}, a, partial, out));
    EXPECT_EQ(machine.download<int>(out, 1)[0], total);
  }
}

TEST_P(EngineWarps, CooperativeGridsMeet) {
  constexpr int kBlocks = 5, kThreads = 96, kAll = kBlocks * kThreads;
  machine.cooperative = true;
  const auto data = machine.upload(numbers(kAll));
  const auto out = machine.upload(std::vector<int>(kAll));
  expect_done(machine.launch("grid_wide", {kBlocks, 1, 1}, {kThreads, 1, 1}, data, out));
  const auto before = numbers(kAll);
  const auto values = machine.download<int>(out, kAll);
  for (int t = 0; t < kAll; ++t) {
    const int other = kAll - 1 - t;
    EXPECT_EQ(values[t], before[other] + 3 * other) << t;
  }
}

TEST_P(EngineWarps, BlocksMayWaitForLaterBlocks) {
  const auto flags = machine.upload(std::vector<int>(12));
  expect_done(machine.launch("backward_flags", {12, 1, 1}, {32, 1, 1}, flags));
  EXPECT_EQ(machine.download<int>(flags, 12), std::vector<int>(12, 1));
}

}  // namespace
}  // namespace softgpu::test
