// What the log says while one of these lives, as text. For tests.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "src/base/log.hpp"

namespace tencache {

class CapturedLog {
 public:
  CapturedLog() : file_(memfd_create("captured_log", MFD_CLOEXEC)), level_(log::level()) {
    log::set_output(file_);
  }
  ~CapturedLog() {
    log::set_output(STDERR_FILENO);
    log::set_level(level_);
    close(file_);
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  [[nodiscard]] std::string text() const {
    std::string text(static_cast<std::size_t>(lseek(file_, 0, SEEK_END)), '\0');
    const ssize_t got = pread(file_, text.data(), text.size(), 0);
    return got == static_cast<ssize_t>(text.size()) ? text : "unreadable";
  }

 private:
  int file_;
  LogLevel level_;
};

}  // namespace tencache
