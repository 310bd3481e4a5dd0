// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text as a symbol of Rust, legacy or v0. Besides not crashing: the name is shorter than the limit,
 * and the same each time. Names of C++ are not read here: that is the code of another library.
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
