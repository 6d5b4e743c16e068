// The genuine dlsym, found without dlsym: ours has its name. Called by the preload alone. Thread rule: from
// any thread. Failure rule: null when no other object defines the symbol.
#pragma once

namespace tencache::interpose {

// The definition in the first object loaded after ours that has one: libc's, or that of another preload that
// hooks the same name and stands behind us. Where a program has opened us by path, libc stands before us:
// then the first of those.
void* next_definition(const char* symbol) noexcept;

}  // namespace tencache::interpose
