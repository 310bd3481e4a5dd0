/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Layout of a counts file: see Documentation/trace/counts-file.md. All numbers are little-endian. */
#ifndef NTRACE_COUNTS_FORMAT_H
#define NTRACE_COUNTS_FORMAT_H

#include <ntrace/counts_file.h>

#include "saturate.h"
#include "word.h"

/* Sizes in bytes. */
enum {
	FILE_HEADER = 16,
	RECORD_HEADER = 8,
	GROUP_FIXED = 80,	/* of a group record, after its header; then two names and a label */
	ENTRY_SIZE = 40,
	LOSSES_SIZE = 32,	/* of a losses record, after its header */
	LOSSES_SAMPLED = 40,	/* likewise, of counts of samples */
	SOURCE_SIZE = 32,
	SOURCE_SIZE_V3 = 24, /* without a selection */
	END_SIZE = 32,		/* of an end record, after its header */
};

/* Entries of a block; only the last block of a group has fewer. The same applies to sources. */
#define BLOCK_ENTRIES 1024u
#define GROUP_MAX (GROUP_FIXED + 2 * NTRACE_COUNTS_NAME_MAX + NTRACE_COUNTS_LABEL_MAX)

/* Types of records. */
enum {
	RECORD_GROUP = 1,
	RECORD_ENTRIES = 2,
	RECORD_END = 3,
	RECORD_LOSSES = 4,	/* since version 2 */
	RECORD_SOURCES = 5,	/* since version 3 */
};

/* Bytes of an object in a group record. */
enum {
	OBJECT_ID_SIZE = 0,
	OBJECT_PRESENT = 1,
	OBJECT_NAME_SIZE = 2,
	OBJECT_TEXT = 4,
	OBJECT_ID = 12,
	OBJECT_SIZE = 32,
};

/* Bytes of a group record after the two objects. */
enum {
	GROUP_PRIVILEGE = 64,
	GROUP_LABEL_SIZE = 65,
	GROUP_RESERVED = 66,	/* up to GROUP_FIXED: 0 */
};

static inline void put_number(uint8_t *at, uint64_t value, unsigned int size)
{
	if (size == 8) {
		store_word(at, value);
		return;
	}
	for (unsigned int i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t get_number(const uint8_t *at, unsigned int size)
{
	uint64_t value = 0;

	if (size == 8)
		return load_word(at);
	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static inline void add_losses(struct ntrace_counts_losses *sum,
			      const struct ntrace_counts_losses *more)
{
	sum->lost = add_counts(sum->lost, more->lost);
	sum->at_least = add_counts(sum->at_least, more->at_least);
	sum->gaps = add_counts(sum->gaps, more->gaps);
	sum->unknown = add_counts(sum->unknown, more->unknown);
	sum->sampled = add_counts(sum->sampled, more->sampled);
}

static inline bool any_losses(const struct ntrace_counts_losses *losses)
{
	return losses->lost || losses->at_least || losses->gaps || losses->unknown ||
	       losses->sampled;
}

/* Whether the format allows the values. Return: NULL, or the reason. */
const char *counts_check_group(const struct ntrace_counts_group *group);
const char *counts_check_entry(const struct ntrace_counts_group *group,
			       const struct ntrace_counts_entry *entry);

const char *counts_check_source(const struct ntrace_counts_source *source);

int counts_compare_objects(const struct ntrace_counts_object *a,
			   const struct ntrace_counts_object *b);
int counts_compare_entries(const struct ntrace_counts_entry *a,
			   const struct ntrace_counts_entry *b);

/* Whether the entry that ntrace_counts_next() returned last is the first one of its group. */
bool counts_begins_group(const struct ntrace_counts_reader *reader);

/* Room for the strings of a group. */
struct counts_texts {
	char name[NTRACE_COUNTS_NAME_MAX + 1];
	char from_name[NTRACE_COUNTS_NAME_MAX + 1];
	char label[NTRACE_COUNTS_LABEL_MAX + 1];
	uint8_t build_id[NTRACE_BUILD_ID_MAX];
	uint8_t from_build_id[NTRACE_BUILD_ID_MAX];
};

/* Copies a group that counts_check_group() accepts; @copy refers to @texts. */
void counts_copy_group(struct ntrace_counts_group *copy, struct counts_texts *texts,
		       const struct ntrace_counts_group *group);

#endif
