/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The table of calls of a database, when it is complete: values of calls, and the table as text. */
#ifndef NTRACE_EXPORT_CALLS_H
#define NTRACE_EXPORT_CALLS_H

#include <stdbool.h>
#include <stdio.h>

#include <ntrace/session.h>

#include "sqlite_library.h"

/*
 * Adds columns with the values of calls. @result: of the function of SQLite that failed, else 0. Return: 0 or an
 * error of the values.
 */
int calls_add_values(const struct sqlite_library *library, struct sqlite3 *db,
		     struct ntrace_session *session, int *result);

/*
 * Writes all rows as comma-separated values. @values: with the columns of calls_add_values(). Return: 0 or the result
 * of the function of SQLite that failed, which errors of the file abort.
 */
int calls_print(const struct sqlite_library *library, struct sqlite3 *db, bool values, FILE *file);

#endif
