/* SPDX-License-Identifier: GPL-2.0-only */
/* a filter with a comparator: only one function is traced. */
# only: one instruction per block
# only: blocks
# flow: start
# flow: f..f_end
# flow: stop
# flow: start
# flow: f..f_end
# flow: stop
# flow: start
# flow: f..f_end
# flow: stop
	.include "trace.S"
main:
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	/* f <= iaddr < f_end */
	la	t0, f
	sw	t0, 0x610(s0)
	la	t0, f_end
	sw	t0, 0x618(s0)
	li	t0, 1 << 12 | 2 << 8 | 5 << 4
	sw	t0, 0x600(s0)
	li	t0, 1 << 4 | 1
	sw	t0, 0x400(s0)
	li	t0, 1
	sw	t0, 0xc(s0)
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	trace_start
	li	t3, 3
1:	jal	f
	nop
	addi	t3, t3, -1
	bnez	t3, 1b
	trace_stop
	j	finish
f:	li	t1, 2
2:	addi	t1, t1, -1
	beqz	t1, 3f
	nop
3:	ret
f_end:
