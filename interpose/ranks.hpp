// Whether this process is one of several that train together, by what their launchers (torchrun, MPI) leave
// in the environment. Called by the preload's constructor and by the first cuInit. Thread rule: from those
// alone. Failure rule: what is no number counts as not there.
#pragma once

namespace tencache::interpose {

// The variable that says that there is more than one rank; null where none does.
[[nodiscard]] const char* variable_of_several_ranks() noexcept;
// The one rank of a job that speaks for all.
[[nodiscard]] bool is_first_rank() noexcept;

}  // namespace tencache::interpose
