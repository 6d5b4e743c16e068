// What the compiler and its static library ask of a C library newer than 2.28, in the preload itself and
// hidden.
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "interpose/loader_symbols.hpp"

#define TENCACHE_HIDDEN __attribute__((visibility("hidden")))

namespace {

constexpr long kSecond = 1'000'000'000;

timespec now_by(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now;
}

// The wall clock's time when `clock` will show `time`; rather later than earlier, as the wall clock is read
// last.
timespec on_wall_clock(clockid_t clock, const timespec& time) {
  const timespec now = now_by(clock);
  const timespec wall = now_by(CLOCK_REALTIME);
  timespec result{wall.tv_sec + time.tv_sec - now.tv_sec, wall.tv_nsec + time.tv_nsec - now.tv_nsec};
  if (result.tv_nsec < 0) {
    --result.tv_sec;
    result.tv_nsec += kSecond;
  }
  if (result.tv_nsec >= kSecond) {
    ++result.tv_sec;
    result.tv_nsec -= kSecond;
  }
  return result;
}

using ClockWait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);

std::atomic<ClockWait> genuine_clockwait{nullptr};

// Without a guard that a fork could leave behind closed.
ClockWait find_clockwait() {
  ClockWait genuine = genuine_clockwait.load(std::memory_order_relaxed);
  if (genuine != nullptr) return genuine;
  genuine = reinterpret_cast<ClockWait>(tencache::interpose::next_definition("pthread_cond_clockwait"));
  genuine_clockwait.store(genuine, std::memory_order_relaxed);
  return genuine;
}

}  // namespace

extern "C" {

// Glibc 2.32 on: whether the process has one thread alone, so that atomic operations may be spared. Never.
TENCACHE_HIDDEN char __libc_single_threaded = 0;

// Glibc 2.30 on. Callers ask their own clock when they wake; the wall clock set back makes one sleep longer.
TENCACHE_HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* time) {
  const ClockWait genuine = find_clockwait();
  if (genuine != nullptr) return genuine(condition, mutex, clock, time);
  const timespec wall = on_wall_clock(clock, *time);
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// Glibc 2.33 on; before, inline and with the structure's version. The kernel's structure is the C library's.
TENCACHE_HIDDEN int stat64(const char* path, struct stat64* result) noexcept {
  return static_cast<int>(syscall(SYS_stat, path, result));
}
TENCACHE_HIDDEN int fstat64(int file, struct stat64* result) noexcept {
  return static_cast<int>(syscall(SYS_fstat, file, result));
}

}  // extern "C"
