// ld and st: every type, width of register, vector and state space, over address patterns that are
// contiguous, equal, reversed, spread or random, across pages, with all lanes and with some.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <random>

#include "tests/softgpu/ops/kernel_text.hpp"
#include "tests/softgpu/ops/machine.hpp"
#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

constexpr std::uint64_t kIn = Machine::kBase, kOut = Machine::kBase + (1u << 20),
                        kData = Machine::kBase + (2u << 20);
constexpr std::size_t kDataBytes = 4u << 16;
constexpr unsigned kThreads = 300;

enum class Kind : std::uint8_t { kLoad, kStore, kThroughShared, kThroughLocal };

struct Access {
  Kind kind = Kind::kLoad;
  std::string modifiers;  // ".global.nc"
  std::string type;       // of an element
  unsigned elements = 1;
  unsigned element = 0;  // of a load: the one that is looked at
  unsigned width = 0;    // bits of the register
};

unsigned bytes_of(const Access& access) { return width_of(access.type) / 8; }

std::string name_of(const Access& access) {
  const char* kinds[] = {"ld", "st", "shared", "local"};
  const std::string vector = access.elements > 1 ? fmt::format(".v{}", access.elements) : "";
  return fmt::format("{}{}{}.{} b{} {}", kinds[static_cast<int>(access.kind)], access.modifiers, vector,
                     access.type, access.width, access.element);
}

// The value in a register that a loaded element gives.
std::uint64_t extended(const Access& access, std::uint64_t value) {
  const unsigned bits = width_of(access.type);
  const auto shifted = static_cast<std::int64_t>(value << (64 - bits));
  const std::uint64_t wide = access.type.front() == 's' ? static_cast<std::uint64_t>(shifted >> (64 - bits))
                                                        : static_cast<std::uint64_t>(shifted) >> (64 - bits);
  return wide & (~std::uint64_t{0} >> (64 - access.width));
}

std::string load_text(const Access& access) {
  std::string registers = "$d";
  if (access.elements > 1) {
    const char* others[] = {"p", "q", "r", "s"};
    registers = "{";
    for (unsigned i = 0; i < access.elements; ++i) {
      registers += fmt::format("{}{}", i == 0 ? "" : ", ", i == access.element ? "$d" : others[i]);
    }
    registers += "}";
  }
  return fmt::format("{{ .reg .b{} p, q, r, s; ld{}{}.{} {}, [$a]; }}", access.width, access.modifiers,
                     access.elements > 1 ? fmt::format(".v{}", access.elements) : "", access.type, registers);
}

std::string store_text(const Access& access) {
  const char* values[] = {"", "$b", "{$b, $c}", "", "{$b, $c, $e, $b}"};
  return fmt::format("st{}{}.{} [$a], {}; mov.b32 $d, 1;", access.modifiers,
                     access.elements > 1 ? fmt::format(".v{}", access.elements) : "", access.type,
                     values[access.elements]);
}

// Through a cell of the block, read by the neighbour; through a cell of its own.
std::string shared_text(const Access& access) {
  return fmt::format(
      "{{ .shared .align 16 .b8 cells[4800]; .reg .b32 at, other; .reg .b64 base, wide; mov.u32 at, cells; "
      "mad.lo.s32 at, thread, 16, at; st.shared.{0} [at], $b; bar.sync 0; xor.b32 other, thread, 1; "
      "mul.wide.u32 wide, other, 16; mov.u64 base, cells; add.s64 base, base, wide; ld.shared.{0} $d, "
      "[base]; }}",
      access.type);
}
std::string local_text(const Access& access) {
  return fmt::format(
      "{{ .local .align 16 .b8 cells[64]; .reg .b64 at, wide, one; .reg .b32 lane; and.b32 lane, thread, 3; "
      "mul.wide.u32 wide, lane, 16; mov.u64 at, cells; add.s64 at, at, wide; st.local.{0} [at], $b; "
      "cvta.local.u64 one, at; ld.{0} $d, [one]; }}",
      access.type);
}

Operation operation_of(const Access& access) {
  const std::string value = fmt::format("b{}", access.width);
  switch (access.kind) {
    case Kind::kLoad:
      return {name_of(access), load_text(access), value, {"b64"}, nullptr};
    case Kind::kStore:
      return {name_of(access), store_text(access), "b32", {"b64", value, value, value}, nullptr};
    case Kind::kThroughShared:
      return {name_of(access), shared_text(access), value, {"b64", value}, nullptr};
    case Kind::kThroughLocal:
      break;
  }
  return {name_of(access), local_text(access), value, {"b64", value}, nullptr};
}

constexpr const char* kTypes[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",
                                  "u32", "s32", "f32", "b64", "u64", "s64", "f64"};

// Registers may be wider than what they load, but for floating-point types.
std::vector<unsigned> widths_for(const std::string& type) {
  const unsigned width = std::max(width_of(type), 16u);
  std::vector<unsigned> widths{width};
  for (unsigned wider = width * 2; wider <= 64 && type.front() != 'f'; wider *= 2) widths.push_back(wider);
  return widths;
}

void add_vectors(std::vector<Access>& to, const std::string& type, const std::string& modifiers) {
  for (const unsigned elements : {2u, 4u}) {
    if (width_of(type) * elements > 128) continue;
    const unsigned width = std::max(width_of(type), 16u);
    for (unsigned i = 0; i < elements; ++i) to.push_back({Kind::kLoad, modifiers, type, elements, i, width});
    to.push_back({Kind::kStore, modifiers == ".global.nc" ? ".global" : modifiers, type, elements, 0, width});
  }
}

std::vector<Access> accesses() {
  std::vector<Access> to;
  for (const std::string type : kTypes) {
    for (const unsigned width : widths_for(type)) {
      for (const char* modifiers : {".global", ""}) {
        to.push_back({Kind::kLoad, modifiers, type, 1, 0, width});
        to.push_back({Kind::kStore, modifiers, type, 1, 0, width});
      }
      to.push_back({Kind::kThroughShared, "", type, 1, 0, width});
      to.push_back({Kind::kThroughLocal, "", type, 1, 0, width});
    }
    add_vectors(to, type, ".global");
    add_vectors(to, type, "");
  }
  for (const char* modifiers :
       {".global.nc", ".global.cs", ".global.cg", ".global.ca", ".volatile.global", ".relaxed.gpu.global",
        ".acquire.gpu.global", ".ca", ".cg", ".volatile", ".acquire.cta", ".relaxed.cta"}) {
    to.push_back({Kind::kLoad, modifiers, "u32", 1, 0, 32});
  }
  add_vectors(to, "f32", ".global.nc");
  for (const char* modifiers :
       {".global.cs", ".global.cg", ".global.wb", ".volatile.global", ".relaxed.gpu.global",
        ".release.gpu.global", ".volatile", ".cg", ".release.gpu", ".relaxed.cta"}) {
    to.push_back({Kind::kStore, modifiers, "u32", 1, 0, 32});
  }
  return to;
}

using Addresses = std::vector<std::uint64_t>;

// Aligned for `bytes`, different from each other but for the one where they are all the same.
Addresses addresses_in(int pattern, std::uint64_t bytes, std::mt19937_64& random) {
  Addresses addresses(kThreads);
  const std::uint64_t page_end = kData + 0x10000;
  Addresses cells(kDataBytes / 16);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = kData + 16 * i;
  if (pattern == 4) std::ranges::shuffle(cells, random);
  for (unsigned i = 0; i < kThreads; ++i) {
    const std::uint64_t choices[] = {page_end - 100 * bytes + i * bytes,
                                     page_end + (kThreads - i) * bytes,
                                     kData + 48 * i + 16,
                                     kData + 528 * i,
                                     cells[i],
                                     kData + 4096};
    addresses[i] = choices[pattern];
  }
  return addresses;
}
constexpr int kSame = 5;

class Memory : public testing::TestWithParam<Access> {
 protected:
  Memory() {
    for (std::uint64_t& word : machine_.view<std::uint64_t>(kData, kDataBytes / 8)) word = random_();
  }

  void run(const Program& program, const std::string& kernel, Lanes lanes, const Addresses& addresses,
           const std::vector<std::uint64_t>& values = {}) {
    const Operation operation = operation_of(GetParam());
    const std::size_t sources = operation.sources.size();
    const std::span words = machine_.view<std::uint64_t>(kIn, kThreads * sources);
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = i % sources == 0 ? addresses[i / sources] : random_();
    operands_.assign(words.begin(), words.end());
    std::ranges::fill(machine_.view<std::uint64_t>(kOut, kThreads), 0);
    const std::span data = machine_.view<std::uint8_t>(kData, kDataBytes);
    before_.assign(data.begin(), data.end());
    std::vector<std::uint64_t> parameters{kIn, kOut, kThreads};
    parameters.insert(parameters.end(), values.begin(), values.end());
    parameters.resize(11, 0);
    const Outcome outcome = machine_.run(program, kernel, 1, kThreads, parameters);
    if (outcome.kind == OutcomeKind::kDone) compare(lanes, addresses);
  }

  void compare(Lanes lanes, const Addresses& addresses) {
    const Access& access = GetParam();
    const std::span results = machine_.view<std::uint64_t>(kOut, kThreads);
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      if (!runs(lanes, thread)) continue;
      if (access.kind == Kind::kStore) {
        store_before(addresses[thread], thread);
      } else {
        ASSERT_EQ(results[thread], loaded(addresses[thread], thread))
            << name_of(access) << " thread " << thread;
      }
    }
    const std::span data = machine_.view<std::uint8_t>(kData, kDataBytes);
    const auto differs = std::ranges::mismatch(before_, data);
    ASSERT_EQ(differs.in1, before_.end()) << name_of(access) << " wrote " << (differs.in1 - before_.begin());
  }

  std::uint64_t loaded(std::uint64_t address, unsigned thread) const {
    const Access& access = GetParam();
    std::uint64_t value = 0;
    if (access.kind == Kind::kLoad) {
      std::memcpy(&value, before_.data() + (address - kData) + access.element * bytes_of(access),
                  bytes_of(access));
    } else {
      value = operands_[(access.kind == Kind::kThroughShared ? thread ^ 1 : thread) * 2 + 1];
    }
    return extended(access, value);
  }

  void store_before(std::uint64_t address, unsigned thread) {
    const Access& access = GetParam();
    for (unsigned i = 0; i < access.elements; ++i) {
      const std::uint64_t value = operands_[thread * 4 + 1 + i % 3];
      std::memcpy(before_.data() + (address - kData) + i * bytes_of(access), &value, bytes_of(access));
    }
  }

  Machine& machine_ = Machine::shared();
  std::mt19937_64 random_{3};
  std::vector<std::uint64_t> operands_;
  std::vector<std::uint8_t> before_;
};

TEST_P(Memory, MovesTheRightBytes) {
  const Access& access = GetParam();
  const Operation operation = operation_of(access);
  const std::vector<Feed> memory(operation.sources.size(), Feed::kMemory);
  std::vector<Feed> steps = memory;
  steps[0] = Feed::kAffine;
  const bool goes_elsewhere = access.kind == Kind::kThroughShared || access.kind == Kind::kThroughLocal;
  const auto program =
      compile_or_fail(kernel_text(operation, {"all", memory, {}, Lanes::kAll}) +
                      (access.kind == Kind::kThroughShared
                           ? ""
                           : kernel_text(operation, {"branched", memory, {}, Lanes::kBranched})) +
                      kernel_text(operation, {"steps", steps, {}, Lanes::kAll}));
  ASSERT_NE(program, nullptr);
  const std::uint64_t bytes = bytes_of(access) * access.elements;
  for (int pattern = 0; pattern < (goes_elsewhere ? 1 : kSame + 1); ++pattern) {
    if (pattern == kSame && access.kind == Kind::kStore) continue;  // who wins is open
    const Addresses addresses = addresses_in(pattern, bytes, random_);
    run(*program, "all", Lanes::kAll, addresses);
    if (access.kind != Kind::kThroughShared) run(*program, "branched", Lanes::kBranched, addresses);
  }
  if (goes_elsewhere) return;
  for (const std::uint64_t stride : {bytes, std::uint64_t{48}, 0 - bytes, std::uint64_t{528}}) {
    Addresses addresses(kThreads);
    const std::uint64_t base = kData + 0x10000;
    for (unsigned i = 0; i < kThreads; ++i) addresses[i] = base + i * stride;
    run(*program, "steps", Lanes::kAll, addresses, {base, stride});
  }
}

std::string test_name(const testing::TestParamInfo<Access>& info) {
  std::string name = name_of(info.param);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return fmt::format("{}_{}", name, info.index);
}

INSTANTIATE_TEST_SUITE_P(LoadsAndStores, Memory, testing::ValuesIn(accesses()), test_name);

void PrintTo(const Access& access, std::ostream* out) { *out << name_of(access); }

}  // namespace
}  // namespace softgpu::ops
