// The `= { ... }` of a variable, with symbol addresses left as relocations.
#include <algorithm>
#include <bit>

#include "tools/softgpu/ptx/declarations.hpp"
#include "tools/softgpu/ptx/types.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::size_t kMaxDepth = 8;
constexpr std::uint64_t kMaxInitialBytes = std::uint64_t{1} << 28;

class InitialValueParser {
 public:
  InitialValueParser(ModuleContext& context, Variable& variable, const std::vector<std::uint64_t>& dimensions)
      : tokens_(context.tokens),
        variable_(variable),
        dimensions_(dimensions),
        width_(type_bytes(variable.type)) {}

  void parse() {
    const bool open = !dimensions_.empty() && dimensions_.front() == 0;
    limit_ = open ? kMaxInitialBytes : variable_.size;
    if (tokens_.peek().is('{')) {
      parse_braces(0, 0);
    } else {
      parse_element(0);
    }
    if (!open) return;
    const std::uint64_t row = stride(0);
    if (row == 0) return tokens_.fail("only the first array size may be left open");
    variable_.size = (variable_.initial.size() + row - 1) / row * row;
  }

 private:
  // Bytes of one element at `level` of the array.
  [[nodiscard]] std::uint64_t stride(std::size_t level) const {
    std::uint64_t bytes = width_;
    for (std::size_t i = level + 1; i < dimensions_.size(); ++i) {
      bytes = std::min(bytes * dimensions_[i], kMaxInitialBytes + 1);
    }
    return bytes;
  }

  // Returns the offset behind what it read. Inner braces begin a row; values without them follow on.
  void parse_braces(std::size_t level, std::uint64_t offset) {
    if (level >= kMaxDepth) return tokens_.fail("initial values nested too deeply");
    tokens_.expect('{');
    if (tokens_.accept('}')) return;
    do {
      if (tokens_.peek().is('{')) {
        parse_braces(level + 1, offset);
        offset += stride(level);
      } else {
        parse_element(offset);
        offset += width_;
      }
    } while (tokens_.accept(','));
    tokens_.expect('}');
  }

  void parse_element(std::uint64_t offset) {
    if (offset + width_ > limit_) return tokens_.fail("more initial values than the variable holds");
    const std::uint64_t end = offset + width_;
    if (variable_.initial.size() < end) variable_.initial.resize(end);
    if (tokens_.peek().kind == Token::Kind::kName) return parse_address(offset, -1);
    const Operand value = parse_literal(tokens_, "an initial value");
    if (tokens_.peek().is('(')) return parse_masked(offset, static_cast<std::uint64_t>(value.bits));
    store(offset, value);
  }

  void store(std::uint64_t offset, const Operand& value) {
    auto bits = static_cast<std::uint64_t>(value.bits);
    if (value.is_double && variable_.type == Type::kF32) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    }
    if (!value.is_float && variable_.type == Type::kF32)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(value.bits));
    if (!value.is_float && variable_.type == Type::kF64)
      bits = std::bit_cast<std::uint64_t>(static_cast<double>(value.bits));
    for (std::uint32_t i = 0; i < width_ && i < 8; ++i) {
      variable_.initial[offset + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
  }

  // 0xff00(symbol): one byte of the address.
  void parse_masked(std::uint64_t offset, std::uint64_t mask) {
    const int shift = std::countr_zero(mask);
    if (mask == 0 || shift % 8 != 0 || (mask >> shift) != 0xff)
      return tokens_.fail("the mask must be one byte");
    tokens_.expect('(');
    parse_address(offset, static_cast<std::int8_t>(shift / 8));
    tokens_.expect(')');
  }

  std::int64_t parse_addend() {
    if (tokens_.accept('+')) return parse_literal(tokens_, "an offset").bits;
    return tokens_.peek().is('-') ? parse_literal(tokens_, "an offset").bits : 0;
  }

  // generic(symbol)+2, symbol-4
  void parse_address(std::uint64_t offset, std::int8_t byte) {
    Relocation relocation{};
    relocation.offset = static_cast<std::uint32_t>(offset);
    relocation.size = static_cast<std::uint8_t>(width_);
    relocation.byte = byte;
    relocation.symbol = tokens_.expect_name("a symbol");
    const bool is_generic = relocation.symbol == "generic" && tokens_.accept('(');
    if (is_generic) relocation.symbol = tokens_.expect_name("a symbol");
    relocation.addend = parse_addend();
    if (is_generic) {
      tokens_.expect(')');
      relocation.addend += parse_addend();
    }
    if (byte < 0 && width_ < 4) tokens_.fail("an address does not fit the variable's type");
    variable_.relocations.push_back(std::move(relocation));
  }

  TokenStream& tokens_;
  Variable& variable_;
  const std::vector<std::uint64_t>& dimensions_;
  std::uint64_t width_;
  std::uint64_t limit_ = 0;
};

}  // namespace

void parse_initial_value(ModuleContext& context, Variable& variable,
                         const std::vector<std::uint64_t>& dimensions) {
  InitialValueParser(context, variable, dimensions).parse();
}

}  // namespace softgpu::ptx
