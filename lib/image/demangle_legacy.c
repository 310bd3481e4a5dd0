// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The legacy mangling of Rust: a path mangled like a C++ name that ends with a hash. */
#include <string.h>

#include "demangle.h"

/* "u20$". Return: length of the escape; 0: not such an escape. */
static size_t legacy_number(const char *text, size_t length, char *plain)
{
	int value = 0;
	size_t at = 1;

	if (!length || text[0] != 'u')
		return 0;
	for (; at < length && at < 4 && hex_digit(text[at]) >= 0; at++)
		value = value << 4 | hex_digit(text[at]);
	if (at == 1 || at == length || text[at] != '$' || value < ' ' || value > '~')
		return 0;
	*plain = (char)value;
	return at + 1;
}

/* @text: after a "$". Return: length including the final "$"; 0: not an escape. */
static size_t legacy_escape(const char *text, size_t length, char *plain)
{
	static const struct {
		const char *name;
		char plain;
	} escapes[] = {
		{ "SP$", '@' }, { "BP$", '*' }, { "RF$", '&' }, { "LT$", '<' },
		{ "GT$", '>' }, { "LP$", '(' }, { "RP$", ')' }, { "C$", ',' },
	};

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		size_t size = strlen(escapes[i].name);

		if (size <= length && !memcmp(text, escapes[i].name, size)) {
			*plain = escapes[i].plain;
			return size;
		}
	}
	return legacy_number(text, length, plain);
}

static void put_legacy(struct demangler *d, const char *text, size_t length)
{
	/* The mangling adds a "_" so that the identifier does not begin with "$". */
	size_t at = length > 1 && text[0] == '_' && text[1] == '$';

	while (at < length) {
		size_t plain = at, size;
		char c;

		while (plain < length && text[plain] != '$' && text[plain] != '.')
			plain++;
		demangle_put_bytes(d, text + at, plain - at);
		at = plain;
		if (at == length)
			break;
		if (text[at] == '.') {
			bool two = at + 1 < length && text[at + 1] == '.';

			demangle_put(d, two ? "::" : ".");
			at += two ? 2 : 1;
			continue;
		}
		size = legacy_escape(text + at + 1, length - at - 1, &c);
		if (!size) {
			demangle_put_bytes(d, text + at, length - at);
			break;
		}
		demangle_put_bytes(d, &c, 1);
		at += 1 + size;
	}
}

#define HASH_SIZE 17	/* "h" and 16 digits */

/* A hash has many different digits, unlike an identifier of C++. */
static bool is_hash(const struct identifier *name)
{
	unsigned int seen = 0, different = 0;

	if (name->basic_length != HASH_SIZE || name->basic[0] != 'h')
		return false;
	for (size_t i = 1; i < HASH_SIZE; i++) {
		int digit = hex_digit(name->basic[i]);

		if (digit < 0)
			return false;
		seen |= 1u << digit;
	}
	for (; seen; seen &= seen - 1)
		different++;
	return different >= 5;
}

/* Sets d->end to the "E" at the end of the path, which only a suffix may follow. */
static bool find_legacy_end(struct demangler *d)
{
	bool suffix = true;

	while (d->end > d->next) {
		char c = *--d->end;

		if (suffix && c == 'E')
			return true;
		suffix = c == '.';
	}
	return false;
}

void demangle_legacy(struct demangler *d)
{
	struct identifier name = { "", 0, NULL, 0 };
	const char *first = d->next;
	unsigned int names = 0;

	if (!find_legacy_end(d))
		d->failed = true;
	for (; !d->failed && d->next < d->end; names++) {
		name = demangle_take_identifier(d, false);
		if (name.punycode)
			d->failed = true;
	}
	if (names < 2 || !is_hash(&name))
		d->failed = true;
	d->next = first;
	for (unsigned int i = 0; i + 1 < names && !d->failed; i++) {
		name = demangle_take_identifier(d, false);
		if (i)
			demangle_put(d, "::");
		put_legacy(d, name.basic, name.basic_length);
	}
}
