/* SPDX-License-Identifier: GPL-2.0-only */
/* an encoder that loses a message every 100 bytes. */
# only: instruction counter
# only: blocks
# options: -global ntrace-encoder.fault=drop -global ntrace-encoder.fault-drop=100
# check: losses
# value: status 0x1000
	.set	CONTROL_BITS, 0
	.include "trace.S"
	.include "jumps.S"
