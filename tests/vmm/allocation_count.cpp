// The executable's own new and delete; in a file of their own, as a compiler that sees one of them inlined
// complains of a mismatch.
#include "tests/vmm/allocation_count.hpp"

#include <cstdlib>
#include <new>

#include "tests/vmm/fake_driver.hpp"

void* operator new(std::size_t size) {
  using namespace tencache::test;
  if (counting && FakeDriver::Lock::depth == 0) ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
