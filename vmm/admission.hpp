// Lets accesses in: at once when all they touch is usable, else when the engine has made it so, else from the
// host by the way out (DESIGN 6.4). Called by DeviceMemory on the program's threads. Thread rule: takes the
// memory's mutex itself; waits without any lock of ours. Failure rule: an access that can never be let in is
// refused with a Status.
#pragma once

#include <memory>
#include <span>

#include "vmm/heap.hpp"
#include "vmm/memory_state.hpp"

namespace tencache::vmm {

struct AccessAsk {
  CUstream stream = nullptr;
  std::uint64_t thread = 0;  // names the calling thread
  std::uint64_t signature = 0;
  bool opaque = false;
  bool may_run_from_host = false;         // a kernel
  bool may_use_aliases = false;           // a copy that can be issued at the blocks' own addresses
  bool host_wait = false;                 // a host function, or a wait for a value in memory
  bool enqueues = true;                   // false: the driver only judges the addresses
  std::span<const CUdeviceptr> pointers;  // each stands for its whole group
  struct Span {
    CUdeviceptr address = 0;
    Bytes size;
  };
  std::array<Span, 2> ranges{};            // copies and memsets: destination and source, exact
  bool copies = false;                     // ranges[1], where it is ours, is copied to ranges[0]
  bool unseen_bytes = false;               // what is written to ranges[0] could not be seen
  std::span<const CUdeviceptr> addresses;  // found in what is written to ranges[0]
};

class Admission {
 public:
  explicit Admission(MemoryState& state) : state_(state) {}

  // The access may be enqueued now; give the ticket to `leave` once its call has returned.
  Result<InFlight*> admit(const AccessAsk& ask);
  // Numbers it. True: a marker behind it is due; `use` says what it covers.
  bool leave(InFlight* access, Use* use);

  // Where the engine's copy of [address, ..) lies now, for an access that was let in: an address that never
  // changes while the access is in flight, and how far it reaches.
  struct Alias {
    CUdeviceptr address = 0;
    Bytes size;
  };
  [[nodiscard]] Alias alias(CUdeviceptr address);

 private:
  using Lock = std::unique_lock<std::mutex>;
  InFlight* take_record();
  void count_states(const InFlight& access) const;
  void gather_settled(Lock& lock, const AccessAsk& ask, InFlight* access);
  [[nodiscard]] bool has_suspects(const InFlight& access) const;
  [[nodiscard]] bool is_being_read(const InFlight& access) const;
  void note_addresses(const AccessAsk& ask);
  void hold_address(GroupIndex holder, CUdeviceptr address);
  void make_suspect(InFlight* access);
  void gather(const AccessAsk& ask, InFlight* access);
  void gather_group(GroupIndex group, InFlight* access);
  void gather_range(const AccessAsk::Span& span, InFlight* access);
  void gather_everything(InFlight* access);
  void gather_expected(const AccessAsk& ask, std::size_t named, InFlight* access);
  void expect_from_pointer(Group& group, CUdeviceptr pointer, InFlight* access);
  bool trim_to_hbm(InFlight* access) const;
  [[nodiscard]] bool usable(const InFlight& access) const;
  [[nodiscard]] bool usable_from_host(const InFlight& access) const;
  [[nodiscard]] bool must_queue(const InFlight& access) const;
  bool wait_for_turn(Lock& lock, InFlight* access);
  [[nodiscard]] bool may_pass(const InFlight& access) const;
  [[nodiscard]] bool way_out_is_due(const InFlight& access) const;
  void let_in(const AccessAsk& ask, InFlight* access);
  void touch(ExtentIndex index);
  void hold_back(Lock& lock, StreamIndex stream);
  [[nodiscard]] bool marker_is_due(const StreamOrder::Stream& stream) const;

  MemoryState& state_;
  std::vector<InFlight*> free_records_;
  std::uint64_t serial_ = 0;
  std::vector<std::uint64_t> seen_group_;
  std::vector<std::uint64_t> seen_extent_;
  std::vector<std::uint64_t> expected_extent_;
};

}  // namespace tencache::vmm
