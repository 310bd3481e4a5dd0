/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Definitions shared by the exports of counts: all of them are sums over the traces of a profile.
 */
#ifndef NTRACE_EXPORT_COUNTS_H
#define NTRACE_EXPORT_COUNTS_H

#include <ntrace/export.h>

/* A pair of addresses with a count. @to is 0 in ranges. */
struct sum {
	uint64_t from;
	uint64_t to;
	uint64_t count;
};

/* The sums of one kind for one object. */
struct sums {
	struct sum *items;
	size_t count;
};

/*
 * @traces: traces of the whole profile
 * @object: the object to describe; NULL = all
 */
struct counts_export {
	FILE *file;
	const struct ntrace_profile_trace *traces;
	size_t count;
	const struct ntrace_object *object;
	struct ntrace_export_counts counts;
};

/* Whether a trace counts in one kind of sums; fills in @sum. */
typedef bool (*sum_of_fn)(const struct counts_export *export,
			  const struct ntrace_profile_trace *trace, struct sum *sum);

/* Runs of instructions within the object, both ends inclusive. */
bool range_of(const struct counts_export *export, const struct ntrace_profile_trace *trace,
	      struct sum *sum);

/* Transfers within the object. */
bool branch_of(const struct counts_export *export, const struct ntrace_profile_trace *trace,
	       struct sum *sum);

/*
 * Adds up the traces of one kind by addresses; the caller frees @sums->items. Return: 0 or
 * NTRACE_ERR_NOMEM.
 */
int collect_sums(struct sums *sums, const struct counts_export *export, sum_of_fn of);

/*
 * Writes ranges, then branches: a line with their number, then a line for each sum with both
 * addresses minus @base. @addresses: write an empty section of single addresses in between.
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
int put_ranges_and_branches(const struct counts_export *export, uint64_t base, bool addresses);

/* Whether a trace begins or ends in the object. */
bool is_of_object(const struct counts_export *export, const struct ntrace_profile_trace *trace);

/* The formats, one per file. Return: 0 or NTRACE_ERR_NOMEM. */
int put_autofdo(const struct counts_export *export);
int put_profgen(const struct counts_export *export);
int put_bolt(const struct counts_export *export);
int put_bolt_bf(const struct counts_export *export);
int put_csv(const struct counts_export *export);
int put_json(const struct counts_export *export);

#endif
