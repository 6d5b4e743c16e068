// The launch path allocates nothing once it has been used: neither while everything fits nor while memory is
// short and what kernels write is not trusted.
#include "tests/vmm/allocation_count.hpp"
#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

const CUstream kStream = reinterpret_cast<CUstream>(1);

// A launch; what the library does in it is counted, what the fake driver does is not.
void launch(Machine& machine, CUdeviceptr address, std::uint64_t signature) {
  const std::array pointers{address};
  counting = true;
  const bool fast = machine.memory->enter_fast(kStream, pointers);
  vmm::AccessAsk ask = machine.kernel(kStream, pointers);
  ask.signature = signature;
  Result<vmm::InFlight*> admitted = fast ? Result<vmm::InFlight*>(nullptr) : machine.memory->admit(ask);
  counting = false;
  ASSERT_TRUE(admitted.ok());
  machine.fake.launch(kStream, {store(address, 1)});
  counting = true;
  if (fast) {
    machine.memory->left_fast();
  } else {
    machine.memory->leave(*admitted, kStream);
  }
  counting = false;
}

TEST(LaunchPathTest, WhileEverythingFitsNothingIsAllocated) {
  Machine machine(false, 16, 0, true);
  const Gpu gpu(machine.fake);
  const CUdeviceptr a = machine.allocate(4 * kPage);
  for (int i = 0; i < 100; ++i) launch(machine, a, 1);
  allocations = 0;
  for (int i = 0; i < 1000; ++i) launch(machine, a, 1);
  EXPECT_EQ(allocations, 0u);
}

TEST(LaunchPathTest, WhileMemoryIsShortNothingIsAllocated) {
  Machine machine(false, 16, 0, true, vmm::Settings::Census::kAlways);  // so no kernel is ever trusted
  const Gpu gpu(machine.fake);
  std::array<CUdeviceptr, 6> buffers{};
  for (CUdeviceptr& buffer : buffers) buffer = machine.allocate(4 * kPage);
  const auto step = [&] {
    for (const CUdeviceptr buffer : buffers) launch(machine, buffer, 1);
  };
  for (int i = 0; i < 50; ++i) step();
  EXPECT_GT(machine.statistics.evictions.load(), 0u);
  allocations = 0;
  for (int i = 0; i < 50; ++i) step();
  EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace tencache::test
