/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Demangling of Rust names without a library. */
#ifndef NTRACE_IMAGE_DEMANGLE_H
#define NTRACE_IMAGE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The demangled form of @name, a Rust symbol of either mangling, in memory to be freed. NULL: @name
 * is not a Rust symbol, it is too long or nested too deeply, or memory is exhausted.
 */
char *demangle_rust(const char *name);

/* Maximum length of a name. */
#define DEMANGLE_OUTPUT_MAX (64u << 10)

/*
 * @start: start of the name, from which back references count
 * @next: the next byte of the symbol
 * @end: end of the symbol, without a suffix that a compiler appended
 * @lifetimes: number of lifetimes that the enclosing binders have declared
 * @quiet: parse without printing
 * @failed: the name is not a Rust symbol, or a limit was reached
 */
struct demangler {
	const char *start;
	const char *next;
	const char *end;
	char *text;
	size_t length;
	size_t room;
	uint64_t lifetimes;
	unsigned int depth;
	unsigned int steps;
	bool quiet;
	bool failed;
};

/* An identifier: basic characters, and other ones in punycode. */
struct identifier {
	const char *basic;
	size_t basic_length;
	const char *punycode;
	size_t punycode_length;
};

/* Prints, unless the demangler is quiet or has failed. */
void demangle_put_bytes(struct demangler *d, const char *bytes, size_t size);
void demangle_put(struct demangler *d, const char *text);
void demangle_put_identifier(struct demangler *d, const struct identifier *identifier);

/* Returns the next byte without taking it; 0 at the end or after a failure. */
char demangle_peek(const struct demangler *d);
/* Takes and returns the next byte; fails if there is none. */
char demangle_take(struct demangler *d);
/* Takes the next byte if it is @wanted. */
bool demangle_eat(struct demangler *d, char wanted);
/* @separated: a "_" may follow the length, as in v0 */
struct identifier demangle_take_identifier(struct demangler *d, bool separated);

/* Reads a path of the legacy mangling from d->next to d->end and prints it; demangle_legacy.c. */
void demangle_legacy(struct demangler *d);

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Value of a hexadecimal digit in lower case; -1: not one. */
static inline int hex_digit(char c)
{
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return is_digit(c) ? c - '0' : -1;
}

#endif /* NTRACE_IMAGE_DEMANGLE_H */
