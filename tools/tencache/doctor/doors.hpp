// `tencache doctor --doors`: what of the driver's API works, passes through, is refused. Called by doctor.
// Thread rule: one thread. Failure rule: none; it asks no driver.
#pragma once

namespace tencache::doctor {

// Gives the exit status.
int print_doors();

}  // namespace tencache::doctor
