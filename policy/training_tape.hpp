// A model as a list of operations, and the training step that follows from it: forward, backward with or
// without recomputing, gradient accumulation, Adam. Part of the workload generator. Thread rule: one caller.
// Failure rule: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/workload.hpp"

namespace tencache::policy {

struct Training {
  bool checkpointing = false;  // keep the inputs of each segment, compute the rest again
  int accumulation = 1;        // micro-steps a step
};

class Tape {
 public:
  using Value = int;  // an activation
  static constexpr Value kNone = -1;

  Value input(double bytes);
  // Operations. `trained`: its weight gets a gradient and optimiser states; else it is only read.
  Value linear(const char* name, Value x, double rows, double in, double out, bool trained = true);
  Value convolution(const char* name, Value x, double pixels, double in, double out, double window);
  Value norm(const char* name, Value x, double elements, double width);
  Value activation(const char* name, Value x, double elements);
  Value multiply(const char* name, Value a, Value b, double elements);
  Value add(const char* name, Value a, Value b, double elements);
  Value attention(Value qkv, double batch, double sequence, double width);
  Value embedding(Value tokens, double rows, double vocabulary, double width);
  // Operations from here on belong to a new segment.
  void begin_segment() { ++segment_; }

  [[nodiscard]] Trace train(std::string name, const Gpu& gpu, const Training& training, Value loss) const;

 private:
  friend class Emitter;
  enum class Gradient : std::uint8_t { kMatrix, kFromInput, kFromOutput, kPassedOn };
  struct Operation {
    std::string name;
    Value a, b, output;
    int weight;  // or kNone
    double flops;
    Gradient gradient;
    int segment;
  };
  struct Weight {
    double elements;
    bool trained;
  };
  Value value(double bytes);
  Value operation(const char* name, Value a, Value b, double output_bytes, double weight_elements,
                  bool trained, double flops, Gradient gradient);

  std::vector<double> value_bytes_;
  std::vector<bool> wants_gradient_;
  std::vector<Operation> operations_;
  std::vector<Weight> weights_;
  int segment_ = 0;
};

}  // namespace tencache::policy
