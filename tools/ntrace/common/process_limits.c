// SPDX-License-Identifier: GPL-2.0-only
/* Limits of this process: see process_limits.h. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "command.h"
#include "process_limits.h"
#include "ui.h"

/* Of the command itself: programs, debug files, outputs, sockets. */
#define FILES_MIN 16
/* How many streams a recording has is not known before it is open: a limit that is enough for most of them. */
#define FILES_ADVISED 256
/* Of libdw, the demangler of the C++ library and SQLite, which take half of it. */
#define STACK_MIN (512 << 10)

/* Return: how many of @wanted files can be opened; others than this process's may be open from the start. */
static unsigned int count_free(rlim_t limit, unsigned int wanted)
{
	unsigned int count = 0;

	for (rlim_t fd = 0; fd < limit && count < wanted; fd++)
		count += fcntl((int)fd, F_GETFD) < 0;
	return count;
}

void limits_raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int limits_check(unsigned int files)
{
	struct rlimit limit;
	unsigned int count, needed;

	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < STACK_MIN)
		return fail("the stack of this process may have %ju KiB, and ntrace needs %d: "
			    "raise the limit (ulimit -s)",
			    (uintmax_t)(limit.rlim_cur >> 10), STACK_MIN >> 10);
	files += FILES_MIN;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return EXIT_OK;
	count = count_free(limit.rlim_cur, files);
	if (count == files)
		return EXIT_OK;
	needed = (unsigned int)limit.rlim_cur - count + files;
	return fail("this process may have %ju open files, which are too few for ntrace: raise the "
		    "limit (ulimit -n %u)",
		    (uintmax_t)limit.rlim_cur, needed < FILES_ADVISED ? FILES_ADVISED : needed);
}

/* Messages contain the reason as text, which may come from the library. */
void limit_add(char *text, size_t size)
{
	static const struct {
		const char *reason, *limit;
		int resource;
		rlim_t unit;
	} limits[] = {
		{ "Too many open files", "open files, ulimit -n", RLIMIT_NOFILE, 1 },
		{ "File too large", "KiB in a file, ulimit -f", RLIMIT_FSIZE, 1024 },
		{ "out of memory", "KiB of memory, ulimit -v", RLIMIT_AS, 1024 },
		{ "Cannot allocate memory", "KiB of memory, ulimit -v", RLIMIT_AS, 1024 },
	};
	size_t used = strlen(text);
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (strstr(text, limits[i].reason) && !getrlimit(limits[i].resource, &limit) &&
		    limit.rlim_cur != RLIM_INFINITY) {
			snprintf(text + used, size - used, " (this process may have %ju %s)",
				 (uintmax_t)(limit.rlim_cur / limits[i].unit), limits[i].limit);
			return;
		}
}
