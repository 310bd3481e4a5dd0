/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of Control Transfer Records as text: a line per entry, "INDEX SOURCE TARGET DATA",
 * the logical index in decimal and the three registers in hexadecimal.
 */
#ifndef NTRACE_TOOL_CTR_RING_H
#define NTRACE_TOOL_CTR_RING_H

#include <ntrace/ctr.h>

#include "common/output.h"

/**
 * struct ctr_ring - entries in logical order
 * @path: as given
 * @entries: greatest index + 1
 * @present: the entry is in the file
 */
struct ctr_ring {
	const char *path;
	unsigned int entries;
	bool present[NTRACE_CTR_ENTRIES_MAX];
	struct ntrace_ctr_entry entry[NTRACE_CTR_ENTRIES_MAX];
};

/** ctr_ring_read - "-" is standard input. Return: EXIT_OK, or EXIT_FAILED after an error message */
int ctr_ring_read(struct ctr_ring *ring, const char *path);

/** ctr_ring_write - write the ring of a model for ctr_ring_read(), with a comment on its registers */
void ctr_ring_write(struct output *output, const struct ntrace_ctr_model *model);

#endif /* NTRACE_TOOL_CTR_RING_H */
