// A generated program: a seed becomes a list of operations. Pure: the same seed gives the same list
// everywhere, and dropping operations from it leaves a program that still means something, so that a
// difference can be minimised. Called by main. Thread rule: plain values. Failure rule: cannot fail.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace torture {

enum class Kind : std::uint8_t {
#define X(kind, weight, what) kind,
#include "tools/torture_programs/operations.def"
#undef X
  kCount
};

// The kind's name as written in the table, without its k.
std::string_view name_of(Kind kind);

// Operands are drawn when the program is made; the executor maps them onto whatever buffers and streams exist
// then.
struct Operation {
  Kind kind;
  std::uint32_t number;                   // stays the same when others are dropped
  std::array<std::uint32_t, 6> operands;  // uniform 32-bit draws
};

struct Shape {
  std::uint32_t operations = 60;
  std::uint32_t live_bytes = 4u << 20;  // the program keeps at most this much allocated
  std::uint32_t largest = 1u << 20;     // largest single allocation
  std::uint64_t named = ~0u;            // at most so many bytes by all tables in small buffers together
};

// What an allocation asks for: a quarter small ones, a quarter middling and odd ones, half large ones.
std::uint32_t draw_bytes(std::uint32_t operand, std::uint32_t largest);

std::vector<Operation> generate(std::uint64_t seed, const Shape& shape);

// splitmix64, so that programs are the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace torture
