/* SPDX-License-Identifier: GPL-2.0-only */
/* more trace than the bandwidth of the encoder. */
# only: instruction counter
# only: blocks
# options: -global ntrace-encoder.bandwidth=100
# check: losses
# value: status 0x1000
# value: cleared 0
	.set	CONTROL_BITS, 0
	.include "trace.S"
	.include "jumps.S"
