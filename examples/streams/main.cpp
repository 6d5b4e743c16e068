// Overlaps copies, kernels and host functions on several streams, and checks every result on the CPU.
//
// Each piece of the data travels on its own stream: a host function fills the pinned source, the copy in, a
// kernel, and, waiting for the neighbour's kernel by an event, a sum with the neighbour's piece; the copy
// out, and a host function that checks it.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "examples/common/check.hpp"
#include "examples/common/options.hpp"
#include "examples/streams/kernels.hpp"

namespace {

using examples::check;

struct Settings {
  int streams = 4;
  int count = 1 << 16;
  int rounds = 40;
  int steps = 6;
};

std::size_t live_bytes = 0;

unsigned first_value(int piece, int step, int i) {
  return static_cast<unsigned>(piece * 7919 + step * 104729 + i * 31);
}

unsigned scrambled(unsigned value, int rounds) {
  for (int round = 0; round < rounds; ++round) value = value * overlap::kFactor + overlap::kIncrement;
  return value;
}

unsigned* device_array(std::size_t count) {
  unsigned* data = nullptr;
  check(cudaMalloc(&data, count * sizeof(unsigned)), "cudaMalloc");
  live_bytes += count * sizeof(unsigned);
  return data;
}

unsigned* pinned_array(std::size_t count) {
  unsigned* data = nullptr;
  check(cudaMallocHost(&data, count * sizeof(unsigned)), "cudaMallocHost");
  return data;
}

struct Piece {
  Piece(int number, const Settings& chosen)
      : index(number),
        settings(chosen),
        source(pinned_array(static_cast<std::size_t>(chosen.count))),
        result(pinned_array(static_cast<std::size_t>(chosen.count))),
        values(device_array(static_cast<std::size_t>(chosen.count))),
        sums(device_array(static_cast<std::size_t>(chosen.count))) {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaEventCreateWithFlags(&used, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  ~Piece() {
    check(cudaEventDestroy(ready), "cudaEventDestroy");
    check(cudaEventDestroy(used), "cudaEventDestroy");
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    check(cudaFree(values), "cudaFree");
    check(cudaFree(sums), "cudaFree");
    check(cudaFreeHost(source), "cudaFreeHost");
    check(cudaFreeHost(result), "cudaFreeHost");
  }

  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(settings.count) * sizeof(unsigned);
  }

  int index;
  const Settings& settings;
  unsigned* source;
  unsigned* result;
  unsigned* values;
  unsigned* sums;
  cudaStream_t stream = nullptr;
  cudaEvent_t ready = nullptr;  // values are scrambled
  cudaEvent_t used = nullptr;   // the neighbour has read them
  int filled_steps = 0;
  int checked_steps = 0;
  long wrong = 0;
};

// Host functions, in the order of their stream.
void fill(void* data) {
  auto& piece = *static_cast<Piece*>(data);
  for (int i = 0; i < piece.settings.count; ++i) {
    piece.source[i] = first_value(piece.index, piece.filled_steps, i);
  }
  ++piece.filled_steps;
}

void verify(void* data) {
  auto& piece = *static_cast<Piece*>(data);
  const Settings& settings = piece.settings;
  const int neighbour = (piece.index + 1) % settings.streams;
  for (int i = 0; i < settings.count; ++i) {
    const unsigned own = scrambled(first_value(piece.index, piece.checked_steps, i), settings.rounds);
    const unsigned other = scrambled(first_value(neighbour, piece.checked_steps, i), settings.rounds);
    if (piece.result[i] != own + other) ++piece.wrong;
  }
  ++piece.checked_steps;
}

using Pieces = std::vector<std::unique_ptr<Piece>>;

void enqueue_scramble(Piece& piece) {
  check(cudaLaunchHostFunc(piece.stream, fill, &piece), "cudaLaunchHostFunc");
  check(cudaStreamWaitEvent(piece.stream, piece.used), "cudaStreamWaitEvent");
  check(cudaMemcpyAsync(piece.values, piece.source, piece.bytes(), cudaMemcpyHostToDevice, piece.stream),
        "cudaMemcpyAsync");
  overlap::scramble(piece.values, piece.settings.count, piece.settings.rounds, piece.stream);
  check(cudaEventRecord(piece.ready, piece.stream), "cudaEventRecord");
}

void enqueue_sum(Piece& piece, Piece& neighbour) {
  check(cudaStreamWaitEvent(piece.stream, neighbour.ready), "cudaStreamWaitEvent");
  overlap::add(piece.sums, piece.values, neighbour.values, piece.settings.count, piece.stream);
  check(cudaEventRecord(neighbour.used, piece.stream), "cudaEventRecord");
  check(cudaMemcpyAsync(piece.result, piece.sums, piece.bytes(), cudaMemcpyDeviceToHost, piece.stream),
        "cudaMemcpyAsync");
  check(cudaLaunchHostFunc(piece.stream, verify, &piece), "cudaLaunchHostFunc");
}

void run(const Pieces& pieces, int steps) {
  for (int step = 0; step < steps; ++step) {
    for (const auto& piece : pieces) enqueue_scramble(*piece);
    for (std::size_t i = 0; i < pieces.size(); ++i) enqueue_sum(*pieces[i], *pieces[(i + 1) % pieces.size()]);
  }
  for (const auto& piece : pieces) check(cudaStreamSynchronize(piece->stream), "cudaStreamSynchronize");
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  examples::parse_options(argc, argv,
                          {{"streams", &settings.streams, "streams, each with a piece of the data"},
                           {"count", &settings.count, "numbers a piece"},
                           {"rounds", &settings.rounds, "work a number"},
                           {"steps", &settings.steps, "times that all pieces travel"}});
  Pieces pieces;
  for (int i = 0; i < settings.streams; ++i) pieces.push_back(std::make_unique<Piece>(i, settings));
  run(pieces, settings.steps);
  long wrong = 0;
  for (const auto& piece : pieces) {
    std::printf("stream %d: %d steps, %ld wrong values\n", piece->index, piece->checked_steps, piece->wrong);
    wrong += piece->wrong + (piece->checked_steps != settings.steps ? 1 : 0);
  }
  std::printf("peak live bytes %zu\n", live_bytes);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
