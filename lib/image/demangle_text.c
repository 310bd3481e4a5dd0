// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Code shared by the two manglings of Rust: input, output, and identifiers in punycode. */
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

#define CODE_POINTS_MAX 256

/* ---- output ---- */

void demangle_put_bytes(struct demangler *d, const char *bytes, size_t size)
{
	if (d->quiet || d->failed || !size)
		return;
	if (d->length + size >= d->room) {
		size_t room = d->room ? 2 * d->room : 256;
		char *text;

		while (room <= d->length + size)
			room *= 2;
		text = room <= DEMANGLE_OUTPUT_MAX ? realloc(d->text, room) : NULL;
		if (!text) {
			d->failed = true;
			return;
		}
		d->text = text;
		d->room = room;
	}
	memcpy(d->text + d->length, bytes, size);
	d->length += size;
	d->text[d->length] = '\0';
}

void demangle_put(struct demangler *d, const char *text)
{
	demangle_put_bytes(d, text, strlen(text));
}

/* Prints a code point in UTF-8. */
static void put_code_point(struct demangler *d, uint32_t code)
{
	char bytes[4];
	size_t size = 0;

	if (code < 0x80) {
		bytes[size++] = (char)code;
	} else if (code < 0x800) {
		bytes[size++] = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		bytes[size++] = (char)(0xe0 | code >> 12);
		bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
	} else {
		bytes[size++] = (char)(0xf0 | code >> 18);
		bytes[size++] = (char)(0x80 | (code >> 12 & 0x3f));
		bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
	}
	if (code >= 0x80)
		bytes[size++] = (char)(0x80 | (code & 0x3f));
	demangle_put_bytes(d, bytes, size);
}

/* ---- input ---- */

char demangle_peek(const struct demangler *d)
{
	return !d->failed && d->next < d->end ? *d->next : '\0';
}

char demangle_take(struct demangler *d)
{
	char c = demangle_peek(d);

	if (c)
		d->next++;
	else
		d->failed = true;
	return c;
}

bool demangle_eat(struct demangler *d, char wanted)
{
	if (demangle_peek(d) != wanted)
		return false;
	d->next++;
	return true;
}

static size_t take_decimal(struct demangler *d)
{
	size_t value = 0;

	if (!is_digit(demangle_peek(d)))
		d->failed = true;
	if (demangle_eat(d, '0'))
		return 0;
	while (is_digit(demangle_peek(d)) && value <= DEMANGLE_OUTPUT_MAX)
		value = 10 * value + (size_t)(demangle_take(d) - '0');
	return value;
}

struct identifier demangle_take_identifier(struct demangler *d, bool separated)
{
	struct identifier result = { "", 0, NULL, 0 };
	bool punycode = demangle_eat(d, 'u');
	size_t length = take_decimal(d);
	const char *text;

	if (separated)
		demangle_eat(d, '_');
	if (d->failed || length > (size_t)(d->end - d->next)) {
		d->failed = true;
		return result;
	}
	text = d->next;
	d->next += length;
	result.basic = text;
	result.basic_length = length;
	if (!punycode)
		return result;
	/* The last "_" ends the basic characters. */
	while (length && text[length - 1] != '_')
		length--;
	result.punycode = text + length;
	result.punycode_length = result.basic_length - length;
	result.basic_length = length ? length - 1 : 0;
	if (!result.punycode_length)
		d->failed = true;
	return result;
}

/* ---- punycode, RFC 3492 ---- */

static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta /= first ? 700 : 2;
	delta += delta / points;
	for (; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static int punycode_digit(char c)
{
	if (is_lower(c))
		return c - 'a';
	return is_digit(c) ? c - '0' + 26 : -1;
}

/* Reads a number of @identifier from @at on and adds it to @index. Return: the number is valid. */
static bool take_punycode(const struct identifier *identifier, size_t *at, uint32_t bias,
			  uint64_t *index)
{
	uint64_t weight = 1;

	for (uint32_t k = 36; *at < identifier->punycode_length && weight <= UINT32_MAX; k += 36) {
		uint32_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
		int digit = punycode_digit(identifier->punycode[(*at)++]);

		if (digit < 0)
			return false;
		*index += (uint64_t)digit * weight;
		if (*index > UINT32_MAX)
			return false;
		if ((uint32_t)digit < threshold)
			return true;
		weight *= 36 - threshold;
	}
	return false;
}

/* Return: number of code points; 0: not valid, or too many. */
static size_t decode_punycode(const struct identifier *identifier, uint32_t *points)
{
	size_t count = identifier->basic_length, at = 0;
	uint32_t code = 128, bias = 72;
	uint64_t index = 0;

	if (count >= CODE_POINTS_MAX)
		return 0;
	for (size_t i = 0; i < count; i++)
		points[i] = (uint8_t)identifier->basic[i];
	while (at < identifier->punycode_length) {
		uint64_t before = index;

		if (count == CODE_POINTS_MAX || !take_punycode(identifier, &at, bias, &index))
			return 0;
		count++;
		bias = adapt((uint32_t)(index - before), (uint32_t)count, code == 128 && !before);
		if (index / count > 0x10ffff - code)
			return 0;
		code += (uint32_t)(index / count);
		index %= count;
		if (code >= 0xd800 && code < 0xe000)
			return 0;
		memmove(points + index + 1, points + index,
			(count - 1 - index) * sizeof(points[0]));
		points[index++] = code;
	}
	return count;
}

void demangle_put_identifier(struct demangler *d, const struct identifier *identifier)
{
	uint32_t points[CODE_POINTS_MAX];
	size_t count;

	if (!identifier->punycode) {
		demangle_put_bytes(d, identifier->basic, identifier->basic_length);
		return;
	}
	if (d->quiet || d->failed)
		return;
	count = decode_punycode(identifier, points);
	if (!count)
		d->failed = true;
	for (size_t i = 0; i < count; i++)
		put_code_point(d, points[i]);
}
