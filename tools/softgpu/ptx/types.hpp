// Names and sizes of the PTX fundamental types. Called by the parser and the engine's decoder. Thread rule:
// pure functions. Failure rule: an unknown name is Type::kNone.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

// `name` without the dot: "f32". Opaque types (texref, samplerref, surfref) count as their 64-bit handle.
[[nodiscard]] Type type_named(std::string_view name);
[[nodiscard]] std::string_view type_name(Type type);
// A predicate takes one byte in memory terms; kNone takes 0.
[[nodiscard]] std::uint32_t type_bytes(Type type);

}  // namespace softgpu::ptx
