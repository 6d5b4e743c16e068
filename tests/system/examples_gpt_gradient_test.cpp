// The GPT's loss and every one of its gradients against differences of the CPU reference's loss, for tiny
// models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "examples/common/check.hpp"
#include "examples/gpt/model.hpp"
#include "tests/system/gpt_reference.hpp"

namespace {

using reference::Values;

constexpr double kDifference = 1e-4;
// fp32 sums of a few hundred terms against double; a wrong formula is off by far more.
constexpr double kTolerance = 2e-4;

struct DeviceTokens {
  explicit DeviceTokens(const std::vector<int>& tokens) {
    const std::size_t bytes = tokens.size() * sizeof(int);
    examples::check(cudaMalloc(&data, bytes), "cudaMalloc");
    examples::check(cudaMemcpy(data, tokens.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceTokens() { examples::check(cudaFree(data), "cudaFree"); }
  DeviceTokens(const DeviceTokens&) = delete;
  DeviceTokens& operator=(const DeviceTokens&) = delete;
  int* data = nullptr;
};

std::vector<int> draw(std::size_t count, int vocabulary, examples::Random& random) {
  std::vector<int> tokens(count);
  for (int& token : tokens) token = static_cast<int>(random.next() % static_cast<unsigned>(vocabulary));
  return tokens;
}

struct Case {
  gpt::Configuration configuration;
  int streams;
};

class GptGradient : public testing::TestWithParam<Case> {};

TEST_P(GptGradient, IsTheDifferenceQuotientOfTheReference) {
  const gpt::Configuration configuration = GetParam().configuration;
  examples::Random random(5);
  examples::Streams streams(GetParam().streams);
  gpt::Model model(configuration, random, streams);
  std::vector<Values> values;
  for (gpt::Parameter* parameter : model.parameters()) {
    // Away from the start's ones and zeros, where some mistakes would not show.
    std::vector<float> moved = parameter->value.to_host();
    for (float& value : moved) value += random.uniform(0.2F);
    parameter->value.from_host(moved);
    values.emplace_back(moved.begin(), moved.end());
  }
  const auto rows = static_cast<std::size_t>(configuration.batch) * configuration.sequence;
  const std::vector<int> tokens = draw(rows, configuration.vocabulary, random);
  const std::vector<int> targets = draw(rows, configuration.vocabulary, random);
  const auto loss = [&] { return reference::loss(configuration, values, tokens, targets); };

  const DeviceTokens device_tokens(tokens);
  const DeviceTokens device_targets(targets);
  EXPECT_NEAR(model.step(device_tokens.data, device_targets.data), loss(), kTolerance);
  for (std::size_t p = 0; p < values.size(); ++p) {
    const std::vector<float> gradient = model.parameters()[p]->gradient.to_host();
    for (std::size_t i = 0; i < values[p].size(); ++i) {
      const double value = values[p][i];
      values[p][i] = value + kDifference;
      const double above = loss();
      values[p][i] = value - kDifference;
      const double below = loss();
      values[p][i] = value;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * kDifference), kTolerance)
          << "parameter " << p << "[" << i << "]";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GptGradient,
                         testing::Values(Case{{8, 2, 2, 2, 5, 7}, 1}, Case{{12, 1, 3, 3, 4, 40}, 3},
                                         Case{{4, 1, 1, 1, 34, 5}, 2}));

}  // namespace
