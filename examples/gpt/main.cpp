// Trains a small GPT on the text shipped with it. Prints every step's loss, a checksum of all parameters, and
// the most device memory it held at a time.
#include <cstdio>
#include <cstdlib>

#include "examples/common/check.hpp"
#include "examples/common/options.hpp"
#include "examples/gpt/model.hpp"
#include "examples/gpt/text.hpp"

extern "C" const char gpt_text[];

namespace {

using gpt::Model;

// Tokens on the device. Small next to the tensors; not counted.
class DeviceTokens {
 public:
  explicit DeviceTokens(std::size_t count) {
    examples::check(cudaMalloc(&data_, count * sizeof(int)), "cudaMalloc");
  }
  DeviceTokens(const DeviceTokens&) = delete;
  DeviceTokens& operator=(const DeviceTokens&) = delete;
  ~DeviceTokens() { examples::check(cudaFree(data_), "cudaFree"); }

  void set(const std::vector<int>& tokens) {
    examples::check(cudaMemcpy(data_, tokens.data(), tokens.size() * sizeof(int), cudaMemcpyHostToDevice),
                    "cudaMemcpy");
  }
  [[nodiscard]] const int* data() const { return data_; }

 private:
  int* data_ = nullptr;
};

struct Training {
  gpt::Configuration configuration;
  int steps = 6;
  int seed = 1;
  int streams = 1;
};

void train(const Training& training, const gpt::Text& text, Model& model, examples::Random& random) {
  const gpt::Configuration& configuration = training.configuration;
  const auto count = static_cast<std::size_t>(configuration.batch) * configuration.sequence;
  DeviceTokens tokens(count);
  DeviceTokens targets(count);
  for (int step = 1; step <= training.steps; ++step) {
    const gpt::Text::Batch batch = text.draw(configuration.batch, configuration.sequence, random);
    tokens.set(batch.tokens);
    targets.set(batch.targets);
    const double loss = model.step(tokens.data(), targets.data());
    std::printf("step %d loss %.6f %a\n", step, loss, loss);
    std::fflush(stdout);
    model.update(step);
  }
}

void print_result(Model& model) {
  unsigned long long sum = examples::kChecksumStart;
  std::size_t count = 0;
  for (const gpt::Parameter* parameter : model.parameters()) {
    sum = examples::checksum(parameter->value.to_host(), sum);
    count += parameter->value.count();
  }
  std::printf("parameters %zu checksum %016llx\n", count, sum);
  std::printf("peak live bytes %zu\n", examples::peak_live_bytes());
}

}  // namespace

int main(int argc, char** argv) {
  Training training;
  gpt::Configuration& configuration = training.configuration;
  examples::parse_options(argc, argv,
                          {{"width", &configuration.width, "numbers a token is represented by"},
                           {"layers", &configuration.layers, "transformer layers"},
                           {"heads", &configuration.heads, "attention heads, a divisor of the width"},
                           {"batch", &configuration.batch, "sequences a step"},
                           {"sequence", &configuration.sequence, "tokens a sequence"},
                           {"steps", &training.steps, "training steps"},
                           {"seed", &training.seed, "of the parameters and the batches"},
                           {"streams", &training.streams, "streams that independent work is spread over"}});
  if (configuration.width % configuration.heads != 0) {
    std::fprintf(stderr, "%s: the width must be a multiple of the heads\n", argv[0]);
    return EXIT_FAILURE;
  }
  const gpt::Text text(gpt_text);
  configuration.vocabulary = text.vocabulary();
  examples::Random random(static_cast<unsigned>(training.seed));
  examples::Streams streams(training.streams);
  Model model(configuration, random, streams);
  train(training, text, model, random);
  streams.synchronize();
  print_result(model);
  return EXIT_SUCCESS;
}
