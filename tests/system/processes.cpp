// Ways in which processes begin and end with CUDA in them. Opens the driver itself; knows nothing of
// tencache.
//   processes SCENARIO    a name from kScenarios
// Prints what the calls were answered, and ends as the scenario says.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBytes = 1 << 20;
constexpr int kBuffers = 12;  // more than HBM is to hold under tencache

void say(const char* what, long answer) {
  std::printf("%s %ld\n", what, answer);
  std::fflush(stdout);
}

struct Cuda {
  void* library = nullptr;
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&::cuCtxSetCurrent) set_current = nullptr;
  decltype(&::cuMemAlloc) allocate = nullptr;
  decltype(&::cuMemFree) free = nullptr;
  decltype(&::cuMemsetD8) fill = nullptr;
  decltype(&::cuMemcpyDtoH) read = nullptr;

  bool open() {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return false;
    const auto find = [this](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(init, "cuInit") && find(retain, "cuDevicePrimaryCtxRetain") &&
           find(set_current, "cuCtxSetCurrent") && find(allocate, "cuMemAlloc_v2") &&
           find(free, "cuMemFree_v2") && find(fill, "cuMemsetD8_v2") && find(read, "cuMemcpyDtoH_v2");
  }
  CUresult start() {
    CUcontext context = nullptr;
    CUresult result = init(0);
    if (result == CUDA_SUCCESS) result = retain(&context, 0);
    return result == CUDA_SUCCESS ? set_current(context) : result;
  }
};

Cuda cuda;
std::vector<CUdeviceptr> buffers;

// Opens, starts, and uses more memory than there is to be in HBM. Gives how many bytes are as they must be.
long work() {
  if (!cuda.open()) return -1;
  if (cuda.start() != CUDA_SUCCESS) return -2;
  buffers.assign(kBuffers, 0);
  long right = 0;
  for (CUdeviceptr& each : buffers) {
    if (cuda.allocate(&each, kBytes) != CUDA_SUCCESS) return -3;
    cuda.fill(each, static_cast<unsigned char>(&each - buffers.data() + 1), kBytes);
  }
  for (CUdeviceptr& each : buffers) {
    unsigned char byte = 0;
    cuda.read(&byte, each + 77, 1);
    right += byte == &each - buffers.data() + 1 ? 1 : 0;
  }
  return right;
}

long free_all() {
  long freed = 0;
  for (const CUdeviceptr each : buffers) freed += cuda.free(each) == CUDA_SUCCESS ? 1 : 0;
  buffers.clear();
  return freed;
}

// How the child ended.
template <class Child>
int in_child(const Child& child) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) child();
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int never() { return 3; }

int late() {
  say("work", work());
  return 0;
}

int from_a_thread() {
  std::thread([] { say("work", work()); }).join();
  say("free without a context", free_all());
  return 0;
}

int forked_before() {
  say("child", in_child([] { std::exit(work() == kBuffers ? 7 : 8); }));
  say("work", work());
  say("free", free_all());
  return 0;
}

// In the child the driver is void: it has to end, by whatever way, and the parent to go on.
int forked_after() {
  say("work", work());
  say("child", in_child([] { std::_Exit(7); }));
  say("child that exits", in_child([] { std::exit(9); }));
  say("child that becomes another program",
      in_child([] { execl("/proc/self/exe", "processes", "late", nullptr); }));
  say("work goes on", free_all());
  return 0;
}

int forked_under_load() {
  say("work", work());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  CUcontext context = nullptr;
  cuda.retain(&context, 0);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&stop, context] {
      cuda.set_current(context);
      while (!stop) {
        CUdeviceptr address = 0;
        if (cuda.allocate(&address, kBytes) != CUDA_SUCCESS) continue;
        cuda.fill(address, 1, kBytes);
        cuda.free(address);
      }
    });
  }
  int well = 0;
  for (int i = 0; i < 20; ++i) {
    const auto child = [i] {
      if (i % 3 == 0) std::_Exit(7);
      if (i % 3 == 1) std::exit(7);
      execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
    };
    well += in_child(child) == 7 ? 1 : 0;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  say("children", well);
  say("free", free_all());
  return 0;
}

// A program that becomes another, twice, with CUDA before and after.
int exec_chain() {
  say("work", work());
  std::fflush(stdout);
  char self[4096]{};
  if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) return 1;
  execl("/bin/sh", "sh", "-c", "exec \"$0\" late", self, nullptr);
  return 1;
}

int exec_self() {
  say("work", work());
  std::fflush(stdout);
  execl("/proc/self/exe", "processes", "late", nullptr);
  return 1;
}

// ---- ends

struct FreesAtTheEnd {
  bool armed = false;
  ~FreesAtTheEnd() {
    if (armed) say("freed by a destructor", free_all());
  }
};
FreesAtTheEnd at_the_end;

int destructor_frees() {
  at_the_end.armed = true;
  say("work", work());
  return 4;
}

int handlers_free() {
  std::atexit([] { say("freed by the first handler", free_all()); });
  say("work", work());
  std::atexit([] { say("handler after cuInit", cuda.free(0)); });
  return 5;
}

int exits_at_once() {
  say("work", work());
  std::_Exit(6);
}

int exits_quickly() {
  say("work", work());
  std::quick_exit(7);
}

int killed() {
  say("work", work());
  std::raise(SIGTERM);
  return 0;
}

int aborted() {
  say("work", work());
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

int exits_from_a_thread() {
  say("work", work());
  std::thread([] { std::exit(8); }).join();
  return 0;
}

// Others are in the middle of their calls when the process ends.
int exits_under_load() {
  say("work", work());
  CUcontext context = nullptr;
  cuda.retain(&context, 0);
  for (int i = 0; i < 3; ++i) {
    std::thread([context, i] {
      cuda.set_current(context);
      for (unsigned char value = 0;; ++value) cuda.fill(buffers[static_cast<std::size_t>(i)], value, kBytes);
    }).detach();
  }
  unsigned char byte = 0;
  for (int i = 0; i < 20; ++i) cuda.read(&byte, buffers[5], 1);
  std::fflush(stdout);
  return 9;
}

int closed_and_opened() {
  say("work", work());
  say("free", free_all());
  say("close", dlclose(cuda.library));
  say("work again", work());
  say("free", free_all());
  say("close", dlclose(cuda.library));
  return 0;
}

struct Scenario {
  std::string_view name;
  int (*run)();
};
constexpr Scenario kScenarios[] = {
    {"never", never},
    {"late", late},
    {"from_a_thread", from_a_thread},
    {"forked_before", forked_before},
    {"forked_after", forked_after},
    {"forked_under_load", forked_under_load},
    {"exec_chain", exec_chain},
    {"exec_self", exec_self},
    {"destructor_frees", destructor_frees},
    {"handlers_free", handlers_free},
    {"exits_at_once", exits_at_once},
    {"exits_quickly", exits_quickly},
    {"killed", killed},
    {"aborted", aborted},
    {"exits_from_a_thread", exits_from_a_thread},
    {"exits_under_load", exits_under_load},
    {"closed_and_opened", closed_and_opened},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const auto* const scenario = std::find_if(std::begin(kScenarios), std::end(kScenarios),
                                            [what](const Scenario& each) { return each.name == what; });
  return scenario == std::end(kScenarios) ? 2 : scenario->run();
}
