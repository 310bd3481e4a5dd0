/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols of the running kernel's code. */
#ifndef NTRACE_TOOL_COMMON_KERNEL_SYMBOLS_H
#define NTRACE_TOOL_COMMON_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct kernel_symbol - start of a function
 * @module: "" for the kernel itself
 */
struct kernel_symbol {
	uint64_t address;
	const char *name;
	const char *module;
};

/* Half-open: without its end address. */
struct kernel_range {
	uint64_t start;
	uint64_t end;
};

/**
 * struct kernel_symbols - text symbols sorted by address
 * @text: the kernel's own text, then the modules
 * @names: memory that the symbols point into
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
 * kernel_symbols_read - read files in the format of /proc/kallsyms and /proc/modules
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message, also if addresses are hidden.
 */
int kernel_symbols_read(struct kernel_symbols *symbols, const char *kallsyms, const char *modules);
void kernel_symbols_free(struct kernel_symbols *symbols);

/**
 * kernel_symbols_find - the function that contains @address
 *
 * Return: NULL outside the kernel, and for compiled BPF without a name.
 */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols,
						uint64_t address);

/** kernel_symbols_is_bpf - true for kernel addresses in neither its text nor a module: compiled BPF */
bool kernel_symbols_is_bpf(const struct kernel_symbols *symbols, uint64_t address);

#endif /* NTRACE_TOOL_COMMON_KERNEL_SYMBOLS_H */
