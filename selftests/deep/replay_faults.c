// SPDX-License-Identifier: GPL-2.0-only
/* A fuzz target with the fault that FAULT names, in inputs that replay.c has to derive. For fuzz.sh. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile uint8_t sink;
	const char *fault = getenv("FAULT");
	volatile int number = INT_MAX;

	/* The corpus has one input, of four zeros. */
	if (size < 5 || !fault)
		return 0;
	if (!strcmp(fault, "read"))
		sink = data[size];
	else if (!strcmp(fault, "overflow"))
		number++;
	else if (!strcmp(fault, "abort"))
		abort();
	else if (!strcmp(fault, "memory"))
		memset(malloc((size_t)2 << 30), 1, 1);
	else if (!strcmp(fault, "leak"))
		sink = *(volatile uint8_t *)memset(malloc(size), 1, size);
	else if (!strcmp(fault, "late"))
		for (;;)
			sink++;
	return 0;
}
