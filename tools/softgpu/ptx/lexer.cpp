#include "tools/softgpu/ptx/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>

namespace softgpu::ptx {
namespace {

enum CharacterClass : std::uint8_t { kOther = 0, kSpace = 1, kNameStart = 2, kNamePart = 4, kDigit = 8 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (const char c : std::string_view(" \t\r\n\f\v")) table[static_cast<unsigned char>(c)] = kSpace;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = kNameStart | kNamePart;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = kNameStart | kNamePart;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = kNamePart | kDigit;
  table['_'] = table['$'] = kNameStart | kNamePart;
  table['%'] = kNameStart;
  return table;
}
constexpr auto kClasses = make_classes();

bool is_a(char c, unsigned classes) { return (kClasses[static_cast<unsigned char>(c)] & classes) != 0; }

}  // namespace

std::string Token::spelling() const {
  if (kind == Kind::kEnd) return "the end of the text";
  return fmt::format("'{}{}'", kind == Kind::kDotName ? "." : "", text.substr(0, 40));
}

TokenStream::TokenStream(std::string_view text) : text_(text) {
  while (!text_.empty() && text_.back() == '\0') text_.remove_suffix(1);
  advance();
}

Token TokenStream::next() {
  const Token taken = token_;
  last_end_ = position_;
  advance();
  return taken;
}

bool TokenStream::accept(char punctuation) {
  if (!token_.is(punctuation)) return false;
  next();
  return true;
}

bool TokenStream::accept_dot(std::string_view name) {
  if (!token_.is_dot(name)) return false;
  next();
  return true;
}

void TokenStream::expect(char punctuation) {
  if (accept(punctuation)) return;
  const char wanted[] = {'\'', punctuation, '\'', '\0'};
  fail_expected(wanted);
}

std::string_view TokenStream::expect_name(const char* wanted) {
  if (token_.kind == Token::Kind::kName) return next().text;
  fail_expected(wanted);
  return {};
}

std::int64_t TokenStream::expect_integer(const char* wanted) {
  if (token_.kind == Token::Kind::kInteger) return static_cast<std::int64_t>(next().bits);
  fail_expected(wanted);
  return 0;
}

void TokenStream::skip_line(std::uint32_t line) {
  if (token_.line != line || token_.kind == Token::Kind::kEnd) return;
  const std::size_t newline = text_.find('\n', token_begin_);
  position_ = newline == std::string_view::npos ? text_.size() : newline;
  advance();
}

void TokenStream::fail(std::string what) {
  if (!failed_) error_ = {token_.line, std::move(what)};
  failed_ = true;
  position_ = text_.size();
  token_ = {};
  token_.line = error_.line;
}

void TokenStream::fail_expected(const char* wanted) {
  fail(fmt::format("expected {}, found {}", wanted, token_.spelling()));
}

void TokenStream::advance() {
  skip_space();
  token_begin_ = position_;
  token_.line = line_;
  if (position_ >= text_.size()) return finish(Token::Kind::kEnd, position_, position_);
  const char c = text_[position_];
  if (is_a(c, kNameStart)) return finish(Token::Kind::kName, position_, name_end(position_ + 1));
  if (is_a(c, kDigit)) return lex_number();
  if (c == '.') return lex_dot_name();
  if (c == '"') return lex_string();
  finish(Token::Kind::kPunctuation, position_, position_ + 1);
}

void TokenStream::skip_space() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (is_a(c, kSpace)) {
      line_ += c == '\n';
      ++position_;
    } else if (c == '/' && position_ + 1 < text_.size() &&
               (text_[position_ + 1] == '/' || text_[position_ + 1] == '*')) {
      skip_comment();
    } else {
      return;
    }
  }
}

void TokenStream::skip_comment() {
  const bool line_comment = text_[position_ + 1] == '/';
  const std::size_t end = line_comment ? text_.find('\n', position_) : text_.find("*/", position_ + 2);
  const std::size_t stop = end == std::string_view::npos ? text_.size() : end + (line_comment ? 0 : 2);
  for (; position_ < stop; ++position_) line_ += text_[position_] == '\n';
}

void TokenStream::lex_number() {
  const char kind = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
  if (text_[position_] != '0') return lex_decimal();
  switch (kind) {
    case 'f':
    case 'F':
      return lex_hex_float(8, Token::Kind::kSingle);
    case 'd':
    case 'D':
      return lex_hex_float(16, Token::Kind::kDouble);
    case 'x':
    case 'X':
      return lex_integer(position_ + 2, 16);
    case 'b':
    case 'B':
      return lex_integer(position_ + 2, 2);
    default:
      return is_a(kind, kDigit) ? lex_integer(position_ + 1, 8) : lex_decimal();
  }
}

void TokenStream::lex_hex_float(std::size_t digits, Token::Kind kind) {
  const std::size_t end = name_end(position_);
  const char* first = text_.data() + position_ + 2;
  const char* last = text_.data() + end;
  const auto result = std::from_chars(first, last, token_.bits, 16);
  if (end - position_ != digits + 2 || result.ptr != last) {
    token_.text = text_.substr(position_, end - position_);
    return fail(fmt::format("malformed number '{}'", token_.text));
  }
  finish(kind, position_, end);
}

void TokenStream::lex_integer(std::size_t begin, unsigned base) {
  const std::size_t end = name_end(begin);
  const char* last = text_.data() + end;
  const bool has_suffix = end > begin && text_[end - 1] == 'U';
  const auto result = std::from_chars(text_.data() + begin, last, token_.bits, static_cast<int>(base));
  if (result.ec != std::errc() || result.ptr != last - (has_suffix ? 1 : 0)) {
    return fail(fmt::format("malformed number '{}'", text_.substr(position_, end - position_)));
  }
  finish(Token::Kind::kInteger, position_, end);
}

void TokenStream::lex_decimal() {
  std::size_t end = position_;
  while (end < text_.size() && is_a(text_[end], kDigit)) ++end;
  const bool exponent = end < text_.size() && (text_[end] == 'e' || text_[end] == 'E');
  const bool fraction = end + 1 < text_.size() && text_[end] == '.' && is_a(text_[end + 1], kDigit);
  if (!exponent && !fraction) return lex_integer(position_, 10);
  double value = 0;
  const auto result = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
  if (result.ec != std::errc()) return fail("malformed number");
  token_.bits = std::bit_cast<std::uint64_t>(value);
  finish(Token::Kind::kDouble, position_, static_cast<std::size_t>(result.ptr - text_.data()));
}

void TokenStream::lex_dot_name() {
  std::size_t end = name_end(position_ + 1);
  while (text_.substr(end, 2) == "::") end = name_end(end + 2);
  if (end == position_ + 1) return fail("a '.' without a name");
  finish(Token::Kind::kDotName, position_ + 1, end);
}

void TokenStream::lex_string() {
  std::size_t end = position_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size() || text_[end] != '"') return fail("a string without its end");
  finish(Token::Kind::kString, position_ + 1, end);
  ++position_;
}

void TokenStream::finish(Token::Kind kind, std::size_t begin, std::size_t end) {
  token_.kind = kind;
  token_.text = text_.substr(begin, end - begin);
  position_ = end;
}

std::size_t TokenStream::name_end(std::size_t from) const {
  while (from < text_.size() && is_a(text_[from], kNamePart)) ++from;
  return from;
}

}  // namespace softgpu::ptx
