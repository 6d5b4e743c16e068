// What glibc 2.34 took into libc from libpthread.so.0, under the versions it has had since before 2.28. The preload is
// linked against this, so that it asks for those versions, which all later releases still answer. Never loaded.
#include "moved.inc"

  .text
  moved __pthread_key_create, 2.2.5
  moved pthread_create, 2.2.5
  moved pthread_join, 2.2.5
  moved pthread_once, 2.2.5
  moved pthread_rwlock_rdlock, 2.2.5
  moved pthread_rwlock_unlock, 2.2.5
  moved pthread_rwlock_wrlock, 2.2.5
  moved pthread_setname_np, 2.12
  moved pthread_sigmask, 2.2.5

  .section .note.GNU-stack, "", @progbits
