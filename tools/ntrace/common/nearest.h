/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "Did you mean ...?": the name that is nearest to what the user wrote, if it is near enough to be a
 * typing error.
 */
#ifndef NTRACE_TOOL_COMMON_NEAREST_H
#define NTRACE_TOOL_COMMON_NEAREST_H

#include <stddef.h>

/**
 * struct nearest - the nearest name so far
 * @wanted: what was written, @length bytes
 * @name: the name; NULL: none is near. It belongs to whoever offered it
 * @distance: number of letters that differ
 */
struct nearest {
	const char *wanted;
	size_t length;
	const char *name;
	size_t distance;
};

/* @length: of @wanted, which need not end there. */
struct nearest nearest_to(const char *wanted, size_t length);

/* The first of equally near names stays. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
