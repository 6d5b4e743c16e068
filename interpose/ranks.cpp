#include "interpose/ranks.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tencache::interpose {

namespace {

struct Launcher {
  const char* ranks;
  const char* rank;
};
constexpr std::array<Launcher, 2> kLaunchers{
    {{"WORLD_SIZE", "RANK"}, {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}}};

long number_in(const char* name) noexcept {
  const char* const text = std::getenv(name);
  if (text == nullptr) return 0;
  const std::string_view digits = text;
  long value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  return error == std::errc{} && end == digits.end() ? value : 0;
}

const Launcher* launcher_of_several() noexcept {
  for (const Launcher& launcher : kLaunchers)
    if (number_in(launcher.ranks) > 1) return &launcher;
  return nullptr;
}

}  // namespace

const char* variable_of_several_ranks() noexcept {
  const Launcher* const launcher = launcher_of_several();
  return launcher == nullptr ? nullptr : launcher->ranks;
}

bool is_first_rank() noexcept {
  const Launcher* const launcher = launcher_of_several();
  return launcher == nullptr || number_in(launcher->rank) == 0;
}

}  // namespace tencache::interpose
