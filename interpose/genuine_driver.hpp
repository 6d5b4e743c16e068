// The genuine driver's addresses, and the way back from an address to the entry point. Filled once, by the
// preload from the library it found, or by a test from a driver it brings along. Used by the doors, by
// cuGetProcAddress and by the dlsym hook. Thread rule: adopt_driver from any thread, the first one counts;
// everything else after it, concurrently. Failure rule: a symbol that the driver lacks has no address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "interpose/entry_points.hpp"

namespace tencache::interpose {

// Where the driver comes from: lookup(context, "cuInit") is its address or null.
struct DriverSource {
  void* (*lookup)(void* context, const char* symbol);
  void* context;
};

// True when this call was the one that filled the table.
bool adopt_driver(const DriverSource& source) noexcept;
[[nodiscard]] bool have_driver() noexcept;

// The genuine address, null where the driver lacks the symbol.
[[nodiscard]] void* genuine_address(std::size_t index) noexcept;
// The entry point that the driver has at this address. Two names for one function: the one with a door.
[[nodiscard]] std::optional<std::size_t> entry_point_at(const void* genuine_address) noexcept;

// TENCACHE=off: nothing is substituted, ever.
void set_inert() noexcept;
[[nodiscard]] bool is_inert() noexcept;

// What a program that asks for this entry point gets: our function, or the driver's own address for what
// passes untouched. Null where the driver lacks the symbol.
[[nodiscard]] void* entry_point(std::size_t index) noexcept;
// The same by name, for programs that are linked with the doors but do not export the driver's names.
[[nodiscard]] void* entry_point(const char* symbol) noexcept;

// What the preload alone has: exported functions that count, and the sum of what they counted.
struct Exports {
  void* (*function)(std::size_t index);
  std::uint64_t (*passed_through)();
};
void set_exports(const Exports& exports) noexcept;
// Calls that went through though the table says that they may concern us.
[[nodiscard]] std::uint64_t passed_through() noexcept;

}  // namespace tencache::interpose
