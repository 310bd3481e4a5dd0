/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * a filter by privilege: only U-mode is traced; M-mode runs untraced in
 * between.
 */
# flow: start
# flow: user..call
# flow: stop
# flow: start
# flow: after..call2
# flow: stop
# flow: start
# flow: after2..off
# flow: stop
	.include "trace.S"
	.include "user.S"
main:
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	li	t0, 1
	sw	t0, 0x404(s0)
	sw	t0, 0xc(s0)
	li	t0, 3
	sw	t0, 0x400(s0)
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	trace_start
	nop
	li	t1, 3
1:	addi	t1, t1, -1
	bnez	t1, 1b
	enter_user
user:	nop
	li	t1, 3
2:	nop
call:	ecall
after:	nop
	beqz	t1, 2b
call2:	ecall
after2:	nop
	trace_stop
off:	j	finish
