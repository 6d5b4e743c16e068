// A little device for the engine's tests: memory behind an MMU table, one loaded module, launches by name.
// Thread rule: one test, one machine. Failure rule: what cannot be loaded fails the test.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tools/softgpu/engine/testing.hpp"

namespace softgpu::test {

// How to run: everything must give the same bits.
struct Mode {
  const char* name;
  const engine::Kernels& (*kernels)();
  bool scalars;
  unsigned threads;
};
inline bool runs_here(const Mode& mode) {
  const std::string level = mode.kernels().name;
  const std::string here = engine::kernels_here().name;
  return level == "level_baseline" || here == "level_v4" || level == here;
}

class Machine {
 public:
  static constexpr std::uint64_t kBase = 0x700000000000u;
  static constexpr unsigned kPageShift = 16;
  static constexpr std::size_t kPages = 64;

  Machine(const std::string& file, const Mode& mode) : mode_(mode), entries_(kPages) {
    memory_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(4096, kPages << kPageShift)));
    std::memset(memory_.get(), 0, kPages << kPageShift);
    mmu_.base = kBase;
    mmu_.page_shift = kPageShift;
    mmu_.count = kPages;
    mmu_.entries = entries_.data();
    std::ifstream in(std::string(ENGINE_PTX) + "/" + file);
    std::stringstream text;
    text << in.rdbuf();
    load(text.str());
  }
  void load(const std::string& ptx) {
    std::string error;
    program_ = engine::compile_with(ptx, mode_.kernels(), &error);
    ASSERT_NE(program_, nullptr) << error;
    std::vector<std::uint64_t> addresses;
    for (const GlobalInfo& g : program_->globals()) addresses.push_back(allocate(g.size));
    program_->bind(addresses);
    for (std::size_t g = 0; g < addresses.size(); ++g) {
      const auto bytes = program_->initial_bytes(g);
      if (!bytes.empty()) std::memcpy(host(addresses[g]), bytes.data(), bytes.size());
    }
    globals_ = addresses;
  }
  // Whole pages; the page behind stays unmapped.
  std::uint64_t allocate(std::size_t bytes) {
    const std::size_t pages = (bytes + (std::size_t{1} << kPageShift) - 1) >> kPageShift;
    const std::size_t first = next_page_;
    next_page_ += pages + 1;
    EXPECT_LE(next_page_, kPages);
    for (std::size_t p = first; p < first + pages; ++p) {
      entries_[p] =
          reinterpret_cast<std::uint64_t>(memory_.get() + (p << kPageShift)) | Mmu::kRead | Mmu::kWrite;
    }
    return kBase + (std::uint64_t{first} << kPageShift);
  }
  template <class T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t address = allocate(values.size() * sizeof(T));
    std::memcpy(host(address), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), host(address), count * sizeof(T));
    return values;
  }
  std::uint8_t* host(std::uint64_t address) { return memory_.get() + (address - kBase); }
  std::atomic<std::uint64_t>& entry(std::uint64_t address) {
    return entries_[(address - kBase) >> kPageShift];
  }

  // Arguments are laid out as a compiler does: each aligned to its size (structures to 8).
  template <class... Arguments>
  Outcome launch(const std::string& kernel, std::array<std::uint32_t, 3> grid,
                 std::array<std::uint32_t, 3> block, Arguments... arguments) {
    std::vector<std::uint8_t> buffer;
    (append(buffer, arguments), ...);
    return launch_bytes(kernel, grid, block, buffer);
  }
  Outcome launch_bytes(const std::string& kernel, std::array<std::uint32_t, 3> grid,
                       std::array<std::uint32_t, 3> block, const std::vector<std::uint8_t>& buffer) {
    Launch launch;
    launch.program = program_.get();
    launch.kernel = index_of(kernel);
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = dynamic_shared;
    launch.parameters = buffer;
    launch.mmu = &mmu_;
    launch.threads = mode_.threads;
    launch.cancel = &cancel;
    launch.cooperative = cooperative;
    if (cooperative) launch.cooperative_workspace = upload(std::vector<std::uint32_t>(16));
    launch.print = [this](std::string_view text) { printed += text; };
    return engine::run_with(launch, mode_.scalars);
  }
  std::size_t index_of(const std::string& kernel) const {
    const auto kernels = program_->kernels();
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k].name == kernel) return k;
    }
    ADD_FAILURE() << "no kernel " << kernel;
    return 0;
  }
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] std::uint64_t global(const std::string& name) const {
    for (std::size_t g = 0; g < globals_.size(); ++g) {
      if (program_->globals()[g].name == name) return globals_[g];
    }
    ADD_FAILURE() << "no variable " << name;
    return 0;
  }

  std::string printed;
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  std::atomic<bool> cancel{false};
  Mmu mmu_;

 private:
  template <class T>
  static void append(std::vector<std::uint8_t>& buffer, const T& value) {
    const std::size_t align = std::is_class_v<T> ? alignof(T) : sizeof(T);
    buffer.resize((buffer.size() + align - 1) / align * align + sizeof(T));
    std::memcpy(buffer.data() + buffer.size() - sizeof(T), &value, sizeof(T));
  }
  struct Free {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  const Mode& mode_;
  std::unique_ptr<std::uint8_t, Free> memory_;
  std::vector<std::atomic<std::uint64_t>> entries_;
  std::size_t next_page_ = 1;
  std::shared_ptr<Program> program_;
  std::vector<std::uint64_t> globals_;
};

inline constexpr Mode kModes[] = {
    {"v4", engine::kernels_v4, true, 1},
    {"v4_vectors", engine::kernels_v4, false, 1},
    {"v4_threads", engine::kernels_v4, true, 2},
    {"v3", engine::kernels_v3, true, 1},
    {"baseline", engine::kernels_baseline, true, 1},
};

class EngineTest : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam())) GTEST_SKIP() << "this CPU lacks the level";
  }
};
inline std::string mode_name(const testing::TestParamInfo<Mode>& info) { return info.param.name; }
inline void expect_done(const Outcome& outcome) {
  EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.message << " (line " << outcome.line << ")";
}

}  // namespace softgpu::test
