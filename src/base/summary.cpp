#include "src/base/summary.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/log.hpp"

namespace tencache {
namespace {

struct Rounded {
  explicit Rounded(Bytes bytes) : writer(buffer) { print_rounded(bytes, writer); }
  [[nodiscard]] std::string_view text() const { return writer.view(); }
  std::array<char, 32> buffer{};
  TextWriter writer;
};

double milliseconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-6; }

double share_of(Nanoseconds part, Nanoseconds whole) {
  return whole.count() == 0 ? 0
                            : 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

void print_wanted(const Statistics& statistics, const SummaryFacts& facts, TextWriter& out) {
  const Rounded wanted(Bytes(statistics.live_peak)), limit(facts.hbm_limit), device(facts.hbm_device);
  out.append("tencache:   wanted at most     {} (HBM limit {}, device {})\n", wanted.text(), limit.text(),
             device.text());
}

void print_peaks(const Statistics& statistics, const SummaryFacts& facts, TextWriter& out) {
  const Rounded hbm(Bytes(statistics.hbm_peak)), host(Bytes(statistics.host_peak)), limit(facts.host_limit);
  out.append("tencache:   peak per tier      hbm {}, host {} (limit {})\n", hbm.text(), host.text(),
             limit.text());
}

void print_moves(const Statistics& statistics, TextWriter& out) {
  const Rounded in(Bytes(statistics.bytes_in)), moved_out(Bytes(statistics.bytes_out)),
      clean(Bytes(statistics.dropped_clean));
  out.append("tencache:   moved              in {}, out {}, dropped without a copy {}\n", in.text(),
             moved_out.text(), clean.text());
}

void print_waits(const Statistics& statistics, const SummaryFacts& facts, TextWriter& out) {
  const Nanoseconds stalled = Nanoseconds(statistics.stall_nanoseconds);
  out.append("tencache:   stalls             {} of {} accesses, {:.1f} ms ({:.1f} % of {:.1f} s)\n",
             statistics.stalls.load(), statistics.accesses.load(), milliseconds(stalled),
             share_of(stalled, facts.elapsed), milliseconds(facts.elapsed) * 1e-3);
  out.append("tencache:   held by run-ahead  {:.1f} ms; {} quiescent windows\n",
             milliseconds(Nanoseconds(statistics.run_ahead_nanoseconds)),
             statistics.quiescent_windows.load());
  out.append("tencache:   run from host      {} accesses\n", statistics.host_runs.load());
}

void print_next(const Statistics& statistics, TextWriter& out) {
  const char* next = "nothing had to move: the program fits; tencache is not needed for it";
  if (statistics.refusals.load() > 0)
    next = "allocations were refused: raise TENCACHE_HOST (`tencache options`), see `tencache doctor`";
  else if (statistics.evictions.load() > 0)
    next = "`tencache doctor` checks what the link and host memory can give";
  out.append("tencache:   next               {}\n", next);
}

// `pattern` with %p replaced by the process id.
PathText expanded(const PathText& pattern) {
  std::array<char, 1024> buffer;
  TextWriter out(buffer);
  std::string_view rest = pattern.view();
  for (std::size_t at = rest.find("%p"); at != std::string_view::npos; at = rest.find("%p")) {
    out.append("{}{}", rest.substr(0, at), getpid());
    rest.remove_prefix(at + 2);
  }
  out.append(rest);
  PathText path;
  return !out.truncated() && path.assign(out.view()) ? path : pattern;
}

int open_target(const ReportTarget& target) {
  if (target.kind == ReportTarget::Kind::kStandardError) return STDERR_FILENO;
  const PathText path = expanded(target.path);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file >= 0) return file;
  log::warn("cannot open {} for the summary ({}); it goes to standard error; check TENCACHE_SUMMARY",
            path.view(), strerror(errno));
  return STDERR_FILENO;
}

}  // namespace

void print_summary(const Statistics& statistics, const SummaryFacts& facts, TextWriter& out) {
  out.append("tencache: summary of process {}\n", getpid());
  print_wanted(statistics, facts, out);
  print_peaks(statistics, facts, out);
  print_moves(statistics, out);
  print_waits(statistics, facts, out);
  print_next(statistics, out);
}

void write_summary(const Statistics& statistics, const SummaryFacts& facts, const ReportTarget& target) {
  if (target.kind == ReportTarget::Kind::kNone) return;
  std::array<char, 2048> buffer;
  TextWriter out(buffer);
  print_summary(statistics, facts, out);
  const int file = open_target(target);
  std::string_view rest = out.view();
  while (!rest.empty()) {
    const ssize_t written = write(file, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file != STDERR_FILENO) close(file);
}

}  // namespace tencache
