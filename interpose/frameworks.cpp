#include "interpose/frameworks.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

#include "src/base/log.hpp"

namespace tencache::interpose {

namespace {

constexpr std::string_view kAsyncBackend = "cudaMallocAsync";
constexpr std::string_view kSpaces = " \t";
// PyTorch reads the second where the first is not set; before release 2.9 it knows the second alone.
constexpr std::array kPytorchVariables{"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string_view value_of(const char* name) noexcept {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// Whether the user has set it. An empty one is as good as none, for PyTorch too.
bool is_set(const char* name) noexcept { return !value_of(name).empty(); }

void set_for_pytorch(const char* name) {
  if (const auto wanted = with_async_backend(value_of(name))) setenv(name, wanted->c_str(), 1);
}

// Where the user has set one of the two, the other stays as it is: PyTorch reads what the user meant.
void set_pytorch_switches() {
  const bool any = is_set(kPytorchVariables[0]) || is_set(kPytorchVariables[1]);
  for (const char* const name : kPytorchVariables)
    if (!any || is_set(name)) set_for_pytorch(name);
}

// JAX would take three quarters of the device at once, to no purpose where each tensor is asked for.
void set_jax_switches() {
  if (is_set("XLA_PYTHON_CLIENT_ALLOCATOR")) return;
  setenv("XLA_PYTHON_CLIENT_ALLOCATOR", "cuda_async", 1);
  if (!is_set("XLA_PYTHON_CLIENT_PREALLOCATE")) setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false", 1);
}

void set_tensorflow_switch() {
  if (!is_set("TF_GPU_ALLOCATOR")) setenv("TF_GPU_ALLOCATOR", "cuda_malloc_async", 1);
}

std::string_view pytorch_settings() noexcept {
  for (const char* const name : kPytorchVariables)
    if (is_set(name)) return value_of(name);
  return {};
}

}  // namespace

bool is_python(std::string_view executable) noexcept {
  const std::size_t slash = executable.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? executable : executable.substr(slash + 1);
  constexpr std::string_view kPython = "python";
  return name.starts_with(kPython) &&
         name.find_first_not_of("0123456789.", kPython.size()) == std::string_view::npos;
}

bool is_python_process() noexcept {
  std::array<char, PATH_MAX> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 && is_python({path.data(), static_cast<std::size_t>(length)});
}

std::optional<std::string_view> allocator_setting(std::string_view settings, std::string_view name) noexcept {
  while (!settings.empty()) {
    const std::size_t comma = settings.find(',');
    const std::string_view one = settings.substr(0, comma);
    const std::size_t colon = one.find(':');
    if (colon != std::string_view::npos && trimmed(one.substr(0, colon)) == name)
      return trimmed(one.substr(colon + 1));
    settings = comma == std::string_view::npos ? std::string_view{} : settings.substr(comma + 1);
  }
  return std::nullopt;
}

std::optional<std::string> with_async_backend(std::string_view settings) {
  if (allocator_setting(settings, "backend")) return std::nullopt;
  const std::size_t last = settings.find_last_not_of(" \t,");
  std::string result(settings.substr(0, last == std::string_view::npos ? 0 : last + 1));
  if (!result.empty()) result += ',';
  return result.append("backend:").append(kAsyncBackend);
}

void set_framework_switches() {
  set_pytorch_switches();
  set_jax_switches();
  set_tensorflow_switch();
}

void report_expandable_segments() noexcept {
  const std::string_view settings = pytorch_settings();
  const auto expandable = allocator_setting(settings, "expandable_segments");
  if (!expandable || *expandable != "True" || !is_python_process()) return;
  if (allocator_setting(settings, "backend") == kAsyncBackend)
    return log::warn(
        "PyTorch's expandable_segments has no effect with backend:cudaMallocAsync, which tencache needs to "
        "see each "
        "tensor; backend:native brings it back, with memory that is not managed");
  log::warn(
      "PyTorch's expandable_segments makes memory that is not managed; take backend:native and "
      "expandable_segments "
      "out of PYTORCH_ALLOC_CONF");
}

}  // namespace tencache::interpose
