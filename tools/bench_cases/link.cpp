// usage: link BUFFERS MIB ROUNDS : goes round BUFFERS buffers of MIB MiB each, changing a word in every 64
// KiB, so that with less HBM than all of them each is fetched and another one written out. Says bytes touched
// and the time.
#include <cstdlib>

#include "tools/bench_cases/cases.hpp"

namespace {

constexpr char kTouch[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry touch(.param .u64 p)\n"
    "{\n"
    ".reg .b32 %r<5>;\n"
    ".reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd0, [p];\n"
    "cvta.to.global.u64 %rd0, %rd0;\n"
    "mov.u32 %r0, %ctaid.x;\n"
    "mov.u32 %r1, %ntid.x;\n"
    "mov.u32 %r2, %tid.x;\n"
    "mad.lo.u32 %r3, %r0, %r1, %r2;\n"
    "mul.wide.u32 %rd1, %r3, 65536;\n"
    "add.u64 %rd2, %rd0, %rd1;\n"
    "ld.global.u32 %r4, [%rd2];\n"
    "add.u32 %r4, %r4, 1;\n"
    "st.global.u32 [%rd2], %r4;\n"
    "ret;\n"
    "}\n";

}  // namespace

int main(int, char** words) {
  const auto buffers = static_cast<std::size_t>(std::atoi(words[1]));
  const std::size_t bytes = static_cast<std::size_t>(std::atoi(words[2])) * gpu_check::kMiB;
  const int rounds = std::atoi(words[3]);
  const gpu_check::Gpu gpu("link", gpu_check::AnswerWriter(STDOUT_FILENO), {});
  const gpu_check::Function touch = bench::load_kernel(gpu, kTouch, "touch");
  const gpu_check::Stream stream = gpu.new_stream();
  std::vector<gpu_check::Address> addresses;
  for (std::size_t i = 0; i < buffers; ++i) {
    addresses.push_back(gpu.allocate(bytes));
    gpu.must("cuMemsetD8", gpu.api.cuMemsetD8_v2(addresses.back(), 1, bytes));
  }
  const auto go_round = [&] {
    for (const gpu_check::Address address : addresses)
      gpu.launch(touch, static_cast<unsigned>(bytes / 65536 / 16), 16, stream, {address});
    gpu.finish(stream);
  };
  go_round();
  const double elapsed = gpu_check::timed([&] {
    for (int i = 0; i < rounds; ++i) go_round();
  });
  gpu.number("elapsed", elapsed, "ns");
}
