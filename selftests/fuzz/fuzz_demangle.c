// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any text to the demangler of Rust symbols, legacy and v0. Checks that the name is shorter
 * than the limit, and the same each time. Another library demangles C++ names, so they are not
 * tested here.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/demangle.h"

#define SYMBOL_MAX 4096
#define NAME_MAX_SIZE (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char symbol[SYMBOL_MAX], *name, *again;

	if (size >= sizeof(symbol))
		return 0;
	memcpy(symbol, data, size);
	symbol[size] = '\0';
	name = demangle_rust(symbol);
	again = demangle_rust(symbol);
	if (!name != !again || (name && strcmp(name, again)) ||
	    (name && strlen(name) >= NAME_MAX_SIZE))
		abort();
	free(name);
	free(again);
	return 0;
}
