#include "policy/training_tape.hpp"

#include <algorithm>

namespace tencache::policy {
namespace {

constexpr double kHalf = 2;  // bytes of an activation's or a weight's element
constexpr double kFull = 4;  // of an optimiser state's
constexpr double kLaunchSeconds = 3e-6;

}  // namespace

Tape::Value Tape::value(double bytes) {
  value_bytes_.push_back(bytes);
  wants_gradient_.push_back(false);
  return static_cast<Value>(value_bytes_.size()) - 1;
}

Tape::Value Tape::input(double bytes) { return value(bytes); }

Tape::Value Tape::operation(const char* name, Value a, Value b, double output_bytes, double weight_elements,
                            bool trained, double flops, Gradient gradient) {
  const Value output = value(output_bytes);
  const int weight = weight_elements > 0 ? static_cast<int>(weights_.size()) : kNone;
  if (weight != kNone) weights_.push_back({weight_elements, trained});
  const auto flows = [&](Value v) { return v != kNone && wants_gradient_[static_cast<std::size_t>(v)]; };
  wants_gradient_.back() = (weight != kNone && trained) || flows(a) || flows(b);
  operations_.push_back({name, a, b, output, weight, flops, gradient, segment_});
  return output;
}

Tape::Value Tape::linear(const char* name, Value x, double rows, double in, double out, bool trained) {
  return operation(name, x, kNone, rows * out * kHalf, in * out, trained, 2 * rows * in * out,
                   Gradient::kMatrix);
}

Tape::Value Tape::convolution(const char* name, Value x, double pixels, double in, double out,
                              double window) {
  return operation(name, x, kNone, pixels * out * kHalf, in * out * window, true,
                   2 * pixels * in * out * window, Gradient::kMatrix);
}

Tape::Value Tape::norm(const char* name, Value x, double elements, double width) {
  return operation(name, x, kNone, elements * kHalf, 2 * width, true, 8 * elements, Gradient::kFromInput);
}

Tape::Value Tape::activation(const char* name, Value x, double elements) {
  return operation(name, x, kNone, elements * kHalf, 0, false, 8 * elements, Gradient::kFromInput);
}

Tape::Value Tape::multiply(const char* name, Value a, Value b, double elements) {
  return operation(name, a, b, elements * kHalf, 0, false, elements, Gradient::kFromInput);
}

Tape::Value Tape::add(const char* name, Value a, Value b, double elements) {
  return operation(name, a, b, elements * kHalf, 0, false, elements, Gradient::kPassedOn);
}

Tape::Value Tape::attention(Value qkv, double batch, double sequence, double width) {
  return operation("attention", qkv, kNone, batch * sequence * width * kHalf, 0, false,
                   4 * batch * sequence * sequence * width, Gradient::kFromOutput);
}

Tape::Value Tape::embedding(Value tokens, double rows, double vocabulary, double width) {
  return operation("embedding", tokens, kNone, rows * width * kHalf, vocabulary * width, true, rows * width,
                   Gradient::kFromInput);
}

// Writes the kernels of one step.
class Emitter {
 public:
  Emitter(const Tape& tape, const Gpu& gpu, const Training& training)
      : tape_(tape), gpu_(gpu), training_(training), gradient_of_weight_(tape.weights_.size(), kUnset) {
    for (const Tape::Weight& weight : tape.weights_) weight_.push_back(tensor(weight.elements * kHalf, true));
  }

  Trace emit(std::string name, Tape::Value loss) {
    trace_.name = std::move(name);
    for (int i = 0; i < training_.accumulation; ++i) micro_step(loss);
    for (std::size_t i = 0; i < tape_.weights_.size(); ++i) {
      if (tape_.weights_[i].trained) adam(i);
    }
    return std::move(trace_);
  }

 private:
  static constexpr TensorIndex kUnset = ~TensorIndex{0};
  using Operation = Tape::Operation;
  using Tensors = std::vector<TensorIndex>;

  TensorIndex tensor(double bytes, bool persistent) {
    trace_.tensors.push_back({Bytes(static_cast<std::uint64_t>(std::max(bytes, 1.0))), persistent});
    return static_cast<TensorIndex>(trace_.tensors.size()) - 1;
  }

  void kernel(const std::string& name, double flops, Tensors reads, Tensors writes) {
    double bytes = 0;
    for (const TensorIndex t : reads) bytes += static_cast<double>(trace_.tensors[t].size.count());
    for (const TensorIndex t : writes) bytes += static_cast<double>(trace_.tensors[t].size.count());
    const double seconds = std::max(flops / gpu_.flops, bytes / gpu_.bandwidth) + kLaunchSeconds;
    TraceKernel kernel;
    kernel.name = name;
    kernel.duration = Nanoseconds(static_cast<std::uint64_t>(seconds * 1e9));
    kernel.reads = std::move(reads);
    kernel.writes = std::move(writes);
    trace_.kernels.push_back(std::move(kernel));
  }

  TensorIndex& at(Tensors& tensors, Tape::Value value) { return tensors[static_cast<std::size_t>(value)]; }
  [[nodiscard]] double bytes(Tape::Value value) const {
    return tape_.value_bytes_[static_cast<std::size_t>(value)];
  }

  void micro_step(Tape::Value loss) {
    kept_.assign(tape_.value_bytes_.size(), kUnset);
    gradient_.assign(tape_.value_bytes_.size(), kUnset);
    for (const Operation& operation : tape_.operations_) forward(operation);
    at(gradient_, loss) = tensor(bytes(loss), false);
    kernel("loss", 0, {at(kept_, loss)}, {at(gradient_, loss)});
    const std::vector<Operation>& operations = tape_.operations_;
    for (std::size_t end = operations.size(); end > 0;) {
      std::size_t begin = end;
      while (begin > 0 && operations[begin - 1].segment == operations[end - 1].segment) --begin;
      if (training_.checkpointing) {
        for (std::size_t i = begin; i + 1 < end; ++i) forward(operations[i]);
      }
      for (std::size_t i = end; i-- > begin;) backward(operations[i]);
      end = begin;
    }
  }

  void forward(const Operation& operation) {
    Tensors reads = inputs(operation);
    if (operation.weight != Tape::kNone) reads.push_back(weight_[static_cast<std::size_t>(operation.weight)]);
    at(kept_, operation.output) = tensor(bytes(operation.output), false);
    kernel(operation.name, operation.flops, std::move(reads), {at(kept_, operation.output)});
  }

  Tensors inputs(const Operation& operation) {
    Tensors reads;
    for (const Tape::Value value : {operation.a, operation.b}) {
      if (value == Tape::kNone) continue;
      if (at(kept_, value) == kUnset) at(kept_, value) = tensor(bytes(value), false);
      reads.push_back(at(kept_, value));
    }
    return reads;
  }

  void backward(const Operation& operation) {
    const TensorIndex gradient = at(gradient_, operation.output);
    if (gradient == kUnset || !tape_.wants_gradient_[static_cast<std::size_t>(operation.output)]) return;
    if (operation.gradient == Tape::Gradient::kPassedOn) {
      for (const Tape::Value value : {operation.a, operation.b}) receive(value, gradient);
      return;
    }
    if (operation.gradient == Tape::Gradient::kMatrix) return backward_matrix(operation, gradient);
    Tensors reads = inputs(operation);
    reads.push_back(gradient);
    if (operation.gradient == Tape::Gradient::kFromOutput) reads.push_back(at(kept_, operation.output));
    Tensors writes;
    if (operation.weight != Tape::kNone) {
      reads.push_back(weight_[static_cast<std::size_t>(operation.weight)]);
      if (trained(operation)) write_gradient(operation, reads, writes);
    }
    std::vector<std::pair<Tape::Value, TensorIndex>> sent;
    for (const Tape::Value value : {operation.a, operation.b}) {
      if (!flows(value)) continue;
      sent.emplace_back(value, tensor(bytes(value), false));
      writes.push_back(sent.back().second);
    }
    if (writes.empty()) return;
    kernel(operation.name + "_backward", 2 * operation.flops, std::move(reads), std::move(writes));
    for (const auto& [value, tensor] : sent) receive(value, tensor);
  }

  void backward_matrix(const Operation& operation, TensorIndex gradient) {
    const TensorIndex weight = weight_[static_cast<std::size_t>(operation.weight)];
    if (trained(operation)) {
      Tensors reads = inputs(operation);
      reads.push_back(gradient);
      Tensors writes;
      write_gradient(operation, reads, writes);
      kernel(operation.name + "_weight_gradient", operation.flops, std::move(reads), std::move(writes));
    }
    if (!flows(operation.a)) return;
    const TensorIndex sent = tensor(bytes(operation.a), false);
    kernel(operation.name + "_gradient", operation.flops, {gradient, weight}, {sent});
    receive(operation.a, sent);
  }

  [[nodiscard]] bool trained(const Operation& operation) const {
    return tape_.weights_[static_cast<std::size_t>(operation.weight)].trained;
  }
  [[nodiscard]] bool flows(Tape::Value value) const {
    return value != Tape::kNone && tape_.wants_gradient_[static_cast<std::size_t>(value)];
  }

  // The first micro-step brings a weight's gradient into being, later ones add to it.
  void write_gradient(const Operation& operation, Tensors& reads, Tensors& writes) {
    TensorIndex& gradient = gradient_of_weight_[static_cast<std::size_t>(operation.weight)];
    if (gradient == kUnset) {
      gradient = tensor(tape_.weights_[static_cast<std::size_t>(operation.weight)].elements * kHalf, false);
    } else {
      reads.push_back(gradient);
    }
    writes.push_back(gradient);
  }

  // Where gradients meet they are added into a new tensor.
  void receive(Tape::Value value, TensorIndex gradient) {
    if (!flows(value)) return;
    TensorIndex& sum = at(gradient_, value);
    if (sum == kUnset) {
      sum = gradient;
      return;
    }
    const TensorIndex both = tensor(bytes(value), false);
    kernel("add_gradient", bytes(value) / kHalf, {sum, gradient}, {both});
    sum = both;
  }

  void adam(std::size_t index) {
    const double elements = tape_.weights_[index].elements;
    const TensorIndex master = tensor(elements * kFull, true);
    const TensorIndex momentum = tensor(elements * kFull, true);
    const TensorIndex variance = tensor(elements * kFull, true);
    kernel("adam", 12 * elements, {gradient_of_weight_[index], master, momentum, variance},
           {master, momentum, variance, weight_[index]});
  }

  const Tape& tape_;
  const Gpu& gpu_;
  Training training_;
  Trace trace_;
  Tensors weight_, gradient_of_weight_;
  Tensors kept_, gradient_;  // per value, of this micro-step
};

Trace Tape::train(std::string name, const Gpu& gpu, const Training& training, Value loss) const {
  return Emitter(*this, gpu, training).emit(std::move(name), loss);
}

}  // namespace tencache::policy
