// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mangled names on a machine without a C++ library: Rust names need none, C++ names stay mangled.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include <ntrace/image.h>

#include "tap.h"

static unsigned int asked;

/* Replaces the function of the C library. */
void *dlopen(const char *name, int flags)
{
	(void)flags;
	asked += name && strstr(name, "c++");
	return NULL;
}

static void becomes(const char *symbol, const char *expected)
{
	char *plain = ntrace_demangle(symbol);

	is_str(plain, expected, "%s", symbol);
	free(plain);
}

int main(void)
{
	becomes("_RNvNtC7mycrate3foo3bar", "mycrate::foo::bar");
	becomes("_ZN4main4main17h1e84398f0c6cb4b1E", "main::main");
	is_u64(asked, 0, "Rust names need no library");
	becomes("_ZN3foo3barEv", "_ZN3foo3barEv");
	becomes("main", "main");
	ok(!ntrace_demangles_cxx(), "ntrace_demangles_cxx() reports the missing library");
	ok(asked > 0, "the libraries were searched");
	return done_testing();
}
