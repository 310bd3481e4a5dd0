/* SPDX-License-Identifier: GPL-2.0-only */
/* two harts through a funnel and a second funnel. */
# only: blocks
# options: -smp 2 -machine ntrace-topology=chain
# check: sources
# flow0: start
# flow0: on0..loop0
# flow0: loop0..end0 x2000
# flow0: end0..off0
# flow0: stop
# flow1: start
# flow1: on1..loop1
# flow1: loop1..end1 x2000
# flow1: end1..off1
# flow1: stop
	.set	FUNNELS, 2
	.set	DISABLED_INPUTS, 0
	.include "two_harts.S"
