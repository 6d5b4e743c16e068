// The preload's own part: the slots behind the exported names, the search for the driver, the answers where
// there is none. Called by the trampolines and among each other. Thread rule: from any thread. Failure rule:
// without a driver every exported function answers as a machine without a device does.
#pragma once

#include <cstddef>

#include "interpose/entry_points.hpp"

namespace tencache::interpose {

// Finds, opens and adopts the genuine driver, unless that has been done. False: there is none (asked anew at
// the next call, as a program may install one or change its mind about a path).
bool ensure_driver() noexcept;

// The handle of the genuine library, for look-ups of names that are not ours. Null before ensure_driver.
void* genuine_handle() noexcept;

// libc's dlsym and dlvsym, or those of the next preload that hooks them.
using DlsymFunction = void* (*)(void* handle, const char* symbol);
using DlvsymFunction = void* (*)(void* handle, const char* symbol, const char* version);
DlsymFunction genuine_dlsym() noexcept;
DlvsymFunction genuine_dlvsym() noexcept;

// Our exported function, and which one an address is; kEntryPointCount: none.
void* exported_function(std::size_t index) noexcept;
std::size_t exported_index(const void* address) noexcept;

// What answers where the machine has no driver, and for a symbol that the driver lacks.
void* answer_without_driver(std::size_t index) noexcept;
void* answer_of_missing_symbol() noexcept;

}  // namespace tencache::interpose
