// The table of the driver's entry points as the program sees it: name, class, what we do with each. Generated
// from cuda.hooks, in the order of the names. Used by everything in interpose/. Thread rule: constant.
// Failure rule: a name that is not in the table gives no index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "interpose/entry_index.gen.hpp"

namespace tencache::interpose {

enum class Handling : std::uint8_t {
  kDoor,   // a handler of ours
  kRetry,  // passed through and counted; tried again after out of memory
  kCount,  // passed through and counted
  kPass,   // passed through
};

struct EntryPoint {
  const char* symbol;
  const char* klass;
  Handling handling;
  void* door;  // kDoor and kRetry: our function under the driver's signature
};

extern const EntryPoint kEntryPoints[kEntryPointCount];

// Whether the name looks like a driver symbol at all ("cu", then a capital): cheap, before any search.
constexpr bool is_driver_name(const char* name) {
  return name != nullptr && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

[[nodiscard]] std::optional<std::size_t> find_entry_point(std::string_view symbol) noexcept;

}  // namespace tencache::interpose
