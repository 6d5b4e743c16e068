// The GPT's kernels besides matrix products, each behind a function that enqueues it. Called by model.cpp.
// Thread rule: any thread; work is enqueued on the stream. Failure rule: a refused launch ends the program.
//
// Matrices are row-major; a row is one token of the batch. No kernel adds into memory that others add into,
// so every sum has one order.
#pragma once

#include <cuda_runtime.h>

namespace gpt {

// Where a launch finds the tokens: `batch` sequences of `sequence` tokens.
struct Shape {
  int batch;
  int sequence;
  int width;
  int heads;
  [[nodiscard]] int rows() const { return batch * sequence; }
  [[nodiscard]] int head_width() const { return width / heads; }
};

// out[row] = token_table[tokens[row]] + position_table[row % sequence]
void embed(float* out, const int* tokens, const float* token_table, const float* position_table, Shape shape,
           cudaStream_t stream);
void embed_backward_tokens(float* d_table, const float* d_out, const int* tokens, int vocabulary, Shape shape,
                           cudaStream_t stream);
void embed_backward_positions(float* d_table, const float* d_out, Shape shape, cudaStream_t stream);

// out = (x - mean) * scale * gain + bias, row by row; mean and scale are kept for the way back.
void layer_norm(float* out, float* mean, float* scale, const float* x, const float* gain, const float* bias,
                int rows, int width, cudaStream_t stream);
// d_x = d_residual + what flows back through the norm
void layer_norm_backward(float* d_x, const float* d_residual, const float* d_out, const float* x,
                         const float* mean, const float* scale, const float* gain, int rows, int width,
                         cudaStream_t stream);
void layer_norm_backward_parameters(float* d_gain, float* d_bias, const float* d_out, const float* x,
                                    const float* mean, const float* scale, int rows, int width,
                                    cudaStream_t stream);

// Causal attention of one sequence of the batch. Rows of qkv hold query, key and value one after another;
// probabilities are [heads][sequence][sequence].
void attention(float* out, float* probabilities, const float* qkv, Shape shape, cudaStream_t stream);
// d_scores is scratch of the size of the probabilities.
void attention_backward(float* d_qkv, float* d_scores, const float* d_out, const float* probabilities,
                        const float* qkv, Shape shape, cudaStream_t stream);

void gelu(float* out, const float* x, int count, cudaStream_t stream);
void gelu_backward(float* d_x, const float* d_out, const float* x, int count, cudaStream_t stream);

void add(float* out, const float* a, const float* b, int count, cudaStream_t stream);

// losses[row] = -log softmax(logits[row])[targets[row]], and its gradient, divided by the number of rows.
void cross_entropy(float* losses, float* d_logits, const float* logits, const int* targets, int rows,
                   int vocabulary, cudaStream_t stream);
// out[0] = the mean
void mean(float* out, const float* values, int count, cudaStream_t stream);

struct AdamW {
  float learning_rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.99F;
  float epsilon = 1e-8F;
  float decay = 0.0F;
  // 1 - beta^step
  float correction1 = 1.0F;
  float correction2 = 1.0F;
};
void adamw(float* value, float* first_moment, float* second_moment, const float* gradient, int count,
           AdamW settings, cudaStream_t stream);

}  // namespace gpt
