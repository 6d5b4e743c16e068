// The functions a device offers to kernels: vprintf, __assertfail, malloc, free. Lane after lane, in order.
#include <fmt/format.h>

#include <cstdio>

#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/translate.hpp"

namespace softgpu::engine::handlers {
namespace {

constexpr std::size_t kMaxString = 1 << 16;

// One lane's view of memory during a call.
class LaneCall {
 public:
  LaneCall(Pack& pack, const Instruction& i, int lane)
      : pack_(pack), site_(pack.frame->code->calls[i.extra]), lane_(lane) {}

  template <class T>
  [[nodiscard]] T argument(std::size_t k) const {
    T value{};
    if (k < site_.argument_offsets.size())
      std::memcpy(&value, frame() + site_.argument_offsets[k], sizeof value);
    return value;
  }
  template <class T>
  void set_result(T value) {
    if (!site_.result_offsets.empty()) std::memcpy(frame() + site_.result_offsets[0], &value, sizeof value);
  }
  // False where there is no memory.
  [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t bytes) const {
    for (std::size_t k = 0; k < bytes; ++k) {
      const Place place = place_of(pack_, Window::kGeneric, address + k, lane_, false);
      if (place.host == nullptr) return false;
      static_cast<std::uint8_t*>(to)[k] = *place.host;
    }
    return true;
  }
  [[nodiscard]] std::string text(std::uint64_t address) const {
    std::string result;
    char c = 0;
    while (result.size() < kMaxString && address != 0 && read(address + result.size(), &c, 1) && c != 0)
      result += c;
    return result;
  }

 private:
  [[nodiscard]] std::uint8_t* frame() const {
    return pack_.local + static_cast<std::size_t>(lane_) * pack_.block->kernel->local_stride +
           pack_.frame->local_base;
  }
  Pack& pack_;
  const CallSite& site_;
  int lane_;
};

// Reads the arguments of printf as nvcc lays them out: each aligned to its size.
class Arguments {
 public:
  Arguments(const LaneCall& call, std::uint64_t address) : call_(call), base_(address) {}
  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (base_ == 0 || !call_.read(base_ + at_, &value, sizeof value)) value = T{};
    at_ += sizeof(T);
    return value;
  }

 private:
  const LaneCall& call_;
  std::uint64_t base_, at_ = 0;
};

template <class T>
std::string formatted(const std::string& specification, T value) {
  char buffer[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int n = std::snprintf(buffer, sizeof buffer, specification.c_str(), value);
#pragma GCC diagnostic pop
  return n < 0 ? std::string()
               : std::string(buffer, std::min<std::size_t>(static_cast<std::size_t>(n), sizeof buffer - 1));
}
// One conversion; `specification` is everything up to its letter, lengths taken out.
std::string convert_one(const std::string& specification, char letter, bool wide, const LaneCall& call,
                        Arguments& arguments) {
  switch (letter) {
    case 'd':
    case 'i':
      return formatted(specification + "ll" + letter,
                       wide ? static_cast<long long>(arguments.next<std::int64_t>())
                            : static_cast<long long>(arguments.next<std::int32_t>()));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return formatted(specification + "ll" + letter,
                       wide ? static_cast<unsigned long long>(arguments.next<std::uint64_t>())
                            : static_cast<unsigned long long>(arguments.next<std::uint32_t>()));
    case 'c':
      return formatted(specification + letter, arguments.next<std::int32_t>());
    case 'p':
      return formatted(specification + letter,
                       reinterpret_cast<void*>(arguments.next<std::uint64_t>()));  // NOLINT
    case 's':
      return formatted(specification + letter, call.text(arguments.next<std::uint64_t>()).c_str());
    default:
      return formatted(specification + letter, arguments.next<double>());
  }
}
std::string format_text(const std::string& format, const LaneCall& call, Arguments& arguments) {
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      text += format[at];
      continue;
    }
    std::string specification = "%";
    int longs = 0;
    for (++at; at < format.size(); ++at) {
      const char c = format[at];
      if (c == '*') {
        specification += std::to_string(arguments.next<std::int32_t>());
      } else if (std::string_view("-+ #0123456789.").find(c) != std::string_view::npos) {
        specification += c;
      } else if (c == 'l' || c == 'z' || c == 'j' || c == 't') {
        ++longs;
      } else if (c != 'h') {
        break;
      }
    }
    if (at == format.size()) break;
    if (format[at] == '%') {
      text += '%';
    } else if (std::string_view("diuxXocpsfFeEgGaA").find(format[at]) != std::string_view::npos) {
      text += convert_one(specification, format[at], longs > 0, call, arguments);
    }
  }
  return text;
}

}  // namespace

const Instruction* print(Pack& pack, const Instruction& i) {
  const Launch& launch = *pack.block->kernel->launch;
  for_each_lane(pack.mask, [&](int lane) {
    LaneCall call(pack, i, lane);
    Arguments arguments(call, call.argument<std::uint64_t>(1));
    const std::string text = format_text(call.text(call.argument<std::uint64_t>(0)), call, arguments);
    if (launch.print) launch.print(text);
    call.set_result(static_cast<std::int32_t>(text.size()));
  });
  return &i + 1;
}

// __assertfail(message, file, line, function, size of a character)
const Instruction* assert_fail(Pack& pack, const Instruction& i) {
  const Launch& launch = *pack.block->kernel->launch;
  const auto& id = pack.block->id;
  std::string message;
  for_each_lane(pack.mask, [&](int lane) {
    const LaneCall call(pack, i, lane);
    const auto thread = static_cast<std::uint32_t>(pack.index * kLanes + lane);
    const std::string line =
        fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n",
                    call.text(call.argument<std::uint64_t>(1)), call.argument<std::uint32_t>(2),
                    call.text(call.argument<std::uint64_t>(3)), id[0], id[1], id[2], thread % launch.block[0],
                    thread / launch.block[0] % launch.block[1], thread / launch.block[0] / launch.block[1],
                    call.text(call.argument<std::uint64_t>(0)));
    if (launch.print) launch.print(line);
    if (message.empty()) message = line.substr(0, line.size() - 1);
  });
  return fail(pack, i, OutcomeKind::kAssert, message);
}

const Instruction* allocate(Pack& pack, const Instruction& i) {
  const Launch& launch = *pack.block->kernel->launch;
  for_each_lane(pack.mask, [&](int lane) {
    LaneCall call(pack, i, lane);
    const auto bytes = call.argument<std::uint64_t>(0);
    call.set_result(launch.device_malloc ? launch.device_malloc(bytes) : std::uint64_t{0});
  });
  return &i + 1;
}
const Instruction* release(Pack& pack, const Instruction& i) {
  const Launch& launch = *pack.block->kernel->launch;
  for_each_lane(pack.mask, [&](int lane) {
    const LaneCall call(pack, i, lane);
    const auto address = call.argument<std::uint64_t>(0);
    if (launch.device_free && address != 0) launch.device_free(address);
  });
  return &i + 1;
}

}  // namespace softgpu::engine::handlers
