#include "tests/system/gpt_reference.hpp"

#include <algorithm>
#include <cmath>

namespace reference {
namespace {

Values linear(const Values& x, const Values& weight, const Values& bias) {
  const std::size_t outputs = bias.size();
  const std::size_t inputs = weight.size() / outputs;
  Values out(x.size() / inputs * outputs);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t row = i / outputs;
    double sum = bias[i % outputs];
    for (std::size_t k = 0; k < inputs; ++k) sum += x[row * inputs + k] * weight[k * outputs + i % outputs];
    out[i] = sum;
  }
  return out;
}

Values layer_norm(const Values& x, const Values& gain, const Values& bias) {
  const std::size_t width = gain.size();
  Values out(x.size());
  for (std::size_t start = 0; start < x.size(); start += width) {
    double mean = 0;
    double variance = 0;
    for (std::size_t i = 0; i < width; ++i) mean += x[start + i] / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i) {
      variance += (x[start + i] - mean) * (x[start + i] - mean) / static_cast<double>(width);
    }
    for (std::size_t i = 0; i < width; ++i) {
      out[start + i] = (x[start + i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i];
    }
  }
  return out;
}

// softmax of `count` values starting at `first`, in place
void softmax(double* first, std::size_t count) {
  const double largest = *std::max_element(first, first + count);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += first[i] = std::exp(first[i] - largest);
  for (std::size_t i = 0; i < count; ++i) first[i] /= sum;
}

// Adds to `out` what one query of one head gets.
void attend(const gpt::Configuration& c, const Values& qkv, int row, int head, Values& out) {
  const int head_width = c.width / c.heads;
  const int first = row / c.sequence * c.sequence;
  const auto part = [&](int token, int which) { return (token * 3 + which) * c.width + head * head_width; };
  Values scores;
  for (int key = first; key <= row; ++key) {
    double score = 0;
    for (int i = 0; i < head_width; ++i) score += qkv[part(row, 0) + i] * qkv[part(key, 1) + i];
    scores.push_back(score / std::sqrt(head_width));
  }
  softmax(scores.data(), scores.size());
  for (int key = first; key <= row; ++key) {
    for (int i = 0; i < head_width; ++i) {
      out[row * c.width + head * head_width + i] += scores[key - first] * qkv[part(key, 2) + i];
    }
  }
}

Values attention(const gpt::Configuration& c, const Values& qkv) {
  Values out(qkv.size() / 3);
  for (int row = 0; row < c.batch * c.sequence; ++row) {
    for (int head = 0; head < c.heads; ++head) attend(c, qkv, row, head, out);
  }
  return out;
}

Values gelu(Values x) {
  for (double& value : x) {
    value = 0.5 * value * (1 + std::tanh(std::sqrt(2 / M_PI) * (value + 0.044715 * value * value * value)));
  }
  return x;
}

Values sum(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

Values embed(const gpt::Configuration& c, const Values& token_table, const Values& position_table,
             const std::vector<int>& tokens) {
  Values out;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    for (int i = 0; i < c.width; ++i) {
      out.push_back(token_table[tokens[row] * c.width + i] +
                    position_table[static_cast<int>(row) % c.sequence * c.width + i]);
    }
  }
  return out;
}

}  // namespace

double loss(const gpt::Configuration& c, const std::vector<Values>& parameters,
            const std::vector<int>& tokens, const std::vector<int>& targets) {
  Values x = embed(c, parameters[0], parameters[1], tokens);
  auto next = parameters.begin() + 2;
  const auto pair = [&](auto function, const Values& input) {
    next += 2;
    return function(input, next[-2], next[-1]);
  };
  for (int layer = 0; layer < c.layers; ++layer) {
    const Values attended = attention(c, pair(linear, pair(layer_norm, x)));
    x = sum(x, pair(linear, attended));
    const Values up = gelu(pair(linear, pair(layer_norm, x)));
    x = sum(x, pair(linear, up));
  }
  Values logits = pair(linear, pair(layer_norm, x));
  const auto vocabulary = static_cast<std::size_t>(c.vocabulary);
  double total = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    softmax(&logits[row * vocabulary], vocabulary);
    total -= std::log(logits[row * vocabulary + static_cast<std::size_t>(targets[row])]);
  }
  return total / static_cast<double>(targets.size());
}

}  // namespace reference
