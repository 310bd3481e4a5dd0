// SPDX-License-Identifier: GPL-2.0-only
/* A control group (version 2) for a command and its descendants, which can be stopped together. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "common/command.h"
#include "common/ui.h"

/* A group is busy until its last process has ended; this many attempts, a millisecond apart. */
#define REMOVE_ATTEMPTS 1000
/* A line of /proc/self/mountinfo has two paths. */
#define LINE_SIZE (3 * PATH_MAX)

/* ---- the place ---- */

/*
 * The path of this process's group below the root of the hierarchy. There is none until the hierarchy
 * has been mounted for the first time.
 */
static void read_own(char *own, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	while (file && !*own && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		/* Hierarchies of version 1 have numbers from 1. */
		if (!strncmp(line, "0::/", 4))
			snprintf(own, size, "%s", line + 3);
	}
	if (file)
		fclose(file);
}

/* "\040" is a space in mountinfo. */
static void unescape(char *text)
{
	unsigned int value;
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && sscanf(text + 1, "%3o", &value) == 1) {
			*to++ = (char)value;
			text += 3;
			continue;
		}
		*to++ = *text;
	}
	*to = '\0';
}

/*
 * The directory of the group @own, if this line of mountinfo is that of a mount that has it. The mount
 * may have only a part of the hierarchy, from @root on.
 */
static bool take_mount(char *line, const char *own, char *path, size_t size)
{
	char *rest = strstr(line, " - cgroup2 "), *root = NULL, *mount = NULL;
	size_t length;

	if (!rest || !*own)
		return false;
	*rest = '\0';
	if (sscanf(line, "%*s %*s %*s %ms %ms", &root, &mount) == 2) {
		unescape(root);
		unescape(mount);
		length = strcmp(root, "/") ? strlen(root) : 0;
		if (!strncmp(own, root, length) && (own[length] == '/' || !own[length]))
			snprintf(path, size, "%s%s", mount, own + length);
	}
	free(root);
	free(mount);
	return *path;
}

/* The directory of this process's group. Return: exit status. */
static int find_parent(char *path, size_t size)
{
	char own[PATH_MAX] = "", *line = NULL;
	FILE *file = fopen("/proc/self/mountinfo", "re");
	bool found = false, any = false;
	size_t room = 0;

	read_own(own, sizeof(own));
	*path = '\0';
	while (file && !found && getline(&line, &room, file) > 0) {
		any |= strstr(line, " - cgroup2 ") != NULL;
		found = take_mount(line, own, path, size);
	}
	free(line);
	if (file)
		fclose(file);
	if (found)
		return EXIT_OK;
	if (any)
		return fail("--hold: no mounted cgroup v2 hierarchy has the cgroup of this process "
			    "(/proc/self/cgroup)");
	return fail("--hold: no cgroup v2 hierarchy is mounted: as root, 'mount -t cgroup2 none "
		    "/sys/fs/cgroup' mounts it");
}

/* ---- the directory ---- */

static int refused(const struct cgroup *cgroup, const char *file, int error)
{
	bool denied = error == EACCES || error == EPERM || error == EROFS;

	return fail("--hold: %s%s: %s%s", cgroup->path, file, strerror(error),
		    denied ? ": needs root, and a writable cgroup hierarchy" : "");
}

static int open_freeze(struct cgroup *cgroup)
{
	char name[64];
	int error;

	snprintf(name, sizeof(name), "%s/cgroup.freeze", cgroup->name);
	cgroup->freeze = openat(cgroup->parent, name, O_WRONLY | O_CLOEXEC);
	if (cgroup->freeze >= 0)
		return EXIT_OK;
	error = errno;
	unlinkat(cgroup->parent, cgroup->name, AT_REMOVEDIR);
	if (error == ENOENT)
		return fail("--hold: %s has no cgroup.freeze: the kernel is older than 5.2",
			    cgroup->path);
	return refused(cgroup, "/cgroup.freeze", error);
}

int cgroup_make(struct cgroup *cgroup)
{
	size_t room = sizeof(cgroup->path) - sizeof(cgroup->name), length;
	int error;

	error = find_parent(cgroup->path, room);
	if (error)
		return error;
	cgroup->parent = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup->parent < 0)
		return refused(cgroup, "", errno);
	snprintf(cgroup->name, sizeof(cgroup->name), "ntrace-%d", (int)getpid());
	length = strlen(cgroup->path);
	snprintf(cgroup->path + length, sizeof(cgroup->path) - length, "%s%s",
		 cgroup->path[length - 1] == '/' ? "" : "/", cgroup->name);
	error = mkdirat(cgroup->parent, cgroup->name, 0755) ? refused(cgroup, "", errno) :
							      open_freeze(cgroup);
	if (error)
		close(cgroup->parent);
	return error;
}

void cgroup_close(const struct cgroup *cgroup)
{
	close(cgroup->freeze);
	close(cgroup->parent);
}

/* ---- its processes ---- */

/* Moves a process into the group whose cgroup.procs this is. Return: 0 or errno. */
static int move_to(int parent, const char *procs, pid_t pid)
{
	int file = openat(parent, procs, O_WRONLY | O_CLOEXEC);
	int error = file < 0 || dprintf(file, "%d\n", (int)pid) < 0 ? errno : 0;

	if (file >= 0)
		close(file);
	return error;
}

static void name_procs(const struct cgroup *cgroup, char *name, size_t size)
{
	snprintf(name, size, "%s/cgroup.procs", cgroup->name);
}

int cgroup_add(const struct cgroup *cgroup, pid_t pid)
{
	char name[64];
	int error;

	name_procs(cgroup, name, sizeof(name));
	error = move_to(cgroup->parent, name, pid);
	return error ? refused(cgroup, "/cgroup.procs", error) : EXIT_OK;
}

int cgroup_freeze(const struct cgroup *cgroup, bool freeze)
{
	return pwrite(cgroup->freeze, freeze ? "1" : "0", 1, 0) == 1 ? 0 : errno;
}

static void move_all(const struct cgroup *cgroup)
{
	char name[64];
	FILE *file;
	int fd, pid;

	name_procs(cgroup, name, sizeof(name));
	fd = openat(cgroup->parent, name, O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return;
	}
	/* A process that has ended meanwhile cannot be moved, and need not be. */
	while (fscanf(file, "%d", &pid) == 1)
		if (pid > 0)
			move_to(cgroup->parent, "cgroup.procs", pid);
	fclose(file);
}

int cgroup_remove(const struct cgroup *cgroup)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int i;

	/* If this fails, leaving the group lets a process run, too. */
	cgroup_freeze(cgroup, false);
	for (i = 0; i < REMOVE_ATTEMPTS; i++) {
		/* Processes may have forked since the last attempt. */
		move_all(cgroup);
		if (!unlinkat(cgroup->parent, cgroup->name, AT_REMOVEDIR) || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return errno;
		nanosleep(&pause, NULL);
	}
	return EBUSY;
}
