#include "tests/softgpu/ops/kernel_text.hpp"

#include <fmt/format.h>

#include <string_view>

namespace softgpu::ops {
namespace {

constexpr std::string_view kNames = "abce";

// Narrow values lie in 32-bit registers.
unsigned register_width(const std::string& type) { return width_of(type) == 8 ? 32 : width_of(type); }

std::string register_of(const std::string& type) {
  return type == "pred" ? "pred" : fmt::format("b{}", register_width(type));
}

std::string load(const std::string& type, char name, const std::string& place) {
  const std::string space = place.starts_with("in") ? "global" : "param";
  if (type == "pred")
    return fmt::format("ld.{}.u32 word, [{}]; setp.ne.u32 {}, word, 0;\n", space, place, name);
  return fmt::format("ld.{}.b{} {}, [{}];\n", space, register_width(type), name, place);
}

std::string affine(const std::string& type, char name) {
  const unsigned width = register_width(type);
  const char* thread = width == 64 ? "thread64" : width == 32 ? "thread" : "thread16";
  return fmt::format(
      "ld.param.b{0} {1}, [value_{1}]; ld.param.b{0} stride{0}, [stride_{1}]; mad.lo.s{0} {1}, {2}, "
      "stride{0}, {1};\n",
      width, name, thread);
}

std::string literal(const std::string& type, std::uint64_t value) {
  if (type.starts_with("f32")) return fmt::format("0f{:08X}", value);
  if (type == "f64") return fmt::format("0d{:016X}", value);
  if (type.front() == 'u') return fmt::format("{}", value);
  const unsigned width = width_of(type);
  const auto shifted = static_cast<std::int64_t>(value << (64 - width));
  return fmt::format("{}", shifted >> (64 - width));
}

std::string feed(const Operation& operation, const Variant& variant, std::size_t source) {
  const std::string& type = operation.sources[source];
  const char name = kNames[source];
  switch (variant.feeds[source]) {
    case Feed::kMemory:
      return load(type, name, fmt::format("in+{}", 8 * source));
    case Feed::kParameter:
      return load(type, name, fmt::format("value_{}", name));
    case Feed::kAffine:
      return affine(type, name);
    case Feed::kLiteral:
      break;
  }
  return {};
}

std::string instruction(const Operation& operation, const Variant& variant) {
  std::string text;
  for (std::size_t i = 0; i < operation.text.size(); ++i) {
    if (operation.text[i] != '$') {
      text += operation.text[i];
      continue;
    }
    const char name = operation.text[++i];
    const std::size_t source = kNames.find(name);
    const bool is_literal = source < variant.feeds.size() && variant.feeds[source] == Feed::kLiteral;
    text += is_literal ? literal(operation.sources[source], variant.literals[source]) : std::string(1, name);
  }
  if (variant.lanes == Lanes::kGuarded) return "@run " + text + "\n";
  if (variant.lanes == Lanes::kBranched) return "@!run bra AFTER;\n" + text + "\nAFTER:\n";
  return text + "\n";
}

std::string keep(const std::string& type) {
  if (type == "pred") return "setp.eq.u32 d, thread, thread;\n";
  return fmt::format("mov.b{} d, {};\n", register_width(type), static_cast<std::int64_t>(kept_value(type)));
}

std::string store(const std::string& type) {
  if (type == "pred") return "selp.u32 word, 1, 0, d; st.global.u32 [out], word;\n";
  return fmt::format("st.global.b{} [out], d;\n", register_width(type));
}

constexpr std::string_view kPrologue = R"(
.reg .pred run, done; .reg .b16 thread16, stride16;
.reg .b32 word, count, index, block, size, thread, stride32; .reg .b64 in, out, offset, thread64, stride64;
mov.u32 thread, %tid.x; mov.u32 block, %ctaid.x; mov.u32 size, %ntid.x;
cvt.u16.u32 thread16, thread; cvt.u64.u32 thread64, thread;
mad.lo.s32 index, block, size, thread;
ld.param.u32 count, [threads]; setp.ge.u32 done, index, count;
@done bra DONE;
ld.param.u64 in, [input]; ld.param.u64 out, [output];
mul.wide.u32 offset, index, 8; add.s64 out, out, offset;
and.b32 word, index, 3; setp.ne.u32 run, word, 1;
)";

}  // namespace

bool runs(Lanes lanes, std::uint32_t thread) { return lanes == Lanes::kAll || thread % 4 != 1; }

std::uint64_t kept_value(const std::string& type) {
  return type == "pred" ? 1 : 0x7a5b3c1d2e4f6079 & (~std::uint64_t{0} >> (64 - register_width(type)));
}

bool can_be_affine(const std::string& type) { return type != "pred" && type.find('f') == std::string::npos; }

bool can_be_literal(const std::string& type) {
  return type.starts_with("f32") || type == "f64" || can_be_affine(type);
}

bool can_be_guarded(const Operation& operation) { return !operation.text.starts_with("{"); }

std::string kernel_text(const Operation& operation, const Variant& variant) {
  std::string text = fmt::format(
      ".visible .entry {}(.param .u64 input, .param .u64 output, .param .u64 threads", variant.name);
  for (const char name : kNames) text += fmt::format(", .param .u64 value_{0}, .param .u64 stride_{0}", name);
  text.append(") {\n").append(kPrologue);
  text +=
      fmt::format("mul.wide.u32 offset, index, {}; add.s64 in, in, offset;\n", 8 * operation.sources.size());
  for (std::size_t i = 0; i < operation.sources.size(); ++i) {
    text += fmt::format(".reg .{} {};\n", register_of(operation.sources[i]), kNames[i]);
    text += feed(operation, variant, i);
  }
  text += fmt::format(".reg .{} d;\n", register_of(operation.result));
  if (variant.lanes != Lanes::kAll) text += keep(operation.result);
  return text + instruction(operation, variant) + store(operation.result) + "DONE: ret;\n}\n";
}

}  // namespace softgpu::ops
