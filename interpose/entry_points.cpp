#include "interpose/entry_points.hpp"

#include <algorithm>
#include <iterator>

namespace tencache::interpose {

std::optional<std::size_t> find_entry_point(std::string_view symbol) noexcept {
  const auto* end = std::end(kEntryPoints);
  const auto* found =
      std::lower_bound(std::begin(kEntryPoints), end, symbol,
                       [](const EntryPoint& entry, std::string_view name) { return entry.symbol < name; });
  if (found == end || found->symbol != symbol) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(kEntryPoints));
}

}  // namespace tencache::interpose
