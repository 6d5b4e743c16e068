// As libpthread.S: what was in libdl.so.2.
  .macro moved name, version
  .globl older_\name
  .type older_\name, @function
  .symver older_\name, \name@@GLIBC_\version
older_\name:
  .endm

  .text
  moved dladdr, 2.2.5
  moved dlopen, 2.2.5

  .section .note.GNU-stack, "", @progbits
