/* What the program's calls arrive at: one entry per driver symbol, and dlsym and dlvsym.

   An entry is a jump through its slot, after counting where the table says so. A slot holds the door, or the
   driver's own function, or, before the first driver call, a lazy entry: that one saves the arguments, has all
   slots filled and then makes the call, which sees the caller's stack as it was.

   dlsym and dlvsym ask which function is to answer and jump to it with the caller's return address in place:
   RTLD_NEXT and RTLD_DEFAULT depend on that address. */

#ifndef __x86_64__
#error "the trampolines are written for x86-64"
#endif

#define ENTRY_COUNT 637  /* checked against the table by preload.cpp */

  .hidden tencache_slots
  .hidden tencache_counts
  .hidden tencache_entries
  .hidden tencache_resolve
  .hidden tencache_dlsym_for
  .hidden tencache_dlvsym_for

  .macro ENTRY index, name, counted
  .text
  .balign 32
  .globl \name
  .type \name, @function
\name:
  endbr64
  .if \counted
  incq tencache_counts + 8 * \index(%rip)
  .endif
  jmp *tencache_slots + 8 * \index(%rip)
  .size \name, . - \name

  .section .text.tencache_lazy, "ax", @progbits
  .balign 16
1:
  endbr64
  pushq $\index
  jmp .Lresolve

  .section .data.rel.tencache_slots, "aw", @progbits
  .quad 1b
  .endm

  .section .data.rel.tencache_slots, "aw", @progbits
  .balign 64
  .globl tencache_slots
tencache_slots:

  .bss
  .balign 64
  .globl tencache_counts
tencache_counts:
  .zero 8 * ENTRY_COUNT

  .text
  .balign 32
  .globl tencache_entries
tencache_entries:

#include "interpose/entries.gen.inc"

  .section .text.tencache_lazy, "ax", @progbits
  .type .Lresolve, @function
.Lresolve:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  pushq %rax
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  .cfi_adjust_cfa_offset 56
  subq $72, %rsp
  .cfi_adjust_cfa_offset 72
  movsd %xmm0, (%rsp)
  movsd %xmm1, 8(%rsp)
  movsd %xmm2, 16(%rsp)
  movsd %xmm3, 24(%rsp)
  movsd %xmm4, 32(%rsp)
  movsd %xmm5, 40(%rsp)
  movsd %xmm6, 48(%rsp)
  movsd %xmm7, 56(%rsp)
  movq 128(%rsp), %rdi
  call tencache_resolve
  movq %rax, %r11
  movsd (%rsp), %xmm0
  movsd 8(%rsp), %xmm1
  movsd 16(%rsp), %xmm2
  movsd 24(%rsp), %xmm3
  movsd 32(%rsp), %xmm4
  movsd 40(%rsp), %xmm5
  movsd 48(%rsp), %xmm6
  movsd 56(%rsp), %xmm7
  addq $72, %rsp
  .cfi_adjust_cfa_offset -72
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rax
  .cfi_adjust_cfa_offset -56
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  jmp *%r11
  .cfi_endproc

  .macro LOOK_UP name, chooser
  .text
  .balign 16
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  pushq %rdi
  pushq %rsi
  pushq %rdx
  .cfi_adjust_cfa_offset 24
  call \chooser
  popq %rdx
  popq %rsi
  popq %rdi
  .cfi_adjust_cfa_offset -24
  jmp *%rax
  .cfi_endproc
  .size \name, . - \name
  .globl \name
  .endm

  LOOK_UP tencache_dlsym, tencache_dlsym_for
  LOOK_UP tencache_dlvsym, tencache_dlvsym_for

  .set tencache_dlsym_old, tencache_dlsym
  .set tencache_dlvsym_old, tencache_dlvsym
  .globl tencache_dlsym_old
  .globl tencache_dlvsym_old
  .symver tencache_dlsym_old, dlsym@GLIBC_2.2.5
  .symver tencache_dlsym, dlsym@@GLIBC_2.34
  .symver tencache_dlvsym_old, dlvsym@GLIBC_2.2.5
  .symver tencache_dlvsym, dlvsym@@GLIBC_2.34

  .section .note.GNU-stack, "", @progbits
