// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Mangled names of C++ and Rust, and names of parts of functions. This library demangles Rust
 * itself. C++ is left to __cxa_demangle() of the C++ library of the machine (Itanium C++ ABI,
 * section 3.4), which is loaded at the first C++ name and may be missing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/image.h>

#include "demangle.h"
#include "elf_parts.h"

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

/* Nested brackets of a name, and what it may grow to: longer names are left mangled. */
#define CXX_DEPTH_MAX 128
#define CXX_LENGTH_MAX 8192
#define CXX_TEXT_MAX (UINT64_C(1) << 22)

/* Length of "_", "0_", "Z1_" after S or T: a part of the name that came before. 0: something else */
static size_t reference_length(const char *text)
{
	size_t length = strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return text[length] == '_' ? length + 1 : 0;
}

/*
 * Whether the text of a C++ name may be too long. A reference to an earlier part doubles a name with ten
 * characters, and so a short symbol can stand for gigabytes. An upper bound is enough: each reference counts
 * as the largest part so far, a part being what is between brackets (I N F J L X ... E), and the class and
 * type of a pointer to member.
 */
static bool is_too_large(const char *name)
{
	uint64_t sizes[CXX_DEPTH_MAX] = { 0 }, largest = 64, all;
	size_t depth = 0, length;

	if (strlen(name) > CXX_LENGTH_MAX)
		return true;
	/* After a period, numbers are those of a clone: "f.llvm.123456789". */
	for (; *name && *name != '.'; name += length) {
		uint64_t size = 16;

		length = 1;
		if (*name >= '0' && *name <= '9') {
			size = strtoul(name, NULL, 10);
			length = strspn(name, "0123456789");
			length += strnlen(name + length, size);
		} else if (*name == 'S' || *name == 'T') {
			length = 1 + reference_length(name + 1);
			size = length > 1 ? largest : 64;
		} else if (strchr("INFJLX", *name)) {
			if (++depth == CXX_DEPTH_MAX)
				return true;
			sizes[depth] = 0;
		} else if (*name == 'E' && depth) {
			size += sizes[depth--];
		} else if (*name == 'M') {
			largest *= 2;
		}
		sizes[depth] += size;
		if (*name == 'E' && size > largest)
			largest = size;
		if (largest > CXX_TEXT_MAX || sizes[depth] > CXX_TEXT_MAX)
			return true;
	}
	for (all = 0; depth; depth--)
		all += sizes[depth];
	return all + sizes[0] > CXX_TEXT_MAX;
}

/* Return: NULL if it is no mangled name, or when out of memory. */
static char *demangle_whole(const char *name)
{
	char *text = demangle_rust(name);

	if (!text && !strncmp(name, "_Z", 2) && !is_too_large(name) && ntrace_demangles_cxx())
		text = of_cxx(name, NULL, NULL, NULL);
	return text;
}

char *ntrace_demangle(const char *name)
{
	/* "@@VERSION" of the linker, "@plt", " [no size]": no mangled name has these characters. */
	size_t length = strcspn(name, "@ ");
	char *symbol, *text, *both;

	/* Any other name is not mangled. */
	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0)
		return strdup(name);
	if (!name[length]) {
		text = demangle_whole(name);
		return text ? text : strdup(name);
	}
	symbol = strndup(name, length);
	text = symbol ? demangle_whole(symbol) : NULL;
	if (!text || asprintf(&both, "%s%s", text, name + length) < 0)
		both = text || !symbol ? NULL : strdup(name);
	free(symbol);
	free(text);
	return both;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	return length >= size && !strcmp(text + length - size, end);
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
	       (!text[length] || text[length] == '(' || text[length] == '@' ||
		!strncmp(text + length, " [", 2));
	/* These are called on the way to the function: each call would count twice. */
	if (same && text[length] &&
	    (ends_with(symbol, "@plt") || ends_with(symbol, RESOLVER_SUFFIX)))
		same = false;
	free(text);
	return same;
}
