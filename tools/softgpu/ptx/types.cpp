#include "tools/softgpu/ptx/types.hpp"

#include <algorithm>
#include <array>

namespace softgpu::ptx {
namespace {

struct TypeRow {
  std::string_view name;
  Type type;
  std::uint32_t bytes;
};

constexpr std::array kTypes{
    TypeRow{"pred", Type::kPred, 1},      TypeRow{"b8", Type::kB8, 1},
    TypeRow{"b16", Type::kB16, 2},        TypeRow{"b32", Type::kB32, 4},
    TypeRow{"b64", Type::kB64, 8},        TypeRow{"b128", Type::kB128, 16},
    TypeRow{"u8", Type::kU8, 1},          TypeRow{"u16", Type::kU16, 2},
    TypeRow{"u32", Type::kU32, 4},        TypeRow{"u64", Type::kU64, 8},
    TypeRow{"s8", Type::kS8, 1},          TypeRow{"s16", Type::kS16, 2},
    TypeRow{"s32", Type::kS32, 4},        TypeRow{"s64", Type::kS64, 8},
    TypeRow{"f16", Type::kF16, 2},        TypeRow{"f16x2", Type::kF16x2, 4},
    TypeRow{"bf16", Type::kBf16, 2},      TypeRow{"bf16x2", Type::kBf16x2, 4},
    TypeRow{"f32", Type::kF32, 4},        TypeRow{"f64", Type::kF64, 8},
    TypeRow{"tf32", Type::kTf32, 4},      TypeRow{"texref", Type::kB64, 8},
    TypeRow{"samplerref", Type::kB64, 8}, TypeRow{"surfref", Type::kB64, 8},
};

}  // namespace

Type type_named(std::string_view name) {
  const auto* row = std::ranges::find(kTypes, name, &TypeRow::name);
  return row == kTypes.end() ? Type::kNone : row->type;
}

std::string_view type_name(Type type) {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == kTypes.end() ? std::string_view() : row->name;
}

std::uint32_t type_bytes(Type type) {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == kTypes.end() ? 0 : row->bytes;
}

}  // namespace softgpu::ptx
