/* SPDX-License-Identifier: GPL-2.0-only */
/* Enters U-mode, with all memory accessible. */
	.macro	enter_user
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	li	t0, 0x1800
	csrc	mstatus, t0
	la	t0, 1f
	csrw	mepc, t0
	mret
1:
	.endm
