// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Mangled names of C++ and Rust, and names of parts of functions. This library demangles Rust
 * itself. C++ is left to __cxa_demangle() of the C++ library of the machine (Itanium C++ ABI,
 * section 3.4), which is loaded at the first C++ name and may be missing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/image.h>

#include "demangle.h"

typedef char *cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cxa_demangle *of_cxx;	/* constant after @once */

/* The library stays loaded: other threads may execute it. */
static void find_cxx(void)
{
	static const char *const names[] = { "libstdc++.so.6", "libc++abi.so.1", "libc++.so.1" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !of_cxx; i++) {
		void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);

		if (library)
			*(void **)&of_cxx = dlsym(library, "__cxa_demangle");
		if (library && !of_cxx)
			dlclose(library);
	}
}

bool ntrace_demangles_cxx(void)
{
	pthread_once(&once, find_cxx);
	return of_cxx;
}

char *ntrace_demangle(const char *name)
{
	char *text = NULL;
	int status;

	/* Any other name is not mangled. */
	if (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2))
		text = demangle_rust(name);
	if (!text && !strncmp(name, "_Z", 2) && ntrace_demangles_cxx())
		text = of_cxx(name, NULL, NULL, &status);
	return text ? text : strdup(name);
}

bool ntrace_symbol_matches(const char *symbol, const char *name)
{
	size_t length = strlen(name);
	char *text;
	bool same;

	if (!strcmp(symbol, name))
		return true;
	text = ntrace_demangle(symbol);
	same = text && !strncmp(text, name, length) &&
	       (!text[length] || text[length] == '(' || !strncmp(text + length, " [", 2));
	free(text);
	return same;
}
