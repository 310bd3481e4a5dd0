// SPDX-License-Identifier: GPL-2.0-only
/* Reads an ingress file and reports what is wrong with it. */
#include "ingress_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "ui.h"

int ingress_file_read(const char *path, bool lenient,
		      int (*take)(void *data, const struct ntrace_ingress_reader *reader,
				  const struct ntrace_ingress_record *record),
		      void *data)
{
	static struct ntrace_ingress_reader reader;
	static char chunk[1 << 16];
	struct ntrace_ingress_record record;
	int result = NTRACE_ERR_AGAIN, error = EXIT_OK, file = STDIN_FILENO;
	ssize_t got = 0;

	if (strcmp(path, "-"))
		file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return fail("%s: %s", path, strerror(errno));
	ntrace_ingress_reader_init(&reader);
	reader.lenient = lenient;
	while (!error && result != NTRACE_ERR_FORMAT &&
	       (got = read(file, chunk, sizeof(chunk))) > 0) {
		ntrace_ingress_reader_feed(&reader, chunk, (size_t)got);
		while (!error && !(result = ntrace_ingress_reader_next(&reader, &record)))
			error = take(data, &reader, &record);
	}
	if (!error && got < 0)
		error = fail("%s: %s", path, strerror(errno));
	else if (!error && result == NTRACE_ERR_FORMAT)
		error = fail("%s: line %" PRIu64 ", column %u (offset %" PRIu64 "): %s", path,
			     reader.line, reader.column, reader.offset, reader.error);
	else if (!error && result != NTRACE_ERR_EOS)
		error = fail("%s: line %" PRIu64 ": truncated: 'end' is missing", path,
			     reader.line);
	if (file != STDIN_FILENO)
		close(file);
	return error;
}
