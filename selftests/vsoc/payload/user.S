/* SPDX-License-Identifier: GPL-2.0-only */
	.include "paging.S"

/* Enters U-mode, with all memory accessible. */
	.macro	enter_user
	open_memory
	li	t0, 0x1800
	csrc	mstatus, t0
	la	t0, 1f
	csrw	mepc, t0
	mret
1:
	.endm
