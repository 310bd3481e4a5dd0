/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Claims: a process that writes under a temporary name holds a lock on the file or directory until it has
 * its final name. SIGKILL leaves the file without the lock, and the next process that wants to write the
 * same target removes it.
 */
#ifndef NTRACE_OUTPUT_CLAIM_H
#define NTRACE_OUTPUT_CLAIM_H

#include <sys/types.h>

/* What a temporary name has in place of X is random. */
#define CLAIM_SUFFIX ".unfinished-XXXXXX"
#define CLAIM_RANDOM 6

enum claim {
	CLAIM_HELD,		/* by @fd, until all its duplicates are closed */
	CLAIM_TAKEN,		/* another process holds it, or has removed or renamed @path */
	CLAIM_UNKNOWN,		/* the file system has no locks */
};

/* Claims what @fd and @path are. */
enum claim claim(int fd, const char *path);

/* A process that holds the claim of @fd; 0 if it cannot be known. */
pid_t claim_holder(int fd);

/* Removes files of this user named @target, its first @kept bytes, and CLAIM_SUFFIX that nobody claims. */
void claim_remove_files(const char *target, int kept);

/*
 * Removes the directory @path with all in it, if nobody claims it. Return: 0, also if there is none, or -1
 * with errno; EBUSY: *@holder, which may be 0, claims it.
 */
int claim_remove_directory(const char *path, pid_t *holder);

#endif
