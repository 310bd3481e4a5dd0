/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A database of SQLite: calls, scheduling intervals, losses, functions and branches of a recording.
 * Documentation/sql.md describes the tables and has queries. The SQLite library of the machine,
 * libsqlite3.so.0, is loaded at the first use.
 */
#ifndef NTRACE_EXPORT_SQLITE_H
#define NTRACE_EXPORT_SQLITE_H

#include <stdio.h>

#include <ntrace/stacks.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_export_sqlite;

/**
 * struct ntrace_export_sqlite_counts - rows of a database
 * @calls: of the table calls, those with called = 1
 * @intervals: of the table intervals
 * @losses: of the table losses
 * @cut: numbers of all tables that exceed 2^63 - 1, the largest number of SQL, which is stored instead
 */
struct ntrace_export_sqlite_counts {
	uint64_t calls;
	uint64_t intervals;
	uint64_t losses;
	uint64_t cut;
};

/**
 * ntrace_export_sqlite_open - begin a database
 * @sqlite: the new database; complete after ntrace_export_sqlite_close()
 * @path: path of the file; an existing file is replaced when the database is complete. NULL: a temporary
 *        file, for ntrace_export_sqlite_calls()
 * @session: source of the streams and of the frequencies of timestamps; borrowed until
 *           ntrace_export_sqlite_close(); NULL: no streams, and times in ticks
 *
 * Return: 0, NTRACE_ERR_UNSUPPORTED (libsqlite3.so.0 cannot be loaded), NTRACE_ERR_INVALID (@path is a device, a
 * pipe or a descriptor such as /dev/stdout: it would be written in place), NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno
 * is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_sqlite_open(struct ntrace_export_sqlite **sqlite,
						  const char *path,
						  const struct ntrace_session *session);

/**
 * ntrace_export_sqlite_change - append a change: change of struct ntrace_stacks_options
 * @sqlite: a database, passed as data of the stacks
 * @change: the change; borrowed during the call
 *
 * Pass the changes of one stream after those of another. Names and objects of changes must stay
 * valid until the database is closed.
 *
 * Return: 0, or the first error of the database: NTRACE_ERR_NOMEM or NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_sqlite_change(void *sqlite,
						    const struct ntrace_stack_change *change);

/**
 * ntrace_export_sqlite_profile - add the sums of functions and branches
 * @sqlite: a database; no changes may follow
 * @profile: a profile with NTRACE_PROFILE_TRACES and NTRACE_PROFILE_FUNCTIONS that has ended; must
 *           stay until the database is closed
 *
 * Return: as ntrace_export_sqlite_change().
 */
NTRACE_EXPERIMENTAL int ntrace_export_sqlite_profile(struct ntrace_export_sqlite *sqlite,
						     struct ntrace_profile *profile);

/**
 * ntrace_export_sqlite_values - add columns with arguments and results to the table calls
 * @sqlite: a database whose stacks selected NTRACE_PRIV_U alone and all of the recording; no changes may follow
 * @session: the recording
 *
 * a0 to a7 before the first instruction of a call, and the result, a0 after its return, where they are certain
 * (values.h). Executes each thread once.
 *
 * Return: as ntrace_export_sqlite_change(), NTRACE_ERR_UNSUPPORTED (the recording has no values), errors of
 * ntrace_values_new().
 */
NTRACE_EXPERIMENTAL int ntrace_export_sqlite_values(struct ntrace_export_sqlite *sqlite,
						    struct ntrace_session *session);

/**
 * ntrace_export_sqlite_calls - write the table calls as comma-separated values
 * @sqlite: a database; no changes may follow
 * @file: written to, not flushed
 *
 * The first line has the names of the columns; what is unknown is empty.
 *
 * Return: as ntrace_export_sqlite_change().
 */
NTRACE_EXPERIMENTAL int ntrace_export_sqlite_calls(struct ntrace_export_sqlite *sqlite, FILE *file);

/**
 * ntrace_export_sqlite_close - complete the file, and free @sqlite, also on error
 * @sqlite: a database; NULL is allowed
 * @keep: false: remove the file, and leave an existing file as it is
 * @counts: numbers of rows; may be NULL
 *
 * Return: 0, or the first error of all calls (NTRACE_ERR_IO: errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_sqlite_close(struct ntrace_export_sqlite *sqlite, bool keep,
						   struct ntrace_export_sqlite_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_EXPORT_SQLITE_H */
