// The names of PTX's special registers. Called by the parser and the decoder. Thread rule: pure.
#pragma once

#include <string_view>

namespace softgpu::ptx {

// "%laneid", "%envreg12", "WARP_SZ"; a register of several components without its component: "%tid".
[[nodiscard]] bool is_special_register(std::string_view name);

}  // namespace softgpu::ptx
