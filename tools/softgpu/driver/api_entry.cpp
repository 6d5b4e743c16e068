// How entry points are found, and what happens before each of them.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/device/settings.hpp"
#include "tools/softgpu/driver/entry_point.hpp"
#include "tools/softgpu/driver/registry.hpp"

namespace softgpu::api {
namespace {

constexpr int kDriverVersion = 13000;

// Calls of one base name, all forms together, that are to fail.
struct PlannedFailure {
  std::uint64_t at = 0;  // the number of the call, from 1
  CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
  std::atomic<std::uint64_t> calls{0};
};

struct FailurePlan {
  std::map<std::string, PlannedFailure> by_name;
  std::array<PlannedFailure*, kExportedSymbolCount> by_symbol{};
};

// cuMemCreate:3 or cuMemCreate:3:2, separated by commas.
const FailurePlan& failure_plan() {
  static const auto* const plan = [] {
    auto* made = new FailurePlan;
    std::string rest = settings().fail;
    while (!rest.empty()) {
      const std::string item = rest.substr(0, rest.find(','));
      rest.erase(0, item.size() + 1);
      char name[128] = "";
      unsigned long long at = 0;
      int result = CUDA_ERROR_OUT_OF_MEMORY;
      if (std::sscanf(item.c_str(), "%127[^:]:%llu:%d", name, &at, &result) < 2) {
        std::fprintf(stderr, "softgpu: SOFTGPU_FAIL: '%s' is not understood\n", item.c_str());
        continue;
      }
      PlannedFailure& failure = made->by_name[name];
      failure.at = at;
      failure.result = static_cast<CUresult>(result);
    }
    for (unsigned i = 0; i < kExportedSymbolCount; ++i) {
      const auto found = made->by_name.find(kExportedSymbols[i].base);
      if (found != made->by_name.end()) made->by_symbol[i] = &found->second;
    }
    return made;
  }();
  return *plan;
}

bool is_found(const ExportedSymbol& symbol, const char* name, int version, bool per_thread, bool* known) {
  if (std::strcmp(symbol.base, name) != 0) return false;
  if (symbol.per_thread_default_stream && !per_thread) return false;
  *known = true;
  return symbol.version <= version;
}

// The newest form not newer than `version`; a per-thread one before a plain one where such are asked for.
const ExportedSymbol* look_up(const char* name, int version, bool per_thread, bool* known) {
  const ExportedSymbol* best = nullptr;
  for (const ExportedSymbol& symbol : kExportedSymbols) {
    if (!is_found(symbol, name, version, per_thread, known)) continue;
    const bool better = best == nullptr ||
                        symbol.per_thread_default_stream > best->per_thread_default_stream ||
                        (symbol.per_thread_default_stream == best->per_thread_default_stream &&
                         symbol.version > best->version);
    if (better) best = &symbol;
  }
  return best;
}

}  // namespace

CUresult enter(unsigned symbol) noexcept {
  PlannedFailure* const failure = failure_plan().by_symbol[symbol];
  if (failure == nullptr) return CUDA_SUCCESS;
  return failure->calls.fetch_add(1) + 1 == failure->at ? failure->result : CUDA_SUCCESS;
}

CUresult refuse(const char* symbol) noexcept {
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (said->insert(symbol).second) std::fprintf(stderr, "softgpu: %s is not supported\n", symbol);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* symbolStatus) {
  constexpr cuuint64_t kFlags =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (symbol == nullptr || pfn == nullptr || (flags & ~kFlags) != 0 || flags == kFlags)
    return CUDA_ERROR_INVALID_VALUE;
  if (cudaVersion > kDriverVersion) return CUDA_ERROR_INVALID_VALUE;
  bool known = false;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const ExportedSymbol* found = look_up(symbol, cudaVersion, per_thread, &known);
  *pfn = found == nullptr ? nullptr : found->address;
  if (symbolStatus != nullptr)
    *symbolStatus = found != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                    : known          ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  SOFTGPU_TRY(api::cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, &status));
  return status == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) {
  if (ppExportTable == nullptr || pExportTableId == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *ppExportTable = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }

}  // namespace softgpu::api

namespace softgpu {

void* entry_point(const char* exported_name) {
  for (const api::ExportedSymbol& symbol : api::kExportedSymbols)
    if (std::strcmp(symbol.name, exported_name) == 0) return symbol.address;
  return nullptr;
}

}  // namespace softgpu
