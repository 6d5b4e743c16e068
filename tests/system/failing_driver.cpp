// A libcuda.so.1 that shows one device and then misbehaves as FAILING_DRIVER says: hang, crash or refuse.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#define EXPORTED extern "C" [[gnu::visibility("default")]] int

EXPORTED cuInit(unsigned) { return 0; }
EXPORTED cuMemCreate() { return 801; }
EXPORTED cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
EXPORTED cuDevicePrimaryCtxRetain() {
  const char* how = getenv("FAILING_DRIVER");
  if (how == nullptr) return 2;
  if (std::strcmp(how, "hang") == 0) pause();
  if (std::strcmp(how, "crash") == 0) std::raise(SIGSEGV);
  return 2;
}
