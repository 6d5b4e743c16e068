// What stands in for names that glibc 2.28 lacks, without the newer C library's own to fall back on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>

#include "interpose/loader_symbols.hpp"

namespace tencache::interpose {

namespace {
std::string asked;
}

void* next_definition(const char* symbol) noexcept {
  asked = symbol;
  return nullptr;
}

namespace {

timespec after(clockid_t clock, long nanoseconds) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_nsec += nanoseconds;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

bool has_come(clockid_t clock, const timespec& time) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec);
}

struct Waiting {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

  int until(clockid_t clock, const timespec& time) {
    pthread_mutex_lock(&mutex);
    int result = 0;
    while (result == 0) result = pthread_cond_clockwait(&condition, &mutex, clock, &time);
    pthread_mutex_unlock(&mutex);
    return result;
  }
};

TEST(OlderGlibc, AWaitByEitherClockEndsWhenItsTimeHasComeAndNotBefore) {
  for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
    for (const long nanoseconds : {0L, 1L, 3'000'000L, 999'999'999L / 50}) {
      const timespec time = after(clock, nanoseconds);
      EXPECT_EQ(Waiting().until(clock, time), ETIMEDOUT);
      EXPECT_TRUE(has_come(clock, time));
    }
  }
  EXPECT_EQ(asked, "pthread_cond_clockwait");
}

TEST(OlderGlibc, AWaitForATimeLongPastEndsAtOnce) {
  EXPECT_EQ(Waiting().until(CLOCK_MONOTONIC, timespec{0, 0}), ETIMEDOUT);
  EXPECT_EQ(Waiting().until(CLOCK_MONOTONIC, timespec{-1'000'000'000, 1}), ETIMEDOUT);
}

TEST(OlderGlibc, AWaitForEverIsWoken) {
  std::mutex mutex;
  std::condition_variable condition;
  bool set = false;
  std::thread setter([&] {
    const std::lock_guard lock(mutex);
    set = true;
    condition.notify_all();
  });
  std::unique_lock lock(mutex);
  const auto for_ever = std::chrono::steady_clock::now() + std::chrono::hours(24 * 365 * 100);
  EXPECT_TRUE(condition.wait_until(lock, for_ever, [&] { return set; }));
  lock.unlock();
  setter.join();
}

TEST(OlderGlibc, AFilesStatusIsTheCLibrarys) {
  const std::string path = "/proc/self/exe";
  struct stat expected {};
  struct stat64 by_name {};
  struct stat64 by_file {};
  ASSERT_EQ(fstatat(AT_FDCWD, path.c_str(), &expected, 0), 0);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(stat64(path.c_str(), &by_name), 0);
  ASSERT_EQ(fstat64(file, &by_file), 0);
  close(file);
  for (const struct stat64& found : {by_name, by_file}) {
    EXPECT_EQ(found.st_dev, expected.st_dev);
    EXPECT_EQ(found.st_ino, expected.st_ino);
    EXPECT_EQ(found.st_size, expected.st_size);
    EXPECT_EQ(found.st_mode, expected.st_mode);
    EXPECT_EQ(found.st_mtim.tv_nsec, expected.st_mtim.tv_nsec);
  }
}

TEST(OlderGlibc, AFileThatIsNotThereIsSaidSo) {
  struct stat64 status {};
  errno = 0;
  EXPECT_EQ(stat64("/no/such/file", &status), -1);
  EXPECT_EQ(errno, ENOENT);
  errno = 0;
  EXPECT_EQ(fstat64(-1, &status), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace

}  // namespace tencache::interpose
