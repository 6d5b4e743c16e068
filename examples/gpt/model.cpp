#include "examples/gpt/model.hpp"

#include <cmath>

#include "examples/common/check.hpp"
#include "examples/common/matmul.hpp"

namespace gpt {
namespace {

using examples::Form;
using examples::Random;

Parameter make_parameter(const std::vector<float>& values, bool decays) {
  const std::vector<float> zeros(values.size());
  Parameter parameter{Tensor(values.size()), Tensor(values.size()), Tensor(values.size()),
                      Tensor(values.size()), decays};
  parameter.value.from_host(values);
  parameter.first_moment.from_host(zeros);
  parameter.second_moment.from_host(zeros);
  return parameter;
}

Parameter constant(int count, float value) {
  return make_parameter(std::vector<float>(static_cast<std::size_t>(count), value), false);
}

Parameter random_matrix(int rows, int columns, float bound, Random& random) {
  return make_parameter(random.uniform(static_cast<std::size_t>(rows) * columns, bound), true);
}

Norm make_norm(int width) { return {constant(width, 1.0F), constant(width, 0.0F)}; }

Linear make_linear(int inputs, int outputs, Random& random) {
  const float bound = 1.0F / std::sqrt(static_cast<float>(inputs));
  return {inputs, outputs, random_matrix(inputs, outputs, bound, random), constant(outputs, 0.0F)};
}

Layer make_layer(int width, Random& random) {
  Layer layer;
  layer.attention_norm = make_norm(width);
  layer.qkv = make_linear(width, 3 * width, random);
  layer.projection = make_linear(width, width, random);
  layer.mlp_norm = make_norm(width);
  layer.up = make_linear(width, 4 * width, random);
  layer.down = make_linear(4 * width, width, random);
  return layer;
}

constexpr float kEmbeddingBound = 0.05F;
constexpr float kDecay = 0.1F;

}  // namespace

Model::Model(const Configuration& configuration, Random& random, Streams& streams)
    : configuration_(configuration),
      shape_{configuration.batch, configuration.sequence, configuration.width, configuration.heads},
      streams_(streams),
      token_table_(random_matrix(configuration.vocabulary, configuration.width, kEmbeddingBound, random)),
      position_table_(random_matrix(configuration.sequence, configuration.width, kEmbeddingBound, random)),
      final_norm_(make_norm(configuration.width)),
      head_(make_linear(configuration.width, configuration.vocabulary, random)) {
  for (int i = 0; i < configuration.layers; ++i) layers_.push_back(make_layer(configuration.width, random));
}

std::vector<Parameter*> Model::parameters() {
  std::vector<Parameter*> all{&token_table_, &position_table_};
  const auto add_norm = [&](Norm& norm) { all.insert(all.end(), {&norm.gain, &norm.bias}); };
  const auto add_linear = [&](Linear& linear) { all.insert(all.end(), {&linear.weight, &linear.bias}); };
  for (Layer& layer : layers_) {
    add_norm(layer.attention_norm);
    add_linear(layer.qkv);
    add_linear(layer.projection);
    add_norm(layer.mlp_norm);
    add_linear(layer.up);
    add_linear(layer.down);
  }
  add_norm(final_norm_);
  add_linear(head_);
  return all;
}

float Model::step(const int* tokens, const int* targets) {
  const Tensor logits = forward(tokens);
  Tensor losses(static_cast<std::size_t>(shape_.rows()));
  Tensor d_logits(logits.count());
  Tensor loss(1);
  cross_entropy(losses.data(), d_logits.data(), logits.data(), targets, shape_.rows(),
                configuration_.vocabulary, streams_.main());
  mean(loss.data(), losses.data(), shape_.rows(), streams_.main());
  backward(std::move(d_logits), tokens);
  streams_.synchronize();
  return loss.to_host().front();
}

Tensor Model::forward(const int* tokens) {
  Tensor x(static_cast<std::size_t>(shape_.rows()) * shape_.width);
  embed(x.data(), tokens, token_table_.value.data(), position_table_.value.data(), shape_, streams_.main());
  for (Layer& layer : layers_) x = layer_forward(layer, std::move(x));
  last_norm_ = norm_forward(final_norm_, x);
  last_out_ = std::move(x);
  return linear_forward(head_, last_norm_.out);
}

void Model::backward(Tensor d_logits, const int* tokens) {
  Tensor d_out = linear_backward(head_, last_norm_.out, d_logits);
  Tensor nothing(d_out.count());
  examples::check(cudaMemsetAsync(nothing.data(), 0, nothing.count() * sizeof(float), streams_.main()),
                  "cudaMemsetAsync");
  Tensor d_x = norm_backward(final_norm_, last_norm_, last_out_, d_out, nothing);
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    LayerActivations kept = std::move(kept_.back());
    kept_.pop_back();
    d_x = layer_backward(*layer, std::move(kept), std::move(d_x));
  }
  streams_.fork();
  embed_backward_tokens(token_table_.gradient.data(), d_x.data(), tokens, configuration_.vocabulary, shape_,
                        streams_.at(0));
  embed_backward_positions(position_table_.gradient.data(), d_x.data(), shape_, streams_.at(1));
  streams_.join();
}

void Model::update(int step_number) {
  AdamW settings;
  settings.correction1 = 1.0F - std::pow(settings.beta1, static_cast<float>(step_number));
  settings.correction2 = 1.0F - std::pow(settings.beta2, static_cast<float>(step_number));
  streams_.fork();
  std::size_t n = 0;
  for (Parameter* parameter : parameters()) {
    settings.decay = parameter->decays ? kDecay : 0.0F;
    adamw(parameter->value.data(), parameter->first_moment.data(), parameter->second_moment.data(),
          parameter->gradient.data(), static_cast<int>(parameter->value.count()), settings, streams_.at(n++));
  }
  streams_.join();
}

}  // namespace gpt
