#include "tests/softgpu/ops/machine.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace softgpu::ops {
namespace {

constexpr unsigned kPageShift = 16;
constexpr std::size_t kPage = std::size_t{1} << kPageShift;

}  // namespace

Machine::Machine() : storage_(kBytes + kPage), pages_(kBytes / kPage) {
  const auto begin = reinterpret_cast<std::uintptr_t>(storage_.data());
  memory_ = storage_.data() + (kPage - begin % kPage) % kPage;
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    pages_[i] = reinterpret_cast<std::uintptr_t>(memory_ + i * kPage) | Mmu::kRead | Mmu::kWrite;
  }
  mmu_.base = kBase;
  mmu_.page_shift = kPageShift;
  mmu_.count = pages_.size();
  mmu_.entries = pages_.data();
  mmu_.outside = [](const void*, std::uint64_t) { return std::uint64_t{0}; };
}

Machine& Machine::shared() {
  static Machine machine;
  return machine;
}

Outcome Machine::run(const Program& program, std::string_view kernel, std::uint32_t blocks,
                     std::uint32_t threads, std::span<const std::uint64_t> parameters) {
  Launch launch;
  launch.program = &program;
  while (launch.kernel < program.kernels().size() && program.kernels()[launch.kernel].name != kernel)
    ++launch.kernel;
  if (launch.kernel == program.kernels().size()) {
    ADD_FAILURE() << "no kernel " << kernel;
    return {};
  }
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.parameters = {reinterpret_cast<const std::uint8_t*>(parameters.data()),
                       program.kernels()[launch.kernel].parameter_bytes};
  launch.mmu = &mmu_;
  Outcome outcome = softgpu::run(launch);
  EXPECT_EQ(outcome.kind, OutcomeKind::kDone)
      << outcome.message << " in " << kernel << ", line " << outcome.line;
  return outcome;
}

std::shared_ptr<Program> compile_or_fail(const std::string& body) {
  const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" + body;
  std::string error;
  std::shared_ptr<Program> program = compile(text, &error);
  if (program == nullptr) {
    ADD_FAILURE() << error << "\n" << text;
  } else {
    EXPECT_TRUE(program->globals().empty());
    program->bind({});
  }
  return program;
}

}  // namespace softgpu::ops
