/* SPDX-License-Identifier: GPL-2.0-only */
/* a K3: harts of two clusters, into a buffer of pages. */
# options: -smp 8 -machine ntrace-topology=k3
# only: blocks
# only: instruction counter
# check: k3
# value: status 0xc
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
	.set	OTHER, 4
	.set	SCATTER, 1
	.include "k3_path.S"
