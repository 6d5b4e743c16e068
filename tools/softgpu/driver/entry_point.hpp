// Looks up a driver entry point where softgpu is linked into the program instead of loaded as libcuda.so.1.
// Called by one-executable tests. Thread rule: any thread. Failure rule: null for a name the driver does not
// export.
#pragma once

namespace softgpu {

void* entry_point(const char* exported_name);

}  // namespace softgpu
