/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * a filter by cause: only the handling of an ECALL is traced, from trap to
 * return.
 */
# only: one instruction per block
# only: blocks
# flow: start
# flow: handler..handler_end
# flow: stop
# flow: start
# flow: handler..handler_end
# flow: stop
	.include "trace.S"
main:
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	li	t0, 1 << 11
	sw	t0, 0x408(s0)
	li	t0, 1 << 2 | 1
	sw	t0, 0x400(s0)
	li	t0, 1
	sw	t0, 0xc(s0)
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	trace_start
	nop
	ecall
	.option	push
	.option	norvc
	ebreak
	.option	pop
	nop
	ecall
	nop
	trace_stop
	j	finish
