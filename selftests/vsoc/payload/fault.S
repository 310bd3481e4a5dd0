/* SPDX-License-Identifier: GPL-2.0-only */
/* a fault in the middle of a block cuts it. First one that the memory bus raises, then one of the PMP. */
# flow: start
# flow: on..bad
# flow: exception
# flow: handler..handler_end
# flow: after..bad2
# flow: exception
# flow: handler..handler_end
# flow: after2..off
# flow: stop
	.include "trace.S"
main:
	la	t1, locked
	srli	t1, t1, 2
	addi	t1, t1, 0x1f
	csrw	pmpaddr0, t1
	li	t1, 0x98
	csrw	pmpcfg0, t1
	la	t2, locked
	li	t1, 0x8000000
	trace_start
on:	nop
	addi	t3, zero, 1
	addi	t3, zero, 2
	.option	push
	.option	norvc
bad:	lw	t4, 0(t1)
after:	addi	t3, zero, 3
	nop
bad2:	sw	t4, 0(t2)
after2:	addi	t3, zero, 4
	.option	pop
	nop
	trace_stop
off:	j	finish
	.bss
	.balign	4096
locked:	.space	4096
	.text
