#include "interpose/loader_symbols.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace tencache::interpose {

namespace {

struct SymbolTables {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
};

// The loader has relocated these pointers in place in all objects but the kernel's own.
template <class T>
const T* table_at(Elf64_Addr base, Elf64_Addr pointer) {
  return reinterpret_cast<const T*>(pointer < base ? base + pointer : pointer);
}

SymbolTables tables_of(const dl_phdr_info& object) {
  SymbolTables tables;
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const Elf64_Dyn*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const Elf64_Addr pointer = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) tables.symbols = table_at<Elf64_Sym>(object.dlpi_addr, pointer);
      if (entry->d_tag == DT_STRTAB) tables.strings = table_at<char>(object.dlpi_addr, pointer);
      if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = table_at<std::uint32_t>(object.dlpi_addr, pointer);
    }
  }
  return tables;
}

std::uint32_t gnu_hash_of(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

// The GNU hash table: buckets count, first symbol, bloom words, bloom shift; bloom; buckets; chains.
const Elf64_Sym* look_up(const SymbolTables& tables, const char* name) {
  if (tables.symbols == nullptr || tables.strings == nullptr || tables.gnu_hash == nullptr) return nullptr;
  const std::uint32_t bucket_count = tables.gnu_hash[0];
  const std::uint32_t first = tables.gnu_hash[1];
  const std::uint32_t* buckets = tables.gnu_hash + 4 + std::size_t{tables.gnu_hash[2]} * 2;
  const std::uint32_t* chains = buckets + bucket_count;
  const std::uint32_t hash = gnu_hash_of(name);
  std::uint32_t at = bucket_count == 0 ? 0 : buckets[hash % bucket_count];
  if (at < first) return nullptr;
  for (;; ++at) {
    const Elf64_Sym& symbol = tables.symbols[at];
    const bool matches = (chains[at - first] | 1u) == (hash | 1u);
    if (matches && symbol.st_shndx != SHN_UNDEF && std::strcmp(tables.strings + symbol.st_name, name) == 0) {
      return &symbol;
    }
    if ((chains[at - first] & 1u) != 0) return nullptr;
  }
}

bool contains(const dl_phdr_info& object, const void* address) {
  const auto at = reinterpret_cast<Elf64_Addr>(address) - object.dlpi_addr;
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const Elf64_Phdr& header = object.dlpi_phdr[i];
    if (header.p_type == PT_LOAD && at - header.p_vaddr < header.p_memsz) return true;
  }
  return false;
}

struct Search {
  const char* symbol;
  bool passed_us = false;
  void* found = nullptr;
  void* found_before_us = nullptr;
};

int visit_object(dl_phdr_info* object, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (!search->passed_us && contains(*object, reinterpret_cast<const void*>(&next_definition))) {
    search->passed_us = true;
    return 0;
  }
  const Elf64_Sym* symbol = look_up(tables_of(*object), search->symbol);
  if (symbol == nullptr) return 0;
  void*& place = search->passed_us ? search->found : search->found_before_us;
  if (place == nullptr) place = reinterpret_cast<void*>(object->dlpi_addr + symbol->st_value);
  return search->passed_us ? 1 : 0;
}

}  // namespace

void* next_definition(const char* symbol) noexcept {
  Search search{symbol};
  dl_iterate_phdr(visit_object, &search);
  return search.found != nullptr ? search.found : search.found_before_us;
}

}  // namespace tencache::interpose
