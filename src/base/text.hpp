// Text without allocation: a string of bounded length, and a writer into somebody else's buffer. Called by
// the options, the log and the summary, which live in the preload. Thread rule: plain values. Failure rule:
// FixedText refuses what is too long; TextWriter cuts it off and says so with truncated().
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace tencache {

template <std::size_t Capacity>
class FixedText {
 public:
  constexpr FixedText() = default;
  // False, and unchanged, when `text` does not fit.
  [[nodiscard]] constexpr bool assign(std::string_view text) {
    if (text.size() >= Capacity) return false;
    for (std::size_t i = 0; i < text.size(); ++i) characters_[i] = text[i];
    characters_[text.size()] = '\0';
    size_ = text.size();
    return true;
  }
  [[nodiscard]] constexpr std::string_view view() const { return {characters_.data(), size_}; }
  [[nodiscard]] constexpr const char* c_str() const { return characters_.data(); }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  constexpr bool operator==(const FixedText& other) const { return view() == other.view(); }

 private:
  std::array<char, Capacity> characters_{};
  std::size_t size_ = 0;
};

class TextWriter {
 public:
  explicit TextWriter(std::span<char> buffer) : buffer_(buffer) {}

  // As it is: braces mean nothing here.
  void append(std::string_view text) { append("{}", text); }
  template <class... Arguments>
  void append(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const std::size_t room = buffer_.size() - size_;
    const auto result =
        fmt::format_to_n(buffer_.data() + size_, room, format, std::forward<Arguments>(arguments)...);
    truncated_ = truncated_ || result.size > room;
    size_ += result.size < room ? result.size : room;
  }

  [[nodiscard]] std::string_view view() const { return {buffer_.data(), size_}; }
  [[nodiscard]] bool truncated() const { return truncated_; }
  void clear() { size_ = 0, truncated_ = false; }

 private:
  std::span<char> buffer_;
  std::size_t size_ = 0;
  bool truncated_ = false;
};

}  // namespace tencache
