/* SPDX-License-Identifier: GPL-2.0-only */
/* blocks with faults at power-up, which the fault register then removes. */
# only: htm
# only: blocks
# options: -smp 2 -global ntrace-encoder.fault=newer-minor@1 -global ntrace-ram-sink.fault=no-empty@1+wrong-type
# check: values
# value: impl0 0x00010101
# value: impl1 0x00010111
# value: sink0 0x00002f01
# value: control1 0x11
# value: faults1 0x9
# value: mended 0x19
# value: mended_impl 0x00002901
	.include "trace.S"
	.macro	note register, name
	la	t1, \name
	sd	\register, 0(t1)
	.endm
	.macro	read base, offset, name
	lw	t0, \offset(\base)
	note	t0, \name
	.endm
main:
	li	t0, 0x1000
	add	s2, s0, t0
	add	s3, s1, t0
	li	t0, 1
	sw	t0, 0(s2)
	sw	t0, 0(s3)
	read	s0, 4, impl0
	read	s2, 4, impl1
	read	s1, 4, sink0
	read	s3, 0, control1
	li	t0, 0xe00
	add	s4, s3, t0
	read	s4, 0, faults1
	sw	zero, 0(s4)
	read	s3, 0, mended
	read	s3, 4, mended_impl
	j	finish
	.data
	.balign	8
impl0:	.dword	-1
impl1:	.dword	-1
sink0:	.dword	-1
control1: .dword -1
faults1: .dword	-1
mended:	.dword	-1
mended_impl: .dword -1
	.text
