#include "tools/tencache/doctor/doors.hpp"

#include <fmt/core.h>

#include "door_families.gen.hpp"

namespace tencache::doctor {

int print_doors() {
  constexpr const char* kRow = "{:<42} {:>5} {:>13} {:>8}\n";
  fmt::print(kRow, "entry points of CUDA 13.0", "work", "pass through", "refused");
  DoorFamily all{"all", 0, 0, 0};
  for (const DoorFamily& family : kDoorFamilies) {
    fmt::print(kRow, family.name, family.work, family.pass_through, family.refused);
    all.work += family.work;
    all.pass_through += family.pass_through;
    all.refused += family.refused;
  }
  fmt::print(kRow, all.name, all.work, all.pass_through, all.refused);
  return 0;
}

}  // namespace tencache::doctor
