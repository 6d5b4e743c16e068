// The switches of frameworks that keep tensors apart: PyTorch's and JAX's caching allocators ask the driver
// for a few large allocations and would hide all tensors in them; their asynchronous allocators make every
// tensor an allocation that the doors see. Called by the preload's constructor (a variable set later is not
// seen by Python) and by the first cuInit. Thread rule: from the constructor and from one cuInit, which reads
// only. Failure rule: what cannot be set is left as it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tencache::interpose {

// Python under any version's name, by the path of the executable.
[[nodiscard]] bool is_python(std::string_view executable) noexcept;
[[nodiscard]] bool is_python_process() noexcept;

// The value of `name` in PyTorch's "name:value,name:value"; none where it is not there.
[[nodiscard]] std::optional<std::string_view> allocator_setting(std::string_view settings,
                                                                std::string_view name) noexcept;
// The same settings with the asynchronous backend; none where the user has chosen a backend.
[[nodiscard]] std::optional<std::string> with_async_backend(std::string_view settings);

// Sets in the environment what the user has not.
void set_framework_switches();
// Says in one line what becomes of PyTorch's expandable segments, which are memory of the program's own
// making.
void report_expandable_segments() noexcept;

}  // namespace tencache::interpose
