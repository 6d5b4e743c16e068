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

std::uint32_t draw_bytes(std::uint32_t operand, std::uint32_t largest) {
  const std::uint32_t draw = operand / 4;
  switch (operand % 4) {
    case 0:
      return 24 + draw % 1000 * 4;
    case 1:
      return 4096 + draw % (largest / 8) / 4 * 4;
    default:
      return largest / 4 + draw % (largest - largest / 4) / 4 * 4;
  }
}

std::vector<Operation> generate(std::uint64_t seed, const Shape& shape) {
  Random random(seed);
  std::vector<Operation> program;
  const auto add = [&](Kind kind) {
    Operation operation{kind, static_cast<std::uint32_t>(program.size()), {}};
    for (auto& operand : operation.operands) operand = static_cast<std::uint32_t>(random.next());
    program.push_back(operation);
    return operation;
  };
  // A program begins with something to work on, and with the GPU busy when memory first runs short.
  for (std::uint32_t bytes = 0; bytes < shape.live_bytes / 4 * 3;) {
    bytes += draw_bytes(add(Kind::kAllocate).operands[0], shape.largest);
    if (program.size() == 4 || program.size() == 12) add(Kind::kQueues);
  }
  for (std::uint32_t i = 0; i < shape.operations; ++i) add(draw_kind(random));
  add(Kind::kHashAll);
  return program;
}

}  // namespace torture
