// SPDX-License-Identifier: GPL-2.0-only
/* Names of functions and of places in them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "place_name.h"

char *place_name(char *text, size_t size, struct ntrace_object *object, uint64_t link_address)
{
	struct ntrace_location location;
	char *name;

	if (!object)
		snprintf(text, size, "0x%" PRIx64, link_address);
	else if (ntrace_object_locate(object, link_address, &location) || !location.symbol)
		snprintf(text, size, "0x%" PRIx64 " (%.200s)", link_address,
			 ntrace_object_short_name(object));
	else {
		name = ntrace_demangle(location.symbol);
		snprintf(text, size, "%.700s+0x%" PRIx64 " (%.200s)", name ? name : location.symbol,
			 link_address - location.symbol_start, ntrace_object_short_name(object));
		free(name);
	}
	return text;
}

const char *function_name(const struct ntrace_profile_function *function)
{
	return function->demangled ? function->demangled : "[no symbol]";
}

const char *function_object_name(const struct ntrace_profile_function *function)
{
	return function->object ? ntrace_object_short_name(function->object) : "[unknown]";
}

const char *domain_name(const struct ntrace_profile_function *function)
{
	return ntrace_domain_name(ntrace_domain_of(function->privilege));
}
