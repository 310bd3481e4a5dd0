/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counts files: the traces of a profile with their counts, in a file that is small, sorted, and
 * independent of the recording and of the machine. Documentation/trace/counts-file.md describes
 * each byte.
 *
 * Files of many recordings add up to one. The sum does not depend on the order in which files are
 * merged, nor on intermediate sums: each gives the same bytes. Merging needs memory for a few
 * entries of each of at most NTRACE_COUNTS_FAN_IN files, however many and large the files are.
 *
 * A file knows the streams of recordings that it counts, and those of the same run that other parts
 * count: a sum refuses to count a stream twice, and says what it lacks.
 *
 * Files of version 1, which do not tell losses of trace, and of version 2, which do not tell their
 * streams, can be read; new files have version 3.
 */
#ifndef NTRACE_COUNTS_FILE_H
#define NTRACE_COUNTS_FILE_H

#include <stdio.h>

#include <ntrace/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first bytes of a counts file. */
#define NTRACE_COUNTS_MAGIC "NTRCOUNT"
#define NTRACE_COUNTS_VERSION 4
/* Longest name of an object, and longest label of a process class, in bytes. */
#define NTRACE_COUNTS_NAME_MAX 4096
#define NTRACE_COUNTS_LABEL_MAX 255
/* Number of files that are merged at once. */
#define NTRACE_COUNTS_FAN_IN 32
/* A count that does not grow any more: the number is this or larger. */
#define NTRACE_COUNTS_SATURATED UINT64_MAX

/**
 * struct ntrace_counts_object - a file that holds code
 * @name: path or other name, at most NTRACE_COUNTS_NAME_MAX bytes; NULL: the code is unknown
 * @build_id: its build-id; may be NULL if @build_id_size is 0
 * @build_id_size: number of bytes, at most NTRACE_BUILD_ID_MAX; 0: the object is known by its name
 * @text: link address of the lowest executable segment; 0 = unknown
 * @contents: of a file without a build-id: hash of its code; 0 = unknown, as in files of versions below 4
 *
 * Objects with equal build-ids are the same, or without build-ids those with equal names and
 * @contents. A sum keeps the name that comes first in the order of bytes, and the lowest @text.
 */
struct ntrace_counts_object {
	const char *name;
	const uint8_t *build_id;
	size_t build_id_size;
	uint64_t text;
	uint64_t contents;
};

/**
 * struct ntrace_counts_group - what the entries of a group have in common
 * @object: holds the runs
 * @from_object: holds the sources of the transfers
 * @label: of the process class, at most NTRACE_COUNTS_LABEL_MAX bytes; "" = none
 * @privilege: of the process class: enum ntrace_priv of the runs
 * @reserved: 0
 */
struct ntrace_counts_group {
	struct ntrace_counts_object object;
	struct ntrace_counts_object from_object;
	const char *label;
	uint32_t privilege;
	uint32_t reserved;
};

/**
 * struct ntrace_counts_entry - a trace of a group; see struct ntrace_profile_trace
 * @start: link address of the first instruction of the run
 * @end: link address of its last instruction
 * @from: link address of the instruction that transferred control
 * @count: number of executions, at least 1; NTRACE_COUNTS_SATURATED
 * @instructions: instructions of the run
 * @from_class: enum ntrace_insn_class
 * @end_class: enum ntrace_insn_class
 * @taken: the instruction at @end transferred control
 * @reserved: 0
 */
struct ntrace_counts_entry {
	uint64_t start;
	uint64_t end;
	uint64_t from;
	uint64_t count;
	uint32_t instructions;
	uint8_t from_class;
	uint8_t end_class;
	bool taken;
	uint8_t reserved;
};

/**
 * struct ntrace_counts_losses - code that was executed, but is not counted
 * @lost: bytes of trace that were lost while it was made
 * @at_least: number of traces of which @lost has a lower bound only
 * @gaps: number of gaps and errors in the trace
 * @unknown: number of counts files in the sum that do not tell their losses: those of version 1
 * @sampled: number of inputs whose counts are those of samples: shares, not all that was executed
 *
 * Sums stay at NTRACE_COUNTS_SATURATED, as counts do.
 */
struct ntrace_counts_losses {
	uint64_t lost;
	uint64_t at_least;
	uint64_t gaps;
	uint64_t unknown;
	uint64_t sampled;
};

#define NTRACE_COUNTS_SOURCE_ID 16

/**
 * struct ntrace_counts_source - a stream of a recording
 * @id: the same for each copy of the stream, and different for different ones
 * @part: 0: its counts are in the file; else the part of the run that counts it, from 1
 * @parts: number of parts of the run; 0 with @part 0
 * @selection: equal for parts that select the same code and label it equally; 0: unknown, as in
 *	files of versions below 4
 */
struct ntrace_counts_source {
	uint8_t id[NTRACE_COUNTS_SOURCE_ID];
	uint32_t part;
	uint32_t parts;
	uint64_t selection;
};

/**
 * struct ntrace_counts_totals - statistics of a counts file
 * @groups: number of groups
 * @entries: number of entries
 * @saturated: number of entries whose count is NTRACE_COUNTS_SATURATED
 * @losses: what the counts lack, of all groups
 */
struct ntrace_counts_totals {
	uint64_t groups;
	uint64_t entries;
	uint64_t saturated;
	struct ntrace_counts_losses losses;
};

/* ---- reading ---- */

struct ntrace_counts_reader;

/**
 * ntrace_counts_reader_new - a reader at the beginning of a counts file
 * @reader: the new reader, to be freed with ntrace_counts_reader_free()
 * @file: read from its current position; borrowed until the reader is freed
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_counts_reader_new(struct ntrace_counts_reader **reader, FILE *file);

/**
 * ntrace_counts_reader_free - free a reader; the file stays open
 * @reader: reader made by ntrace_counts_reader_new(); NULL is allowed
 */
NTRACE_EXPERIMENTAL void ntrace_counts_reader_free(struct ntrace_counts_reader *reader);

/**
 * ntrace_counts_next - read the next entry
 * @reader: reader made by ntrace_counts_reader_new()
 * @group: set to the group of the entry, valid until the next call. The pointer stays the same, and
 *         its contents change only with the group
 * @entry: set to the entry, valid until the next call
 *
 * The end of the file is checked before the last call returns 0: what was read then is the whole
 * file, undamaged. Until then, entries may be those of a damaged file.
 *
 * Return: 1; 0 after the last entry; NTRACE_ERR_FORMAT, NTRACE_ERR_UNSUPPORTED (version) or
 * NTRACE_ERR_TRUNCATED (see ntrace_counts_reader_problem()); NTRACE_ERR_IO (errno is kept). An error
 * is final.
 */
NTRACE_EXPERIMENTAL int ntrace_counts_next(struct ntrace_counts_reader *reader,
					   const struct ntrace_counts_group **group,
					   const struct ntrace_counts_entry **entry);

/**
 * ntrace_counts_reader_problem - why ntrace_counts_next() failed
 * @reader: reader made by ntrace_counts_reader_new()
 * @offset: set to the offset in the file of the bytes that cannot be used; may be NULL
 *
 * Return: the reason, a static string; NULL if there was no error in the contents of the file.
 */
NTRACE_EXPERIMENTAL const char *
ntrace_counts_reader_problem(const struct ntrace_counts_reader *reader, uint64_t *offset);

/**
 * ntrace_counts_reader_losses - losses of the file
 * @reader: reader of which ntrace_counts_next() has returned 0: losses are at the end of a file
 *
 * Return: the losses, owned by the reader; before the end, all members are 0.
 */
NTRACE_EXPERIMENTAL const struct ntrace_counts_losses *
ntrace_counts_reader_losses(const struct ntrace_counts_reader *reader);

/**
 * ntrace_counts_reader_sources - streams of recordings in the file, and those that it lacks
 * @reader: reader of which ntrace_counts_next() has returned 0: they are at the end of a file
 * @count: set to their number
 *
 * Return: the sources in the order of their ids, owned by the reader; before the end, none. A file
 * made by other means than from recordings has none.
 */
NTRACE_EXPERIMENTAL const struct ntrace_counts_source *
ntrace_counts_reader_sources(const struct ntrace_counts_reader *reader, size_t *count);

/* ---- writing ---- */

struct ntrace_counts_writer;

/**
 * ntrace_counts_writer_new - begin a counts file
 * @writer: the new writer, to be freed with ntrace_counts_writer_free()
 * @file: written to; borrowed until the writer is freed
 *
 * Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_counts_writer_new(struct ntrace_counts_writer **writer, FILE *file);

/**
 * ntrace_counts_writer_free - free a writer; the file stays open
 * @writer: writer made by ntrace_counts_writer_new(); NULL is allowed
 */
NTRACE_EXPERIMENTAL void ntrace_counts_writer_free(struct ntrace_counts_writer *writer);

/**
 * ntrace_counts_put - add an entry
 * @writer: writer made by ntrace_counts_writer_new()
 * @group: the group of the entry; copied
 * @entry: the entry; copied
 *
 * Entries come in the order of the file: see ntrace_counts_compare(). Counts of equal entries add
 * up.
 *
 * Return: 0, NTRACE_ERR_INVALID (out of order, or values that the format does not allow),
 * NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_counts_put(struct ntrace_counts_writer *writer,
					  const struct ntrace_counts_group *group,
					  const struct ntrace_counts_entry *entry);

/**
 * ntrace_counts_put_losses - add losses to those of the file
 * @writer: writer made by ntrace_counts_writer_new()
 * @losses: copied
 */
NTRACE_EXPERIMENTAL void ntrace_counts_put_losses(struct ntrace_counts_writer *writer,
						  const struct ntrace_counts_losses *losses);

/**
 * ntrace_counts_put_source - add a stream of a recording
 * @writer: writer made by ntrace_counts_writer_new()
 * @source: copied; in strictly ascending order of the ids
 *
 * Return: 0, NTRACE_ERR_INVALID (out of order, or a part that does not exist), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_counts_put_source(struct ntrace_counts_writer *writer,
						 const struct ntrace_counts_source *source);

/**
 * ntrace_counts_writer_end - complete the file
 * @writer: writer made by ntrace_counts_writer_new(); nothing can be added any more
 * @totals: statistics of the file; may be NULL
 *
 * Does not flush the file.
 *
 * Return: 0 or NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_counts_writer_end(struct ntrace_counts_writer *writer,
						 struct ntrace_counts_totals *totals);

/**
 * ntrace_counts_compare - order of entries in a counts file
 * @a_group: group of the first entry
 * @a: the first entry; NULL: compare groups only
 * @b_group: group of the second entry
 * @b: the second entry; NULL: compare groups only
 *
 * Return: less than, equal to or greater than 0. Counts, names of objects with build-ids, and @text
 * do not matter.
 */
NTRACE_EXPERIMENTAL int ntrace_counts_compare(const struct ntrace_counts_group *a_group,
					      const struct ntrace_counts_entry *a,
					      const struct ntrace_counts_group *b_group,
					      const struct ntrace_counts_entry *b);

/* ---- sums ---- */

struct ntrace_counts_merger;

/**
 * struct ntrace_counts_merger_options - how to merge
 * @size: sizeof(struct ntrace_counts_merger_options) of the caller
 * @directory: for temporary files, which have no names; NULL = $TMPDIR or /tmp. Used if there are
 *             more than @fan_in inputs, or for profiles
 * @fan_in: number of inputs to merge at once, 2 to 1024; 0 = NTRACE_COUNTS_FAN_IN
 * @reserved: 0
 */
struct ntrace_counts_merger_options {
	size_t size;
	const char *directory;
	uint32_t fan_in;
	uint32_t reserved;
};

/**
 * ntrace_counts_merger_new - an empty sum
 * @merger: the new merger, to be freed with ntrace_counts_merger_free()
 * @options: strings are copied; NULL: defaults
 *
 * Return: 0, NTRACE_ERR_INVALID (options), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int
ntrace_counts_merger_new(struct ntrace_counts_merger **merger,
			 const struct ntrace_counts_merger_options *options);

/**
 * ntrace_counts_merger_free - free a merger with its temporary files
 * @merger: merger made by ntrace_counts_merger_new(); NULL is allowed
 */
NTRACE_EXPERIMENTAL void ntrace_counts_merger_free(struct ntrace_counts_merger *merger);

/**
 * ntrace_counts_merger_add_file - add a counts file
 * @merger: merger made by ntrace_counts_merger_new()
 * @path: path of the file, which is read during this call or a later one; copied
 *
 * Return: 0, NTRACE_ERR_NOMEM, or the error of reading this or an earlier input, or of a temporary
 * file: see ntrace_counts_merger_problem(). An error is final.
 */
NTRACE_EXPERIMENTAL int ntrace_counts_merger_add_file(struct ntrace_counts_merger *merger,
						      const char *path);

/**
 * ntrace_counts_merger_add_profile - add the traces of a profile
 * @merger: merger made by ntrace_counts_merger_new()
 * @profile: with or without by_privilege; may be forgotten after the call, see
 *           ntrace_profile_forget_traces()
 * @label: of the process class; NULL = ""
 * @kernel: name for objects that are a recording's copies of kernel text, so that those of several
 *          recordings are the same object; NULL: they keep their names
 *
 * Return: as ntrace_counts_merger_add_file(), NTRACE_ERR_INVALID also for a name or label that is
 * too long.
 */
NTRACE_EXPERIMENTAL int ntrace_counts_merger_add_profile(struct ntrace_counts_merger *merger,
							 struct ntrace_profile *profile,
							 const char *label, const char *kernel);

/**
 * ntrace_counts_merger_add_losses - add losses of profiles to those of the sum
 * @merger: merger made by ntrace_counts_merger_new()
 * @losses: copied
 */
NTRACE_EXPERIMENTAL void ntrace_counts_merger_add_losses(struct ntrace_counts_merger *merger,
							 const struct ntrace_counts_losses *losses);

/**
 * ntrace_counts_merger_add_source - add a stream of a recording to the sources of the sum
 * @merger: merger made by ntrace_counts_merger_new()
 * @source: copied
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_counts_merger_add_source(struct ntrace_counts_merger *merger,
							const struct ntrace_counts_source *source);

/**
 * ntrace_counts_merger_sources - sources of the sum that was written last
 * @merger: merger made by ntrace_counts_merger_new()
 * @count: set to their number
 *
 * Return: the sources in the order of their ids, owned by the merger until the next call with it.
 */
NTRACE_EXPERIMENTAL const struct ntrace_counts_source *
ntrace_counts_merger_sources(const struct ntrace_counts_merger *merger, size_t *count);

/**
 * ntrace_counts_merger_write - write the sum of all inputs
 * @merger: merger made by ntrace_counts_merger_new(); empty afterwards
 * @file: written to, not flushed
 * @totals: statistics of the sum; may be NULL
 *
 * Return: as ntrace_counts_merger_add_file(); NTRACE_ERR_IO also for @file; NTRACE_ERR_INVALID: two
 * inputs count the same stream of a recording, which ntrace_counts_merger_problem() names.
 */
NTRACE_EXPERIMENTAL int ntrace_counts_merger_write(struct ntrace_counts_merger *merger, FILE *file,
						   struct ntrace_counts_totals *totals);

/**
 * ntrace_counts_merger_problem - why a call failed
 * @merger: merger made by ntrace_counts_merger_new()
 *
 * Return: a sentence with the name of the file, owned by the merger; NULL: no input is the reason.
 */
NTRACE_EXPERIMENTAL const char *
ntrace_counts_merger_problem(const struct ntrace_counts_merger *merger);

/* ---- profiles ---- */

/**
 * struct ntrace_counts_load_options - selection of entries, and the files that hold their code
 * @size: sizeof(struct ntrace_counts_load_options) of the caller
 * @sysroot: directory in which files are searched before their own path, also among the copies of the recorder if it is
 *           a recording or its archive; may be NULL
 * @privileges: bit mask of 1 << enum ntrace_priv; 0 = all
 * @reserved: 0
 * @label: only entries with this label; NULL = all
 * @missing: called with the name of each object whose file is not here; may be NULL
 * @data: passed to @missing
 */
struct ntrace_counts_load_options {
	size_t size;
	const char *sysroot;
	uint32_t privileges;
	uint32_t reserved;
	const char *label;
	void (*missing)(void *data, const char *name);
	void *data;
};

/**
 * ntrace_counts_load - add the entries of a counts file to a profile
 * @profile: profile made by ntrace_profile_new()
 * @reader: a new reader
 * @options: NULL: all entries
 * @totals: statistics of the selected entries, and the losses of the whole file; may be NULL
 *
 * A file with the name and build-id of an object is opened, for its symbols and lines. Without it,
 * the object has a name, a build-id and an executable segment at its first address, which is enough
 * for all formats of ntrace_export_profile().
 *
 * Return: 0, NTRACE_ERR_INVALID (options), NTRACE_ERR_NOMEM, as ntrace_counts_next().
 */
NTRACE_EXPERIMENTAL int ntrace_counts_load(struct ntrace_profile *profile,
					   struct ntrace_counts_reader *reader,
					   const struct ntrace_counts_load_options *options,
					   struct ntrace_counts_totals *totals);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_COUNTS_FILE_H */
