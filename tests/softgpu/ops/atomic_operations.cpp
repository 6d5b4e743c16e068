// atom and red in global, shared and generic memory. Each lane names a cell by its address ($b) and the value
// it starts with ($c), which the kernel stores first; then lane after lane does the operation with $a.
#include <fmt/format.h>

#include "tests/softgpu/ops/formats.hpp"
#include "tests/softgpu/ops/warp_operations.hpp"

namespace softgpu::ops {
namespace {

using Word = std::uint64_t;
using Update = std::function<Word(Word old, Word value, Word swap)>;

struct Atomic {
  std::string suffix;  // "add.u32"
  std::string type;
  Update update;
};

constexpr unsigned kCellsABlock = 5;

Word mask_of(const std::string& type) { return ~Word{0} >> (64 - width_of(type)); }

template <class S>
Update ordered(bool greatest) {
  return [greatest](Word old, Word value, Word) {
    return (static_cast<S>(value) < static_cast<S>(old)) != greatest ? value : old;
  };
}

Update float_sum(const Format& format) {
  return [&format](Word old, Word value, Word) {
    return encode(format, add(decode(format, old), decode(format, value), Rounding::kNearest));
  };
}

void add_integer_atomics(std::vector<Atomic>& to, const std::string& width) {
  const std::string bits = "b" + width, natural = "u" + width, integer = "s" + width;
  const Word mask = mask_of(bits);
  const bool wide = width == "64";
  to.push_back({"add." + natural, natural, [=](Word old, Word value, Word) { return (old + value) & mask; }});
  if (!wide)
    to.push_back(
        {"add." + integer, integer, [=](Word old, Word value, Word) { return (old + value) & mask; }});
  to.push_back({"and." + bits, bits, [](Word old, Word value, Word) { return old & value; }});
  to.push_back({"or." + bits, bits, [](Word old, Word value, Word) { return old | value; }});
  to.push_back({"xor." + bits, bits, [](Word old, Word value, Word) { return old ^ value; }});
  to.push_back({"min." + natural, natural, ordered<Word>(false)});
  to.push_back({"max." + natural, natural, ordered<Word>(true)});
  to.push_back(
      {"min." + integer, integer, wide ? ordered<std::int64_t>(false) : ordered<std::int32_t>(false)});
  to.push_back({"max." + integer, integer, wide ? ordered<std::int64_t>(true) : ordered<std::int32_t>(true)});
  to.push_back({"exch." + bits, bits, [](Word, Word value, Word) { return value; }});
  to.push_back(
      {"cas." + bits, bits, [](Word old, Word value, Word swap) { return old == value ? swap : old; }});
}

// NVIDIA's documentation says that today's devices flush subnormals in fp32 sums in global memory; softgpu
// keeps them everywhere.
std::vector<Atomic> atomics() {
  std::vector<Atomic> rows;
  add_integer_atomics(rows, "32");
  add_integer_atomics(rows, "64");
  rows.push_back({"inc.u32", "u32", [](Word old, Word value, Word) { return old >= value ? 0 : old + 1; }});
  rows.push_back({"dec.u32", "u32",
                  [](Word old, Word value, Word) { return old == 0 || old > value ? value : old - 1; }});
  rows.push_back({"add.f32", "f32", float_sum(kF32)});
  rows.push_back({"add.f64", "f64", float_sum(kF64)});
  return rows;
}

Tuple operands_for(const std::string& type, bool is_shared, std::mt19937_64& random, unsigned thread) {
  const std::vector<Word>& values = hard_values(type);
  const unsigned block = thread / 32, cell = random() % kCellsABlock;
  const Word start = values[(block * 31 + cell * 7) % values.size()];
  const Word value = random() % 2 == 0 ? values[random() % values.size()] : random() & mask_of(type);
  const Word address = is_shared ? 8 * cell : kCells + 64 * block + 8 * cell;
  // For cas, what is compared is often what is there.
  return {random() % 3 == 0 ? start : value, address, start, random() & mask_of(type)};
}

// The cell as the lanes before `lane` leave it; all of them for lane 32.
Word cell_before(const Atomic& atomic, const Warp& warp, std::uint32_t active, unsigned lane, unsigned end) {
  Word cell = warp[lane][2];
  for (unsigned other = 0; other < end; ++other) {
    const bool same = (active >> other & 1) != 0 && warp[other][1] == warp[lane][1];
    if (same) cell = atomic.update(cell, warp[other][0], warp[other][3]);
  }
  return cell;
}

struct Place {
  const char* space;      // of the plain accesses
  const char* modifiers;  // of the atomic
};

std::string text_of(const Place& place, const Atomic& atomic, const std::string& operation,
                    const std::string& ending) {
  const bool is_shared = std::string_view(place.space) == ".shared";
  const unsigned width = width_of(atomic.type);
  std::string text = "{ .shared .align 8 .b64 cells[8]; .reg .b64 at; ";
  text += is_shared ? "mov.u64 at, cells; add.u64 at, at, $b; " : "mov.u64 at, $b; ";
  text += fmt::format("st{}.b{} [at], $c; bar.warp.sync $m; {} bar.warp.sync $m; {} }}", place.space, width,
                      operation, ending);
  return text;
}

void add_atomic(std::vector<WarpOperation>& to, const Place& place, const Atomic& atomic) {
  const bool is_shared = std::string_view(place.space) == ".shared";
  const bool is_cas = atomic.suffix.starts_with("cas");
  const std::string arguments = is_cas ? "[at], $a, $e" : "[at], $a";
  const std::string name = fmt::format("atom{}.{}", place.modifiers, atomic.suffix);
  const std::string load = fmt::format("ld{}.b{} $d, [at];", place.space, width_of(atomic.type));
  const auto operands = [type = atomic.type, is_shared](std::mt19937_64& random, unsigned thread) {
    return operands_for(type, is_shared, random, thread);
  };
  const std::vector<std::string> sources{atomic.type, "b64", atomic.type, atomic.type};
  const auto row = [&](const std::string& row_name, const std::string& operation, const std::string& ending,
                       bool at_the_end) {
    to.push_back({{row_name, text_of(place, atomic, operation, ending), atomic.type, sources, nullptr},
                  [atomic, at_the_end](const Warp& warp, std::uint32_t active, unsigned lane) {
                    return cell_before(atomic, warp, active, lane, at_the_end ? 32 : lane);
                  },
                  operands});
  };
  row(name, fmt::format("{} $d, {};", name, arguments), "", false);
  row(name + " memory", fmt::format("{} $d, {};", name, arguments), load, true);
  const bool has_red =
      !atomic.suffix.starts_with("exch") && !is_cas && name.find("acq_rel") == std::string::npos;
  if (!has_red) return;
  const std::string red = fmt::format("red{}.{}", place.modifiers, atomic.suffix);
  row(red, fmt::format("{} {};", red, arguments), load, true);
}

}  // namespace

std::vector<WarpOperation> atomic_operations() {
  std::vector<WarpOperation> to;
  const Place places[] = {{".global", ".global"}, {".shared", ".shared"}, {"", ""}};
  for (const Place& place : places) {
    for (const Atomic& atomic : atomics()) add_atomic(to, place, atomic);
  }
  // The orderings change nothing in one warp.
  const Place ordered_places[] = {
      {".global", ".acq_rel.gpu.global"}, {"", ".relaxed.cta"}, {".global", ".release.sys.global"}};
  for (const Place& place : ordered_places) add_atomic(to, place, atomics().front());
  return to;
}

}  // namespace softgpu::ops
