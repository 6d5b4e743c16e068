#include "tools/torture_programs/program.hpp"

namespace torture {
namespace {

struct Row {
  Kind kind;
  std::uint32_t weight;
  std::string_view name;
};

constexpr Row kRows[] = {
#define X(kind, weight, what) {Kind::kind, weight, std::string_view(#kind).substr(1)},
#include "tools/torture_programs/operations.def"
#undef X
};

constexpr std::uint32_t total_weight() {
  std::uint32_t sum = 0;
  for (const Row& row : kRows) sum += row.weight;
  return sum;
}

Kind draw_kind(Random& random) {
  std::uint32_t left = random.below(total_weight());
  for (const Row& row : kRows) {
    if (left < row.weight) return row.kind;
    left -= row.weight;
  }
  return Kind::kHashAll;
}

}  // namespace

std::string_view name_of(Kind kind) { return kRows[static_cast<std::size_t>(kind)].name; }

std::vector<Operation> generate(std::uint64_t seed, const Shape& shape) {
  Random random(seed);
  std::vector<Operation> program;
  for (std::uint32_t number = 0; number < shape.operations; ++number) {
    // A program begins with something to work on.
    Operation operation{number < 16 ? Kind::kAllocate : draw_kind(random), number, {}};
    for (auto& operand : operation.operands) operand = static_cast<std::uint32_t>(random.next());
    program.push_back(operation);
  }
  program.push_back({Kind::kHashAll, shape.operations, {}});
  return program;
}

}  // namespace torture
