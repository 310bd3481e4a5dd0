/* SPDX-License-Identifier: GPL-2.0-only */
/* ECALL and EBREAK do not retire. */
# flow: start
# flow: on..call
# flow: exception
# flow: handler..handler_end
# flow: after..break
# flow: exception
# flow: handler..handler_end
# flow: after2..illegal
# flow: exception
# flow: handler..handler_end
# flow: after3..off
# flow: stop
	.include "trace.S"
main:
	trace_start
on:	nop
call:	ecall
after:	nop
	nop
	.option	push
	.option	norvc
break:	ebreak
after2:	nop
illegal:
	.word	0xffffffff
after3:	nop
	.option	pop
	trace_stop
off:	j	finish
