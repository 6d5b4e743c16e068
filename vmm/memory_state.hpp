// What is known of one device's memory: extents, the groups they form, accesses being let in. Shared by the
// heap, the admission and the engine; each changes it under `mutex`, none holds that across a driver call.
// Thread rule: everything here under the mutex. Failure rule: plain data.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "src/base/clock.hpp"
#include "src/base/statistics.hpp"
#include "src/base/status.hpp"
#include "src/base/units.hpp"
#include "vmm/advisor.hpp"
#include "vmm/block_pool.hpp"
#include "vmm/extent_state.hpp"
#include "vmm/fingerprint.hpp"
#include "vmm/stream_order.hpp"
#include "vmm/unit_table.hpp"

namespace tencache::vmm {

struct Settings {
  Bytes hbm_budget;
  Bytes hbm_reserve;  // stays the driver's when a lowered budget rises again
  Bytes host_budget;
  Bytes small_block;  // a power of two, the granularity or a multiple
  Bytes large_block;  // a power of two, >= small_block
  bool detached = false;
  bool fingerprints = true;
  bool kernels_run_from_host = true;  // mapped mode; not where the device ends kernels that take long
  bool report_all_tiers = false;
  enum class Census : std::uint8_t { kLearn, kAlways, kOff };
  Census census = Census::kOff;
  Nanoseconds run_ahead = 4_ms;
  Nanoseconds way_out = 5_ms;         // without progress
  Nanoseconds longest_wait = 200_ms;  // with progress, or behind a kernel that usually takes long
};

struct Extent {
  CUdeviceptr address = 0;
  Bytes size;
  GroupIndex group = kNoGroup;
  ExtentState state = ExtentState::kAbsent;
  Block* hbm = nullptr;
  Block* host = nullptr;
  bool host_current = false;  // resident, and `host` has the same bytes
  bool host_printed = false;  // `host_print` is that of the bytes of `host`
  Fingerprint host_print = {};
  std::uint8_t compares_failed = 0;       // in a row: its bytes had changed
  std::uint8_t copies_until_compare = 0;  // what changes every time is not compared every time
  bool move_in_flight = false;            // a copy of ours reads or writes one of its blocks, valid or void
  bool mapped = false;                    // something is mapped at `address`
  std::uint64_t move = 0;                 // the move that is valid now; 0: none, or void
  std::uint64_t wanted = 0;  // the engine's turn in which the access being served needed it in HBM
};

// One allocation of the program.
struct Allocation {
  Bytes asked;
  bool live = false;
  bool async = false;
  std::uint64_t buffer_id = 0;
  CUcontext context = nullptr;
  std::uint32_t pool = 0;    // whatever who asked for it calls the pool it is from
  bool synchronous = false;  // the program was promised that copies and memsets of it without a stream wait
};

// What one access shows of its kind, shared by all the memory it may have written and known when the last of
// that has been read.
struct Judgement {
  std::uint64_t signature = 0;
  bool inconclusive = false;  // it was given addresses to pass on, or not all it wrote can be read
};

// Extents that are touched together: those of one large allocation, or the one that small allocations share.
// It is the unit of may-touch.
struct Group {
  bool exists = false;
  bool freed = false;  // nobody's; kept with its address (and blocks) for the next ask of its size
  std::uint32_t freed_at_look = 0;  // MemoryState::idle_look when it was freed
  bool frozen = false;              // stays in HBM, where it is, until it is freed
  CUdeviceptr address = 0;
  Bytes size;       // of all extents
  Bytes slot_size;  // size for a large allocation
  std::uint64_t creation_order = 0;
  std::uint32_t live_slots = 0;
  std::vector<ExtentIndex> extents;
  std::vector<Allocation> slots;
  Uses uses;
  std::uint32_t in_flight = 0;  // accesses that were let in and have no number yet
  // Addresses in it that accesses have named, sorted; kept where it is large.
  std::vector<CUdeviceptr> landmarks;
  std::vector<GroupIndex> holds;  // groups, itself included, whose addresses its memory keeps
  // It has bytes of who had its address before; addresses among them are nobody's doing.
  bool has_old_bytes = false;
  std::uint64_t read_when = 0;   // the latest creation_order when a census last read it
  bool suspect = false;          // it may keep addresses that are not known: it waits for a census
  bool census_awaited = false;   // an access waits for it
  bool in_census = false;        // a kernel of ours reads its blocks
  bool census_is_whole = false;  // it reads all of its bytes: what it finds is all there is
  std::vector<std::shared_ptr<Judgement>> writers;  // what made it suspect; a census begun before looks again
  std::vector<std::shared_ptr<Judgement>> judged;   // those of them whose bytes the census reads

  void await_census(const std::shared_ptr<Judgement>& writer) {
    suspect = true;
    writers.push_back(writer);
  }
  // Nobody will read what they wrote.
  void forget_writers() {
    suspect = false;
    for (const std::shared_ptr<Judgement>& writer : writers) writer->inconclusive = true;
    writers.clear();
  }
};

// An access from the moment it asks to be let in until its launch has returned. Pooled.
struct InFlight {
  bool active = false;  // let in, and not numbered
  std::uint64_t signature = 0;
  bool may_write_addresses = false;  // a kernel, or a copy whose bytes were not seen
  StreamIndex stream = 0;
  bool opaque = false;
  bool coarse = false;                  // opaque, or a great part of all memory by one address
  bool host_wait = false;               // a host function, or a wait for a value in memory
  bool enqueues = true;                 // false: nothing of it is ever enqueued or numbered
  bool from_host = false;               // let in with extents on the host
  bool runs_partly_from_host = false;   // HBM cannot take at once all that it is expected to touch
  bool splittable = false;              // a copy that can be issued in parts
  bool has_way_out = false;             // may be let in with extents still on the host (mapped mode)
  std::vector<GroupIndex> groups;       // may-touch
  std::vector<ExtentIndex> may_touch;   // must be mapped and must not change
  std::vector<ExtentIndex> will_touch;  // wanted in HBM; without a way out they must be
  Status refusal;
  Nanoseconds asked_at;
  Nanoseconds waiting_since;
  Nanoseconds blocked_since;  // room has depended on GPU work since then; 0: it does not
};

// Which functions and copies have been seen to write addresses into memory.
class Learned {
 public:
  // A function is trusted when nothing it touched held any address afterwards, so many times. It is so only
  // where nothing it is given holds addresses.
  [[nodiscard]] bool trusted(std::uint64_t signature) const {
    const auto known = runs_.find(signature);
    return known != runs_.end() && known->second >= kCleanRuns;
  }
  void found_clean(std::uint64_t signature) {
    int& runs = runs_[signature];
    if (runs >= 0) ++runs;
  }
  void found_writer(std::uint64_t signature) { runs_[signature] = -1; }

 private:
  static constexpr int kCleanRuns = 4;
  std::unordered_map<std::uint64_t, int> runs_;  // -1: it writes addresses
};

struct MemoryState {
  static constexpr std::size_t kMostReady = 1 << 20;

  MemoryState(const Settings& given, const Clock& its_clock, Statistics& its_statistics, Advisor& its_advisor,
              CUdeviceptr base, Bytes size)
      : settings(given),
        clock(its_clock),
        statistics(its_statistics),
        advisor(its_advisor),
        units(base, size, given.small_block),
        ready(kMostReady) {}

  Settings settings;  // constant once the memory is open
  const Clock& clock;
  Statistics& statistics;
  Advisor& advisor;
  std::mutex mutex;
  std::condition_variable settled;  // an extent changed its state, or an access ended
  std::condition_variable work;     // the engine has something to do
  bool work_pending = false;
  UnitTable units;
  std::pmr::unsynchronized_pool_resource judgement_memory;  // they come and go with accesses: used again
  std::deque<Extent> extents;
  std::vector<ExtentIndex> unused_extents;
  std::deque<Group> groups;
  std::vector<std::atomic<bool>> ready;  // by group; more groups than it has go the long way
  std::vector<GroupIndex> unused_groups;
  StreamOrder order;
  Uses opaque_uses;
  std::uint32_t opaque_in_flight = 0;
  std::vector<std::unique_ptr<InFlight>> records;  // of accesses, in flight or free
  std::deque<InFlight*> waiting;  // accesses that wait, in the order they came; the engine serves the first
  const InFlight* window_of = nullptr;  // the first of them, while a quiescent window is open for it
  std::vector<GroupIndex> given_up;  // freed groups whose extents lose their blocks as soon as they are idle
  std::vector<CUevent> free_events;
  std::uint32_t markers_held = 0;  // a stream is about to enter a capture: none is marked or asked
  bool marking = false;            // the engine holds a stream's handle: the stream may not be destroyed
  Learned learned;
  std::vector<GroupIndex> held_by_all;  // their addresses lie in memory that is not ours
  struct Described {
    std::uint64_t hold;  // 0: until it is freed
    GroupIndex group;
  };
  std::vector<Described> described;  // what descriptors name
  std::uint64_t last_hold = 0;
  bool short_of_memory = false;           // something has had to leave: markers are recorded behind accesses
  std::uint32_t held = 0;                 // accesses held by the run-ahead limit
  Nanoseconds last_progress;              // when work of the program was last seen to end
  Bytes lower_hbm_budget_to;              // asked of the engine, whose pool it is; 0: nothing
  Bytes withheld;                         // of what may be allocated, since the budget was lowered
  Bytes frozen;                           // of all groups that are
  std::uint32_t idle_look = 0;            // how often the engine has looked for what is idle
  bool give_idle_back = false;            // asked of the engine
  bool passive = false;                   // nothing is moved any more, nobody waits: the driver judges
  std::atomic<bool> context_lost{false};  // a sticky error of the context; it answers every call from now on

  std::atomic<std::uint64_t> stream_generation{0};  // a stream's handle may mean another one since

  std::shared_ptr<Judgement> new_judgement(const Judgement& judgement) {
    return std::allocate_shared<Judgement>(std::pmr::polymorphic_allocator<Judgement>(&judgement_memory),
                                           judgement);
  }

  // For the fast path, without the mutex: everything of the group is in HBM. Nobody's memory is no obstacle.
  [[nodiscard]] bool ready_at(CUdeviceptr pointer) const {
    const GroupIndex group = units.group_at(pointer);
    return group == kNoGroup || (group < ready.size() && ready[group].load(std::memory_order_relaxed));
  }
  void refresh_ready(GroupIndex index) {
    if (index >= ready.size()) return;
    const Group& group = groups[index];
    const bool all = group.exists && !group.freed &&
                     std::all_of(group.extents.begin(), group.extents.end(), [this](ExtentIndex extent) {
                       return extents[extent].state == ExtentState::kResident;
                     });
    ready[index].store(all, std::memory_order_relaxed);
  }

  // Once memory is short a little of HBM is kept free, so that what comes in need not wait for what goes out
  // and both links are busy.
  [[nodiscard]] Bytes spare() const { return std::min(settings.large_block * 2, settings.hbm_budget / 8); }

  // May-touch says little of an allocation that takes much of HBM.
  [[nodiscard]] bool coarse(const Group& group) const { return group.size > settings.hbm_budget / 2; }

  // After a sticky error the driver has the answer to everything: nobody waits.
  void lose_context() {
    context_lost = true;
    passive = true;
    settled.notify_all();
  }
  void wake_engine() {
    work_pending = true;
    work.notify_one();
  }
  // Nothing that may touch the group is enqueued, running, or about to be enqueued.
  bool idle(Group& group) {
    return group.in_flight == 0 && !group.in_census && opaque_in_flight == 0 && order.all_done(group.uses) &&
           order.all_done(opaque_uses);
  }
  // Nothing of the program is enqueued, running, or about to be enqueued. Not while the fast path is open.
  [[nodiscard]] bool quiescent() const {
    return short_of_memory && order.all_ended() &&
           std::none_of(records.begin(), records.end(), [](const auto& record) { return record->active; });
  }
  // Whether who has waited for GPU work since then is to go another way (DESIGN 6.4): nothing has ended for
  // as long as the limit, or as twice what work has been seen to take; or what is ahead may wait for us.
  bool way_out_is_due(Nanoseconds since) const {
    if (since == Nanoseconds()) return false;
    if (order.host_wait_ahead()) return true;
    const Nanoseconds now = clock.now();
    const Nanoseconds usual = std::min(order.longest_seen() * 2, settings.longest_wait);
    const Nanoseconds limit = std::max(settings.way_out, usual);
    return now - std::max(since, last_progress) >= limit || now - since >= settings.longest_wait;
  }
  void apply(Extent& extent, ExtentEvent event) { extent.state = advance(extent.state, event); }
};

}  // namespace tencache::vmm
