// Instructions of a whole warp against their references, with all lanes and with some.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>

#include "tests/softgpu/ops/kernel_text.hpp"
#include "tests/softgpu/ops/machine.hpp"
#include "tests/softgpu/ops/warp_operations.hpp"

namespace softgpu::ops {
namespace {

constexpr std::uint64_t kIn = Machine::kBase, kOut = Machine::kBase + Machine::kBytes / 2;
constexpr unsigned kThreads = 32 * 48;

std::uint32_t active_lanes(Lanes lanes) {
  std::uint32_t active = 0;
  for (unsigned lane = 0; lane < 32; ++lane) active |= std::uint32_t{runs(lanes, lane)} << lane;
  return active;
}

// The operation with its member mask written out.
Operation with_members(const Operation& operation, Lanes lanes) {
  Operation result = operation;
  const std::string members = fmt::format("{:#x}", active_lanes(lanes));
  for (std::size_t at = 0; (at = result.text.find("$m", at)) != std::string::npos;)
    result.text.replace(at, 2, members);
  return result;
}

class WarpInstruction : public testing::TestWithParam<WarpOperation> {
 protected:
  void make_operands() {
    std::mt19937_64 random(7);
    const WarpOperation& row = GetParam();
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      const Tuple any{random(), random(), random(), random()};
      const Tuple tuple = row.operands ? row.operands(random, thread) : any;
      for (std::size_t i = 0; i < row.operation.sources.size(); ++i) {
        warps_[thread / 32][thread % 32][i] =
            tuple[i] & (~std::uint64_t{0} >> (64 - width_of(row.operation.sources[i])));
      }
    }
  }

  void check(const Program& program, Lanes lanes, std::uint32_t threads_a_block) {
    const Operation& operation = GetParam().operation;
    const std::size_t sources = operation.sources.size();
    const std::span words = machine_.view<std::uint64_t>(kIn, kThreads * sources);
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = warps_[i / sources / 32][i / sources % 32][i % sources];
    std::ranges::fill(machine_.view<std::uint64_t>(kOut, kThreads), 0);
    std::vector<std::uint64_t> parameters{kIn, kOut, kThreads};
    parameters.resize(11, 0);
    const Outcome outcome = machine_.run(program, lanes == Lanes::kAll ? "all" : "branched",
                                         kThreads / threads_a_block, threads_a_block, parameters);
    if (outcome.kind == OutcomeKind::kDone) compare(lanes);
  }

  void compare(Lanes lanes) {
    const WarpOperation& row = GetParam();
    const std::span results = machine_.view<std::uint64_t>(kOut, kThreads);
    const std::uint32_t active = active_lanes(lanes);
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      const Warp& warp = warps_[thread / 32];
      const unsigned lane = thread % 32;
      const std::uint64_t expected =
          runs(lanes, lane) ? row.reference(warp, active, lane) : kept_value(row.operation.result);
      if (!is_defined(warp, active, lane)) continue;
      ASSERT_EQ(results[thread], expected)
          << fmt::format("{}, warp {}, lane {}: {:#x} {:#x} {:#x} {:#x}", row.operation.name, thread / 32,
                         lane, warp[lane][0], warp[lane][1], warp[lane][2], warp[lane][3]);
    }
  }

  // A shuffle from a lane that does not take part has no defined value.
  bool is_defined(const Warp& warp, std::uint32_t active, unsigned lane) const {
    const WarpOperation& row = GetParam();
    if (active == 0xffffffff || !row.operation.name.starts_with("shfl") || row.operation.result == "pred")
      return true;
    Warp marked = warp;
    for (unsigned i = 0; i < 32; ++i) marked[i][0] = i;
    return (active >> lane & 1) == 0 || (active >> row.reference(marked, active, lane) & 1) != 0;
  }

  Machine& machine_ = Machine::shared();
  std::array<Warp, kThreads / 32> warps_{};
};

TEST_P(WarpInstruction, GivesTheReferencesBits) {
  const Operation& operation = GetParam().operation;
  const std::vector<Feed> memory(operation.sources.size(), Feed::kMemory);
  const auto program = compile_or_fail(
      kernel_text(with_members(operation, Lanes::kAll), {"all", memory, {}, Lanes::kAll}) +
      kernel_text(with_members(operation, Lanes::kBranched), {"branched", memory, {}, Lanes::kBranched}));
  ASSERT_NE(program, nullptr);
  make_operands();
  check(*program, Lanes::kAll, 32);
  check(*program, Lanes::kBranched, 32);
  if (operation.name.starts_with("atom") || operation.name.starts_with("red."))
    return;  // the order of warps is open
  check(*program, Lanes::kAll, 96);
  check(*program, Lanes::kBranched, 512);
}

std::string test_name(const testing::TestParamInfo<WarpOperation>& info) {
  std::string name = info.param.operation.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return fmt::format("{}_{}", name, info.index);
}

INSTANTIATE_TEST_SUITE_P(Shuffle, WarpInstruction, testing::ValuesIn(shuffle_operations()), test_name);
INSTANTIATE_TEST_SUITE_P(Vote, WarpInstruction, testing::ValuesIn(vote_operations()), test_name);
INSTANTIATE_TEST_SUITE_P(Atomic, WarpInstruction, testing::ValuesIn(atomic_operations()), test_name);

}  // namespace

void PrintTo(const WarpOperation& operation, std::ostream* out) { *out << operation.operation.name; }

}  // namespace softgpu::ops
