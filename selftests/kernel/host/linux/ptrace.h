/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PTRACE_H
#define HOST_LINUX_PTRACE_H

/* Defined by the test, with what it needs of registers. */
struct pt_regs;
unsigned long user_stack_pointer(struct pt_regs *regs);

#endif /* HOST_LINUX_PTRACE_H */
