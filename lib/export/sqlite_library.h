/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The functions of SQLite that the export uses. The library of the machine is loaded at run time, so
 * that neither building nor other uses of libntrace need it. Their types are those of sqlite3.h,
 * whose interface is stable within version 3.
 */
#ifndef NTRACE_EXPORT_SQLITE_LIBRARY_H
#define NTRACE_EXPORT_SQLITE_LIBRARY_H

#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

/* Values of sqlite3.h. */
enum {
	SQLITE_OPEN_READWRITE = 2,
	SQLITE_OPEN_CREATE = 4,
	SQLITE_IOERR = 10,
	SQLITE_FULL = 13,
	SQLITE_ROW = 100,
	SQLITE_DONE = 101,
};

struct sqlite_library {
	int (*open_v2)(const char *path, struct sqlite3 **db, int flags, const char *vfs);
	int (*close)(struct sqlite3 *db);
	int (*exec)(struct sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
		    void *data, char **message);
	int (*prepare_v2)(struct sqlite3 *db, const char *sql, int size,
			  struct sqlite3_stmt **statement, const char **tail);
	int (*bind_int64)(struct sqlite3_stmt *statement, int column, int64_t value);
	int (*bind_text)(struct sqlite3_stmt *statement, int column, const char *text, int size,
			 void (*destroy)(void *));
	int (*bind_null)(struct sqlite3_stmt *statement, int column);
	int64_t (*column_int64)(struct sqlite3_stmt *statement, int column);
	const unsigned char *(*column_text)(struct sqlite3_stmt *statement, int column);
	int (*step)(struct sqlite3_stmt *statement);
	int (*reset)(struct sqlite3_stmt *statement);
	int (*finalize)(struct sqlite3_stmt *statement);
	int (*system_errno)(struct sqlite3 *db);
};

/* Return: NULL if the machine has no SQLite library; valid until the program ends. */
const struct sqlite_library *sqlite_library(void);

#endif
