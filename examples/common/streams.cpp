#include "examples/common/streams.hpp"

#include "examples/common/check.hpp"

namespace examples {

Streams::Streams(int count) : streams_(static_cast<std::size_t>(count)), done_(streams_.size()) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    check(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaEventCreateWithFlags(&done_[i], cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
}

Streams::~Streams() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    check(cudaEventDestroy(done_[i]), "cudaEventDestroy");
    check(cudaStreamDestroy(streams_[i]), "cudaStreamDestroy");
  }
}

void Streams::fork() {
  if (streams_.size() == 1) return;
  check(cudaEventRecord(done_[0], streams_[0]), "cudaEventRecord");
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    check(cudaStreamWaitEvent(streams_[i], done_[0]), "cudaStreamWaitEvent");
  }
}

void Streams::join() {
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    check(cudaEventRecord(done_[i], streams_[i]), "cudaEventRecord");
    check(cudaStreamWaitEvent(streams_[0], done_[i]), "cudaStreamWaitEvent");
  }
}

void Streams::synchronize() const { check(cudaStreamSynchronize(main()), "cudaStreamSynchronize"); }

}  // namespace examples
