/* SPDX-License-Identifier: GPL-2.0-only */
/* The program or library of an export that has one. */
#ifndef NTRACE_TOOL_EXPORT_OBJECT_H
#define NTRACE_TOOL_EXPORT_OBJECT_H

#include <ntrace/profile.h>

/**
 * export_choose_object - the object that --binary names, or the one with most instructions
 * @objects: executed objects, most instructions first
 * @count: their number, not 0
 * @binary: a path or a file name, and for one of several versions "@" with the first digits of its build-id;
 *          NULL: not given
 * @path: the input, for messages
 *
 * Return: object borrowed from @objects; NULL after an error message.
 */
struct ntrace_object *export_choose_object(const struct ntrace_profile_object *objects,
					   size_t count, const char *binary, const char *path);

#endif /* NTRACE_TOOL_EXPORT_OBJECT_H */
