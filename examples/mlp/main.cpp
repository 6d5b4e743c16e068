// Trains a deep stack of large layers on a made-up task. Prints every step's loss, a checksum of all
// parameters, and the most device memory it held at a time.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "examples/common/check.hpp"
#include "examples/common/matmul.hpp"
#include "examples/common/options.hpp"
#include "examples/common/random.hpp"
#include "examples/common/streams.hpp"
#include "examples/common/tensor.hpp"
#include "examples/mlp/kernels.hpp"

namespace {

using examples::Form;
using examples::matmul;
using examples::Random;
using examples::Streams;
using examples::Tensor;

constexpr float kLearningRate = 0.05F;
constexpr float kMomentum = 0.9F;

struct Parameter {
  Tensor value;
  Tensor gradient;
  Tensor velocity;
};

struct Layer {
  Parameter weight;  // [width][width]
  Parameter bias;
};

struct Settings {
  int width = 256;
  int layers = 16;
  int batch = 32;
  int steps = 5;
  int seed = 1;
  int streams = 1;
  [[nodiscard]] std::size_t squares() const { return static_cast<std::size_t>(width) * width; }
  [[nodiscard]] std::size_t values() const { return static_cast<std::size_t>(batch) * width; }
};

Parameter make_parameter(const std::vector<float>& values) {
  Parameter parameter{Tensor(values.size()), Tensor(values.size()), Tensor(values.size())};
  parameter.value.from_host(values);
  parameter.velocity.from_host(std::vector<float>(values.size()));
  return parameter;
}

int count_of(const Tensor& tensor) { return static_cast<int>(tensor.count()); }

class Network {
 public:
  Network(const Settings& settings, Random& random, Streams& streams)
      : settings_(settings), streams_(streams) {
    // Variance is kept from layer to layer under a rectifier.
    const float bound = std::sqrt(6.0F / static_cast<float>(settings.width));
    const auto width = static_cast<std::size_t>(settings.width);
    for (int i = 0; i < settings.layers; ++i) {
      layers_.push_back({make_parameter(random.uniform(settings.squares(), bound)),
                         make_parameter(std::vector<float>(width))});
    }
  }

  double step(const std::vector<float>& input, const std::vector<float>& wanted) {
    forward(input);
    const double loss = backward(wanted);
    update();
    return loss;
  }

  std::vector<Parameter*> parameters() {
    std::vector<Parameter*> all;
    for (Layer& layer : layers_) all.insert(all.end(), {&layer.weight, &layer.bias});
    return all;
  }

 private:
  void forward(const std::vector<float>& input) {
    outs_.emplace_back(settings_.values());
    outs_.back().from_host(input);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Tensor out(settings_.values());
      matmul(out.data(), outs_.back().data(), Form::kPlain, layers_[i].weight.value.data(), Form::kPlain,
             layers_[i].bias.value.data(), settings_.batch, settings_.width, settings_.width,
             streams_.main());
      if (i + 1 < layers_.size()) mlp::relu(out.data(), count_of(out), streams_.main());
      outs_.push_back(std::move(out));
    }
  }

  double backward(const std::vector<float>& wanted) {
    Tensor target(settings_.values());
    target.from_host(wanted);
    Tensor losses(settings_.values());
    Tensor d_out(settings_.values());
    mlp::squared_error(losses.data(), d_out.data(), outs_.back().data(), target.data(), count_of(losses),
                       streams_.main());
    outs_.pop_back();
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      d_out = layer_backward(*layer, d_out);
      outs_.pop_back();
    }
    streams_.synchronize();
    double loss = 0;
    for (const float value : losses.to_host()) loss += value;
    return loss;
  }

  // The last of outs_ is the layer's input.
  Tensor layer_backward(Layer& layer, const Tensor& d_out) {
    const Tensor& input = outs_.back();
    Tensor d_input(settings_.values());
    streams_.fork();
    matmul(d_input.data(), d_out.data(), Form::kPlain, layer.weight.value.data(), Form::kTransposed, nullptr,
           settings_.batch, settings_.width, settings_.width, streams_.at(0));
    mlp::relu_backward(d_input.data(), input.data(), count_of(d_input), streams_.at(0));
    matmul(layer.weight.gradient.data(), input.data(), Form::kTransposed, d_out.data(), Form::kPlain, nullptr,
           settings_.width, settings_.width, settings_.batch, streams_.at(1));
    examples::sum_rows(layer.bias.gradient.data(), d_out.data(), settings_.batch, settings_.width,
                       streams_.at(2));
    streams_.join();
    return d_input;
  }

  void update() {
    streams_.fork();
    std::size_t n = 0;
    for (Parameter* parameter : parameters()) {
      mlp::momentum_step(parameter->value.data(), parameter->velocity.data(), parameter->gradient.data(),
                         count_of(parameter->value), kLearningRate, kMomentum, streams_.at(n++));
    }
    streams_.join();
  }

  const Settings& settings_;
  Streams& streams_;
  std::vector<Layer> layers_;
  std::vector<Tensor> outs_;
};

void print_result(Network& network) {
  unsigned long long sum = examples::kChecksumStart;
  std::size_t count = 0;
  for (const Parameter* parameter : network.parameters()) {
    sum = examples::checksum(parameter->value.to_host(), sum);
    count += parameter->value.count();
  }
  std::printf("parameters %zu checksum %016llx\n", count, sum);
  std::printf("peak live bytes %zu\n", examples::peak_live_bytes());
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  examples::parse_options(argc, argv,
                          {{"width", &settings.width, "inputs and outputs of every layer"},
                           {"layers", &settings.layers, "layers"},
                           {"batch", &settings.batch, "examples a step"},
                           {"steps", &settings.steps, "training steps"},
                           {"seed", &settings.seed, "of the parameters and the task"},
                           {"streams", &settings.streams, "streams that independent work is spread over"}});
  Random random(static_cast<unsigned>(settings.seed));
  Streams streams(settings.streams);
  Network network(settings, random, streams);
  const std::vector<float> input = random.uniform(settings.values(), 1.0F);
  const std::vector<float> wanted = random.uniform(settings.values(), 1.0F);
  for (int step = 1; step <= settings.steps; ++step) {
    const double loss = network.step(input, wanted);
    std::printf("step %d loss %.6f %a\n", step, loss, loss);
    std::fflush(stdout);
  }
  streams.synchronize();
  print_result(network);
  return EXIT_SUCCESS;
}
