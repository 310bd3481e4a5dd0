/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * more trace than the bandwidth of the encoder; the hart stalls, and nothing is
 * lost.
 */
# only: instruction counter
# only: blocks
# options: -global ntrace-encoder.bandwidth=100
# flow: start
# flow: on..loop
# flow: loop..end x1000
# flow: end..off
# flow: stop
# value: status 0x1000
# value: cleared 0
	.set	CONTROL_BITS, 0x2000
	.include "trace.S"
	.include "jumps.S"
