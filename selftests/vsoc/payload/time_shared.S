/* SPDX-License-Identifier: GPL-2.0-only */
/* timestamps from the clock of a funnel. */
# only: instruction counter
# only: blocks
# options: -machine ntrace-topology=funnel -global ntrace-encoder.timestamps=all
# check: system_time
# value: control 0x30008041
	.set	TS, 0x6080000
	.set	TS_MODE, 2
	.set	ENCODER_MODE, 4
	.include "trace.S"
	.include "timed.S"
