// Cuts PTX text into tokens, one ahead, and holds the parser's first error. Called by the parser alone.
// Thread rule: one owner. Failure rule: after fail() the stream is at its end, so every loop over it stops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/softgpu/ptx/parser.hpp"

namespace softgpu::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    kEnd,
    kName,     // opcode, register, symbol, label: with its % or $
    kDotName,  // directive or modifier; `text` without the dot
    kInteger,
    kSingle,  // 0f........: `bits` is the pattern
    kDouble,  // 0d................ or decimal: `bits` is the pattern
    kString,  // without the quotes
    kPunctuation,
  };
  Kind kind = Kind::kEnd;
  std::uint32_t line = 1;
  std::string_view text;
  std::uint64_t bits = 0;

  [[nodiscard]] bool is(char punctuation) const {
    return kind == Kind::kPunctuation && text.front() == punctuation;
  }
  [[nodiscard]] std::string spelling() const;  // as written, cut where very long
  [[nodiscard]] bool is_dot(std::string_view name) const { return kind == Kind::kDotName && text == name; }
};

class TokenStream {
 public:
  explicit TokenStream(std::string_view text);

  [[nodiscard]] const Token& peek() const { return token_; }
  Token next();
  bool accept(char punctuation);
  bool accept_dot(std::string_view name);
  void expect(char punctuation);
  // A name, or an error that says `wanted`.
  std::string_view expect_name(const char* wanted);
  std::int64_t expect_integer(const char* wanted);
  // Where `token_` begins right behind the last one taken: `%tid.x` is one thing, `mov .b32` is two.
  [[nodiscard]] bool adjacent() const { return token_begin_ == last_end_; }
  // What is left of `line`, for .loc and .file, which end without a semicolon.
  void skip_line(std::uint32_t line);

  void fail(std::string what);
  void fail_expected(const char* wanted);
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const ParseError& error() const { return error_; }

 private:
  void advance();
  void skip_space();
  void skip_comment();
  void lex_number();
  void lex_hex_float(std::size_t digits, Token::Kind kind);
  void lex_integer(std::size_t begin, unsigned base);
  void lex_decimal();
  void lex_dot_name();
  void lex_string();
  void finish(Token::Kind kind, std::size_t begin, std::size_t end);
  [[nodiscard]] std::size_t name_end(std::size_t from) const;

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t token_begin_ = 0;
  std::size_t last_end_ = 0;
  std::uint32_t line_ = 1;
  Token token_;
  bool failed_ = false;
  ParseError error_;
};

}  // namespace softgpu::ptx
