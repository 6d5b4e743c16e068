// Stands for libtencache.so where a test asks only how it gets into a program: it says that it is loaded.
extern "C" [[gnu::visibility("default")]] int tencache_preload_stub() { return 1; }
