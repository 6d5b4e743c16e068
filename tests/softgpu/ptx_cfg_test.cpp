// Control-flow graphs and liveness: known functions exactly, random ones against plain definitions.
#include "tools/softgpu/ptx/cfg.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tools/softgpu/ptx/liveness.hpp"
#include "tools/softgpu/ptx/operand_roles.hpp"
#include "tools/softgpu/ptx/parser.hpp"

namespace softgpu::ptx {
namespace {

using Ids = std::vector<std::uint32_t>;

Function parse_body(const std::string& body) {
  ParseResult result = parse(
      ".version 9.0\n.target sm_75\n.entry k() {\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n" +
      body + "\n}");
  EXPECT_TRUE(result.module) << result.error.line << " " << result.error.what;
  return result.module ? std::move(result.module->functions[0]) : Function{};
}

Ids names_of(const RegisterSet& set, const Function& function) {
  Ids ids;
  for (RegisterId reg = 0; reg < function.registers.size(); ++reg) {
    if (set.has(reg)) ids.push_back(reg);
  }
  return ids;
}

TEST(ControlFlowGraph, OfNothingHasNoBlocks) {
  EXPECT_TRUE(make_control_flow_graph(Function{}).blocks.empty());
}

TEST(ControlFlowGraph, CutsAtTargetsAndBehindBranches) {
  const ControlFlowGraph graph = make_control_flow_graph(parse_body(R"(
mov.b32 %r1, 0;
@%p1 bra A;
mov.b32 %r1, 1;
@%p2 ret;
bra.uni B;
A: mov.b32 %r1, 2;
B: ret;
mov.b32 %r1, 3;
)"));
  ASSERT_EQ(graph.blocks.size(), 5u);
  EXPECT_EQ(graph.blocks[1].begin, 2u);
  EXPECT_EQ(graph.blocks[1].end, 5u);
  EXPECT_EQ(graph.blocks[0].successors, (Ids{1, 2}));
  EXPECT_EQ(graph.blocks[1].successors, (Ids{3}));
  EXPECT_EQ(graph.blocks[2].successors, (Ids{3}));
  EXPECT_EQ(graph.blocks[3].predecessors, (Ids{1, 2}));
  EXPECT_TRUE(graph.blocks[3].successors.empty());
  EXPECT_FALSE(graph.blocks[4].is_reachable);
  EXPECT_EQ(graph.block_of, (Ids{0, 0, 1, 1, 1, 2, 3, 4}));
  EXPECT_EQ(graph.order, (Ids{0, 1, 2, 3, 4}));
  EXPECT_EQ(graph.immediate_dominator, (Ids{kNoIndex, 0, 0, 0, kNoIndex}));
}

TEST(ControlFlowGraph, TakesEachTargetOfATableOnce) {
  const ControlFlowGraph graph = make_control_flow_graph(
      parse_body("ts: .branchtargets A, B, A, A;\nbrx.idx %r1, ts;\nA: ret;\nB: ret;"));
  EXPECT_EQ(graph.blocks[0].successors, (Ids{1, 2}));
}

TEST(ControlFlowGraph, MovesWhatLeavesALoopBehindIt) {
  // The way out of the inner loop lies in its middle, the outer one's in front of both.
  const ControlFlowGraph graph = make_control_flow_graph(parse_body(R"(
bra.uni Outer;
Done: ret;
Outer: @%p1 bra Done;
Inner: @%p2 bra Left;
bra.uni Right;
Left: @%p3 bra Out;
bra.uni Latch;
Out: bra.uni Outer;
Right: mov.b32 %r1, 1;
Latch: bra.uni Inner;
)"));
  ASSERT_EQ(graph.loops.size(), 2u);
  EXPECT_EQ(graph.loops[0].header, 2u);
  EXPECT_EQ(graph.loops[0].blocks, (Ids{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(graph.loops[1].header, 3u);
  EXPECT_EQ(graph.loops[1].parent, 0u);
  EXPECT_EQ(graph.loops[1].blocks, (Ids{3, 4, 5, 6, 8, 9}));
  EXPECT_EQ(graph.blocks[7].loop, 0u);
  EXPECT_EQ(graph.order, (Ids{0, 2, 3, 4, 8, 5, 6, 9, 7, 1}));
}

TEST(ControlFlowGraph, KeepsACycleWithTwoEntries) {
  const ControlFlowGraph graph = make_control_flow_graph(parse_body(R"(
@%p1 bra B;
A: @%p2 bra End;
B: bra.uni A;
End: ret;
)"));
  EXPECT_TRUE(graph.loops.empty());
  EXPECT_EQ(graph.order.size(), graph.blocks.size());
}

RegisterRoles roles_of(const std::string& instruction) {
  RegisterRoles roles;
  find_roles(parse_body(instruction).body.at(0), roles);
  return roles;
}

TEST(OperandRoles, ByForm) {
  // %p0 to %p3 are registers 0 to 3, %r0 to %r7 4 to 11, %rd0 to %rd3 12 to 15.
  const struct {
    const char* text;
    Ids reads, writes;
  } cases[] = {
      {"add.s32 %r0, %r1, %r2;", {5, 6}, {4}},
      {"@!%p1 mov.b64 {%r0, %r1}, %rd0;", {1, 12}, {4, 5}},
      {"setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", {5, 6, 3}, {1, 2}},
      {"ld.v2.u32 {%r0, %r1}, [%rd1+4];", {13}, {4, 5}},
      {"st.u32 [%rd1], %r1;", {13, 5}, {}},
      {"red.add.u32 [%rd1], %r1;", {13, 5}, {}},
      {"atom.add.u32 %r0, [%rd1], %r1;", {13, 5}, {4}},
      {"bar.sync %r0, %r1;", {4, 5}, {}},
      {"barrier.sync %r0;", {4}, {}},
      {"bar.red.popc.u32 %r0, %r1, %r2, %p1;", {5, 6, 1}, {4}},
      {"redux.sync.add.s32 %r0, %r1, %r2;", {5, 6}, {4}},
      {"call (%r0, %r1), k, (%r2, 3);", {6}, {4, 5}},
      {"tex.2d.v4.f32.f32 {%r0, _, %r1, _}, [%rd1, {%r2, %r3}];", {13, 6, 7}, {4, 5}},
      {"nanosleep.u32 %r0;", {4}, {}},
      {"mbarrier.init.shared.b64 [%rd1], %r1;", {13, 5}, {}},
  };
  for (const auto& test : cases) {
    const RegisterRoles roles = roles_of(test.text);
    EXPECT_EQ(roles.reads, test.reads) << test.text;
    EXPECT_EQ(roles.writes, test.writes) << test.text;
  }
}

TEST(Liveness, FollowsALoop) {
  const Function function = parse_body(R"(
mov.b32 %r0, 0;
mov.b32 %r5, 7;
Loop:
add.s32 %r1, %r0, 1;
mul.lo.s32 %r2, %r1, %r1;
@%p1 mov.b32 %r3, %r2;
mov.b32 %r0, %r1;
setp.lt.s32 %p2, %r0, %r5;
@%p2 bra Loop;
st.global.u32 [%rd1], %r3;
)");
  const ControlFlowGraph graph = make_control_flow_graph(function);
  const Liveness liveness = find_liveness(function, graph);
  ASSERT_EQ(graph.blocks.size(), 3u);
  // %p1, %r3 and %rd1 are read but never surely written.
  EXPECT_EQ(names_of(liveness.live_in[0], function), (Ids{1, 7, 13}));
  EXPECT_EQ(names_of(liveness.live_in[1], function), (Ids{1, 4, 7, 9, 13}));
  EXPECT_EQ(names_of(liveness.live_out[1], function), (Ids{1, 4, 7, 9, 13}));
  EXPECT_EQ(names_of(liveness.live_in[2], function), (Ids{7, 13}));
  EXPECT_EQ(names_of(liveness.across_blocks, function), (Ids{1, 4, 7, 9, 13}));
  EXPECT_EQ(liveness.across_blocks.count(), 5u);
  RegisterSet live = liveness.live_out[1];
  step_back(function.body[7], live);
  EXPECT_EQ(names_of(live, function), (Ids{1, 2, 4, 7, 9, 13}));
  step_back(function.body[6], live);
  EXPECT_EQ(names_of(live, function), (Ids{1, 4, 7, 9, 13}));
}

std::string random_body(std::mt19937& random, unsigned lines) {
  std::string text;
  for (unsigned i = 0; i < lines; ++i) {
    const unsigned a = random() % 8, b = random() % 8, target = random() % lines;
    text += fmt::format("L{}: ", i);
    switch (random() % 6) {
      case 0:
        text += fmt::format("@%p{} bra L{};\n", a % 4, target);
        break;
      case 1:
        text += random() % 3 == 0 ? "ret;\n" : fmt::format("bra L{};\n", target);
        break;
      case 2:
        text += fmt::format("@%p{} mov.b32 %r{}, %r{};\n", a % 4, a, b);
        break;
      default:
        text += fmt::format("mov.b32 %r{}, %r{};\n", a, b);
    }
  }
  return text;
}

// The blocks reached from the first without entering `removed`.
std::vector<bool> reached_without(const ControlFlowGraph& graph, BlockId removed) {
  std::vector<bool> reached(graph.blocks.size(), false);
  Ids work;
  if (removed != 0) work.push_back(0);
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (reached[block] || block == removed) continue;
    reached[block] = true;
    work.insert(work.end(), graph.blocks[block].successors.begin(), graph.blocks[block].successors.end());
  }
  return reached;
}

void expect_dominators(const ControlFlowGraph& graph) {
  const std::vector<bool> reached = reached_without(graph, kNoIndex);
  for (BlockId above = 0; above < graph.blocks.size(); ++above) {
    const std::vector<bool> without = reached_without(graph, above);
    EXPECT_EQ(graph.blocks[above].is_reachable, reached[above]);
    for (BlockId block = 0; block < graph.blocks.size(); ++block) {
      if (!reached[block] || !reached[above]) continue;
      BlockId at = block;
      while (at != above && at != kNoIndex) at = graph.immediate_dominator[at];
      EXPECT_EQ(at == above, !without[block]) << above << " over " << block;
    }
  }
}

void expect_order(const ControlFlowGraph& graph) {
  Ids sorted = graph.order, place(graph.blocks.size());
  for (std::uint32_t i = 0; i < graph.order.size(); ++i) place[graph.order[i]] = i;
  std::ranges::sort(sorted);
  for (std::uint32_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], i);
  for (const Loop& loop : graph.loops) {
    Ids places;
    for (const BlockId block : loop.blocks) places.push_back(place[block]);
    const auto [first, last] = std::ranges::minmax_element(places);
    EXPECT_EQ(*last - *first + 1, places.size());
    EXPECT_EQ(*first, place[loop.header]);
  }
}

// By the definition: from where the instruction is reached, is there a way to a read without a write before?
bool lives(const Function& function, std::uint32_t from, RegisterId reg) {
  std::vector<bool> seen(function.body.size(), false);
  Ids work{from};
  RegisterRoles roles;
  while (!work.empty()) {
    const std::uint32_t at = work.back();
    work.pop_back();
    if (at >= function.body.size() || seen[at]) continue;
    seen[at] = true;
    const Instruction& instruction = function.body[at];
    find_roles(instruction, roles);
    if (std::ranges::find(roles.reads, reg) != roles.reads.end()) return true;
    if (instruction.guard == kNoIndex && std::ranges::find(roles.writes, reg) != roles.writes.end()) continue;
    if (!ends_flow(instruction)) work.push_back(at + 1);
    if (is_branch(instruction)) work.push_back(instruction.operands[0].target);
  }
  return false;
}

void expect_liveness(const Function& function, const ControlFlowGraph& graph) {
  const Liveness liveness = find_liveness(function, graph);
  for (BlockId block = 0; block < graph.blocks.size(); ++block) {
    RegisterSet live = liveness.live_out[block];
    for (std::uint32_t i = graph.blocks[block].end; i-- > graph.blocks[block].begin;)
      step_back(function.body[i], live);
    EXPECT_EQ(live, liveness.live_in[block]);
    for (RegisterId reg = 0; reg < function.registers.size(); ++reg) {
      EXPECT_EQ(live.has(reg), lives(function, graph.blocks[block].begin, reg)) << block << " " << reg;
    }
  }
}

TEST(ControlFlowGraph, AgreesWithPlainDefinitionsOnRandomFunctions) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 200; ++round) {
    const Function function = parse_body(random_body(random, 3 + random() % 24));
    const ControlFlowGraph graph = make_control_flow_graph(function);
    expect_dominators(graph);
    expect_order(graph);
    expect_liveness(function, graph);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace softgpu::ptx
