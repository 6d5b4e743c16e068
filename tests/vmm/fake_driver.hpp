// A driver for unit tests: the rules of virtual memory management asserted, device memory that is host
// memory, streams that do nothing until the test, or a random choice at each call, lets them. Kernels are
// lists of steps, so that a mapping can change in the middle of one. Thread rule: every call from any thread.
// Failure rule: a broken rule or a touch of a dead address is counted in `faults` with its reason.
#pragma once

#include <cuda.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "src/driver/driver.hpp"
#include "vmm/fingerprint.hpp"

namespace tencache::test {

class FakeDriver {
 public:
  struct Limits {
    std::size_t hbm = 1u << 20;
    std::size_t granularity = 4096;
    bool host_vmm = true;
    std::uint64_t seed = 0;  // 0: streams move only by run_* and synchronising calls
    std::map<CUdevice_attribute, int> attributes = {};  // those that are not 0
  };
  explicit FakeDriver(const Limits& limits);
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  // Held by every call; how many this thread is in can be asked by who counts what happens outside.
  class Lock {
   public:
    explicit Lock(std::recursive_mutex& mutex) : held_(mutex) { ++depth; }
    ~Lock() { --depth; }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    inline static thread_local unsigned depth = 0;

   private:
    const std::lock_guard<std::recursive_mutex> held_;
  };

  [[nodiscard]] const Driver& driver() const { return driver_; }

  using Step = std::function<void(FakeDriver&)>;
  // A kernel: its steps run in order, other streams' work may run between them.
  void launch(CUstream stream, std::vector<Step> steps);
  // An operation that ends only when `ready` says so: a kernel that spins, a host function that waits.
  void launch_waiting(CUstream stream, std::function<bool(FakeDriver&)> ready);
  CUstream make_stream();
  // Lets one operation's step of this stream happen; false when there is none.
  bool run_step(CUstream stream);
  void run_all(CUstream stream);
  void run_everything();
  [[nodiscard]] std::size_t queued(CUstream stream);

  // As a kernel sees memory. A dead address counts a fault and reads 0.
  std::uint32_t load(CUdeviceptr address);
  void store(CUdeviceptr address, std::uint32_t value);
  [[nodiscard]] bool mapped(CUdeviceptr address);

  [[nodiscard]] std::vector<std::string> faults();
  [[nodiscard]] std::size_t calls(const std::string& name);
  // The next call of that name fails with the code.
  void fail_next(const std::string& name, CUresult code);
  // As a fault of a kernel: this code is the answer to every call on streams and events from now on.
  void lose_context(CUresult code);
  [[nodiscard]] std::size_t hbm_created();
  // A stream that waits for the legacy stream is being captured: that one cannot even be asked.
  std::atomic<bool> capture_alive{false};
  // Streams of the driver's user that were made after this one: the engine's own.
  [[nodiscard]] std::vector<CUstream> streams();

 private:
  friend struct FakeCalls;
  struct Physical {
    std::vector<unsigned char> bytes;
    bool on_device = true;
    bool released = false;
    int mappings = 0;
  };
  struct Mapping {
    std::size_t size;
    std::shared_ptr<Physical> physical;
    bool accessible = false;
  };
  struct Operation {
    std::vector<Step> steps;
    std::size_t next = 0;
    std::function<bool(FakeDriver&)> ready;
  };
  struct Stream {
    std::deque<Operation> operations;
  };
  struct Event {
    bool recorded = false;
    bool done = true;
    std::uint64_t generation = 0;
  };

  CUresult called(const char* name);
  unsigned char* translate(CUdeviceptr address, std::size_t size);
  void fault(const std::string& why);
  // What the reading kernel is given, and what it does.
  struct Reading {
    std::uint64_t address, words, base, size, shift, map;
    vmm::Fingerprint::Seeds seeds;
    vmm::Fingerprint* result;
  };
  void read(const Reading& reading);
  void push(CUstream stream, std::vector<Step> steps);
  Stream& stream_at(CUstream stream);
  void some_progress();
  CUresult move_bytes(CUstream stream, const std::function<unsigned char*(FakeDriver&)>& to,
                      const std::function<unsigned char*(FakeDriver&)>& from, std::size_t size);

  Driver driver_;
  const Limits limits_;
  std::recursive_mutex mutex_;
  std::mt19937_64 random_;
  std::map<CUdeviceptr, std::size_t> reserved_;
  std::map<CUdeviceptr, Mapping> mappings_;
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<Physical>> handles_;
  std::map<CUstream, Stream> streams_;
  std::map<CUevent, std::shared_ptr<Event>> events_;
  std::set<void*> pinned_;
  std::map<std::string, std::size_t> calls_;
  std::map<std::string, CUresult> failures_;
  std::vector<std::string> faults_;
  std::uint64_t last_handle_ = 0x1000;
  std::size_t hbm_created_ = 0;
  CUresult lost_ = CUDA_SUCCESS;
};

}  // namespace tencache::test
