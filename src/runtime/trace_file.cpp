#include "src/runtime/trace_file.hpp"

#include <cstdio>
#include <memory>

#include "src/base/log.hpp"

namespace tencache::runtime {

void write_trace(const std::optional<policy::Trace>& step, const PathText& path) {
  if (!step) {
    log::warn("TENCACHE_TRACE: no step was seen to repeat while memory was short; {} is not written",
              path.view());
    return;
  }
  const std::string text = policy::format_trace(*step);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"), std::fclose);
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (!written) log::warn("TENCACHE_TRACE: cannot write {}", path.view());
}

}  // namespace tencache::runtime
