/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Names of files and directories that are not complete, in groups: when a group ends, its names are
 * forgotten or removed. If a signal ends the process, ntrace_output_abandon() removes all.
 */
#ifndef NTRACE_OUTPUT_UNFINISHED_H
#define NTRACE_OUTPUT_UNFINISHED_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Calls @make to create @path, and adds the path to @group, an address that no other group uses. @make may
 * replace characters of the path, as mkstemp() does. No signal comes in between.
 * Return: what @make returned, which is negative if there is no file; -1 with ENOMEM.
 */
int unfinished_make(const void *group, char *path, int (*make)(char *path));

/* Ends a group. @remove: with its files, and its directories if they are empty, the last one first. */
void unfinished_end(const void *group, bool remove);

/*
 * Makes a temporary file that ends with the process, to write and read. No signal leaves its name in @directory.
 * Return: the file; NULL with errno.
 */
FILE *unfinished_nameless(const char *directory);

#endif
