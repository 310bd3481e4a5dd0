/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the running kernel's code. */
#ifndef NTRACE_TOOL_COMMON_KERNEL_SYMBOLS_H
#define NTRACE_TOOL_COMMON_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct kernel_symbol - where a function begins
 * @module: "" for the kernel itself
 */
struct kernel_symbol {
	uint64_t address;
	const char *name;
	const char *module;
};

/* From the first address to before the last. */
struct kernel_range {
	uint64_t start;
	uint64_t end;
};

/**
 * struct kernel_symbols - text symbols in the order of their addresses
 * @text: the kernel itself, and then its modules
 * @names: what the symbols point into
 */
struct kernel_symbols {
	struct kernel_symbol *symbol;
	size_t count;
	size_t room;
	struct kernel_range *text;
	size_t texts;
	char *names;
};

/**
 * kernel_symbols_read - from files as /proc/kallsyms and /proc/modules are
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint, also if the addresses are hidden.
 */
int kernel_symbols_read(struct kernel_symbols *symbols, const char *kallsyms, const char *modules);
void kernel_symbols_free(struct kernel_symbols *symbols);

/**
 * kernel_symbols_find - the function that holds @address
 *
 * Return: NULL if it is none of the kernel's, or compiled BPF without a name.
 */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols,
						uint64_t address);

/** kernel_symbols_is_bpf - of the kernel, but neither its own nor a module's: compiled BPF */
bool kernel_symbols_is_bpf(const struct kernel_symbols *symbols, uint64_t address);

#endif /* NTRACE_TOOL_COMMON_KERNEL_SYMBOLS_H */
