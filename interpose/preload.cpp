#include "interpose/preload.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "interpose/find_driver.hpp"
#include "interpose/frameworks.hpp"
#include "interpose/genuine_driver.hpp"
#include "interpose/loader_symbols.hpp"
#include "interpose/ranks.hpp"
#include "src/base/log.hpp"
#include "src/base/options.hpp"
#include "src/driver/inside.hpp"

extern "C" {
// In trampolines.S. A slot is read by the exported entry's jump.
extern std::atomic<void*> tencache_slots[tencache::interpose::kEntryPointCount];
extern std::uint64_t tencache_counts[tencache::interpose::kEntryPointCount];
extern const char tencache_entries[];
}

namespace tencache::interpose {

namespace {

constexpr std::size_t kEntrySize = 32;
static_assert(kEntryPointCount == 637, "ENTRY_COUNT in trampolines.S says 637");

std::atomic<void*> driver_handle{nullptr};
std::atomic<DlsymFunction> real_dlsym{nullptr};
std::atomic<DlvsymFunction> real_dlvsym{nullptr};

template <class Function>
Function found_once(std::atomic<Function>& place, const char* symbol) {
  Function function = place.load(std::memory_order_relaxed);
  if (function != nullptr) return function;
  function = reinterpret_cast<Function>(next_definition(symbol));
  place.store(function, std::memory_order_relaxed);
  return function;
}

bool same_file(const char* a, const char* b) {
  struct stat of_a {};
  struct stat of_b {};
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

bool is_ourselves(const char* path) {
  Dl_info own{};
  return dladdr(tencache_entries, &own) != 0 && same_file(path, own.dli_fname);
}

// A copy of this library under another name would send us back to ourselves: it defines dlsym, no driver
// does.
bool is_like_us(void* handle) {
  Dl_info of_dlsym{};
  Dl_info of_driver{};
  void* const init = genuine_dlsym()(handle, "cuInit");
  if (init == nullptr || dladdr(init, &of_driver) == 0) return true;
  void* const their_dlsym = genuine_dlsym()(handle, "dlsym");
  return their_dlsym != nullptr && dladdr(their_dlsym, &of_dlsym) != 0 &&
         of_dlsym.dli_fbase == of_driver.dli_fbase;
}

bool open_driver(void* result, const char* path) {
  struct stat status {};
  if (stat(path, &status) != 0 || is_ourselves(path)) return false;
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr || is_like_us(handle)) return false;
  log::debug("the genuine driver is {}", path);
  *static_cast<void**>(result) = handle;
  return true;
}

// What must be known before the first cuInit: the rest is read, and complained about, there.
Options early_options() {
  Options options = default_options();
  for (const char* const name : {"TENCACHE", "TENCACHE_LOG", "TENCACHE_REAL_LIBCUDA"}) {
    const char* const text = std::getenv(name);
    if (text != nullptr) static_cast<void>(find_option(name)->parse(text, &options));
  }
  return options;
}

void fill_slots() {
  for (std::size_t i = 0; i < kEntryPointCount; ++i) {
    const EntryPoint& entry = kEntryPoints[i];
    void* target = genuine_address(i);
    if (target == nullptr)
      target = answer_of_missing_symbol();
    else if (!is_inert() && entry.door != nullptr)
      target = entry.door;
    tencache_slots[i].store(target, std::memory_order_relaxed);
  }
}

std::uint64_t sum_of_counts() {
  std::uint64_t sum = 0;
  for (const std::uint64_t& count : tencache_counts) sum += __atomic_load_n(&count, __ATOMIC_RELAXED);
  return sum;
}

// All that happens before the first CUDA call, and only in Python.
__attribute__((constructor)) void set_switches_in_python() noexcept {
  if (is_python_process() && early_options().enabled && variable_of_several_ranks() == nullptr)
    set_framework_switches();
}

void* look_up_in(void* handle, const char* symbol) { return genuine_dlsym()(handle, symbol); }

}  // namespace

DlsymFunction genuine_dlsym() noexcept { return found_once(real_dlsym, "dlsym"); }
DlvsymFunction genuine_dlvsym() noexcept { return found_once(real_dlvsym, "dlvsym"); }

bool ensure_driver() noexcept {
  if (have_driver()) return true;
  const Inside inside;
  const Options options = early_options();
  log::set_level(options.log_level);
  void* handle = nullptr;
  const SearchPlaces places{options.real_libcuda.c_str(), std::getenv("LD_LIBRARY_PATH"), "/etc/ld.so.cache",
                            usual_driver_folders()};
  if (!find_driver(places, {open_driver, &handle})) {
    static std::atomic_flag said = ATOMIC_FLAG_INIT;
    if (!said.test_and_set()) log::debug("no driver library was found; calls answer as without a device");
    return false;
  }
  if (!options.enabled) set_inert();
  set_exports({exported_function, sum_of_counts});
  driver_handle.store(handle, std::memory_order_release);
  adopt_driver({look_up_in, handle});
  fill_slots();
  return true;
}

void* genuine_handle() noexcept { return driver_handle.load(std::memory_order_acquire); }

void* exported_function(std::size_t index) noexcept {
  return const_cast<char*>(tencache_entries + index * kEntrySize);
}

std::size_t exported_index(const void* address) noexcept {
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - tencache_entries);
  return offset < kEntryPointCount * kEntrySize ? offset / kEntrySize : kEntryPointCount;
}

extern "C" void* tencache_resolve(std::size_t index) noexcept {
  if (ensure_driver()) return tencache_slots[index].load(std::memory_order_relaxed);
  return answer_without_driver(index);
}

}  // namespace tencache::interpose
