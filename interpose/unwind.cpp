// GCC 12's static unwinder asks for _dl_find_object, which glibc has from 2.35 on. Ours, hidden, answers from
// the objects' program headers, so that the library loads with older ones and exceptions still work inside
// it.
#include <dlfcn.h>
#include <link.h>

#include <cstdint>

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* result;
};

int visit_object(dl_phdr_info* object, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const std::uintptr_t at = search->address - object->dlpi_addr;
  const void* unwind_table = nullptr;
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const Elf64_Phdr& header = object->dlpi_phdr[i];
    const std::uintptr_t address = object->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) unwind_table = reinterpret_cast<const void*>(address);
    if (header.p_type != PT_LOAD || at - header.p_vaddr >= header.p_memsz) continue;
    start = address;
    end = address + header.p_memsz;
  }
  if (start == 0 || unwind_table == nullptr) return 0;
  search->result->dlfo_map_start = reinterpret_cast<void*>(start);
  search->result->dlfo_map_end = reinterpret_cast<void*>(end);
  search->result->dlfo_eh_frame = const_cast<void*>(unwind_table);
  return 1;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void* address,
                                                                     dl_find_object* result) noexcept {
  *result = {};
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(visit_object, &search) != 0 ? 0 : -1;
}
