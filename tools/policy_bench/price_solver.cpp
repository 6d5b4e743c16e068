#include "tools/policy_bench/price_solver.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace tencache::bench {
namespace {

std::string problem_text(const policy::PriceProblem& problem) {
  std::string text = fmt::format("{} {} {}\n", problem.slots(), problem.sides.size(), problem.epochs.size());
  for (const double seconds : problem.seconds) text += fmt::format("{:.17g}\n", seconds);
  for (const double room : problem.room) text += fmt::format("{:.17g}\n", room);
  for (const auto& side : problem.sides) text += fmt::format("{:.17g} {:.17g}\n", side.in, side.out);
  for (const auto& epoch : problem.epochs) {
    text += fmt::format("{:.17g} {} {}", epoch.bytes, epoch.written, epoch.gaps.size());
    for (const auto& gap : epoch.gaps) text += fmt::format(" {} {}", gap.first, gap.last);
    text += '\n';
  }
  return text;
}

// False where the file has too few numbers.
bool read(std::istream& file, std::vector<double>& numbers) {
  for (double& number : numbers) file >> number;
  return static_cast<bool>(file);
}

}  // namespace

std::optional<policy::PriceBound::Prices> PriceSolver::operator()(const policy::PriceProblem& problem) const {
  char folder[] = "/tmp/policy-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return std::nullopt;
  const std::string asked = std::string(folder) + "/problem";
  const std::string answered = std::string(folder) + "/prices";
  std::ofstream(asked) << problem_text(problem);
  const int ended = std::system(fmt::format("{} {} {} >/dev/null", command_, asked, answered).c_str());
  policy::PriceBound::Prices prices{std::vector<double>(problem.seconds.size()),
                                    {problem.sides.size(), std::vector<double>(problem.seconds.size())}};
  std::ifstream file(answered);
  bool whole = ended == 0 && read(file, prices.room);
  for (auto& side : prices.side) whole = whole && read(file, side);
  for (const std::string& path : {asked, answered}) std::remove(path.c_str());
  rmdir(folder);
  if (whole) return prices;
  fmt::print(stderr, "policy-bench: `{}` found no prices; the bound is looked for without it\n", command_);
  return std::nullopt;
}

}  // namespace tencache::bench
