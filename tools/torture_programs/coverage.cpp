#include "tools/torture_programs/coverage.hpp"

#include <array>
#include <cstdio>

namespace torture {
namespace {

constexpr auto kKinds = static_cast<std::size_t>(Kind::kCount);

using States = std::array<StateMet, kMostStates>;

std::array<States, kKinds> covered{};
States before{};

std::size_t ask(States* states) {
  return torture_states_met == nullptr ? 0 : torture_states_met(states->data());
}

}  // namespace

Covers::Covers(Kind kind) : kind_(kind) { ask(&before); }

Covers::~Covers() {
  States after{};
  const std::size_t count = ask(&after);
  States& its = covered[static_cast<std::size_t>(kind_)];
  for (std::size_t i = 0; i < count; ++i) {
    its[i].state = after[i].state;
    its[i].times += after[i].times - before[i].times;
  }
}

void print_coverage() {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const std::string_view name = name_of(static_cast<Kind>(kind));
    for (const StateMet& met : covered[kind])
      if (met.times > 0)
        std::fprintf(stderr, "covered %.*s %s %llu\n", static_cast<int>(name.size()), name.data(), met.state,
                     static_cast<unsigned long long>(met.times));
  }
}

}  // namespace torture
