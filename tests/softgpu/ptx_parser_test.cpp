// The parser: exact trees of small modules.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/softgpu/ptx/describe.hpp"
#include "tools/softgpu/ptx/parser.hpp"

namespace softgpu::ptx {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kHeader = ".version 9.0\n.target sm_75\n.address_size 64\n";

Module parse_module(std::string_view text) {
  ParseResult result = parse(std::string(kHeader) + std::string(text));
  EXPECT_TRUE(result.module.has_value()) << result.error.line << ": " << result.error.what;
  return result.module ? std::move(*result.module) : Module{};
}

Function parse_body(std::string_view body) {
  const Module module = parse_module(fmt::format(".entry k(.param .u64 k_param_0)\n{{\n{}\n}}\n", body));
  return module.functions.empty() ? Function{} : module.functions.back();
}

Lines describe_body(const Function& function) {
  Lines lines;
  for (const Instruction& instruction : function.body) lines.push_back(describe(instruction, function));
  return lines;
}

TEST(PtxParser, ReadsTheHeader) {
  const ParseResult result = parse("// comment\n.version 8.3\n.target sm_90a, debug\n.address_size 64\n");
  ASSERT_TRUE(result.module);
  EXPECT_EQ(result.module->version_major, 8u);
  EXPECT_EQ(result.module->version_minor, 3u);
  EXPECT_EQ(result.module->target, 90u);
}

TEST(PtxParser, IgnoresTheNulThatEndsTheTextInAFatBinary) {
  EXPECT_TRUE(parse(std::string(kHeader) + std::string(3, '\0')).module);
}

TEST(PtxParser, ReadsAnEntryWithItsAttributesAndParameters) {
  const Module module = parse_module(R"(
.visible .entry _Z1kPfi(
	.param .u64 .ptr .global .align 4 _Z1kPfi_param_0,
	.param .align 16 .b8 _Z1kPfi_param_1[24],
	.param .u8 _Z1kPfi_param_2
)
.maxntid 256, 2, 1
.minnctapersm 2
.pragma "nounroll";
{
	ret;
}
)");
  ASSERT_EQ(module.functions.size(), 1u);
  const Function& k = module.functions[0];
  EXPECT_EQ(k.name, "_Z1kPfi");
  EXPECT_TRUE(k.is_entry);
  EXPECT_FALSE(k.is_declaration);
  EXPECT_EQ(k.max_threads, 512u);
  EXPECT_EQ(k.required_threads, 0u);
  ASSERT_EQ(k.parameters.size(), 3u);
  EXPECT_EQ(k.parameters[0].size, 8u);
  EXPECT_EQ(k.parameters[0].align, 8u);
  EXPECT_EQ(k.parameters[0].space, Space::kParam);
  EXPECT_EQ(k.parameters[1].size, 24u);
  EXPECT_EQ(k.parameters[1].align, 16u);
  EXPECT_EQ(k.parameters[1].type, Type::kB8);
  EXPECT_EQ(k.parameters[2].size, 1u);
  EXPECT_EQ(describe_body(k), Lines{"ret"});
  EXPECT_EQ(k.body[0].line, 14u);
}

TEST(PtxParser, ReadsOperandsOfEveryKind) {
  const Function k = parse_body(R"(
.reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<2>; .reg .f32 %f<2>; .reg .b16 h;
.shared .align 4 .b8 s[16];
ld.param.u64 %rd1, [k_param_0];
mov.u32 %r1, %tid.x;
mov.u32 %r2, 0x7fU;
mov.b32 %r2, -5;
mov.b32 %r2, ~0;
mov.b32 %r2, 0b101;
mov.b32 %r2, 017;
mov.f32 %f1, 0f3F800000;
mov.f32 %f1, 0dBff0000000000000;
mov.f32 %f1, 1.5;
mov.f32 %f1, -1.5e2;
mov.u64 %rd1, s+8;
mov.b32 %r3, {h, h};
mov.b32 {h, _}, %r3;
@%p1 ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+-16];
@!%p2 st.global.u32 [%rd1-4], 7;
ld.shared.u32 %r1, [s+12];
ld.global.u32 %r1, [4096];
setp.lt.and.s32 %p1|%p2, %r1, WARP_SZ, !%p0;
shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;
tex.2d.v4.f32.f32 {%f1, %f1, %f1, %f1}, [%rd1, {%f0, %f1}];
bar.sync 0;
)");
  EXPECT_EQ(describe_body(k), (Lines{
                                  "ld.param.u64 %rd1, [k_param_0+0]",
                                  "mov.u32 %r1, %tid.x",
                                  "mov.u32 %r2, 127",
                                  "mov.b32 %r2, -5",
                                  "mov.b32 %r2, -1",
                                  "mov.b32 %r2, 5",
                                  "mov.b32 %r2, 15",
                                  "mov.f32 %f1, 0f3f800000",
                                  "mov.f32 %f1, 0dbff0000000000000",
                                  "mov.f32 %f1, 0d3ff8000000000000",
                                  "mov.f32 %f1, 0dc062c00000000000",
                                  "mov.u64 %rd1, s+8",
                                  "mov.b32 %r3, {h, h}",
                                  "mov.b32 {h, _}, %r3",
                                  "@%p1 ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1-16]",
                                  "@!%p2 st.global.u32 [%rd1-4], 7",
                                  "ld.shared.u32 %r1, [s+12]",
                                  "ld.global.u32 %r1, [4096]",
                                  "setp.lt.and.s32 %p1|%p2, %r1, WARP_SZ, !%p0",
                                  "shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1",
                                  "tex.2d.v4.f32.f32 {%f1, %f1, %f1, %f1}, [%rd1+0, {%f0, %f1}]",
                                  "bar.sync 0",
                              }));
  EXPECT_TRUE(k.body[18].operands[1].paired);
  EXPECT_TRUE(k.body[9].operands[1].is_double);
  EXPECT_EQ(k.body[9].modifiers, Lines{"f32"});
}

TEST(PtxParser, NumbersRegistersAcrossRangesAndNestedScopes) {
  const Function k = parse_body(R"(
.reg .b32 %r<3>, x;
mov.b32 %r2, x;
{
  .reg .f16 x; .reg .b32 %r<1>;
  mov.b16 x, 0;
  mov.b32 %r0, %r2;
}
mov.b32 %r0, x;
)");
  ASSERT_EQ(k.registers.size(), 6u);
  EXPECT_EQ(k.registers[3].name, "x");
  EXPECT_EQ(k.registers[4].type, Type::kF16);
  EXPECT_EQ(k.body[0].operands[0].reg, 2u);
  EXPECT_EQ(k.body[0].operands[1].reg, 3u);
  EXPECT_EQ(k.body[1].operands[0].reg, 4u);
  EXPECT_EQ(k.body[2].operands[0].reg, 5u);
  EXPECT_EQ(k.body[2].operands[1].reg, 2u);
  EXPECT_EQ(k.body[3].operands[0].reg, 0u);
  EXPECT_EQ(k.body[3].operands[1].reg, 3u);
}

TEST(PtxParser, TakesAVectorRegisterAsItsComponents) {
  const Function k = parse_body(".reg .v4 .f32 v; .reg .f32 f;\nmov.f32 f, v.z; ld.global.v4.f32 v, [0];");
  EXPECT_EQ(describe_body(k), (Lines{"mov.f32 f, v.z", "ld.global.v4.f32 {v.x, v.y, v.z, v.w}, [0]"}));
}

TEST(PtxParser, ResolvesLabelsBothWaysAndPerScope) {
  const Function k = parse_body(R"(
.reg .pred %p<2>;
L1:
bra.uni L2;
{
  L1:
  @%p1 bra L1;
  bra L2;
}
bra L1;
L2:
)");
  EXPECT_EQ(describe_body(k), (Lines{"bra.uni @4", "@%p1 bra @1", "bra @4", "bra @0"}));
}

TEST(PtxParser, ResolvesBranchTargets) {
  const Function k = parse_body(R"(
.reg .b32 %r<2>;
ts: .branchtargets A, B, A;
brx.idx %r1, ts;
A: ret;
B: exit;
)");
  EXPECT_EQ(describe_body(k), (Lines{"brx.idx %r1, (@1, @2, @1)", "ret", "exit"}));
}

TEST(PtxParser, ReadsCallsOfEveryForm) {
  const Module module = parse_module(R"(
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b) ;
.func g() .noreturn { ret; }
.entry k() {
.reg .b64 %rd<3>; .reg .b32 %r<3>;
{ // callseq 0, 0
.param .b64 param0;
.param .b32 retval0;
st.param.b64 	[param0+0], %rd1;
call.uni (retval0),
vprintf,
(
param0,
param0
);
ld.param.b32 %r1, [retval0+0];
} // callseq 0
{
.param .b64 param0;
.param .align 8 .b8 retval0[16];
prototype_1 : .callprototype (.param .align 8 .b8 _[16]) _ (.param .b64 _) ;
call (retval0), %rd1, (param0), prototype_1;
}
call g;
call g, ();
}
.entry k2() { .reg .b64 %rd<2>; { prototype_1 : .callprototype ()_ (.param .b64 _) .noreturn; call %rd1, (1), prototype_1; } }
)");
  ASSERT_EQ(module.functions.size(), 6u);
  const Function& k = module.functions[2];
  EXPECT_EQ(describe_body(k), (Lines{
                                  "st.param.b64 [param0+0], %rd1",
                                  "call.uni (retval0), vprintf, (param0, param0)",
                                  "ld.param.b32 %r1, [retval0+0]",
                                  "call (retval0#2), %rd1, (param0#2), prototype_1",
                                  "call (), g, ()",
                                  "call (), g, ()",
                              }));
  ASSERT_EQ(k.variables.size(), 4u);
  EXPECT_EQ(k.variables[3].name, "retval0#2");
  EXPECT_EQ(k.variables[3].size, 16u);
  EXPECT_TRUE(module.functions[0].is_declaration);
  EXPECT_EQ(module.functions[0].returns.at(0).size, 4u);
  const Function& prototype = module.functions[3];
  EXPECT_TRUE(prototype.is_prototype);
  EXPECT_EQ(prototype.name, "prototype_1");
  EXPECT_EQ(prototype.returns.at(0).size, 16u);
  EXPECT_EQ(prototype.parameters.at(0).size, 8u);
  EXPECT_EQ(module.functions[5].name, "prototype_1#2");
  EXPECT_EQ(describe(module.functions[4].body[0], module.functions[4]), "call (), %rd1, (1), prototype_1#2");
}

TEST(PtxParser, PutsADefinitionInTheDeclarationsPlace) {
  const Module module = parse_module(R"(
.func (.param .b32 r) f(.param .b32 a);
.extern .global .b32 x;
.entry k() { .reg .b32 %r<2>; call f; }
.func (.param .b32 r) f(.param .b32 a) { call f; ret; }
.global .b32 x = 3;
)");
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_EQ(module.functions[0].name, "f");
  EXPECT_FALSE(module.functions[0].is_declaration);
  EXPECT_EQ(module.functions[0].body.size(), 2u);
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_FALSE(module.variables[0].is_extern);
}

TEST(PtxParser, RenamesALocalThatHidesAModulesVariable) {
  const Module module = parse_module(R"(
.shared .b32 s;
.entry k() { .reg .b32 %r<2>; ld.shared.b32 %r1, [s]; { .shared .b32 s; ld.shared.b32 %r1, [s+0]; } }
)");
  EXPECT_EQ(describe_body(module.functions[0]),
            (Lines{"ld.shared.b32 %r1, [s+0]", "ld.shared.b32 %r1, [s#2+0]"}));
}

using Bytes = std::vector<std::uint8_t>;

TEST(PtxParser, LaysOutVariables) {
  const Module module = parse_module(R"(
.visible .global .align 4 .u32 a = 258, b;
.const .align 8 .f64 c[2] = {0d3FF0000000000000, -2.0};
.global .f32 f[3] = {0f3F800000, 1, 0.5};
.global .u16 m[2][2] = {{1}, {2, 3}};
.global .s8 open[] = {1, -1, 3};
.extern .shared .align 16 .b8 dynamic[];
.global .attribute(.managed) .align 4 .b8 managed[12];
.global .v4 .f32 v;
.global .texref t;
)");
  ASSERT_EQ(module.variables.size(), 10u);
  const std::vector<Variable>& v = module.variables;
  EXPECT_EQ(v[0].initial, (Bytes{2, 1, 0, 0}));
  EXPECT_TRUE(v[0].is_visible);
  EXPECT_EQ(v[1].name, "b");
  EXPECT_TRUE(v[1].initial.empty());
  EXPECT_EQ(v[2].space, Space::kConst);
  EXPECT_EQ(v[2].initial, (Bytes{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}));
  EXPECT_EQ(v[3].initial, (Bytes{0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f}));
  EXPECT_EQ(v[4].initial, (Bytes{1, 0, 0, 0, 2, 0, 3, 0}));
  EXPECT_EQ(v[5].size, 3u);
  EXPECT_EQ(v[5].initial, (Bytes{1, 255, 3}));
  EXPECT_TRUE(v[6].is_extern);
  EXPECT_EQ(v[6].size, 0u);
  EXPECT_EQ(v[6].align, 16u);
  EXPECT_TRUE(v[7].is_managed);
  EXPECT_EQ(v[7].size, 12u);
  EXPECT_EQ(v[8].size, 16u);
  EXPECT_EQ(v[8].align, 16u);
  EXPECT_EQ(v[9].size, 8u);
}

TEST(PtxParser, LeavesSymbolAddressesAsRelocations) {
  const Module module = parse_module(R"(
.global .align 1 .b8 s[4] = {1, 2, 3, 4};
.global .align 8 .u64 p[3] = {s, generic(s)+2, s-1};
.global .align 8 .b8 bytes[4] = {0xff(s), 0xff00(s), 7, 0xff000000(generic(s)+1)};
)");
  const std::vector<Relocation>& p = module.variables[1].relocations;
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(module.variables[1].initial, Bytes(24, 0));
  EXPECT_EQ(p[1].offset, 8u);
  EXPECT_EQ(p[1].size, 8u);
  EXPECT_EQ(p[1].byte, -1);
  EXPECT_EQ(p[1].symbol, "s");
  EXPECT_EQ(p[1].addend, 2);
  EXPECT_EQ(p[2].addend, -1);
  const std::vector<Relocation>& bytes = module.variables[2].relocations;
  ASSERT_EQ(bytes.size(), 3u);
  EXPECT_EQ(module.variables[2].initial, (Bytes{0, 0, 7, 0}));
  EXPECT_EQ(bytes[1].offset, 1u);
  EXPECT_EQ(bytes[1].size, 1u);
  EXPECT_EQ(bytes[1].byte, 1);
  EXPECT_EQ(bytes[2].byte, 3);
  EXPECT_EQ(bytes[2].addend, 1);
}

TEST(PtxParser, SkipsDebugInformationAndComments) {
  const Module module = parse_module(R"(
	.file	1 "/a/b.cu"
.entry k() {
	.loc	1 5 0
	/* two
	   lines */ .loc 1 6 3, function_name $L__info_string0, inlined_at 1 6 1
	.pragma "nounroll";
	ret; // ; }
}
	.section	.debug_abbrev
	{
.b8 1
.b32 .debug_line
	}
	.section	.debug_macinfo	{	}
)");
  EXPECT_EQ(describe_body(module.functions.at(0)), Lines{"ret"});
  EXPECT_EQ(module.functions[0].body[0].line, 11u);
}

}  // namespace
}  // namespace softgpu::ptx
