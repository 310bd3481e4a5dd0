/* SPDX-License-Identifier: GPL-2.0-only */
/* every kind of transfer. Calls, returns, co-routine swaps, tail jumps, a jump table, history over its register. */
# flow: start
# flow: on..c1
# flow: g..g_end
# flow: c1..c2
# flow: g..g_end
# flow: c2..c3
# flow: g5..g5_end
# flow: c3..c4
# flow: swap..swap_end
# flow: c4..c5
# flow: c6..many
# flow: many..many_end x100
# flow: many_end..off
# flow: stop
	.include "trace.S"
main:
	li	t4, 100
	trace_start
on:	jal	g
c1:	la	t1, g
	jalr	t1
c2:	la	t1, g5
	jalr	t0, t1
c3:	la	t1, swap
	jalr	t0, t1
c4:	la	t1, c6
	jr	t1
c5:	nop
c6:	jal	t2, 1f
1:	auipc	t1, 0
	jalr	t2, 8(t1)
	li	t0, 0
many:	addi	t4, t4, -1
	andi	t3, t4, 3
	bnez	t3, 1f
1:	blt	t3, t4, 2f
2:	bnez	t4, many
many_end:
	nop
	trace_stop
off:	j	finish
g:	nop
	ret
g_end:
g5:	nop
	jr	t0
g5_end:
	/* jalr ra, 0(t0) with a link register on both sides */
swap:	nop
	jalr	ra, 0(t0)
swap_end:
