// The parser: exact trees of small modules, every error with its line, and no crash on any truncation.
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

// "line: what", the first line after the header being 0.
std::string error_of(std::string_view text) {
  const ParseResult result = parse(std::string(kHeader) + std::string(text));
  return result.module ? "" : fmt::format("{}: {}", result.error.line - 4, result.error.what);
}

std::string body_error_of(std::string_view body) {
  return error_of(
      fmt::format(".entry k()\n{{\n.reg .pred %p<3>; .reg .b32 %r<4>; .reg .v2 .b32 %v;\n{}\n}}", body));
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

struct ErrorCase {
  const char* text;
  const char* error;
};

TEST(PtxParser, NamesWhatIsWrongInAModule) {
  const ErrorCase cases[] = {
      {".entry k() {", "0: expected '}', found the end of the text"},
      {"\n.entry k() { ret }", "1: expected an operand, found '}'"},
      {".shaded .b32 x;", "0: unknown directive '.shaded'"},
      {"mov", "0: expected a directive, found 'mov'"},
      {".address_size 32", "0: only 64-bit addresses are supported"},
      {".global .b33 x;", "0: unknown type or attribute '.b33'"},
      {".global x;", "0: expected a type, found 'x'"},
      {".global .align 3 .b8 x;", "0: an alignment must be a power of two up to 65536"},
      {".global .b8 x[-1];", "0: expected an array size, found '-'"},
      {".global .b64 x[0x1000000000][0x1000000000];", "0: the variable is too large"},
      {".global .b8 x[0x20000000] = {1};", "0: the initialised variable is too large"},
      {".global .b8 x[2] = {1, 2, 3};", "0: more initial values than the variable holds"},
      {".global .b8 x[2] = {a};", "0: an address does not fit the variable's type"},
      {".global .b64 x = 0xff0f(a);", "0: the mask must be one byte"},
      {".global .b64 x = ;", "0: expected an initial value, found ';'"},
      {".global .b8 x[2][] = {1};", "0: more initial values than the variable holds"},
      {".global .b8 x[][] = {1};", "0: only the first array size may be left open"},
      {".global .b8 x[1] = {{{{{{{{{1}}}}}}}}};", "0: initial values nested too deeply"},
      {".global .b8 x, x;", "0: 'x' is declared twice"},
      {".global .b8 x; .func x();", "0: 'x' is declared twice"},
      {".entry k() {}\n.entry k() {}", "1: the function 'k' is defined twice"},
      {".entry k() .fast {}", "0: unknown function attribute '.fast'"},
      {".entry k() .maxntid 65536, 65536 {}", "0: number of threads out of range"},
      {".entry k(.b32 x) {}", "0: expected '.param' or '.reg', found '.b32'"},
      {".section x {", "0: expected '}', found the end of the text"},
      {".pragma 1;", "0: expected a pragma's string, found '1'"},
      {".pragma \"a\n\";", "0: a string without its end"},
      {".global .attribute(.managed .b8 x;", "0: expected ')', found the end of the text"},
      {". x", "0: a '.' without a name"},
      {".global .f32 x = 0f123;", "0: malformed number '0f123'"},
      {".global .b32 x = 0x1g;", "0: malformed number '0x1g'"},
      {".global .b32 x = 0x11111111111111111;", "0: malformed number '0x11111111111111111'"},
  };
  for (const ErrorCase& test : cases) EXPECT_EQ(error_of(test.text), test.error) << test.text;
}

TEST(PtxParser, NamesWhatIsWrongInABody) {
  const ErrorCase cases[] = {
      {"mov.u32 %r1, %r4;", "3: unknown name '%r4'"},
      {"mov.u32 %r1, %r01;", "3: unknown name '%r01'"},
      {"mov.u32 %r1, nothing;", "3: unknown name 'nothing'"},
      {"\ncall f, ();", "4: unknown name 'f'"},
      {"bra L;\nret;", "5: unknown label 'L' of line 7"},
      {"L: L: ret;", "3: the label 'L' is declared twice"},
      {"{ L: ret; } bra L;", "4: unknown label 'L' of line 7"},
      {"ts: .branchtargets A;\nts: .branchtargets A;", "5: the label 'ts' is declared twice"},
      {"ts: .calltargets f;", "3: .calltargets is not supported"},
      {"@%q ret;", "3: '%q' is not a predicate register"},
      {"@%v ret;", "3: '%v' is not a predicate register"},
      {"mov.b32 %r1, %r2.x;", "3: '.x' of something that has no such component"},
      {"mov.b32 %r1, %v.z;", "3: '.z' of something that has no such component"},
      {"setp.eq.b32 %p1, %r1, 0, !4;", "3: expected a register or symbol, found '4'"},
      {"setp.eq.b32 %p1, %r1, 0, !%tid.x;", "3: '!' needs a predicate register"},
      {"ld.b32 %r1, [%tid.x];", "3: an address must be a register, a symbol or a number"},
      {"ld.b32 %r1, [%r1;", "3: expected ']', found ';'"},
      {"mov.b32 {%r1, %r2;", "3: expected '}', found ';'"},
      {"mov.b32 %r1, ~0f00000000;", "3: expected an operand, found '0f00000000'"},
      {"mov.b32 %r1,;", "3: expected an operand, found ';'"},
      {".reg .b32 %r<4>;", "3: the registers '%r' are declared twice"},
      {".reg .b32 %r3;", "3: '%r3' is declared twice"},
      {".reg .b32 x; .reg .b32 x;", "3: 'x' is declared twice"},
      {".reg .b32 y<2000000>;", "3: number of registers out of range"},
      {".reg .b32 y<1000000>, z<1000000>;", "3: more than 2^20 registers in one function"},
      {".reg .v2 .b32 y<2>;", "3: a range of vector registers is not supported"},
      {".reg .v8 .b32 y;", "3: a register has at most four components"},
      {".local .b8 a, a;", "3: 'a' is declared twice"},
      {".version 9.0", "3: unknown directive '.version'"},
      {"17;", "3: expected an instruction, a directive or '}', found '17'"},
  };
  for (const ErrorCase& test : cases) EXPECT_EQ(body_error_of(test.text), test.error) << test.text;
}

TEST(PtxParser, NamesAMissingHeader) {
  EXPECT_EQ(parse("").error.what, "expected '.version', found the end of the text");
  EXPECT_EQ(parse(".version 9").error.what, "malformed '.version'");
  EXPECT_EQ(parse(".version 9.0").error.what, "the module has no '.target'");
}

TEST(PtxParser, BoundsItsRecursion) {
  EXPECT_EQ(body_error_of(std::string(100000, '{')), "3: scopes nested too deeply");
  EXPECT_EQ(body_error_of("mov.b32 " + std::string(100000, '{')), "3: operands nested too deeply");
  EXPECT_EQ(body_error_of("mov.b32 %r1, " + std::string(100000, '[')), "3: expected an address, found '['");
}

constexpr std::string_view kModule = R"(
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 8 .u64 p[2] = {s, generic(s)+2};
.const .f32 c[2][2] = {{1.0, 0f00000000}, {-1.5}};
.visible .entry k(.param .u64 a, .param .align 8 .b8 b[16]) .maxntid 128 {
	.reg .pred %p<4>; .reg .b32 %r<9>; .reg .v2 .f32 v; .reg .b64 %rd<4>;
	.loc 1 2 3
	$L1: @!%p1 bra $L2;
	{ .param .b64 param0; call.uni (param0), vprintf, (param0, %r1); }
	ts: .branchtargets $L1, $L2;
	brx.idx %r1, ts;
	shfl.sync.bfly.b32 %r1|%p2, %r2, 0x1f, -1, 3U; /* c */
	pr: .callprototype (.param .b32 _) _ (.param .b64 _); call (%r1), %rd1, (1), pr;
	tex.2d.v4.f32.f32 {v.x, _, v.y, _}, [%rd1, {0f00000000, 1.25e1}]; // c
	.pragma "nounroll"; ld.v2.u32 v, [%rd1+-8];
$L2: ret;
}
.section .debug { .b8 1 }
)";

TEST(PtxParser, SurvivesEveryTruncation) {
  const std::string whole = std::string(kHeader) + std::string(kModule);
  ASSERT_TRUE(parse(whole).module) << parse(whole).error.what;
  std::size_t accepted = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const ParseResult result = parse(std::string(whole.data(), size));
    accepted += result.module.has_value();
    EXPECT_TRUE(result.module || !result.error.what.empty()) << size;
  }
  EXPECT_LT(accepted, 140u);  // cuts between two directives of the module, in white space or a section's name
}

TEST(PtxParser, SurvivesEveryReplacedByte) {
  const std::string whole = std::string(kHeader) + std::string(kModule);
  for (const char replacement : {'\0', '{', '}', '"', '9', '%', '\xff'}) {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string text = whole;
      text[i] = replacement;
      const ParseResult result = parse(text);
      EXPECT_TRUE(result.module || !result.error.what.empty()) << i;
    }
  }
}

}  // namespace
}  // namespace softgpu::ptx
