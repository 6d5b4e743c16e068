// The text the GPT learns, as tokens, and batches drawn from it. Called by main. Thread rule: one thread.
// Failure rule: cannot fail.
#pragma once

#include <string>
#include <vector>

#include "examples/common/random.hpp"

namespace gpt {

// Each character that occurs in the text is a token, numbered in the order of the characters' codes.
class Text {
 public:
  explicit Text(const std::string& characters);

  [[nodiscard]] int vocabulary() const { return vocabulary_; }

  // `batch` pieces of the text, `sequence` tokens each, and the token that follows each token.
  struct Batch {
    std::vector<int> tokens;
    std::vector<int> targets;
  };
  [[nodiscard]] Batch draw(int batch, int sequence, examples::Random& random) const;

 private:
  std::vector<int> tokens_;
  int vocabulary_ = 0;
};

}  // namespace gpt
