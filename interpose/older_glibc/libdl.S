// As libpthread.S: what was in libdl.so.2.
#include "moved.inc"

  .text
  moved dladdr, 2.2.5
  moved dlopen, 2.2.5

  .section .note.GNU-stack, "", @progbits
