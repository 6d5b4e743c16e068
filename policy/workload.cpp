#include "policy/workload.hpp"

#include <algorithm>

#include "policy/training_tape.hpp"

namespace tencache::policy {
namespace {

// Published peaks, taken at what large kernels reach: 70 % of the matrix rate, 85 % of the bandwidth.
constexpr Gpu kGpus[] = {
    {"a100", 0.7 * 312e12, 0.85 * 2.039e12},
    {"h100", 0.7 * 989e12, 0.85 * 3.35e12},
    {"h200", 0.7 * 989e12, 0.85 * 4.8e12},
};

struct Transformer {
  double layers, width, hidden, vocabulary, sequence, batch;
  bool gated = false;   // three matrices in the feed-forward part
  bool tokens = true;   // an embedding and a head over the vocabulary; else patches and classes
  double adapters = 0;  // rank; the model itself is then not trained
  double experts = 0;   // each token goes to two
};

class TransformerTape {
 public:
  explicit TransformerTape(const Transformer& shape) : s_(shape), rows_(shape.batch * shape.sequence) {}

  Trace train(const char* name, const Gpu& gpu, const Training& training) {
    Tape::Value x = embed();
    for (int i = 0; i < static_cast<int>(s_.layers); ++i) x = layer(x);
    tape_.begin_segment();
    x = tape_.norm("norm", x, rows_ * s_.width, s_.width);
    x = tape_.linear("head", x, s_.tokens ? rows_ : s_.batch, s_.width, s_.vocabulary, trained());
    return tape_.train(name, gpu, training, x);
  }

 private:
  [[nodiscard]] bool trained() const { return s_.adapters == 0; }

  Tape::Value embed() {
    if (!s_.tokens) {
      const Tape::Value image = tape_.input(rows_ * 588 * 2);  // 14 x 14 patches of three colours
      return tape_.linear("patches", image, rows_, 588, s_.width);
    }
    const Tape::Value tokens = tape_.input(rows_ * 8);
    if (trained()) return tape_.embedding(tokens, rows_, s_.vocabulary, s_.width);
    return tape_.linear("embedding", tokens, rows_, s_.width, s_.width, false);
  }

  Tape::Value layer(Tape::Value x) {
    tape_.begin_segment();
    const double elements = rows_ * s_.width;
    Tape::Value y = tape_.norm("norm", x, elements, s_.width);
    y = matrix("qkv", y, s_.width, 3 * s_.width);
    y = tape_.attention(y, s_.batch, s_.sequence, s_.width);
    y = matrix("projection", y, s_.width, s_.width);
    x = tape_.add("residual", x, y, elements);
    y = tape_.norm("norm", x, elements, s_.width);
    y = s_.experts > 0 ? experts(y) : feed_forward(y, rows_);
    return tape_.add("residual", x, y, elements);
  }

  Tape::Value feed_forward(Tape::Value x, double rows) {
    Tape::Value y = matrix("up", x, s_.width, s_.hidden, rows);
    y = tape_.activation("activation", y, rows * s_.hidden);
    if (s_.gated) {
      const Tape::Value gate = matrix("gate", x, s_.width, s_.hidden, rows);
      y = tape_.multiply("multiply", y, gate, rows * s_.hidden);
    }
    return matrix("down", y, s_.hidden, s_.width, rows);
  }

  Tape::Value experts(Tape::Value x) {
    const Tape::Value routed = tape_.linear("router", x, rows_, s_.width, s_.experts);
    const double rows = 2 * rows_ / s_.experts;
    Tape::Value sum = Tape::kNone;
    for (int i = 0; i < static_cast<int>(s_.experts); ++i) {
      Tape::Value y = tape_.multiply("dispatch", x, routed, rows * s_.width);
      y = feed_forward(y, rows);
      sum = sum == Tape::kNone ? y : tape_.add("combine", sum, y, rows_ * s_.width);
    }
    return sum;
  }

  // A matrix, with a low-rank one beside it where adapters are trained.
  Tape::Value matrix(const char* name, Tape::Value x, double in, double out) {
    return matrix(name, x, in, out, rows_);
  }
  Tape::Value matrix(const char* name, Tape::Value x, double in, double out, double rows) {
    const Tape::Value y = tape_.linear(name, x, rows, in, out, trained());
    if (trained()) return y;
    Tape::Value low = tape_.linear("adapter_down", x, rows, in, s_.adapters);
    low = tape_.linear("adapter_up", low, rows, s_.adapters, out);
    return tape_.add("adapter_add", y, low, rows * out);
  }

  Transformer s_;
  double rows_;
  Tape tape_;
};

Trace transformer(const char* name, const Transformer& shape, const Gpu& gpu, const Training& training = {}) {
  return TransformerTape(shape).train(name, gpu, training);
}

constexpr Transformer kGpt2Xl{48, 1600, 6400, 50257, 1024, 8};
constexpr Transformer kLlama{32, 4096, 11008, 32000, 2048, 4, true};
constexpr Transformer kBertLarge{24, 1024, 4096, 30522, 512, 64};
constexpr Transformer kVitHuge{32, 1280, 5120, 1000, 257, 128, false, false};
constexpr Transformer kMixture{24, 2048, 8192, 32000, 2048, 4, false, true, 0, 8};

Transformer with_adapters(Transformer shape) {
  shape.adapters = 16;
  return shape;
}

Transformer with_batch(Transformer shape, double batch) {
  shape.batch = batch;
  return shape;
}

class ResNetTape {
 public:
  explicit ResNetTape(double batch) : batch_(batch) {}

  Trace train(const char* name, const Gpu& gpu) {
    double side = 112;
    Tape::Value x = tape_.input(batch_ * 224 * 224 * 3 * 2);
    x = unit("stem", x, side, 3, 64, 49);
    side = 56;
    double in = 64;
    const int blocks[] = {3, 8, 36, 3};
    double width = 64;
    for (const int count : blocks) {
      for (int i = 0; i < count; ++i, in = 4 * width) x = block(x, side, in, width, i == 0);
      side /= 2;
      width *= 2;
    }
    x = tape_.linear("head", x, batch_, 2048, 1000);
    return tape_.train(name, gpu, {}, x);
  }

 private:
  Tape::Value unit(const char* name, Tape::Value x, double side, double in, double out, double window) {
    const double pixels = batch_ * side * side;
    Tape::Value y = tape_.convolution(name, x, pixels, in, out, window);
    y = tape_.norm("batch_norm", y, pixels * out, out);
    return tape_.activation("relu", y, pixels * out);
  }

  Tape::Value block(Tape::Value x, double side, double in, double width, bool first) {
    tape_.begin_segment();
    Tape::Value y = unit("reduce", x, side, in, width, 1);
    y = unit("convolve", y, side, width, width, 9);
    y = unit("expand", y, side, width, 4 * width, 1);
    if (first) x = unit("shortcut", x, side, in, 4 * width, 1);
    return tape_.add("residual", x, y, batch_ * side * side * 4 * width);
  }

  double batch_;
  Tape tape_;
};

constexpr Workload kWorkloads[] = {
    {"gpt2-xl", "1.5 G parameters, Adam, batch 8 x 1024",
     [](const Gpu& gpu) { return transformer("gpt2-xl", kGpt2Xl, gpu); }},
    {"gpt2-xl-accumulate", "the same, four micro-steps",
     [](const Gpu& gpu) {
       return transformer("gpt2-xl-accumulate", kGpt2Xl, gpu, {false, 4});
     }},
    {"gpt2-xl-checkpoint", "the same, batch 32, activations computed again",
     [](const Gpu& gpu) {
       return transformer("gpt2-xl-checkpoint", with_batch(kGpt2Xl, 32), gpu, {true, 1});
     }},
    {"llama-7b-lora", "adapters of rank 16, batch 4 x 2048",
     [](const Gpu& gpu) { return transformer("llama-7b-lora", with_adapters(kLlama), gpu); }},
    {"llama-7b", "all parameters, Adam, activations computed again, batch 4 x 2048",
     [](const Gpu& gpu) {
       return transformer("llama-7b", kLlama, gpu, {true, 1});
     }},
    {"llama-7b-accumulate", "the same, four micro-steps",
     [](const Gpu& gpu) {
       return transformer("llama-7b-accumulate", kLlama, gpu, {true, 4});
     }},
    {"bert-large", "batch 64 x 512",
     [](const Gpu& gpu) { return transformer("bert-large", kBertLarge, gpu); }},
    {"vit-huge", "batch 128 x 257", [](const Gpu& gpu) { return transformer("vit-huge", kVitHuge, gpu); }},
    {"resnet-152", "batch 256 x 224 x 224",
     [](const Gpu& gpu) { return ResNetTape(256).train("resnet-152", gpu); }},
    {"mixture", "24 layers of 8 experts, two a token, batch 4 x 2048",
     [](const Gpu& gpu) { return transformer("mixture", kMixture, gpu); }},
};

template <class Row>
const Row* find(std::span<const Row> rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [name](const Row& r) { return name == r.name; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

std::span<const Gpu> gpus() { return kGpus; }
const Gpu* find_gpu(std::string_view name) { return find(gpus(), name); }
std::span<const Workload> workloads() { return kWorkloads; }
const Workload* find_workload(std::string_view name) { return find(workloads(), name); }

}  // namespace tencache::policy
