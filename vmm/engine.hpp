// Moves extents between HBM and the host (DESIGN 6.1). It alone makes blocks, copies and changes mappings; it
// works in turns: retire finished copies, change mappings in one batch, serve the access that waits first.
// Called by its thread in DeviceMemory, or turn by turn by tests. Thread rule: one thread; takes the memory's
// mutex for decisions and leaves it for every driver call. Failure rule: bytes stay where they were; an
// access that can never be served is refused, with the reason.
#pragma once

#include <vector>

#include "vmm/background.hpp"
#include "vmm/census.hpp"
#include "vmm/copier.hpp"
#include "vmm/fast_path.hpp"
#include "vmm/heap.hpp"
#include "vmm/mapper.hpp"

namespace tencache::vmm {

class Engine {
 public:
  static constexpr Nanoseconds kLooksForIdleEvery = 5000_ms;
  // Who reads memory with kernels of ours; the kernel is theirs and closed with them.
  struct Readers {
    std::optional<ReadingKernel> kernel;
    std::optional<Census> census;
    std::optional<Fingerprints> prints;
  };
  Engine(MemoryState& state, Heap& heap, const Driver& driver, Copier copier, Mapper mapper, BlockPool& hbm,
         BlockPool& host, const Readers& readers, FastPath& fast_path);
  // True when something moved on: another turn may find more to do at once.
  bool turn();
  // Copies of ours, or work that an access waits for, are under way: look again soon.
  [[nodiscard]] bool has_to_poll() const { return polling_; }
  // Gives everything back. No turn after this.
  enum class Context : std::uint8_t { kAlive, kGone };
  void close(Context context);
  // No turn after these either: ends the advisor's work; in a forked child its thread is not ours.
  void stop_background() { background_.stop(); }
  void forget_background() { background_.forget(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class MoveKind : std::uint8_t { kOut, kClean, kIn, kBackHbm, kBackHost };
  struct Move {
    ExtentIndex extent;
    std::uint64_t id;
    MoveKind kind;
    bool compares = false;  // kOut, kClean: whether the host has the same bytes; nothing is copied
    Copier::Taken print = std::nullopt;
    CUevent event = nullptr;
    Nanoseconds started{};
    bool beside = false;  // a copy the other way was under way when it was enqueued
    Copier::Progress progress = Copier::Progress::kRunning;
  };
  struct Change {
    ExtentIndex extent;
    MappingChange mapping;
  };

  // Order of the program's work.
  bool poll_streams();
  void note(CUresult code);
  void lose_context();
  bool mark_streams();
  bool mark(StreamIndex index);

  // Addresses in memory (engine_census.cpp).
  bool begin_shortage();
  void consider_plenty();
  [[nodiscard]] bool all_is_in_hbm() const;
  bool look_for_addresses();
  bool retire_census();
  bool start_census();
  void take_findings(std::uint32_t row, GroupIndex index);
  void judge_writers(Group& group, bool found_new);
  [[nodiscard]] bool lies_on_host(const Group& group) const;
  [[nodiscard]] std::size_t extents_with_bytes(const Group& group) const;
  std::vector<Census::Piece> pieces_of(const Group& group, std::uint32_t row) const;

  void close_readers();

  // Copies that ended.
  bool retire_moves();
  void retire(const Move& move, bool ok);
  void measure(bool in);
  [[nodiscard]] bool other_way_is_busy(MoveKind kind) const;
  void retire_out(Extent& extent, const Move& move, const Fingerprint& print, bool ok);
  void settle_copied(Extent& extent, const Move& move);
  void retire_in(Extent& extent, ExtentIndex index, bool valid, bool ok);
  void retire_back(Extent& extent, ExtentIndex index, bool ok);

  // Fingerprints (engine_fingerprints.cpp).
  [[nodiscard]] bool worth_comparing(const Extent& extent) const;
  [[nodiscard]] bool worth_printing(const Extent& extent);
  bool start_compare(Lock& lock, ExtentIndex index, MoveKind kind);
  void retire_compare(Extent& extent, const Move& move, const Fingerprint& print, bool ok);

  // Mappings.
  void plan_change(ExtentIndex index, const Block* block);
  bool change_mappings();
  void settle(const Change& change);
  void settle_out(Extent& extent, bool ok);
  void settle_in(Extent& extent, bool ok);
  void settle_back(Extent& extent, bool ok);
  void settle_release(Extent& extent);

  // Serving (engine_serve.cpp).
  bool serve();
  bool serve_access(Lock& lock, InFlight& access);
  void open_window(InFlight& first);
  bool serve_window(Lock& lock);
  [[nodiscard]] bool is_waiting(const InFlight* access) const;
  bool open_way_out(Lock& lock);
  void want(InFlight& access);
  [[nodiscard]] Bytes bytes_wanted(const InFlight& access) const;
  [[nodiscard]] Bytes bytes_missing(const InFlight& access) const;
  bool start_missing(Lock& lock, InFlight& access);
  bool start_in(Lock& lock, ExtentIndex index);
  bool start_back(Lock& lock, ExtentIndex index, bool on_host);
  bool back_may_touch(Lock& lock, InFlight& access);
  bool make_room(Lock& lock, Bytes wanted);
  bool release_freed_group();

  // What nobody uses (engine_idle.cpp).
  bool give_back_idle(Lock& lock);
  void raise_hbm_budget(Lock& lock);
  [[nodiscard]] Bytes room_beside_budget() const;
  bool release_freed(bool all);

  bool release(ExtentIndex index);
  bool release_given_up();
  bool give_up(ExtentIndex index);
  bool put_out(Lock& lock, ExtentIndex index);
  bool start_out(Lock& lock, ExtentIndex index, MoveKind kind);
  Block* take_host(Lock& lock, Bytes size);
  bool strip_host_copy(Bytes size);
  [[nodiscard]] Bytes leaving() const;
  [[nodiscard]] MemoryView view();
  std::optional<ExtentIndex> choose_victim();
  [[nodiscard]] bool qualifies(const Extent& extent) const;
  void judge_blocked(InFlight& access);
  [[nodiscard]] ExtentView view_of(ExtentIndex index) const;
  [[nodiscard]] const Block* host_mapping(const Extent& extent) const;
  std::uint64_t begin_move(Extent& extent);
  void enqueue(Move move, const Result<CUevent>& event);

  // Ahead of need (engine_ahead.cpp).
  bool move_ahead(Lock& lock);
  [[nodiscard]] std::ptrdiff_t moves_under_way(MoveKind kind) const;
  bool fetch_ahead(Lock& lock);
  bool clean_ahead(Lock& lock);
  [[nodiscard]] Bytes free_for_advisor();
  [[nodiscard]] Bytes freed_in_hbm();
  void let_advisor_work();
  [[nodiscard]] bool nobody_lacks_room() const;

  MemoryState& state_;
  Heap& heap_;
  const Driver& driver_;
  Copier copier_;
  Mapper mapper_;
  BlockPool& hbm_;
  BlockPool& host_;
  std::optional<ReadingKernel> reading_kernel_;
  std::optional<Census> census_;
  std::optional<Fingerprints> prints_;
  FastPath& fast_path_;
  std::vector<GroupIndex> in_census_;
  std::vector<Move> moves_;
  std::vector<Change> changes_;
  double unchanged_share_ = 0.25;  // of the latest comparisons; at first as if they paid
  unsigned not_printed_ = 0;
  Background background_;
  std::uint64_t last_move_ = 0;
  std::uint64_t turn_ = 0;
  bool polling_ = false;
  Nanoseconds looked_for_idle_;
  bool giving_back_ = false;
  std::uint64_t taken_before_ = 0;  // blocks, at the last look for what is idle
  Bytes room_before_;               // beside a lowered budget, at that look
  Nanoseconds last_in_, last_out_;  // when a copy each way was last seen to end
  Nanoseconds looked_for_plenty_;
  Nanoseconds plenty_since_;      // all that lives is in HBM; 0: it is not
  CUresult lost_ = CUDA_SUCCESS;  // the sticky error that the driver has answered
};

}  // namespace tencache::vmm
