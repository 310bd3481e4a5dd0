// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Symbols of Rust: the v0 mangling (Rust RFC 2603), and the legacy mangling, which encodes paths as
 * C++ names and ends with a hash.
 *
 * Names come from files that may be damaged or malicious. Back references let the output grow
 * exponentially with the symbol, so depth, steps and output are limited.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

#define DEPTH_MAX 200
#define STEPS_MAX 100000
#define OUTPUT_MAX (64u << 10)
#define CODE_POINTS_MAX 256

/*
 * @start: where back references count from
 * @next: the next byte of the symbol
 * @end: end of the symbol, without a suffix that a compiler appended
 * @lifetimes: number of lifetimes that the enclosing binders have declared
 * @quiet: what is read is not printed
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

/* An identifier: basic characters, and others in punycode. */
struct identifier {
	const char *basic;
	size_t basic_length;
	const char *punycode;
	size_t punycode_length;
};

/* ---- output ---- */

static void put_bytes(struct demangler *d, const char *bytes, size_t size)
{
	if (d->quiet || d->failed || !size)
		return;
	if (d->length + size >= d->room) {
		size_t room = d->room ? 2 * d->room : 256;
		char *text;

		while (room <= d->length + size)
			room *= 2;
		text = room <= OUTPUT_MAX ? realloc(d->text, room) : NULL;
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

static void put(struct demangler *d, const char *text)
{
	put_bytes(d, text, strlen(text));
}

static void put_number(struct demangler *d, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	put(d, text);
}

/* In UTF-8. */
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
	put_bytes(d, bytes, size);
}

/* ---- input ---- */

static char peek(const struct demangler *d)
{
	return !d->failed && d->next < d->end ? *d->next : '\0';
}

static char take(struct demangler *d)
{
	char c = peek(d);

	if (c)
		d->next++;
	else
		d->failed = true;
	return c;
}

static bool eat(struct demangler *d, char wanted)
{
	if (peek(d) != wanted)
		return false;
	d->next++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Value of a hexadecimal digit in lower case; -1: not one. */
static int hex_digit(char c)
{
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return is_digit(c) ? c - '0' : -1;
}

/* "_" is 0, "0_" is 1. */
static uint64_t take_base62(struct demangler *d)
{
	uint64_t value = 0;

	if (eat(d, '_'))
		return 0;
	while (!d->failed && !eat(d, '_')) {
		char c = take(d);
		uint64_t digit = 0;

		if (is_digit(c))
			digit = (uint64_t)(c - '0');
		else if (is_lower(c))
			digit = 10 + (uint64_t)(c - 'a');
		else if (is_upper(c))
			digit = 36 + (uint64_t)(c - 'A');
		else
			d->failed = true;
		if (value > (UINT64_MAX - digit - 2) / 62)
			d->failed = true;
		else
			value = value * 62 + digit;
	}
	return value + 1;
}

static uint64_t take_optional_base62(struct demangler *d, char tag)
{
	return eat(d, tag) ? take_base62(d) + 1 : 0;
}

static uint64_t take_disambiguator(struct demangler *d)
{
	return take_optional_base62(d, 's');
}

static size_t take_decimal(struct demangler *d)
{
	size_t value = 0;

	if (!is_digit(peek(d)))
		d->failed = true;
	if (eat(d, '0'))
		return 0;
	while (is_digit(peek(d)) && value <= OUTPUT_MAX)
		value = 10 * value + (size_t)(take(d) - '0');
	return value;
}

/* @separated: a "_" may stand after the length, as in v0 */
static struct identifier take_identifier(struct demangler *d, bool separated)
{
	struct identifier result = { "", 0, NULL, 0 };
	bool punycode = eat(d, 'u');
	size_t length = take_decimal(d);
	const char *text;

	if (separated)
		eat(d, '_');
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

/* Reads a number of @identifier from @at on and adds it to @index. Return: it is valid. */
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

/* Return: number of code points, 0: not valid, or too many. */
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

static void put_identifier(struct demangler *d, const struct identifier *identifier)
{
	uint32_t points[CODE_POINTS_MAX];
	size_t count;

	if (!identifier->punycode) {
		put_bytes(d, identifier->basic, identifier->basic_length);
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

static bool is_empty(const struct identifier *identifier)
{
	return !identifier->basic_length && !identifier->punycode_length;
}

/* ---- the v0 mangling ---- */

static void take_path(struct demangler *d, bool in_value);
static void take_type(struct demangler *d);
static void take_const(struct demangler *d);

/* Comes before each part that may hold others. Return: it may be read; then leave() follows. */
static bool enter(struct demangler *d)
{
	if (d->depth >= DEPTH_MAX || ++d->steps > STEPS_MAX)
		d->failed = true;
	if (d->failed)
		return false;
	d->depth++;
	return true;
}

static void leave(struct demangler *d)
{
	d->depth--;
}

/*
 * After "B": goes to the place that it refers to, which is further left.
 * Return: where to go on afterwards; NULL: nothing is to be read there.
 */
static const char *follow(struct demangler *d)
{
	const char *place = d->next - 1, *after;
	uint64_t target = take_base62(d);

	if (target >= (uint64_t)(place - d->start))
		d->failed = true;
	if (d->failed || d->quiet)
		return NULL;
	after = d->next;
	d->next = d->start + target;
	return after;
}

/* @index: 0 is erased, 1 the lifetime that was declared last. */
static void put_lifetime(struct demangler *d, uint64_t index)
{
	uint64_t depth = d->lifetimes - index;

	if (index > d->lifetimes) {
		d->failed = true;
		return;
	}
	put(d, "'");
	if (!index) {
		put(d, "_");
	} else if (depth < 26) {
		char letter = (char)('a' + depth);

		put_bytes(d, &letter, 1);
	} else {
		put(d, "_");
		put_number(d, depth);
	}
}

/* "for<'a, 'b> ". The caller restores d->lifetimes. */
static void take_binder(struct demangler *d)
{
	uint64_t count = take_optional_base62(d, 'G');

	/* Each is printed. */
	if (count > OUTPUT_MAX)
		d->failed = true;
	if (!count || d->failed)
		return;
	put(d, "for<");
	for (uint64_t i = 0; i < count && !d->failed; i++) {
		if (i)
			put(d, ", ");
		d->lifetimes++;
		put_lifetime(d, 1);
	}
	put(d, "> ");
}

static void take_generic_argument(struct demangler *d)
{
	if (eat(d, 'L'))
		put_lifetime(d, take_base62(d));
	else if (eat(d, 'K'))
		take_const(d);
	else
		take_type(d);
}

/* Up to the E. */
static void take_generic_arguments(struct demangler *d)
{
	for (unsigned int i = 0; !d->failed && !eat(d, 'E'); i++) {
		if (i)
			put(d, ", ");
		take_generic_argument(d);
	}
}

/* The namespace of what the compiler made, such as a closure, is printed: "::{closure#0}". */
static void take_nested(struct demangler *d, bool in_value)
{
	char namespace = take(d);
	struct identifier name;
	uint64_t number;

	if (!is_upper(namespace) && !is_lower(namespace))
		d->failed = true;
	take_path(d, in_value);
	number = take_disambiguator(d);
	name = take_identifier(d, true);
	if (is_lower(namespace)) {
		if (!is_empty(&name)) {
			put(d, "::");
			put_identifier(d, &name);
		}
		return;
	}
	put(d, "::{");
	if (namespace == 'C')
		put(d, "closure");
	else if (namespace == 'S')
		put(d, "shim");
	else
		put_bytes(d, &namespace, 1);
	if (!is_empty(&name)) {
		put(d, ":");
		put_identifier(d, &name);
	}
	put(d, "#");
	put_number(d, number);
	put(d, "}");
}

/* The place of an impl in the source is not printed. */
static void skip_impl_path(struct demangler *d)
{
	bool quiet = d->quiet;

	take_disambiguator(d);
	d->quiet = true;
	take_path(d, false);
	d->quiet = quiet;
}

/* <Type as Trait>; @trait: it has one */
static void take_qualified(struct demangler *d, bool trait)
{
	put(d, "<");
	take_type(d);
	if (trait) {
		put(d, " as ");
		take_path(d, false);
	}
	put(d, ">");
}

static void take_path_by_tag(struct demangler *d, bool in_value)
{
	char tag = take(d);
	struct identifier name;
	const char *after;

	switch (tag) {
	case 'C':
		take_disambiguator(d);
		name = take_identifier(d, true);
		put_identifier(d, &name);
		break;
	case 'N':
		take_nested(d, in_value);
		break;
	case 'M':
	case 'X':
		skip_impl_path(d);
		take_qualified(d, tag == 'X');
		break;
	case 'Y':
		take_qualified(d, true);
		break;
	case 'I':
		take_path(d, in_value);
		put(d, in_value ? "::<" : "<");
		take_generic_arguments(d);
		put(d, ">");
		break;
	case 'B':
		after = follow(d);
		if (after) {
			take_path(d, in_value);
			d->next = after;
		}
		break;
	default:
		d->failed = true;
	}
}

/* @in_value: the path names a value, so that "::" stands before "<" */
static void take_path(struct demangler *d, bool in_value)
{
	if (!enter(d))
		return;
	take_path_by_tag(d, in_value);
	leave(d);
}

static const char *basic_type(char tag)
{
	static const struct {
		char tag;
		const char *name;
	} types[] = {
		{ 'a', "i8" },	{ 'b', "bool" }, { 'c', "char" },  { 'd', "f64" },   { 'e', "str" },
		{ 'f', "f32" }, { 'h', "u8" },	 { 'i', "isize" }, { 'j', "usize" }, { 'l', "i32" },
		{ 'm', "u32" }, { 'n', "i128" }, { 'o', "u128" },  { 'p', "_" },     { 's', "i16" },
		{ 't', "u16" }, { 'u', "()" },	 { 'v', "..." },   { 'x', "i64" },   { 'y', "u64" },
		{ 'z', "!" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].tag == tag)
			return types[i].name;
	}
	return NULL;
}

/* Up to the E. Return: how many. */
static unsigned int take_types(struct demangler *d)
{
	unsigned int count = 0;

	for (; !d->failed && !eat(d, 'E'); count++) {
		if (count)
			put(d, ", ");
		take_type(d);
	}
	return count;
}

/* extern "system" fn */
static void take_convention(struct demangler *d)
{
	struct identifier name;

	put(d, "extern \"");
	if (eat(d, 'C')) {
		put(d, "C");
	} else {
		name = take_identifier(d, true);
		if (name.punycode)
			d->failed = true;
		for (size_t i = 0; i < name.basic_length && !d->failed; i++)
			put_bytes(d, name.basic[i] == '_' ? "-" : name.basic + i, 1);
	}
	put(d, "\" ");
}

static void take_function(struct demangler *d)
{
	uint64_t lifetimes = d->lifetimes;

	take_binder(d);
	if (eat(d, 'U'))
		put(d, "unsafe ");
	if (eat(d, 'K'))
		take_convention(d);
	put(d, "fn(");
	take_types(d);
	put(d, ")");
	/* A result of () is not written. */
	if (!eat(d, 'u')) {
		put(d, " -> ");
		take_type(d);
	}
	d->lifetimes = lifetimes;
}

/* A path whose "<" may stay open. Return: it does. */
static bool take_open_path(struct demangler *d)
{
	const char *after;
	bool open = false;

	if (!enter(d))
		return false;
	if (eat(d, 'B')) {
		after = follow(d);
		if (after) {
			open = take_open_path(d);
			d->next = after;
		}
	} else if (eat(d, 'I')) {
		take_path(d, false);
		put(d, "<");
		open = true;
		take_generic_arguments(d);
	} else {
		take_path(d, false);
	}
	leave(d);
	return open;
}

/* Iterator<Item = u8> */
static void take_dyn_trait(struct demangler *d)
{
	bool open = take_open_path(d);
	struct identifier name;

	while (eat(d, 'p')) {
		put(d, open ? ", " : "<");
		open = true;
		name = take_identifier(d, true);
		put_identifier(d, &name);
		put(d, " = ");
		take_type(d);
	}
	if (open)
		put(d, ">");
}

static void take_dyn(struct demangler *d)
{
	uint64_t lifetimes = d->lifetimes, index;

	put(d, "dyn ");
	take_binder(d);
	for (unsigned int i = 0; !d->failed && !eat(d, 'E'); i++) {
		if (i)
			put(d, " + ");
		take_dyn_trait(d);
	}
	d->lifetimes = lifetimes;
	if (!eat(d, 'L'))
		d->failed = true;
	index = take_base62(d);
	if (index) {
		put(d, " + ");
		put_lifetime(d, index);
	}
}

static void take_reference(struct demangler *d, bool mutable)
{
	uint64_t index;

	put(d, "&");
	if (eat(d, 'L')) {
		index = take_base62(d);
		if (index) {
			put_lifetime(d, index);
			put(d, " ");
		}
	}
	if (mutable)
		put(d, "mut ");
	take_type(d);
}

static void take_array(struct demangler *d, bool sized)
{
	put(d, "[");
	take_type(d);
	if (sized) {
		put(d, "; ");
		take_const(d);
	}
	put(d, "]");
}

static void take_type_by_tag(struct demangler *d)
{
	char tag = take(d);
	const char *basic = basic_type(tag), *after;

	if (basic) {
		put(d, basic);
		return;
	}
	switch (tag) {
	case 'R':
	case 'Q':
		take_reference(d, tag == 'Q');
		break;
	case 'P':
	case 'O':
		put(d, tag == 'P' ? "*const " : "*mut ");
		take_type(d);
		break;
	case 'A':
	case 'S':
		take_array(d, tag == 'A');
		break;
	case 'T':
		put(d, "(");
		put(d, take_types(d) == 1 ? ",)" : ")");
		break;
	case 'F':
		take_function(d);
		break;
	case 'D':
		take_dyn(d);
		break;
	case 'B':
		after = follow(d);
		if (after) {
			take_type(d);
			d->next = after;
		}
		break;
	default:
		if (!d->failed) {
			d->next--;
			take_path(d, false);
		}
	}
}

static void take_type(struct demangler *d)
{
	if (!enter(d))
		return;
	take_type_by_tag(d);
	leave(d);
}

/* Hexadecimal digits up to "_". Return: how many; @value: the last 16. */
static size_t take_hex(struct demangler *d, uint64_t *value)
{
	size_t count = 0;

	*value = 0;
	for (; !d->failed && !eat(d, '_'); count++) {
		int digit = hex_digit(take(d));

		if (digit < 0)
			d->failed = true;
		else
			*value = *value << 4 | (uint64_t)digit;
	}
	return count;
}

static void take_number(struct demangler *d, bool has_sign)
{
	const char *digits;
	uint64_t value;
	size_t count;

	if (has_sign && eat(d, 'n'))
		put(d, "-");
	digits = d->next;
	count = take_hex(d, &value);
	if (!count)
		d->failed = true;
	if (count <= 16) {
		put_number(d, value);
	} else {
		put(d, "0x");
		put_bytes(d, digits, count);
	}
}

static void take_bool(struct demangler *d)
{
	uint64_t value;

	if (take_hex(d, &value) != 1 || value > 1)
		d->failed = true;
	put(d, value ? "true" : "false");
}

static void take_char(struct demangler *d)
{
	static const char named[] = "\t\r\n'\\", letters[] = "trn'\\";
	uint64_t value;
	size_t count = take_hex(d, &value);
	const char *at;
	char text[24];

	if (!count || count > 8)
		d->failed = true;
	at = value && value < 0x80 ? strchr(named, (int)value) : NULL;
	if (at)
		snprintf(text, sizeof(text), "'\\%c'", letters[at - named]);
	else if (value >= ' ' && value <= '~')
		snprintf(text, sizeof(text), "'%c'", (char)value);
	else
		snprintf(text, sizeof(text), "'\\u{%x}'", (unsigned int)value);
	put(d, text);
}

static void take_const_by_tag(struct demangler *d)
{
	char tag = take(d);
	const char *after;

	if (d->failed)
		return;
	if (tag == 'B') {
		after = follow(d);
		if (after) {
			take_const(d);
			d->next = after;
		}
	} else if (tag == 'p') {
		put(d, "_");
	} else if (tag == 'b') {
		take_bool(d);
	} else if (tag == 'c') {
		take_char(d);
	} else if (strchr("hmtyoj", tag)) {
		take_number(d, false);
	} else if (strchr("aslxni", tag)) {
		take_number(d, true);
	} else {
		d->failed = true;
	}
}

static void take_const(struct demangler *d)
{
	if (!enter(d))
		return;
	take_const_by_tag(d);
	leave(d);
}

static void take_v0(struct demangler *d)
{
	take_path(d, true);
	/* The crate that instantiated it. */
	if (!d->failed && d->next < d->end) {
		d->quiet = true;
		take_path(d, false);
	}
	if (d->next != d->end)
		d->failed = true;
}

/* ---- the legacy mangling ---- */

/* "u20$". Return: its length; 0: not such an escape. */
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

/* @text: after a "$". Return: length with the "$" at its end; 0: not an escape. */
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
	/* A "_" was added so that the identifier does not begin with "$". */
	size_t at = length > 1 && text[0] == '_' && text[1] == '$';

	while (at < length) {
		size_t plain = at, size;
		char c;

		while (plain < length && text[plain] != '$' && text[plain] != '.')
			plain++;
		put_bytes(d, text + at, plain - at);
		at = plain;
		if (at == length)
			break;
		if (text[at] == '.') {
			bool two = at + 1 < length && text[at + 1] == '.';

			put(d, two ? "::" : ".");
			at += two ? 2 : 1;
			continue;
		}
		size = legacy_escape(text + at + 1, length - at - 1, &c);
		if (!size) {
			put_bytes(d, text + at, length - at);
			break;
		}
		put_bytes(d, &c, 1);
		at += 1 + size;
	}
}

#define HASH_SIZE 17	/* "h" and 16 digits */

/* A hash has many different digits, which tells it from an identifier of C++. */
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

/* Sets d->end to the "E" that ends the path; only a suffix may follow it. */
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

static void take_legacy(struct demangler *d)
{
	struct identifier name = { "", 0, NULL, 0 };
	const char *first = d->next;
	unsigned int names = 0;

	if (!find_legacy_end(d))
		d->failed = true;
	for (; !d->failed && d->next < d->end; names++) {
		name = take_identifier(d, false);
		if (name.punycode)
			d->failed = true;
	}
	if (names < 2 || !is_hash(&name))
		d->failed = true;
	d->next = first;
	for (unsigned int i = 0; i + 1 < names && !d->failed; i++) {
		name = take_identifier(d, false);
		if (i)
			put(d, "::");
		put_legacy(d, name.basic, name.basic_length);
	}
}

/* Letters, digits, "_" and what @more has, up to @end. */
static bool is_plain(const char *text, const char *end, const char *more)
{
	for (; text < end; text++) {
		if (!is_digit(*text) && !is_lower(*text) && !is_upper(*text) && *text != '_' &&
		    !strchr(more, *text))
			return false;
	}
	return true;
}

char *demangle_rust(const char *name)
{
	struct demangler d = { .failed = false };

	if (!strncmp(name, "_R", 2)) {
		d.start = d.next = name + 2;
		/* Suffixes such as ".llvm.1234" are left out. */
		d.end = d.start + strcspn(d.start, ".");
		d.failed = !is_plain(d.start, d.end, "");
		take_v0(&d);
	} else if (!strncmp(name, "_ZN", 3)) {
		d.start = d.next = name + 3;
		d.end = d.start + strlen(d.start);
		d.failed = !is_plain(d.start, d.end, "$.:@");
		take_legacy(&d);
	} else {
		return NULL;
	}
	if (d.failed) {
		free(d.text);
		return NULL;
	}
	return d.text;
}
