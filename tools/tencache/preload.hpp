// Where libtencache.so is and how it gets into LD_PRELOAD. Called by `run` and `doctor`. Thread rule: one
// thread. Failure rule: an empty path when there is no library beside this program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tencache::command {

// The library that belongs to this program: of the same build tree or the same installation.
[[nodiscard]] std::string find_library();

// The entries of a value of LD_PRELOAD, which colons and blanks separate.
[[nodiscard]] std::vector<std::string> preload_entries(std::string_view value);

// `existing` with `library` in front, or as it is when the library is in it already under any path.
[[nodiscard]] std::string with_library(std::string_view existing, const std::string& library);

}  // namespace tencache::command
