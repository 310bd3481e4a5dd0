/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An encoder makes the same mistake in each message of a kind: ntrace check shows the first finding of
 * a kind and counts the others. A kind is the rule, SRC, and TCODE or address.
 */
#ifndef NTRACE_TOOL_STREAM_CHECK_KINDS_H
#define NTRACE_TOOL_STREAM_CHECK_KINDS_H

#include <stdbool.h>

#include <ntrace/check.h>

/* More kinds than this may be shown more than once. */
#define CHECK_KINDS 1024

/**
 * struct check_kind - findings of one kind
 * @first: the finding that was shown; rule is NULL: an unused entry
 * @more: number of later ones
 * @last: offset of the last one
 */
struct check_kind {
	struct ntrace_check_finding first;
	uint64_t more;
	uint64_t last;
};

struct check_kinds {
	struct check_kind kinds[CHECK_KINDS];
};

/**
 * check_kinds_take - count a finding
 * @replaced: set to a kind that made room, with rule NULL if there was none
 *
 * Return: true: it is the first of its kind.
 */
bool check_kinds_take(struct check_kinds *kinds, const struct ntrace_check_finding *finding,
		      struct check_kind *replaced);

/** check_kinds_next - remove the kind that came first. Return: false: there are no more kinds. */
bool check_kinds_next(struct check_kinds *kinds, struct check_kind *kind);

#endif /* NTRACE_TOOL_STREAM_CHECK_KINDS_H */
