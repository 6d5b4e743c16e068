// A compiled module: the code of its functions, its variables, what it tells about its kernels. Made by
// compile(), read by run(). Thread rule: immutable after bind(). Failure rule: engine.hpp.
#pragma once

#include "tools/softgpu/engine/code.hpp"
#include "tools/softgpu/engine/engine.hpp"
#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::engine {

struct SharedVariable {
  std::uint32_t size, align;
  bool dynamic;  // extern .shared x[]
};

class CompiledProgram final : public Program {
 public:
  CompiledProgram(const ptx::Module& module, const Kernels& kernels);

  [[nodiscard]] std::span<const KernelInfo> kernels() const override { return kernel_infos_; }
  [[nodiscard]] std::span<const GlobalInfo> globals() const override { return global_infos_; }
  void bind(std::span<const std::uint64_t> addresses) override;
  [[nodiscard]] std::span<const std::uint8_t> initial_bytes(std::size_t global) const override {
    return global_bytes_[global];
  }

  [[nodiscard]] const Kernels& arithmetic() const { return kernels_; }
  [[nodiscard]] const std::vector<Code>& codes() const { return codes_; }
  [[nodiscard]] const std::vector<std::uint64_t>& global_addresses() const { return addresses_; }
  // What a launch of this kernel can reach.
  struct Entry {
    std::size_t code = 0;
    std::string error;  // of anything reachable
    std::vector<std::uint32_t> shared_offsets;
    std::uint32_t static_shared = 0;
    std::uint32_t local_bytes = 0;
    bool needs_order = false;
  };
  [[nodiscard]] const Entry& entry(std::size_t kernel) const { return entries_[kernel]; }

 private:
  void name_everything();
  void decode_functions();
  void describe_entry(std::size_t code, const ptx::Function& function);
  void lay_out_shared(Entry& entry, const std::vector<bool>& reachable);
  [[nodiscard]] std::vector<bool> reachable_from(std::size_t code) const;

  const Kernels& kernels_;
  std::vector<const ptx::Function*> functions_;
  std::vector<Code> codes_;
  std::vector<KernelInfo> kernel_infos_;
  std::vector<GlobalInfo> global_infos_;
  std::vector<std::vector<std::uint8_t>> global_bytes_;
  std::vector<std::vector<ptx::Relocation>> relocations_;
  std::vector<std::uint64_t> addresses_;
  std::vector<SharedVariable> shared_;
  std::vector<Entry> entries_;
  struct NamesHolder;
  std::shared_ptr<NamesHolder> names_;
  const ptx::Module* module_ = nullptr;
};

}  // namespace softgpu::engine
