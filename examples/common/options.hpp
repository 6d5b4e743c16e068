// Command line options of the examples: `--name number`, from one table a program. Called by each main.
// Thread rule: before any other thread. Failure rule: an unknown name or a bad number prints the usage and
// ends with code 1.
#pragma once

#include <vector>

namespace examples {

struct Option {
  const char* name;
  int* value;
  const char* help;
};

void parse_options(int argc, char** argv, const std::vector<Option>& options);

}  // namespace examples
