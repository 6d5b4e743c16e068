// An engine for tests of the device and the driver: kernels are names of behaviours, not code. Linked by
// tests instead of the real engine. The 'PTX' is one line a thing: `kernel NAME SIZE SIZE...` (its
// parameters) or `global NAME SIZE [text]`. Thread rule: as engine.hpp. Failure rule: an unknown line fails
// to compile.
//
//   store ADDRESS VALUE        writes a 32-bit word            copy TO FROM     copies a 32-bit word
//   add ADDRESS VALUE          adds to a 32-bit word           spin ADDRESS     until the word is not 0
//   work COUNT                 claims lane instructions        say              prints its name
//   fail                       traps                           check            asserts
//   read_all ADDRESS WORDS     reads each of the words
#pragma once
