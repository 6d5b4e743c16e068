#include "policy/trace.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

namespace tencache::policy {
namespace {

// The words of one line, taken from the front.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const std::size_t begin = rest_.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return rest_ = {};
    const std::size_t end = rest_.find_first_of(" \t\r", begin);
    const std::string_view word = rest_.substr(begin, end == std::string_view::npos ? end : end - begin);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end);
    return word;
  }

 private:
  std::string_view rest_;
};

std::optional<std::uint64_t> number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || word.empty()) return std::nullopt;
  return value;
}

// Seconds with up to nine decimals, exactly.
std::optional<Nanoseconds> seconds(std::string_view word) {
  const std::size_t point = word.find('.');
  const auto whole = number(word.substr(0, point));
  std::string decimals(point == std::string_view::npos ? "" : word.substr(point + 1));
  if (!whole || decimals.size() > 9 || *whole > 1'000'000'000) return std::nullopt;
  decimals.resize(9, '0');
  const auto fraction = number(decimals);
  if (!fraction) return std::nullopt;
  return Nanoseconds(*whole * 1'000'000'000 + *fraction);
}

class Parser {
 public:
  Result<Trace> parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = text.find('\n');
      if (const char* wrong = line(text.substr(0, end))) return failure(wrong);
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    if (trace_.kernels.empty()) return failure("a trace needs a kernel");
    return std::move(trace_);
  }

 private:
  Status failure(const char* wrong) const { return {StatusCode::kInvalidArgument, wrong, line_}; }

  const char* line(std::string_view text) {
    Words words(text);
    const std::string_view keyword = words.next();
    if (keyword.empty()) return nullptr;
    if (keyword[0] == '#') return comment(text);
    if (keyword == "tensor") return tensor(words);
    if (keyword == "kernel") return kernel(words);
    return "a line begins with tensor, kernel or #";
  }

  // The first comment, up to a colon, names the trace.
  const char* comment(std::string_view text) {
    if (line_ != 1) return nullptr;
    std::string_view name = text.substr(text.find('#') + 1);
    name = name.substr(0, name.find(':'));
    trace_.name = std::string(Words(name).next());
    return nullptr;
  }

  const char* tensor(Words& words) {
    const auto index = number(words.next());
    const auto size = number(words.next());
    const std::string_view life = words.next();
    if (!index || *index != trace_.tensors.size()) return "tensors are numbered from 0, in order";
    if (!size) return "a tensor's size is a number of bytes";
    if (life != "persistent" && life != "transient") return "a tensor is persistent or transient";
    trace_.tensors.push_back({Bytes(*size), life == "persistent"});
    return nullptr;
  }

  const char* kernel(Words& words) {
    TraceKernel kernel;
    kernel.name = std::string(words.next());
    const auto duration = seconds(words.next());
    if (kernel.name.empty() || !duration) return "a kernel has a name and its seconds";
    kernel.duration = *duration;
    std::vector<TensorIndex>* list = nullptr;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      if (word == "reads" || word == "writes") {
        list = word == "reads" ? &kernel.reads : &kernel.writes;
      } else if (word == "enqueued" || word == "stream") {
        if (!attribute(word, words.next(), kernel)) return "an attribute has a number";
        list = nullptr;
      } else if (const char* wrong = operand(word, list)) {
        return wrong;
      }
    }
    trace_.kernels.push_back(std::move(kernel));
    return nullptr;
  }

  static bool attribute(std::string_view name, std::string_view value, TraceKernel& kernel) {
    if (name == "stream") {
      const auto stream = number(value);
      if (stream) kernel.stream = static_cast<std::uint32_t>(*stream);
      return stream.has_value();
    }
    const auto time = seconds(value);
    if (time) kernel.enqueued_at = *time;
    return time.has_value();
  }

  const char* operand(std::string_view word, std::vector<TensorIndex>* list) const {
    const auto index = number(word);
    if (list == nullptr || !index) return "after its seconds a kernel has lists: reads, writes";
    if (*index >= trace_.tensors.size()) return "no such tensor";
    list->push_back(static_cast<TensorIndex>(*index));
    return nullptr;
  }

  Trace trace_;
  int line_ = 0;
};

std::string seconds_text(Nanoseconds time) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%llu.%09llu",
                static_cast<unsigned long long>(time.count() / 1'000'000'000),
                static_cast<unsigned long long>(time.count() % 1'000'000'000));
  return text.data();
}

void append_list(std::string& text, const char* name, const std::vector<TensorIndex>& list) {
  if (list.empty()) return;
  text += name;
  for (const TensorIndex tensor : list) text += ' ' + std::to_string(tensor);
}

}  // namespace

Result<Trace> parse_trace(std::string_view text) { return Parser().parse(text); }

std::string format_trace(const Trace& trace) {
  std::string text = "# " + trace.name + ": one training step\n";
  for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
    text += "tensor " + std::to_string(i) + ' ' + std::to_string(trace.tensors[i].size.count());
    text += trace.tensors[i].persistent ? " persistent\n" : " transient\n";
  }
  for (const TraceKernel& kernel : trace.kernels) {
    text += "kernel " + kernel.name + ' ' + seconds_text(kernel.duration);
    append_list(text, " reads", kernel.reads);
    append_list(text, " writes", kernel.writes);
    if (kernel.enqueued_at.count() != 0) text += " enqueued " + seconds_text(kernel.enqueued_at);
    if (kernel.stream != 0) text += " stream " + std::to_string(kernel.stream);
    text += '\n';
  }
  return text;
}

}  // namespace tencache::policy
