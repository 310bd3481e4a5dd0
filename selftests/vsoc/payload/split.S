/* SPDX-License-Identifier: GPL-2.0-only */
/* DisInput lets the messages of only one of two harts pass. */
# only: blocks
# options: -smp 2 -machine ntrace-topology=split
# check: sources
# flow0: start
# flow0: on0..loop0
# flow0: loop0..end0 x2000
# flow0: end0..off0
# flow0: stop
	.set	FUNNELS, 1
	.set	DISABLED_INPUTS, 2
	.include "two_harts.S"
