// Copies and fills: the plan made at the call, and its execution on an engine. Called by the driver API.
// Thread rule: a plan belongs to one operation. Failure rule: an address that was unmapped meanwhile kills
// the context.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/softgpu/device/address_space.hpp"
#include "tools/softgpu/device/operation.hpp"

namespace softgpu {

struct Device;

// Rows of `width` bytes; the addresses are those of the first row.
struct CopySide {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;  // from row to row
  std::uint64_t slice = 0;  // from plane to plane
  Place place = Place::kInvalid;

  [[nodiscard]] std::uint64_t extent(std::uint64_t width, std::uint64_t height, std::uint64_t depth) const {
    return (depth - 1) * slice + (height - 1) * pitch + width;
  }
};

struct CopyPlan {
  CopySide to, from;
  std::uint64_t width = 0, height = 1, depth = 1;
  std::shared_ptr<std::vector<std::uint8_t>> staged;  // pageable source, read at the call

  [[nodiscard]] std::uint64_t bytes() const { return width * height * depth; }
  [[nodiscard]] EngineKind engine() const;
  // Reads the source now, so that the program may change it.
  void stage();
};

struct FillPlan {
  std::uint64_t address = 0, pitch = 0;
  std::uint32_t value = 0;
  std::uint64_t element = 1;            // bytes: 1, 2 or 4
  std::uint64_t width = 0, height = 1;  // elements, rows
};

void execute_copy(Device& device, const CopyPlan& plan, Fate& fate, Progress& progress);
void execute_fill(Device& device, const FillPlan& plan, Fate& fate, Progress& progress);

}  // namespace softgpu
