/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of functions and of places in them, to show. */
#ifndef NTRACE_TOOL_COMMON_PLACE_NAME_H
#define NTRACE_TOOL_COMMON_PLACE_NAME_H

#include <ntrace/functions.h>

/** place_name - "function+0x12 (object)", or only the address if @object is NULL. Return: @text */
char *place_name(char *text, size_t size, struct ntrace_object *object, uint64_t link_address);

/** function_name - name of a function, or "[no symbol]" */
const char *function_name(const struct ntrace_profile_function *function);

/** function_object_name - file name of the object of a function, or "[unknown]" */
const char *function_object_name(const struct ntrace_profile_function *function);

/** domain_name - "user", "kernel", ...: where a function runs */
const char *domain_name(const struct ntrace_profile_function *function);

#endif /* NTRACE_TOOL_COMMON_PLACE_NAME_H */
