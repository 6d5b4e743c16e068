// A small GPT: its parameters, the way forward to the loss, the way back to the gradients, AdamW. Called by
// main and by the gradient test. Thread rule: one thread; independent work is spread over the streams.
// Failure rule: a CUDA error ends the program.
//
// Activations are asked for when they are computed and freed when the way back has used them, in every step.
#pragma once

#include <vector>

#include "examples/common/random.hpp"
#include "examples/common/streams.hpp"
#include "examples/common/tensor.hpp"
#include "examples/gpt/kernels.hpp"

namespace gpt {

using examples::Streams;
using examples::Tensor;

struct Parameter {
  Tensor value;
  Tensor gradient;
  Tensor first_moment;
  Tensor second_moment;
  bool decays = false;
};

struct Linear {
  int inputs = 0;
  int outputs = 0;
  Parameter weight;  // [inputs][outputs]
  Parameter bias;
};

struct Norm {
  Parameter gain;
  Parameter bias;
};

struct Layer {
  Norm attention_norm;
  Linear qkv;
  Linear projection;
  Norm mlp_norm;
  Linear up;
  Linear down;
};

struct Normed {
  Tensor out;
  Tensor mean;
  Tensor scale;
};

// What a layer keeps for the way back.
struct LayerActivations {
  Tensor input;
  Normed attention_norm;
  Tensor qkv;
  Tensor probabilities;
  Tensor attended;
  Tensor middle;  // after attention's residual
  Normed mlp_norm;
  Tensor up;
  Tensor activated;
};

struct Configuration {
  int width = 128;
  int layers = 4;
  int heads = 4;
  int batch = 4;
  int sequence = 64;
  int vocabulary = 0;
};

class Model {
 public:
  Model(const Configuration& configuration, examples::Random& random, Streams& streams);

  // The mean loss over the batch; gradients are left in the parameters. Both arrays have batch * sequence
  // tokens on the device.
  float step(const int* tokens, const int* targets);
  void update(int step_number);

  // Every parameter, in a fixed order.
  std::vector<Parameter*> parameters();

 private:
  Tensor forward(const int* tokens);
  void backward(Tensor d_out, const int* tokens);

  Tensor layer_forward(Layer& layer, Tensor input);
  Tensor layer_backward(Layer& layer, LayerActivations kept, Tensor d_out);
  Tensor attention_forward(const Tensor& qkv, Tensor& probabilities);
  Tensor attention_backward(const LayerActivations& kept, const Tensor& d_out);
  Normed norm_forward(const Norm& norm, const Tensor& x);
  // The gradient of x, on top of what flows past the norm.
  Tensor norm_backward(Norm& norm, const Normed& kept, const Tensor& x, const Tensor& d_out,
                       const Tensor& d_residual);
  Tensor linear_forward(const Linear& linear, const Tensor& x);
  Tensor linear_backward(Linear& linear, const Tensor& x, const Tensor& d_out);
  Tensor sum(const Tensor& a, const Tensor& b);

  Configuration configuration_;
  Shape shape_;
  Streams& streams_;
  Parameter token_table_;
  Parameter position_table_;
  std::vector<Layer> layers_;
  Norm final_norm_;
  Linear head_;

  std::vector<LayerActivations> kept_;
  Tensor last_out_;
  Normed last_norm_;
};

}  // namespace gpt
