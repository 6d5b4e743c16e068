#include "examples/gpt/text.hpp"

#include <map>

namespace gpt {

Text::Text(const std::string& characters) {
  std::map<char, int> numbers;
  for (const char c : characters) numbers[c] = 0;
  for (auto& [c, number] : numbers) number = vocabulary_++;
  for (const char c : characters) tokens_.push_back(numbers[c]);
}

Text::Batch Text::draw(int batch, int sequence, examples::Random& random) const {
  Batch drawn;
  for (int b = 0; b < batch; ++b) {
    const auto start =
        static_cast<long>(random.next() % (tokens_.size() - static_cast<std::size_t>(sequence)));
    const auto first = tokens_.begin() + start;
    drawn.tokens.insert(drawn.tokens.end(), first, first + sequence);
    drawn.targets.insert(drawn.targets.end(), first + 1, first + sequence + 1);
  }
  return drawn;
}

}  // namespace gpt
