/* SPDX-License-Identifier: GPL-2.0-only */
/* timestamps from the clock of the system. */
# only: instruction counter
# only: blocks
# options: -global ntrace-encoder.timestamp-bits=63 -global ntrace-encoder.timestamps=all
# check: system_time
# value: control 0x3f008023
	.set	TS, 0x6000000
	.set	TS_MODE, 2
	.set	ENCODER_MODE, 2
	.include "trace.S"
	.include "timed.S"
