// Every instruction of the tables against its reference, bit for bit: over all lanes, some lanes, the same
// operand in all lanes, operands in equal steps, and literals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "tests/softgpu/ops/kernel_text.hpp"
#include "tests/softgpu/ops/machine.hpp"
#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

using Tuple = std::array<std::uint64_t, 4>;

constexpr std::uint64_t kIn = Machine::kBase, kOut = Machine::kBase + Machine::kBytes / 2;
constexpr std::size_t kMaxTuples = 4096;

std::uint64_t width_mask(const std::string& type) { return ~std::uint64_t{0} >> (64 - width_of(type)); }

// Operands that go wrong, in all combinations where there are not too many, and random ones.
class Tuples {
 public:
  explicit Tuples(const Operation& operation)
      : operation_(operation), random_(std::hash<std::string>{}(operation.name)) {}

  std::vector<Tuple> make() {
    std::vector<Tuple> tuples;
    std::size_t combinations = 1;
    for (const std::string& type : operation_.sources) combinations *= hard_values(type).size();
    const std::size_t step = combinations / 900 + 1;
    for (std::size_t i = random_() % step; i < combinations; i += 1 + random_() % (2 * step - 1))
      tuples.push_back(combination(i));
    for (int i = 0; i < 200; ++i) tuples.push_back(random_tuple());
    if (tuples.size() > kMaxTuples) tuples.resize(kMaxTuples);
    return tuples;
  }

 private:
  Tuple combination(std::size_t index) {
    Tuple tuple{};
    for (std::size_t i = 0; i < operation_.sources.size(); ++i) {
      const std::vector<std::uint64_t>& values = hard_values(operation_.sources[i]);
      tuple[i] = values[index % values.size()];
      index /= values.size();
    }
    return tuple;
  }
  Tuple random_tuple() {
    Tuple tuple{};
    for (std::size_t i = 0; i < operation_.sources.size(); ++i) {
      const std::vector<std::uint64_t>& values = hard_values(operation_.sources[i]);
      const std::uint64_t near = i == 0 ? random_() : tuple[i - 1] ^ (random_() % 4096);
      const std::uint64_t choices[] = {random_(), near, values[random_() % values.size()]};
      tuple[i] = random_value(operation_.sources[i], choices[random_() % 3]);
    }
    return tuple;
  }

  const Operation& operation_;
  std::mt19937_64 random_;
};

std::vector<Variant> variants_of(const Operation& operation) {
  const std::size_t count = operation.sources.size();
  const std::vector memory(count, Feed::kMemory), same(count, Feed::kParameter);
  std::vector<Variant> variants{{"all", memory, {}, Lanes::kAll},
                                {"branched", memory, {}, Lanes::kBranched},
                                {"same", same, {}, Lanes::kAll}};
  if (can_be_guarded(operation)) variants.push_back({"guarded", memory, {}, Lanes::kGuarded});
  std::vector<Feed> steps = same;
  for (std::size_t i = 0; i < count; ++i) {
    Variant one_same{fmt::format("same_{}", i), memory, {}, Lanes::kAll};
    one_same.feeds[i] = Feed::kParameter;
    if (count > 1) variants.push_back(one_same);
    if (!can_be_affine(operation.sources[i])) continue;
    Variant one_steps{fmt::format("steps_{}", i), same, {}, Lanes::kAll};
    one_steps.feeds[i] = steps[i] = Feed::kAffine;
    variants.push_back(one_steps);
  }
  if (count > 1 && steps != same) variants.push_back({"steps", steps, {}, Lanes::kAll});
  return variants;
}

std::vector<Variant> literal_variants(const Operation& operation) {
  std::vector<Variant> variants;
  const std::size_t last = operation.sources.size() - 1;
  if (!can_be_literal(operation.sources[last])) return variants;
  const std::vector<std::uint64_t>& values = hard_values(operation.sources[last]);
  for (std::size_t i = 0; i < 4; ++i) {
    Variant variant{fmt::format("literal_{}", i), std::vector(last + 1, Feed::kMemory),
                    std::vector<std::uint64_t>(4, 0), Lanes::kAll};
    variant.feeds[last] = Feed::kLiteral;
    variant.literals[last] = values[(i * 11 + 5) % values.size()];
    variants.push_back(variant);
  }
  return variants;
}

class Instruction : public testing::TestWithParam<Operation> {
 protected:
  struct Arguments {
    std::span<const Tuple> tuples;  // one a thread, for what comes from memory
    Tuple values{}, strides{};      // for the rest
    std::uint32_t threads_a_block = 96;
  };

  // False after the first difference, so that it is told once.
  bool check(const Variant& variant, const Arguments& arguments) {
    const Operation& operation = GetParam();
    const std::size_t sources = operation.sources.size(), count = arguments.tuples.size();
    const std::span words = machine_.view<std::uint64_t>(kIn, count * sources);
    for (std::size_t i = 0; i < count * sources; ++i) {
      words[i] = arguments.tuples[i / sources][i % sources];
      // A narrow operand's register holds more than the operand.
      if (width_of(operation.sources[i % sources]) == 8) words[i] |= i * 0x9e3779b900 & 0xffffff00;
    }
    std::ranges::fill(machine_.view<std::uint64_t>(kOut, count), 0);
    std::vector<std::uint64_t> parameters{kIn, kOut, count};
    for (int i = 0; i < 4; ++i)
      parameters.insert(parameters.end(), {arguments.values[i], arguments.strides[i]});
    const auto blocks =
        static_cast<std::uint32_t>((count + arguments.threads_a_block - 1) / arguments.threads_a_block);
    const Outcome outcome =
        machine_.run(*program_, variant.name, blocks, arguments.threads_a_block, parameters);
    return outcome.kind == OutcomeKind::kDone && compare(variant, arguments);
  }

  bool compare(const Variant& variant, const Arguments& arguments) {
    const Operation& operation = GetParam();
    const std::span results = machine_.view<std::uint64_t>(kOut, arguments.tuples.size());
    for (std::uint32_t thread = 0; thread < results.size(); ++thread) {
      Tuple operands{};
      for (std::size_t i = 0; i < operation.sources.size(); ++i)
        operands[i] = operand(variant, arguments, thread, i);
      const std::uint64_t expected =
          runs(variant.lanes, thread) ? operation.reference(operands.data()) : kept_value(operation.result);
      if (results[thread] == expected) continue;
      ADD_FAILURE() << fmt::format("{} ({}), thread {}: {:#x} {:#x} {:#x} {:#x} gives {:#x}, not {:#x}",
                                   operation.name, variant.name, thread, operands[0], operands[1],
                                   operands[2], operands[3], results[thread], expected);
      return false;
    }
    return true;
  }

  std::uint64_t operand(const Variant& variant, const Arguments& arguments, std::uint32_t thread,
                        std::size_t source) const {
    const std::uint64_t mask = width_mask(GetParam().sources[source]);
    switch (variant.feeds[source]) {
      case Feed::kMemory:
        return arguments.tuples[thread][source];
      case Feed::kParameter:
        return arguments.values[source] & mask;
      case Feed::kAffine:
        return (arguments.values[source] + thread % arguments.threads_a_block * arguments.strides[source]) &
               mask;
      case Feed::kLiteral:
        break;
    }
    return variant.literals[source];
  }

  // Values that come from memory are many; others take a launch each.
  bool check_with_values(const Variant& variant, std::span<const Tuple> tuples) {
    static constexpr std::uint64_t kStrides[] = {1, 4, 0, ~std::uint64_t{0}, 0x40000001, 0x7fffffffffffffff};
    const bool from_memory = std::ranges::find(variant.feeds, Feed::kMemory) != variant.feeds.end();
    const std::size_t rounds = from_memory ? 2 : 5;
    for (std::size_t i = 0; i < rounds; ++i) {
      Arguments arguments{.tuples =
                              tuples.first(std::min<std::size_t>(tuples.size(), from_memory ? 200 : 290))};
      arguments.values = tuples[(i * 97 + 13) % tuples.size()];
      for (std::size_t j = 0; j < 4; ++j) arguments.strides[j] = kStrides[(i + j) % std::size(kStrides)];
      arguments.threads_a_block = i % 2 == 0 ? 290 : 33;
      if (!check(variant, arguments)) return false;
    }
    return true;
  }

  Machine& machine_ = Machine::shared();
  std::shared_ptr<Program> program_;
};

TEST_P(Instruction, GivesTheReferencesBits) {
  const Operation& operation = GetParam();
  std::vector<Variant> variants = variants_of(operation);
  for (Variant& literal : literal_variants(operation)) variants.push_back(std::move(literal));
  std::string text;
  for (const Variant& variant : variants) text += kernel_text(operation, variant);
  program_ = compile_or_fail(text);
  ASSERT_NE(program_, nullptr);
  const std::vector<Tuple> tuples = Tuples(operation).make();
  for (const Variant& variant : variants) {
    const bool has_values = std::ranges::any_of(
        variant.feeds, [](Feed feed) { return feed == Feed::kParameter || feed == Feed::kAffine; });
    if (has_values) {
      ASSERT_TRUE(check_with_values(variant, tuples));
    } else {
      const std::size_t count =
          variant.name == "all" ? tuples.size() : std::min<std::size_t>(tuples.size(), 300);
      ASSERT_TRUE(check(variant, {.tuples = std::span(tuples).first(count)}));
    }
  }
}

std::string test_name(const testing::TestParamInfo<Operation>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return fmt::format("{}_{}", name, info.index);
}

INSTANTIATE_TEST_SUITE_P(Integer, Instruction, testing::ValuesIn(integer_operations()), test_name);
INSTANTIATE_TEST_SUITE_P(Bits, Instruction, testing::ValuesIn(bit_operations()), test_name);
INSTANTIATE_TEST_SUITE_P(Comparison, Instruction, testing::ValuesIn(comparison_operations()), test_name);
INSTANTIATE_TEST_SUITE_P(Floating, Instruction, testing::ValuesIn(floating_operations()), test_name);
INSTANTIATE_TEST_SUITE_P(Half, Instruction, testing::ValuesIn(half_operations()), test_name);
INSTANTIATE_TEST_SUITE_P(Approximate, Instruction, testing::ValuesIn(approximate_operations()), test_name);
INSTANTIATE_TEST_SUITE_P(Conversion, Instruction, testing::ValuesIn(conversion_operations()), test_name);

}  // namespace

// What googletest prints of a parameter.
void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

}  // namespace softgpu::ops
