// The model's layers, forward and back.
#include "examples/common/matmul.hpp"
#include "examples/gpt/model.hpp"

namespace gpt {
namespace {

using examples::Form;
using examples::matmul;

int count_of(const Tensor& tensor) { return static_cast<int>(tensor.count()); }

}  // namespace

Tensor Model::layer_forward(Layer& layer, Tensor input) {
  LayerActivations kept;
  kept.attention_norm = norm_forward(layer.attention_norm, input);
  kept.qkv = linear_forward(layer.qkv, kept.attention_norm.out);
  kept.attended = attention_forward(kept.qkv, kept.probabilities);
  kept.middle = sum(input, linear_forward(layer.projection, kept.attended));
  kept.mlp_norm = norm_forward(layer.mlp_norm, kept.middle);
  kept.up = linear_forward(layer.up, kept.mlp_norm.out);
  kept.activated = Tensor(kept.up.count());
  gelu(kept.activated.data(), kept.up.data(), count_of(kept.up), streams_.main());
  Tensor out = sum(kept.middle, linear_forward(layer.down, kept.activated));
  kept.input = std::move(input);
  kept_.push_back(std::move(kept));
  return out;
}

// What has served is freed at once, so that the way back needs ever less memory.
Tensor Model::layer_backward(Layer& layer, LayerActivations kept, Tensor d_out) {
  Tensor d_activated = linear_backward(layer.down, kept.activated, d_out);
  release(kept.activated);
  Tensor d_up(kept.up.count());
  gelu_backward(d_up.data(), d_activated.data(), kept.up.data(), count_of(kept.up), streams_.main());
  release(d_activated, kept.up);
  Tensor d_mlp = linear_backward(layer.up, kept.mlp_norm.out, d_up);
  release(d_up, kept.mlp_norm.out);
  const Tensor d_middle = norm_backward(layer.mlp_norm, kept.mlp_norm, kept.middle, d_mlp, d_out);
  release(d_mlp, d_out, kept.middle);
  Tensor d_attended = linear_backward(layer.projection, kept.attended, d_middle);
  release(kept.attended);
  Tensor d_qkv = attention_backward(kept, d_attended);
  release(d_attended, kept.probabilities, kept.qkv);
  const Tensor d_attention = linear_backward(layer.qkv, kept.attention_norm.out, d_qkv);
  release(d_qkv, kept.attention_norm.out);
  return norm_backward(layer.attention_norm, kept.attention_norm, kept.input, d_attention, d_middle);
}

// The sequences of the batch are independent.
Tensor Model::attention_forward(const Tensor& qkv, Tensor& probabilities) {
  const std::size_t rows = static_cast<std::size_t>(shape_.sequence) * shape_.width;
  const std::size_t squares = static_cast<std::size_t>(shape_.heads) * shape_.sequence * shape_.sequence;
  Tensor out(rows * shape_.batch);
  probabilities = Tensor(squares * shape_.batch);
  streams_.fork();
  for (int b = 0; b < shape_.batch; ++b) {
    attention(out.data() + b * rows, probabilities.data() + b * squares, qkv.data() + 3 * b * rows, shape_,
              streams_.at(b));
  }
  streams_.join();
  return out;
}

Tensor Model::attention_backward(const LayerActivations& kept, const Tensor& d_out) {
  const std::size_t rows = static_cast<std::size_t>(shape_.sequence) * shape_.width;
  const std::size_t squares = kept.probabilities.count() / shape_.batch;
  Tensor d_qkv(kept.qkv.count());
  const Tensor d_scores(kept.probabilities.count());
  streams_.fork();
  for (int b = 0; b < shape_.batch; ++b) {
    gpt::attention_backward(d_qkv.data() + 3 * b * rows, d_scores.data() + b * squares,
                            d_out.data() + b * rows, kept.probabilities.data() + b * squares,
                            kept.qkv.data() + 3 * b * rows, shape_, streams_.at(b));
  }
  streams_.join();
  return d_qkv;
}

Normed Model::norm_forward(const Norm& norm, const Tensor& x) {
  const auto rows = static_cast<std::size_t>(shape_.rows());
  Normed normed{Tensor(x.count()), Tensor(rows), Tensor(rows)};
  layer_norm(normed.out.data(), normed.mean.data(), normed.scale.data(), x.data(), norm.gain.value.data(),
             norm.bias.value.data(), shape_.rows(), shape_.width, streams_.main());
  return normed;
}

Tensor Model::norm_backward(Norm& norm, const Normed& kept, const Tensor& x, const Tensor& d_out,
                            const Tensor& d_residual) {
  Tensor d_x(x.count());
  streams_.fork();
  layer_norm_backward(d_x.data(), d_residual.data(), d_out.data(), x.data(), kept.mean.data(),
                      kept.scale.data(), norm.gain.value.data(), shape_.rows(), shape_.width, streams_.at(0));
  layer_norm_backward_parameters(norm.gain.gradient.data(), norm.bias.gradient.data(), d_out.data(), x.data(),
                                 kept.mean.data(), kept.scale.data(), shape_.rows(), shape_.width,
                                 streams_.at(1));
  streams_.join();
  return d_x;
}

Tensor Model::linear_forward(const Linear& linear, const Tensor& x) {
  Tensor out(static_cast<std::size_t>(shape_.rows()) * linear.outputs);
  matmul(out.data(), x.data(), Form::kPlain, linear.weight.value.data(), Form::kPlain,
         linear.bias.value.data(), shape_.rows(), linear.outputs, linear.inputs, streams_.main());
  return out;
}

Tensor Model::linear_backward(Linear& linear, const Tensor& x, const Tensor& d_out) {
  const int rows = shape_.rows();
  Tensor d_x(x.count());
  streams_.fork();
  matmul(d_x.data(), d_out.data(), Form::kPlain, linear.weight.value.data(), Form::kTransposed, nullptr, rows,
         linear.inputs, linear.outputs, streams_.at(0));
  matmul(linear.weight.gradient.data(), x.data(), Form::kTransposed, d_out.data(), Form::kPlain, nullptr,
         linear.inputs, linear.outputs, rows, streams_.at(1));
  examples::sum_rows(linear.bias.gradient.data(), d_out.data(), rows, linear.outputs, streams_.at(2));
  streams_.join();
  return d_x;
}

Tensor Model::sum(const Tensor& a, const Tensor& b) {
  Tensor out(a.count());
  add(out.data(), a.data(), b.data(), count_of(a), streams_.main());
  return out;
}

}  // namespace gpt
