#include "tests/policy/check_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace tencache::tests {
namespace {

constexpr double kClock = 2e-9;  // what printing and adding may lose

enum class Where { kAbsent, kComing, kClean, kDirty };

// A tensor's bytes: for each piece where it begins and where it is.
class Bytes {
 public:
  explicit Bytes(std::int64_t size) : size_(size) { pieces_[0] = Where::kAbsent; }
  void set(std::int64_t first, std::int64_t bytes, Where where) {
    split(first);
    split(first + bytes);
    auto piece = pieces_.lower_bound(first);
    for (; piece != pieces_.end() && piece->first < first + bytes; ++piece) piece->second = where;
  }
  bool all(std::int64_t first, std::int64_t bytes, const std::set<Where>& allowed) {
    split(first);
    split(first + bytes);
    for (auto piece = pieces_.lower_bound(first); piece != pieces_.end() && piece->first < first + bytes;
         ++piece) {
      if (!allowed.contains(piece->second)) return false;
    }
    return first >= 0 && bytes > 0 && first + bytes <= size_;
  }
  bool all(const std::set<Where>& allowed) { return all(0, size_, allowed); }
  void set(Where where) { set(0, size_, where); }

 private:
  void split(std::int64_t at) {
    if (at <= 0 || at >= size_) return;
    auto after = pieces_.upper_bound(at);
    pieces_.emplace(at, std::prev(after)->second);
  }
  std::int64_t size_;
  std::map<std::int64_t, Where> pieces_;
};

struct Line {
  std::string verb;
  std::uint32_t index = 0;
  std::int64_t first = 0, bytes = 0;
  double start = 0, end = 0;
  std::string state;
};

struct Event {
  double time;
  int order;  // at equal times ends come before drops, drops before starts
  const Line* line;
  bool begins;
  bool operator<(const Event& other) const {
    return time != other.time ? time < other.time : order < other.order;
  }
};

class Checker {
 public:
  Checker(const policy::Trace& trace, const CheckedMachine& machine) : trace_(trace), machine_(machine) {
    for (const auto& tensor : trace.tensors)
      bytes_.emplace_back(static_cast<std::int64_t>(tensor.size.count()));
    find_lives();
  }

  std::string check(std::string_view text) {
    if (!parse(text)) return wrong_;
    check_links("fetch", machine_.rate_in);
    check_links("write", machine_.rate_out);
    check_runs();
    for (const Event& event : events()) {
      if (wrong_.empty()) replay(event);
    }
    return wrong_;
  }

 private:
  void fail(const std::string& what, const Line& line) {
    if (wrong_.empty())
      wrong_ =
          what + ": " + line.verb + ' ' + std::to_string(line.index) + " at " + std::to_string(line.start);
  }

  void find_lives() {
    first_.assign(bytes_.size(), -1);
    last_.assign(bytes_.size(), -1);
    for (std::size_t k = 0; k < trace_.kernels.size(); ++k) {
      for (const auto* list : {&trace_.kernels[k].reads, &trace_.kernels[k].writes}) {
        for (const std::uint32_t tensor : *list) {
          if (first_[tensor] < 0) first_[tensor] = static_cast<int>(k);
          last_[tensor] = static_cast<int>(k);
        }
      }
    }
  }

  bool parse(std::string_view text) {
    std::istringstream stream{std::string(text)};
    std::string row;
    while (std::getline(stream, row)) {
      std::istringstream words(row);
      Line line;
      words >> line.verb;
      if (line.verb == "step") {
        words >> step_;
        continue;
      }
      words >> line.index;
      if (line.verb != "run") words >> line.first >> line.bytes;
      if (line.verb == "resident") words >> line.state;
      if (line.verb != "resident") words >> line.start;
      if (line.verb != "drop" && line.verb != "resident") words >> line.end;
      if (!words) wrong_ = "unreadable: " + row;
      lines_.push_back(line);
    }
    if (step_ <= 0) wrong_ = "no step line";
    return wrong_.empty();
  }

  // One copy at a time in each direction, none faster than the link.
  void check_links(const std::string& verb, double rate) {
    double free_at = 0;
    for (const Line& line : lines_) {
      if (line.verb != verb) continue;
      if (line.start < free_at - kClock) fail("link busy", line);
      if (line.end > step_ + kClock) fail("beyond the step", line);
      if (line.end - line.start < static_cast<double>(line.bytes) / rate - kClock) fail("too fast", line);
      free_at = line.end;
    }
  }

  void check_runs() {
    std::size_t next = 0;
    double free_at = 0;
    for (const Line& line : lines_) {
      if (line.verb != "run") continue;
      if (line.index != next || next >= trace_.kernels.size()) return fail("kernel out of order", line);
      const double duration = static_cast<double>(trace_.kernels[next].duration.count()) * 1e-9;
      if (line.start < free_at - kClock) fail("GPU busy", line);
      if (std::abs(line.end - line.start - duration) > kClock) fail("wrong duration", line);
      free_at = line.end;
      ++next;
    }
    if (next != trace_.kernels.size()) wrong_ = "kernels are missing";
    if (wrong_.empty() && std::abs(free_at - step_) > kClock)
      wrong_ = "the step is not its last kernel's end";
  }

  std::vector<Event> events() {
    std::vector<Event> events;
    for (const Line& line : lines_) {
      if (line.verb == "resident") events.push_back({-1, 0, &line, true});
      if (line.verb == "drop") events.push_back({line.start, 2, &line, true});
      if (line.verb == "fetch" || line.verb == "write") {
        events.push_back({line.start, 3, &line, true});
        events.push_back({line.end, 1, &line, false});
      }
      if (line.verb == "run") {
        events.push_back({line.start, 4, &line, true});
        events.push_back({line.end, 0, &line, false});
      }
    }
    std::stable_sort(events.begin(), events.end());
    return events;
  }

  void take(std::int64_t bytes, const Line& line) {
    used_ += bytes;
    if (used_ > machine_.hbm) fail("over capacity", line);
  }

  void replay(const Event& event) {
    const Line& line = *event.line;
    if (line.verb == "run") return event.begins ? begin_run(line) : end_run(line);
    Bytes& bytes = bytes_[line.index];
    if (line.verb == "resident") {
      if (!bytes.all(line.first, line.bytes, {Where::kAbsent})) fail("twice resident", line);
      bytes.set(line.first, line.bytes, line.state == "clean" ? Where::kClean : Where::kDirty);
      take(line.bytes, line);
    } else if (line.verb == "drop") {
      if (!bytes.all(line.first, line.bytes, {Where::kClean})) fail("drop of bytes not clean", line);
      bytes.set(line.first, line.bytes, Where::kAbsent);
      used_ -= line.bytes;
      if (running_.contains(line.index)) fail("drop under a running kernel", line);
    } else if (line.verb == "fetch") {
      const Where from = event.begins ? Where::kAbsent : Where::kComing;
      if (!bytes.all(line.first, line.bytes, {from})) fail("fetch of bytes not absent", line);
      bytes.set(line.first, line.bytes, event.begins ? Where::kComing : Where::kClean);
      if (event.begins) take(line.bytes, line);
    } else {
      replay_write(event, bytes);
    }
  }

  void replay_write(const Event& event, Bytes& bytes) {
    const Line& line = *event.line;
    if (!bytes.all(line.first, line.bytes, {Where::kDirty, Where::kClean}))
      fail("write of absent bytes", line);
    if (written_.contains(line.index)) fail("copied out while being written", line);
    if (!event.begins) bytes.set(line.first, line.bytes, Where::kClean);
  }

  void begin_run(const Line& line) {
    const policy::TraceKernel& kernel = trace_.kernels[line.index];
    running_ = {kernel.reads.begin(), kernel.reads.end()};
    running_.insert(kernel.writes.begin(), kernel.writes.end());
    written_ = {kernel.writes.begin(), kernel.writes.end()};
    for (const std::uint32_t tensor : running_) {
      const auto size = static_cast<std::int64_t>(trace_.tensors[tensor].size.count());
      const bool birth = !trace_.tensors[tensor].persistent && first_[tensor] == static_cast<int>(line.index);
      if (size == 0) continue;
      if (birth) take(size, line);
      if (birth) bytes_[tensor].set(written_.contains(tensor) ? Where::kDirty : Where::kClean);
      if (!bytes_[tensor].all({Where::kClean, Where::kDirty})) fail("a kernel's bytes are absent", line);
    }
  }

  void end_run(const Line& line) {
    for (const std::uint32_t tensor : running_) {
      const auto size = static_cast<std::int64_t>(trace_.tensors[tensor].size.count());
      if (size == 0) continue;
      if (written_.contains(tensor)) bytes_[tensor].set(Where::kDirty);
      if (trace_.tensors[tensor].persistent || last_[tensor] != static_cast<int>(line.index)) continue;
      bytes_[tensor].set(Where::kAbsent);
      used_ -= size;
    }
    running_.clear();
    written_.clear();
  }

  const policy::Trace& trace_;
  CheckedMachine machine_;
  std::vector<Bytes> bytes_;
  std::vector<int> first_, last_;
  std::vector<Line> lines_;
  std::set<std::uint32_t> running_, written_;
  std::int64_t used_ = 0;
  double step_ = 0;
  std::string wrong_;
};

}  // namespace

std::string check_schedule(const policy::Trace& trace, std::string_view schedule,
                           const CheckedMachine& machine) {
  return Checker(trace, machine).check(schedule);
}

}  // namespace tencache::tests
