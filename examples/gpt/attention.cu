#include "examples/common/check.hpp"
#include "examples/gpt/kernels.hpp"
#include "examples/gpt/warp.cuh"

namespace gpt {
namespace {

// One warp a token and head. Which part of a row of qkv, and where a head's piece starts in it:
enum Part { kQuery, kKey, kValue };

struct Head {
  int sequence;
  int width;
  int head_width;
  int head;

  __device__ int qkv(int token, Part part) const {
    return token * 3 * width + part * width + head * head_width;
  }
  __device__ int out(int token) const { return token * width + head * head_width; }
  __device__ int probability(int query, int key) const { return (head * sequence + query) * sequence + key; }
};

__device__ Head this_head(int sequence, int width, int heads) {
  return {sequence, width, width / heads, static_cast<int>(blockIdx.y)};
}

__device__ float dot(const float* a, const float* b, int count) {
  float sum = 0.0F;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

__global__ void attention_kernel(float* out, float* probabilities, const float* qkv, int sequence, int width,
                                 int heads) {
  const Head head = this_head(sequence, width, heads);
  const int query = blockIdx.x;
  const float scale = 1.0F / sqrtf(static_cast<float>(head.head_width));
  float largest = -INFINITY;
  for (int key = threadIdx.x; key <= query; key += kWarp) {
    const float score =
        dot(qkv + head.qkv(query, kQuery), qkv + head.qkv(key, kKey), head.head_width) * scale;
    probabilities[head.probability(query, key)] = score;
    largest = fmaxf(largest, score);
  }
  largest = warp_max(largest);
  float sum = 0.0F;
  for (int key = threadIdx.x; key <= query; key += kWarp) {
    const float power = expf(probabilities[head.probability(query, key)] - largest);
    probabilities[head.probability(query, key)] = power;
    sum += power;
  }
  sum = warp_sum(sum);
  for (int key = threadIdx.x; key < sequence; key += kWarp) {
    float& probability = probabilities[head.probability(query, key)];
    probability = key <= query ? probability / sum : 0.0F;
  }
  __syncwarp();
  for (int i = threadIdx.x; i < head.head_width; i += kWarp) {
    float value = 0.0F;
    for (int key = 0; key <= query; ++key) {
      value += probabilities[head.probability(query, key)] * qkv[head.qkv(key, kValue) + i];
    }
    out[head.out(query) + i] = value;
  }
}

// Of one query: the gradients of its scores, and of the query itself.
__global__ void attention_backward_query_kernel(float* d_qkv, float* d_scores, const float* d_out,
                                                const float* probabilities, const float* qkv, int sequence,
                                                int width, int heads) {
  const Head head = this_head(sequence, width, heads);
  const int query = blockIdx.x;
  const float scale = 1.0F / sqrtf(static_cast<float>(head.head_width));
  float sum = 0.0F;
  for (int key = threadIdx.x; key <= query; key += kWarp) {
    const float d = dot(d_out + head.out(query), qkv + head.qkv(key, kValue), head.head_width);
    d_scores[head.probability(query, key)] = d;
    sum += d * probabilities[head.probability(query, key)];
  }
  sum = warp_sum(sum);
  for (int key = threadIdx.x; key < sequence; key += kWarp) {
    float& d_score = d_scores[head.probability(query, key)];
    d_score = key <= query ? (d_score - sum) * probabilities[head.probability(query, key)] * scale : 0.0F;
  }
  __syncwarp();
  for (int i = threadIdx.x; i < head.head_width; i += kWarp) {
    float d = 0.0F;
    for (int key = 0; key <= query; ++key) {
      d += d_scores[head.probability(query, key)] * qkv[head.qkv(key, kKey) + i];
    }
    d_qkv[head.qkv(query, kQuery) + i] = d;
  }
}

// Of one token: the gradients of its key and value, from all queries that saw it.
__global__ void attention_backward_key_kernel(float* d_qkv, const float* d_scores, const float* d_out,
                                              const float* probabilities, const float* qkv, int sequence,
                                              int width, int heads) {
  const Head head = this_head(sequence, width, heads);
  const int key = blockIdx.x;
  for (int i = threadIdx.x; i < head.head_width; i += kWarp) {
    float d_key = 0.0F;
    float d_value = 0.0F;
    for (int query = key; query < sequence; ++query) {
      d_key += d_scores[head.probability(query, key)] * qkv[head.qkv(query, kQuery) + i];
      d_value += probabilities[head.probability(query, key)] * d_out[head.out(query) + i];
    }
    d_qkv[head.qkv(key, kKey) + i] = d_key;
    d_qkv[head.qkv(key, kValue) + i] = d_value;
  }
}

dim3 grid(Shape shape) { return dim3(shape.sequence, shape.heads); }

}  // namespace

void attention(float* out, float* probabilities, const float* qkv, Shape shape, cudaStream_t stream) {
  attention_kernel<<<grid(shape), kWarp, 0, stream>>>(out, probabilities, qkv, shape.sequence, shape.width,
                                                      shape.heads);
  examples::launched("attention");
}

void attention_backward(float* d_qkv, float* d_scores, const float* d_out, const float* probabilities,
                        const float* qkv, Shape shape, cudaStream_t stream) {
  attention_backward_query_kernel<<<grid(shape), kWarp, 0, stream>>>(
      d_qkv, d_scores, d_out, probabilities, qkv, shape.sequence, shape.width, shape.heads);
  examples::launched("attention_backward_query");
  attention_backward_key_kernel<<<grid(shape), kWarp, 0, stream>>>(d_qkv, d_scores, d_out, probabilities, qkv,
                                                                   shape.sequence, shape.width, shape.heads);
  examples::launched("attention_backward_key");
}

}  // namespace gpt
