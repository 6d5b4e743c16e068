// The parser: every error with its line, and no crash on any truncation or changed byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/softgpu/ptx/parser.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::string_view kHeader = ".version 9.0\n.target sm_75\n.address_size 64\n";

// "line: what", the first line after the header being 0.
std::string error_of(std::string_view text) {
  const ParseResult result = parse(std::string(kHeader) + std::string(text));
  return result.module ? "" : fmt::format("{}: {}", result.error.line - 4, result.error.what);
}

std::string body_error_of(std::string_view body) {
  return error_of(
      fmt::format(".entry k()\n{{\n.reg .pred %p<3>; .reg .b32 %r<4>; .reg .v2 .b32 %v;\n{}\n}}", body));
}

struct ErrorCase {
  const char* text;
  const char* error;
};

TEST(PtxErrors, NamesWhatIsWrongInAModule) {
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

TEST(PtxErrors, NamesWhatIsWrongInABody) {
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

TEST(PtxErrors, NamesAMissingHeader) {
  EXPECT_EQ(parse("").error.what, "expected '.version', found the end of the text");
  EXPECT_EQ(parse(".version 9").error.what, "malformed '.version'");
  EXPECT_EQ(parse(".version 9.0").error.what, "the module has no '.target'");
}

TEST(PtxErrors, BoundsItsRecursion) {
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

TEST(PtxErrors, SurvivesEveryTruncation) {
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

TEST(PtxErrors, SurvivesEveryReplacedByte) {
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
