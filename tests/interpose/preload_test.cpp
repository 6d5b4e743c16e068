// Whole processes under LD_PRELOAD, on the stub driver: every way to the driver's functions leads through us,
// and every other look-up is as it was. Linked with -lcuda, as a program that names the driver itself.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

#include "tests/interpose/caller_library.hpp"
#include "tests/interpose/under_preload.hpp"

namespace {

using under_preload::is_ours;
using under_preload::is_stubs;

unsigned calls(const char* symbol) {
  return under_preload::of_stub<decltype(&stub_calls)>("stub_calls")(symbol);
}

// All of libcuda's own rules for what is found: the same request to us and to the stub.
struct Driver {
  decltype(&cuGetProcAddress_v2) get;
  decltype(&cuGetProcAddress) get_v1;
};

Driver ours() {
  void* const handle = under_preload::driver();
  return {under_preload::look_up<decltype(&cuGetProcAddress_v2)>(handle, "cuGetProcAddress_v2"),
          under_preload::look_up<decltype(&cuGetProcAddress)>(handle, "cuGetProcAddress")};
}

const stub::Request& last_request() {
  const unsigned count = under_preload::of_stub<decltype(&stub_request_count)>("stub_request_count")();
  return *under_preload::of_stub<decltype(&stub_request)>("stub_request")(count - 1);
}

TEST(Linked, CallsOfALinkedProgramReachTheDriverThroughUs) {
  EXPECT_TRUE(is_ours(reinterpret_cast<void*>(&cuCtxGetCurrent)));
  const unsigned before = calls("cuCtxGetCurrent");
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuCtxGetCurrent"), before + 1);
}

TEST(Linked, TheDriversAnswerComesBackAsItIs) {
  under_preload::of_stub<decltype(&stub_set_result)>("stub_set_result")("cuEventQuery", CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(nullptr), CUDA_ERROR_NOT_READY);
}

TEST(LookUp, EveryExportedNameOfTheOpenedDriverIsOurs) {
  void* const handle = under_preload::driver();
  EXPECT_TRUE(is_ours(dlsym(handle, "cuMemAlloc_v2")));
  EXPECT_TRUE(is_ours(dlsym(handle, "cuProfilerStart")));
  EXPECT_EQ(dlsym(handle, "cuNoSuchFunction"), nullptr);
  EXPECT_NE(dlerror(), nullptr);
}

TEST(LookUp, ANameThatOnlyTheDriverHasIsTheDrivers) {
  void* const handle = under_preload::driver();
  void* const found = dlsym(handle, "cuStubOnly");
  EXPECT_TRUE(is_stubs(found));
}

TEST(LookUp, TheDriverOpenedByPathGivesOursForWhatIsHandledAndItsOwnElse) {
  void* const handle = under_preload::stub_handle();
  EXPECT_TRUE(is_ours(dlsym(handle, "cuMemAlloc_v2")));
  EXPECT_TRUE(is_ours(dlsym(handle, "cuMemcpyAsync_ptsz")));
  EXPECT_TRUE(is_stubs(dlsym(handle, "cuProfilerStart")));
  EXPECT_TRUE(is_stubs(dlsym(handle, "stub_calls")));
}

TEST(LookUp, TheDriverOpenedWithoutItsVersionGivesOursForWhatIsHandled) {
  void* const handle = dlopen("libcuda.so", RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_TRUE(is_ours(dlsym(handle, "cuMemAlloc_v2")));
  EXPECT_TRUE(is_ours(dlvsym(under_preload::driver(), "cuLaunchKernel", "TENCACHE")));
  auto* const get = under_preload::look_up<decltype(&cuGetProcAddress_v2)>(handle, "cuGetProcAddress_v2");
  void* got = nullptr;
  EXPECT_EQ(get("cuLaunchKernel", &got, 13000, 0, nullptr), CUDA_SUCCESS);
  EXPECT_TRUE(is_ours(got));
}

TEST(LookUp, AClosedDriverOpensAgainAndIsOurs) {
  void* const first = under_preload::driver();
  EXPECT_EQ(dlclose(first), 0);
  void* const again = under_preload::driver();
  auto* const count = under_preload::look_up<decltype(&cuDeviceGetCount)>(again, "cuDeviceGetCount");
  EXPECT_TRUE(is_ours(reinterpret_cast<void*>(count)));
  int devices = -1;
  EXPECT_EQ(count(&devices), CUDA_SUCCESS);
  EXPECT_EQ(devices, 0);
}

TEST(LookUp, ATableThatTheDriverExportsIsNotTouched) {
  const void* table = nullptr;
  const CUuuid id{};
  const unsigned before = calls("cuGetExportTable");
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(calls("cuGetExportTable"), before + 1);
}

TEST(LookUp, OtherLibrariesNamesThatBeginAlikeStayTheirs) {
  void* const handle = dlopen(std::getenv("CALLER_LIBRARY"), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_EQ(under_preload::file_of(dlsym(handle, "cudnnFoo")), "libcaller.so");
  EXPECT_EQ(under_preload::file_of(dlsym(handle, "cuTensorNetFoo")), "libcaller.so");
}

TEST(LookUp, NextAndDefaultSeeTheirOwnCaller) {
  void* const handle = dlopen(std::getenv("CALLER_LIBRARY"), RTLD_NOW);
  auto* const next = under_preload::look_up<decltype(&caller_next)>(handle, "caller_next");
  auto* const of_default = under_preload::look_up<decltype(&caller_default)>(handle, "caller_default");
  // Of a library opened last nothing comes next that has its own symbol again; with us as the caller it
  // would.
  EXPECT_EQ(next("caller_next"), nullptr);
  EXPECT_EQ(under_preload::file_of(of_default("malloc")), "libc.so.6");
  EXPECT_TRUE(is_ours(of_default("cuMemAlloc_v2")));
  EXPECT_NE(dlsym(RTLD_NEXT, "malloc"), nullptr);
}

// A hook on dlopen would be the caller, and $ORIGIN its folder: a copy elsewhere finds nothing in ours.
TEST(LookUp, ALibraryThatOpensItsSiblingByItsOwnFolderFindsIt) {
  void* const handle = dlopen(std::getenv("ORIGIN_LIBRARY"), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  auto* const open = under_preload::look_up<void* (*)(const char*)>(handle, "origin_open");
  void* const sibling = open("liborigin_sibling.so");
  ASSERT_NE(sibling, nullptr) << dlerror();
  EXPECT_EQ(under_preload::file_of(dlsym(sibling, "cudnnFoo")), "liborigin_sibling.so");
  EXPECT_EQ(dlopen("liborigin_sibling.so", RTLD_NOW | RTLD_NOLOAD), sibling);
}

// Nothing of the driver's code is written to, nor could be.
TEST(LookUp, NoCodeIsWritable) {
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  std::ifstream maps("/proc/self/maps");
  unsigned executable = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::string access = line.substr(line.find(' ') + 1, 4);
    EXPECT_FALSE(access[1] == 'w' && access[2] == 'x') << line;
    if (access[2] == 'x') ++executable;
  }
  EXPECT_GT(executable, 2u);
}

TEST(LookUp, ALibraryThatBindsDeeplyGetsOursFromTheOpenedDriver) {
  void* const handle = dlopen(std::getenv("DEEP_LIBRARY"), RTLD_NOW | RTLD_DEEPBIND);
  ASSERT_NE(handle, nullptr) << dlerror();
  auto* const open = under_preload::look_up<decltype(&caller_open_driver)>(handle, "caller_open_driver");
  EXPECT_TRUE(is_ours(open("cuMemAlloc_v2")));
  EXPECT_TRUE(is_ours(open("cuGetProcAddress_v2")));
}

TEST(LookUp, VersionedLookUpsPassAndAreSubstituted) {
  EXPECT_NE(dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5"), nullptr);
  EXPECT_EQ(dlvsym(RTLD_DEFAULT, "malloc", "NO_SUCH_VERSION"), nullptr);
  EXPECT_TRUE(is_ours(dlvsym(under_preload::driver(), "cuMemAlloc_v2", "TENCACHE")));
}

TEST(ProcAddress, EveryNameVersionAndFlagIsSubstitutedByTheAddressTheDriverGave) {
  const Driver driver = ours();
  auto* const forms = under_preload::of_stub<decltype(&stub_forms)>("stub_forms")();
  unsigned found = 0;
  for (unsigned i = 0; i < stub::kFormCount; ++i) {
    for (const int version : {2000, 3020, 4000, 6050, 7000, 10000, 11000, 11030, 12000, 12080, 13000}) {
      for (const unsigned long long flags : {0, 1, 2}) {
        void* got = nullptr;
        CUdriverProcAddressQueryResult status{};
        const CUresult result = driver.get(forms[i].base, &got, version, flags, &status);
        const stub::Form* const answer = last_request().answer;
        ASSERT_EQ(result == CUDA_SUCCESS, answer != nullptr);
        ASSERT_EQ(status == CU_GET_PROC_ADDRESS_SUCCESS, answer != nullptr);
        if (answer == nullptr) {
          ASSERT_EQ(got, nullptr);
          continue;
        }
        ASSERT_EQ(got == answer->address, answer->passes) << answer->symbol;
        ASSERT_EQ(is_ours(got), !answer->passes) << answer->symbol;
        ++found;
      }
    }
  }
  EXPECT_GT(found, 10000u);
}

TEST(ProcAddress, OneNameGivesTheFormOfTheVersionAndFlag) {
  const Driver driver = ours();
  const auto get = [&](const char* base, int version, unsigned long long flags) {
    void* got = nullptr;
    EXPECT_EQ(driver.get(base, &got, version, flags, nullptr), CUDA_SUCCESS);
    return got;
  };
  EXPECT_NE(get("cuMemAlloc", 2000, 0), get("cuMemAlloc", 3020, 0));
  EXPECT_EQ(get("cuMemAlloc", 3020, 0), get("cuMemAlloc", 13000, 2));
  EXPECT_NE(get("cuMemcpyAsync", 12000, 0), get("cuMemcpyAsync", 12000, 2));
  EXPECT_NE(get("cuGetProcAddress", 11030, 0), get("cuGetProcAddress", 12000, 0));
}

TEST(ProcAddress, TheFirstVersionOfItIsSubstitutedToo) {
  const Driver driver = ours();
  auto* const forms = under_preload::of_stub<decltype(&stub_forms)>("stub_forms")();
  for (unsigned i = 0; i < stub::kFormCount; i += 7) {
    for (const int version : {2000, 3020, 11000, 11030, 12000, 13000}) {
      for (const unsigned long long flags : {0, 1, 2}) {
        void* got = nullptr;
        const CUresult result = driver.get_v1(forms[i].base, &got, version, flags);
        const stub::Form* const answer = last_request().answer;
        ASSERT_EQ(result == CUDA_SUCCESS, answer != nullptr);
        ASSERT_EQ(is_ours(got), answer != nullptr && !answer->passes) << forms[i].base;
      }
    }
  }
  void* got = nullptr;
  EXPECT_EQ(driver.get_v1("cuMemFree", nullptr, 11030, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.get_v1("cuNoSuchFunction", &got, 11030, 0), CUDA_ERROR_NOT_FOUND);
}

void use_own_exports() {
  CUcontext context = nullptr;
  static_cast<void>(cuCtxGetCurrent(&context));
  void* const self = under_preload::stub_handle();
  EXPECT_TRUE(is_stubs(dlsym(self, "cuInit")));
  std::thread([] {
    void* got = nullptr;
    EXPECT_EQ(ours().get("cuInit", &got, 12000, 0, nullptr), CUDA_SUCCESS);
  }).join();
}

TEST(Reentrance, ADriverThatUsesItsOwnExportsInInitGetsThrough) {
  under_preload::of_stub<decltype(&stub_set_in_init)>("stub_set_in_init")(use_own_exports);
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
}

// Runs this program again, with our own file as libcuda.so.1 in the first folder of LD_LIBRARY_PATH.
int run_behind(const std::function<void(const std::filesystem::path& trap)>& put,
               const char* tests = "Linked.*") {
  const auto folder = std::filesystem::temp_directory_path() / ("tencache_trap_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  put(folder / "libcuda.so.1");
  const pid_t child = fork();
  if (child == 0) {
    const std::string path = folder.string() + ":" + std::getenv("LD_LIBRARY_PATH");
    setenv("LD_LIBRARY_PATH", path.c_str(), 1);
    unsetenv("TENCACHE_REAL_LIBCUDA");
    const std::string filter = std::string("--gtest_filter=") + tests;
    execl("/proc/self/exe", "preload_test", filter.c_str(), "--gtest_output=", nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::filesystem::remove_all(folder);
  return WEXITSTATUS(status);
}

std::string our_file() {
  Dl_info info{};
  dladdr(dlsym(under_preload::driver(), "cuInit"), &info);
  return info.dli_fname;
}

TEST(Search, ALinkToOurselvesIsPassedOver) {
  EXPECT_EQ(run_behind([](const auto& trap) { std::filesystem::create_symlink(our_file(), trap); }), 0);
}

TEST(Search, ACopyOfOurselvesIsPassedOver) {
  EXPECT_EQ(run_behind([](const auto& trap) { std::filesystem::copy_file(our_file(), trap); }), 0);
}

TEST(Search, AFileThatIsNoLibraryIsPassedOver) {
  EXPECT_EQ(run_behind([](const auto& trap) { std::ofstream(trap) << "no library"; }), 0);
}

// As NVIDIA's compatibility packages: another driver library in a folder of its own, named first.
TEST(Search, ACompatFolderInTheLibraryPathComesFirst) {
  const auto put = [](const auto& path) { std::filesystem::copy_file(std::getenv("STUB_DRIVER"), path); };
  EXPECT_EQ(run_behind(put, "Compat.*"), 0);
}

// Whoever runs the tests may put folders without a driver before it.
std::string first_driver_in_library_path() {
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::string file;
  for (std::string folder; std::getline(folders, folder, ':');) {
    file = folder + "/libcuda.so.1";
    if (std::filesystem::exists(file)) return file;
  }
  return "no driver there";
}

TEST(Compat, TheDriverBehindUsIsOfTheFirstFolder) {
  Dl_info info{};
  ASSERT_NE(dladdr(dlsym(under_preload::driver(), "cuStubOnly"), &info), 0);
  EXPECT_EQ(info.dli_fname, first_driver_in_library_path());
}

TEST(Fork, AChildRunsAndExits) {
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr address = 0;
    static_cast<void>(cuMemAlloc_v2(&address, 4096));
    _exit(cuInit(0) == CUDA_SUCCESS ? 7 : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Threads, ManyThreadsMayMakeTheFirstCall) {
  std::array<std::thread, 8> threads;
  for (std::thread& thread : threads) {
    thread = std::thread([] {
      int version = 0;
      EXPECT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
      EXPECT_EQ(version, 13000);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
