// Errors as values. `Status` is what went wrong, `Result<T>` a value or a Status.
// Called by everyone. Thread rule: plain values. Failure rule: a Status is logged once, where it is decided
// what to do about it, not where it is made; `what` is a string literal, so that making one allocates
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace tencache {

enum class StatusCode : std::uint8_t {
  kOk,
  kInvalidArgument,
  kOutOfMemory,   // no tier can take it
  kDriverFailed,  // `driver_code` has the CUresult
  kIoFailed,      // `driver_code` has the errno
  kNotSupported,
  kCancelled,
};

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr Status(StatusCode code, const char* what, int driver_code = 0)
      : code_(code), driver_code_(driver_code), what_(what) {}
  [[nodiscard]] constexpr bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] constexpr StatusCode code() const { return code_; }
  [[nodiscard]] constexpr int driver_code() const { return driver_code_; }
  [[nodiscard]] constexpr const char* what() const { return what_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  int driver_code_ = 0;
  const char* what_ = "";
};

template <class T>
class [[nodiscard]] Result {
 public:
  constexpr Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  constexpr Result(Status status) : status_(status) {}     // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr bool ok() const { return value_.has_value(); }
  [[nodiscard]] constexpr Status status() const { return status_; }
  constexpr T& value() { return *value_; }
  constexpr const T& value() const { return *value_; }
  constexpr T* operator->() { return &*value_; }
  constexpr const T* operator->() const { return &*value_; }
  constexpr T& operator*() { return *value_; }
  constexpr const T& operator*() const { return *value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace tencache
