// Prints the table of SOFTGPU_* variables for the README.
#include <cstdio>

#include "tools/softgpu/device/settings.hpp"

int main() {
  std::fputs(softgpu::settings_table().c_str(), stdout);
  return 0;
}
