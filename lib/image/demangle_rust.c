// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Symbols of Rust in the v0 mangling (Rust RFC 2603); demangle_legacy.c reads the legacy mangling.
 *
 * Names come from files that may be damaged or malicious. Back references let the output grow
 * exponentially with the symbol, so depth, steps and output are limited.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

#define DEPTH_MAX 200
#define STEPS_MAX 100000

static void put_number(struct demangler *d, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	demangle_put(d, text);
}

/* "_" is 0, "0_" is 1. */
static uint64_t take_base62(struct demangler *d)
{
	uint64_t value = 0;

	if (demangle_eat(d, '_'))
		return 0;
	while (!d->failed && !demangle_eat(d, '_')) {
		char c = demangle_take(d);
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
	return demangle_eat(d, tag) ? take_base62(d) + 1 : 0;
}

static uint64_t take_disambiguator(struct demangler *d)
{
	return take_optional_base62(d, 's');
}

static bool is_empty(const struct identifier *identifier)
{
	return !identifier->basic_length && !identifier->punycode_length;
}

static void take_path(struct demangler *d, bool in_value);
static void take_type(struct demangler *d);
static void take_const(struct demangler *d);

/* Call it before each part that may nest. Return: the part may be read, and leave() must follow. */
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
 * After "B": goes to the referenced place, which must be earlier in the symbol. Return: where to
 * continue afterwards; NULL: do not read the referenced part.
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

/* @index: 0 is erased, 1 the lifetime declared last. */
static void put_lifetime(struct demangler *d, uint64_t index)
{
	uint64_t depth = d->lifetimes - index;

	if (index > d->lifetimes) {
		d->failed = true;
		return;
	}
	demangle_put(d, "'");
	if (!index) {
		demangle_put(d, "_");
	} else if (depth < 26) {
		char letter = (char)('a' + depth);

		demangle_put_bytes(d, &letter, 1);
	} else {
		demangle_put(d, "_");
		put_number(d, depth);
	}
}

/* "for<'a, 'b> ". The caller restores d->lifetimes. */
static void take_binder(struct demangler *d)
{
	uint64_t count = take_optional_base62(d, 'G');

	/* Each lifetime is printed. */
	if (count > DEMANGLE_OUTPUT_MAX)
		d->failed = true;
	if (!count || d->failed)
		return;
	demangle_put(d, "for<");
	for (uint64_t i = 0; i < count && !d->failed; i++) {
		if (i)
			demangle_put(d, ", ");
		d->lifetimes++;
		put_lifetime(d, 1);
	}
	demangle_put(d, "> ");
}

static void take_generic_argument(struct demangler *d)
{
	if (demangle_eat(d, 'L'))
		put_lifetime(d, take_base62(d));
	else if (demangle_eat(d, 'K'))
		take_const(d);
	else
		take_type(d);
}

/* Reads up to the E. */
static void take_generic_arguments(struct demangler *d)
{
	for (unsigned int i = 0; !d->failed && !demangle_eat(d, 'E'); i++) {
		if (i)
			demangle_put(d, ", ");
		take_generic_argument(d);
	}
}

/* The namespace of a compiler-generated item, such as a closure, is printed: "::{closure#0}". */
static void take_nested(struct demangler *d, bool in_value)
{
	char namespace = demangle_take(d);
	struct identifier name;
	uint64_t number;

	if (!is_upper(namespace) && !is_lower(namespace))
		d->failed = true;
	take_path(d, in_value);
	number = take_disambiguator(d);
	name = demangle_take_identifier(d, true);
	if (is_lower(namespace)) {
		if (!is_empty(&name)) {
			demangle_put(d, "::");
			demangle_put_identifier(d, &name);
		}
		return;
	}
	demangle_put(d, "::{");
	if (namespace == 'C')
		demangle_put(d, "closure");
	else if (namespace == 'S')
		demangle_put(d, "shim");
	else
		demangle_put_bytes(d, &namespace, 1);
	if (!is_empty(&name)) {
		demangle_put(d, ":");
		demangle_put_identifier(d, &name);
	}
	demangle_put(d, "#");
	put_number(d, number);
	demangle_put(d, "}");
}

/* The source path of an impl is not printed. */
static void skip_impl_path(struct demangler *d)
{
	bool quiet = d->quiet;

	take_disambiguator(d);
	d->quiet = true;
	take_path(d, false);
	d->quiet = quiet;
}

/* <Type as Trait>; @trait: a trait follows */
static void take_qualified(struct demangler *d, bool trait)
{
	demangle_put(d, "<");
	take_type(d);
	if (trait) {
		demangle_put(d, " as ");
		take_path(d, false);
	}
	demangle_put(d, ">");
}

static void take_path_by_tag(struct demangler *d, bool in_value)
{
	char tag = demangle_take(d);
	struct identifier name;
	const char *after;

	switch (tag) {
	case 'C':
		take_disambiguator(d);
		name = demangle_take_identifier(d, true);
		demangle_put_identifier(d, &name);
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
		demangle_put(d, in_value ? "::<" : "<");
		take_generic_arguments(d);
		demangle_put(d, ">");
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

/* @in_value: the path names a value, so "::" precedes "<" */
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

/* Reads up to the E. Return: number of items. */
static unsigned int take_types(struct demangler *d)
{
	unsigned int count = 0;

	for (; !d->failed && !demangle_eat(d, 'E'); count++) {
		if (count)
			demangle_put(d, ", ");
		take_type(d);
	}
	return count;
}

/* extern "system" fn */
static void take_convention(struct demangler *d)
{
	struct identifier name;

	demangle_put(d, "extern \"");
	if (demangle_eat(d, 'C')) {
		demangle_put(d, "C");
	} else {
		name = demangle_take_identifier(d, true);
		if (name.punycode)
			d->failed = true;
		for (size_t i = 0; i < name.basic_length && !d->failed; i++)
			demangle_put_bytes(d, name.basic[i] == '_' ? "-" : name.basic + i, 1);
	}
	demangle_put(d, "\" ");
}

static void take_function(struct demangler *d)
{
	uint64_t lifetimes = d->lifetimes;

	take_binder(d);
	if (demangle_eat(d, 'U'))
		demangle_put(d, "unsafe ");
	if (demangle_eat(d, 'K'))
		take_convention(d);
	demangle_put(d, "fn(");
	take_types(d);
	demangle_put(d, ")");
	/* A result type of () is not printed. */
	if (!demangle_eat(d, 'u')) {
		demangle_put(d, " -> ");
		take_type(d);
	}
	d->lifetimes = lifetimes;
}

/* A path whose "<" may stay open. Return: the "<" is open. */
static bool take_open_path(struct demangler *d)
{
	const char *after;
	bool open = false;

	if (!enter(d))
		return false;
	if (demangle_eat(d, 'B')) {
		after = follow(d);
		if (after) {
			open = take_open_path(d);
			d->next = after;
		}
	} else if (demangle_eat(d, 'I')) {
		take_path(d, false);
		demangle_put(d, "<");
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

	while (demangle_eat(d, 'p')) {
		demangle_put(d, open ? ", " : "<");
		open = true;
		name = demangle_take_identifier(d, true);
		demangle_put_identifier(d, &name);
		demangle_put(d, " = ");
		take_type(d);
	}
	if (open)
		demangle_put(d, ">");
}

static void take_dyn(struct demangler *d)
{
	uint64_t lifetimes = d->lifetimes, index;

	demangle_put(d, "dyn ");
	take_binder(d);
	for (unsigned int i = 0; !d->failed && !demangle_eat(d, 'E'); i++) {
		if (i)
			demangle_put(d, " + ");
		take_dyn_trait(d);
	}
	d->lifetimes = lifetimes;
	if (!demangle_eat(d, 'L'))
		d->failed = true;
	index = take_base62(d);
	if (index) {
		demangle_put(d, " + ");
		put_lifetime(d, index);
	}
}

static void take_reference(struct demangler *d, bool mutable)
{
	uint64_t index;

	demangle_put(d, "&");
	if (demangle_eat(d, 'L')) {
		index = take_base62(d);
		if (index) {
			put_lifetime(d, index);
			demangle_put(d, " ");
		}
	}
	if (mutable)
		demangle_put(d, "mut ");
	take_type(d);
}

static void take_array(struct demangler *d, bool sized)
{
	demangle_put(d, "[");
	take_type(d);
	if (sized) {
		demangle_put(d, "; ");
		take_const(d);
	}
	demangle_put(d, "]");
}

static void take_type_by_tag(struct demangler *d)
{
	char tag = demangle_take(d);
	const char *basic = basic_type(tag), *after;

	if (basic) {
		demangle_put(d, basic);
		return;
	}
	switch (tag) {
	case 'R':
	case 'Q':
		take_reference(d, tag == 'Q');
		break;
	case 'P':
	case 'O':
		demangle_put(d, tag == 'P' ? "*const " : "*mut ");
		take_type(d);
		break;
	case 'A':
	case 'S':
		take_array(d, tag == 'A');
		break;
	case 'T':
		demangle_put(d, "(");
		demangle_put(d, take_types(d) == 1 ? ",)" : ")");
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

/* Hexadecimal digits up to "_". Return: their number; @value: the last 16. */
static size_t take_hex(struct demangler *d, uint64_t *value)
{
	size_t count = 0;

	*value = 0;
	for (; !d->failed && !demangle_eat(d, '_'); count++) {
		int digit = hex_digit(demangle_take(d));

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

	if (has_sign && demangle_eat(d, 'n'))
		demangle_put(d, "-");
	digits = d->next;
	count = take_hex(d, &value);
	if (!count)
		d->failed = true;
	if (count <= 16) {
		put_number(d, value);
	} else {
		demangle_put(d, "0x");
		demangle_put_bytes(d, digits, count);
	}
}

static void take_bool(struct demangler *d)
{
	uint64_t value;

	if (take_hex(d, &value) != 1 || value > 1)
		d->failed = true;
	demangle_put(d, value ? "true" : "false");
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
	demangle_put(d, text);
}

static void take_const_by_tag(struct demangler *d)
{
	char tag = demangle_take(d);
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
		demangle_put(d, "_");
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

/* Reads letters, digits, "_" and characters of @more, up to @end. */
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
		demangle_legacy(&d);
	} else {
		return NULL;
	}
	if (d.failed) {
		free(d.text);
		return NULL;
	}
	return d.text;
}
