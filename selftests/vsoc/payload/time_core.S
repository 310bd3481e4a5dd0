/* SPDX-License-Identifier: GPL-2.0-only */
/* timestamps from the clock of the core. */
# only: instruction counter
# only: blocks
# options: -global ntrace-encoder.timestamps=all
# check: core_time
# value: control 0x30008033
	.set	TS, 0x6000000
	.set	TS_MODE, 3
	.set	ENCODER_MODE, 3
	.include "trace.S"
	.include "timed.S"
