// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The list of unfinished names is read by signal handlers, in any thread. It is changed under a lock
 * and with signals blocked, so that a handler never interrupts the thread that holds the lock: it may
 * wait for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/output.h>

#include "unfinished.h"

/* @pid: a child made by fork() leaves the files of its parent alone. */
struct unfinished {
	struct unfinished *next;
	const void *group;
	pid_t pid;
	char path[];
};

static struct unfinished *first; /* the last one that was added */
static atomic_flag held = ATOMIC_FLAG_INIT;

static void lock(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
	while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire))
		;
}

static void unlock(const sigset_t *before)
{
	atomic_flag_clear_explicit(&held, memory_order_release);
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void remove_one(const struct unfinished *name)
{
	if (name->pid == getpid() && unlink(name->path) && errno == EISDIR)
		rmdir(name->path);
}

int unfinished_make(const void *group, char *path, int (*make)(char *path))
{
	size_t size = strlen(path) + 1;
	struct unfinished *made = malloc(sizeof(*made) + size);
	sigset_t before;
	int result;

	if (!made) {
		errno = ENOMEM;
		return -1;
	}
	made->group = group;
	made->pid = getpid();
	lock(&before);
	result = make(path);
	if (result >= 0) {
		memcpy(made->path, path, size);
		made->next = first;
		first = made;
	}
	unlock(&before);
	if (result < 0) {
		int saved = errno;

		free(made);
		errno = saved;
	}
	return result;
}

void unfinished_end(const void *group, bool remove)
{
	struct unfinished **link = &first, *name, *ended = NULL, **last = &ended;
	sigset_t before;
	int saved = errno;

	lock(&before);
	while ((name = *link)) {
		if (name->group != group) {
			link = &name->next;
			continue;
		}
		if (remove)
			remove_one(name);
		*link = name->next;
		name->next = NULL;
		*last = name;
		last = &name->next;
	}
	unlock(&before);
	while ((name = ended)) {
		ended = name->next;
		free(name);
	}
	errno = saved;
}

/* For file systems without O_TMPFILE. */
static int make_and_unlink(const char *directory)
{
	sigset_t before;
	char *path;
	int fd, saved;

	if (asprintf(&path, "%s/ntrace-XXXXXX", directory) < 0) {
		errno = ENOMEM;
		return -1;
	}
	lock(&before);
	fd = mkostemp(path, O_CLOEXEC);
	saved = errno;
	if (fd >= 0)
		unlink(path);
	unlock(&before);
	free(path);
	errno = saved;
	return fd;
}

FILE *unfinished_nameless(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), saved;
	FILE *file;

	if (fd < 0)
		fd = make_and_unlink(directory);
	file = fd < 0 ? NULL : fdopen(fd, "w+");
	saved = errno;
	if (fd >= 0 && !file)
		close(fd);
	errno = saved;
	return file;
}

void ntrace_output_abandon(void)
{
	const struct unfinished *name;
	sigset_t before;

	/* Never unlocked: the process ends. */
	lock(&before);
	for (name = first; name; name = name->next)
		remove_one(name);
}
