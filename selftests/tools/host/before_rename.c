// SPDX-License-Identifier: GPL-2.0-only
/* Preloaded: a signal, NTRACE_SIGNAL, comes when an output is complete and has not got its name yet. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int rename(const char *from, const char *to)
{
	int (*original)(const char *, const char *) =
		(int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");

	raise(atoi(getenv("NTRACE_SIGNAL")));
	return original(from, to);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned int flags)
{
	int (*original)(int, const char *, int, const char *, unsigned int) =
		(int (*)(int, const char *, int, const char *, unsigned int))dlsym(RTLD_NEXT,
										   "renameat2");

	raise(atoi(getenv("NTRACE_SIGNAL")));
	return original(from_at, from, to_at, to, flags);
}
