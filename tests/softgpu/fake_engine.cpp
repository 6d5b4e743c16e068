#include "tests/softgpu/fake_engine.hpp"

#include <sched.h>

#include <cstring>
#include <map>
#include <sstream>

#include "tools/softgpu/engine/engine.hpp"

namespace softgpu {
namespace {

class FakeProgram : public Program {
 public:
  [[nodiscard]] std::span<const KernelInfo> kernels() const override { return kernels_; }
  [[nodiscard]] std::span<const GlobalInfo> globals() const override { return globals_; }
  void bind(std::span<const std::uint64_t>) override {}
  [[nodiscard]] std::span<const std::uint8_t> initial_bytes(std::size_t global) const override {
    return initial_[global];
  }

  bool read_line(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    if (!(words >> what) || what == "//") return true;
    if (what == "kernel") return read_kernel(words);
    return what == "global" && read_global(words);
  }

 private:
  bool read_kernel(std::istringstream& words) {
    KernelInfo info;
    if (!(words >> info.name)) return false;
    for (std::uint32_t size = 0; words >> size;) {
      const std::uint32_t offset = (info.parameter_bytes + size - 1) / size * size;
      info.parameters.push_back({offset, size});
      info.parameter_bytes = offset + size;
    }
    info.registers = 32;
    kernels_.push_back(info);
    return true;
  }
  bool read_global(std::istringstream& words) {
    GlobalInfo info;
    std::string text;
    if (!(words >> info.name >> info.size)) return false;
    words >> text;
    globals_.push_back(info);
    initial_.emplace_back(text.begin(), text.end());
    return true;
  }

  std::vector<KernelInfo> kernels_;
  std::vector<GlobalInfo> globals_;
  std::vector<std::vector<std::uint8_t>> initial_;
};

// One run, as the scalar program that the behaviour stands for.
class Run {
 public:
  explicit Run(const Launch& launch)
      : launch_(launch), name_(launch.program->kernels()[launch.kernel].name) {}

  Outcome outcome() {
    static const auto& behaviours = *new std::map<std::string, void (Run::*)()>{
        {"store", &Run::store}, {"add", &Run::add},     {"copy", &Run::copy},
        {"spin", &Run::spin},   {"work", &Run::work},   {"say", &Run::say},
        {"fail", &Run::fail},   {"check", &Run::check}, {"read_all", &Run::read_all}};
    const auto found = behaviours.find(name_);
    if (found != behaviours.end()) (this->*found->second)();
    return outcome_;
  }

 private:
  [[nodiscard]] std::uint64_t parameter(std::size_t index) const {
    const ParameterInfo& info = launch_.program->kernels()[launch_.kernel].parameters[index];
    std::uint64_t value = 0;
    std::memcpy(&value, launch_.parameters.data() + info.offset, info.size);
    return value;
  }

  std::atomic<std::uint32_t>* word(std::uint64_t address, bool write) {
    const Mmu& mmu = *launch_.mmu;
    const std::uint64_t page = (address - mmu.base) >> mmu.page_shift;
    const bool inside = address >= mmu.base && page < mmu.count;
    const std::uint64_t entry = inside ? mmu.entries[page].load() : mmu.outside(mmu.context, address);
    if ((entry & (write ? Mmu::kWrite : Mmu::kRead)) == 0) {
      outcome_.kind = OutcomeKind::kIllegalAddress;
      outcome_.fault_address = address;
      outcome_.fault_is_write = write;
      outcome_.message = "illegal address";
      return nullptr;
    }
    if ((entry & Mmu::kOverLink) != 0) (write ? outcome_.link_bytes_written : outcome_.link_bytes_read) += 4;
    const std::uint64_t page_bytes = std::uint64_t{1} << (inside ? mmu.page_shift : 12);
    return reinterpret_cast<std::atomic<std::uint32_t>*>((entry & ~std::uint64_t{4095}) +
                                                         (address & (page_bytes - 1)));
  }

  void store() {
    if (auto* place = word(parameter(0), true)) place->store(static_cast<std::uint32_t>(parameter(1)));
  }
  void add() {
    if (auto* place = word(parameter(0), true)) place->fetch_add(static_cast<std::uint32_t>(parameter(1)));
  }
  void copy() {
    const auto* from = word(parameter(1), false);
    if (from == nullptr) return;
    if (auto* to = word(parameter(0), true)) to->store(from->load());
  }
  void read_all() {
    for (std::uint64_t i = 0; i < parameter(1); ++i)
      if (word(parameter(0) + 4 * i, false) == nullptr) return;
  }
  void spin() {
    for (;;) {
      const auto* place = word(parameter(0), false);
      if (place == nullptr || place->load() != 0) return;
      if (launch_.cancel->load()) {
        outcome_.kind = OutcomeKind::kCancelled;
        return;
      }
      sched_yield();
    }
  }
  void work() { outcome_.lane_instructions = parameter(0); }
  void say() { launch_.print("say\n"); }
  void fail() {
    outcome_.kind = OutcomeKind::kTrap;
    outcome_.message = "trap";
  }
  void check() {
    outcome_.kind = OutcomeKind::kAssert;
    outcome_.message = "assertion failed";
  }

  const Launch& launch_;
  const std::string name_;
  Outcome outcome_;
};

}  // namespace

std::shared_ptr<Program> compile(std::string_view ptx, std::string* error) {
  auto program = std::make_shared<FakeProgram>();
  std::istringstream lines{std::string(ptx)};
  for (std::string line; std::getline(lines, line);) {
    if (program->read_line(line)) continue;
    *error = "fake engine: cannot read '" + line + "'";
    return nullptr;
  }
  return program;
}

Outcome run(const Launch& launch) { return Run(launch).outcome(); }

}  // namespace softgpu
