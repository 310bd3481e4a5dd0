/* SPDX-License-Identifier: GPL-2.0-only */
/* the first traced instruction traps, the first of its handler as well. U-mode calls S-mode, which calls M-mode. */
# flow: start
# flow: exception
# flow: exception
# flow: handler..handler_end
# flow: first_again..first_end
# flow: off..end
# flow: stop
	.include "trace.S"
	.include "user.S"
main:
	la	t1, first
	csrw	stvec, t1
	li	t1, 0x100
	csrw	medeleg, t1
	enter_user
	trace_start
on:	ecall
off:	trace_stop
end:	j	finish
	.balign	4
first:	ecall
first_again:
	la	t1, off
	csrw	sepc, t1
	sret
first_end:
