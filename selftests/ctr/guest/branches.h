/* SPDX-License-Identifier: GPL-2.0-only */
/* What branches.c and its BPF program share. */
#ifndef BRANCHES_H
#define BRANCHES_H

/* Entries of the ring that the program reads for a sample; they are on its stack of 512 bytes. */
#define BRANCHES_MAX 16

struct branch {
	__u64 from;
	__u64 to;
};

#endif /* BRANCHES_H */
