// The streams that independent work is spread over. Called by all examples. Thread rule: one thread. Failure
// rule: a CUDA error ends the program.
//
// Work is forked from the main stream and joined to it by events, so that one stream and many compute the
// same.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace examples {

class Streams {
 public:
  explicit Streams(int count);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams();

  [[nodiscard]] cudaStream_t main() const { return streams_.front(); }
  // The stream for the n-th piece of independent work.
  [[nodiscard]] cudaStream_t at(std::size_t n) const { return streams_[n % streams_.size()]; }

  // Work on the other streams starts after what is on the main stream now.
  void fork();
  // The main stream goes on after what is on the others now.
  void join();
  void synchronize() const;

 private:
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> done_;
};

}  // namespace examples
