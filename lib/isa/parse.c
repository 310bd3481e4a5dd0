// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* ISA strings, as in device trees, ELF attributes and on command lines. */
#include <ctype.h>
#include <string.h>

#include <ntrace/isa.h>

/* Skips a version such as "2p0" or "2". */
static const char *skip_version(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	if (*text == 'p' && isdigit((unsigned char)text[1])) {
		for (text++; isdigit((unsigned char)*text); text++)
			;
	}
	return text;
}

/*
 * Zca and everything that contains it. Only the start of the name is
 * compared: a version may follow without a mark between.
 */
static bool contains_zca(const char *name)
{
	static const char *const names[] = {
		"zca", "zcb", "zcd", "zce", "zcf", "zcmp", "zcmt", "zcmop",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

int ntrace_isa_parse(struct ntrace_isa *isa, const char *text)
{
	struct ntrace_isa result = { 0 };
	char lower[256] = { 0 };
	const char *next;
	size_t length;

	if (!isa || !text)
		return NTRACE_ERR_INVALID;
	length = strlen(text);
	if (length >= sizeof(lower))
		return NTRACE_ERR_INVALID;
	for (size_t i = 0; i < length; i++)
		lower[i] = (char)tolower((unsigned char)text[i]);
	if (strncmp(lower, "rv", 2) || !isdigit((unsigned char)lower[2]))
		return NTRACE_ERR_INVALID;
	next = lower + 2;
	while (isdigit((unsigned char)*next))
		next++;
	if (next != lower + 4 || (strncmp(lower + 2, "32", 2) && strncmp(lower + 2, "64", 2)))
		return NTRACE_ERR_UNSUPPORTED;
	result.xlen = lower[2] == '3' ? 32 : 64;
	if (!*next || !strchr("ieg", *next))
		return NTRACE_ERR_INVALID;
	while (*next) {
		if (*next == '_') {
			next++;
		} else if (strchr("zsx", *next)) {
			if (contains_zca(next))
				result.compressed = true;
			next += strcspn(next, "_");
		} else if (islower((unsigned char)*next)) {
			if (*next == 'c')
				result.compressed = true;
			next = skip_version(next + 1);
		} else {
			return NTRACE_ERR_INVALID;
		}
	}
	*isa = result;
	return NTRACE_OK;
}
