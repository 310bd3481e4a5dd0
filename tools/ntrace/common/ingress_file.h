/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads an ingress file and reports what is wrong with it. */
#ifndef NTRACE_TOOL_COMMON_INGRESS_FILE_H
#define NTRACE_TOOL_COMMON_INGRESS_FILE_H

#include <ntrace/ingress.h>

/**
 * ingress_file_read - pass all records of a file to a callback
 * @path: "-" is standard input
 * @lenient: also pass cycles that break rules of the port
 * @take: called for every record; a result other than EXIT_OK stops, and the callback has printed
 *        the reason
 *
 * Return: EXIT_OK, EXIT_FAILED after an error message, or the result of @take.
 */
int ingress_file_read(const char *path, bool lenient,
		      int (*take)(void *data, const struct ntrace_ingress_reader *reader,
				  const struct ntrace_ingress_record *record),
		      void *data);

#endif /* NTRACE_TOOL_COMMON_INGRESS_FILE_H */
