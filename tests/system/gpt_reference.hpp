// The GPT's loss computed on the CPU in double precision, as plainly as can be: what the gradient test takes
// differences of. Called by examples_gpt_gradient_test.cpp. Thread rule: pure. Failure rule: cannot fail.
#pragma once

#include <vector>

#include "examples/gpt/model.hpp"

namespace reference {

using Values = std::vector<double>;

// `parameters` are in the order of gpt::Model::parameters().
double loss(const gpt::Configuration& configuration, const std::vector<Values>& parameters,
            const std::vector<int>& tokens, const std::vector<int>& targets);

}  // namespace reference
