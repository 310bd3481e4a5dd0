/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A control group (version 2) for a command and its descendants, which can be stopped together.
 * See Documentation/admin-guide/cgroup-v2.rst of the kernel.
 */
#ifndef NTRACE_TOOL_RECORD_CGROUP_H
#define NTRACE_TOOL_RECORD_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct cgroup - a directory "ntrace-PID" in this process's own control group
 * @path: of the directory, for messages
 * @name: last component of @path
 * @parent: this process's own control group
 * @freeze: cgroup.freeze of the directory
 */
struct cgroup {
	char path[PATH_MAX];
	char name[32];
	int parent;
	int freeze;
};

/**
 * cgroup_make - make the directory
 *
 * Call cgroup_remove() and cgroup_close() afterwards, unless it fails.
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int cgroup_make(struct cgroup *cgroup);

/** cgroup_add - move a process into it. Return: exit status, as cgroup_make() */
int cgroup_add(const struct cgroup *cgroup, pid_t pid);

/**
 * cgroup_freeze - stop its processes, or let them run again
 *
 * The kernel stops them soon, not at once: each one when it next returns to user space.
 * Return: 0 or errno.
 */
int cgroup_freeze(const struct cgroup *cgroup, bool freeze);

/**
 * cgroup_remove - let its processes run, move them to the parent, and remove the directory
 *
 * Return: 0, also if the directory has been removed already, or errno. EBUSY: a process of the group
 * has made groups below it, which are not touched.
 */
int cgroup_remove(const struct cgroup *cgroup);

/** cgroup_close - close the files */
void cgroup_close(const struct cgroup *cgroup);

#endif /* NTRACE_TOOL_RECORD_CGROUP_H */
