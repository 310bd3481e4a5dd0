/* SPDX-License-Identifier: GPL-2.0-only */
/* of two harts DisInput lets one through. */
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
