// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * ISA strings, as in device trees, ELF attributes and on command lines. Only the meaning of 16-bit
 * encodings matters; all other extensions are skipped, known or not.
 */
#include <ctype.h>
#include <string.h>

#include <ntrace/isa.h>

/* Extensions that affect 16-bit encodings, as bits of a set. */
enum {
	HAS_C = 1 << 0,
	HAS_F = 1 << 1,
	HAS_D = 1 << 2,
	HAS_ZCA = 1 << 3,
	HAS_ZCE = 1 << 4,
	HAS_ZCF = 1 << 5,
	HAS_ZCD = 1 << 6,
	HAS_ZCMP = 1 << 7,
	HAS_ZCMT = 1 << 8,
	HAS_E = 1 << 9,
};

/* A word of an ISA string: letters without the version. */
struct word {
	const char *text;
	size_t length;
};

static const char *skip_digits(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	return text;
}

/* Skips a version such as "2p0" or "2". */
static const char *skip_version(const char *text)
{
	const char *end = skip_digits(text);

	if (end != text && tolower((unsigned char)*end) == 'p' && isdigit((unsigned char)end[1]))
		end = skip_digits(end + 1);
	return end;
}

/* Removes "2p0" or "2" from the end; names such as zve32x end in a letter. */
static void drop_version(struct word *word)
{
	size_t length = word->length, minor;

	while (length && isdigit((unsigned char)word->text[length - 1]))
		length--;
	if (length == word->length)
		return;
	minor = length;
	if (minor && tolower((unsigned char)word->text[minor - 1]) == 'p') {
		minor--;
		while (minor && isdigit((unsigned char)word->text[minor - 1]))
			minor--;
		if (isdigit((unsigned char)word->text[minor]))
			length = minor;
	}
	word->length = length;
}

static bool same_word(const struct word *word, const char *name)
{
	size_t i;

	for (i = 0; i < word->length; i++) {
		if (tolower((unsigned char)word->text[i]) != name[i])
			return false;
	}
	return !name[i];
}

/* Extensions implied by one with a multi-letter name; 0 if it is irrelevant here. */
static unsigned int implied_by_name(struct word word)
{
	static const struct {
		const char *name;
		unsigned int brings;
	} names[] = {
		{ "zca", HAS_ZCA },
		{ "zcb", HAS_ZCA },
		{ "zcd", HAS_ZCA | HAS_ZCD | HAS_D | HAS_F },
		{ "zce", HAS_ZCA | HAS_ZCE | HAS_ZCMP | HAS_ZCMT },
		{ "zcf", HAS_ZCA | HAS_ZCF | HAS_F },
		{ "zclsd", HAS_ZCA },
		{ "zcmop", HAS_ZCA },
		{ "zcmp", HAS_ZCA | HAS_ZCMP },
		{ "zcmt", HAS_ZCA | HAS_ZCMT },
		{ "zfa", HAS_F },
		{ "zfh", HAS_F },
		{ "zfhmin", HAS_F },
		{ "zfbfmin", HAS_F },
		{ "zve32f", HAS_F },
		{ "zve64f", HAS_F },
		{ "zve64d", HAS_F | HAS_D },
	};

	drop_version(&word);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (same_word(&word, names[i].name))
			return names[i].brings;
	}
	return 0;
}

static unsigned int implied_by_letter(char letter)
{
	switch (letter) {
	case 'c':
		return HAS_C | HAS_ZCA;
	case 'e':
		return HAS_E;
	case 'f':
		return HAS_F;
	case 'd':
	case 'g':
	case 'q':
	case 'v':
		return HAS_F | HAS_D;
	default:
		return 0;
	}
}

/* Reads the extensions after "rv64". Return: NULL or a description of the error. */
static const char *take_extensions(const char *text, unsigned int *set)
{
	char base = (char)tolower((unsigned char)*text);

	if (!base || !strchr("ieg", base))
		return "rv32 or rv64 must be followed by the base: i, e or g";
	/* Stream parameters are separated by commas. */
	while (*text && *text != ',') {
		char letter = (char)tolower((unsigned char)*text);
		struct word word = { text, strcspn(text, "_,") };

		if (letter == '_') {
			text++;
		} else if (strchr("zsx", letter)) {
			for (size_t i = 0; i < word.length; i++) {
				if (!isalnum((unsigned char)text[i]))
					return "extension names have only letters and digits, with "
					       "_ "
					       "between them";
			}
			*set |= implied_by_name(word);
			text += word.length;
		} else if (letter >= 'a' && letter <= 'z') {
			*set |= implied_by_letter(letter);
			text = skip_version(text + 1);
		} else {
			return "extension names have only letters and digits, with _ between them";
		}
	}
	return NULL;
}

/* Extensions that exclude each other. Return: NULL or a description of the error. */
static const char *contradiction(unsigned int set, unsigned int xlen)
{
	/* C includes those of Zca, Zcf and Zcd that the floating-point registers allow. */
	if ((set & HAS_C) && (set & HAS_D))
		set |= HAS_ZCD;
	if ((set & HAS_ZCD) && (set & HAS_ZCE))
		return "zce excludes c with d: its zcmp and zcmt use the encodings of zcd";
	if ((set & HAS_ZCD) && (set & HAS_ZCMP))
		return "zcmp excludes zcd, which c with d contains: they share encodings";
	if ((set & HAS_ZCD) && (set & HAS_ZCMT))
		return "zcmt excludes zcd, which c with d contains: they share encodings";
	if ((set & HAS_ZCF) && xlen != 32)
		return "zcf exists only in rv32";
	return NULL;
}

static int parse(struct ntrace_isa *isa, const char *text, const char **reason)
{
	unsigned int xlen = 0, set = 0;
	const char *digits;

	*reason = "an ISA string starts with rv32 or rv64";
	if (!isa || !text || tolower((unsigned char)text[0]) != 'r' ||
	    tolower((unsigned char)text[1]) != 'v' || !isdigit((unsigned char)text[2]))
		return NTRACE_ERR_INVALID;
	digits = text + 2;
	text = skip_digits(digits);
	if (text - digits == 2 && !strncmp(digits, "32", 2))
		xlen = 32;
	else if (text - digits == 2 && !strncmp(digits, "64", 2))
		xlen = 64;
	if (!xlen)
		return NTRACE_ERR_UNSUPPORTED;
	*reason = take_extensions(text, &set);
	if (!*reason)
		*reason = contradiction(set, xlen);
	if (*reason)
		return NTRACE_ERR_INVALID;
	*isa = (struct ntrace_isa){
		.xlen = (uint8_t)xlen,
		.compressed = set & HAS_ZCA,
		.push_pop = set & HAS_ZCMP,
		.table_jumps = set & HAS_ZCMT,
		.embedded = set & HAS_E,
	};
	return NTRACE_OK;
}

int ntrace_isa_parse_reason(struct ntrace_isa *isa, const char *text, const char **reason)
{
	return parse(isa, text, reason);
}

int ntrace_isa_parse(struct ntrace_isa *isa, const char *text)
{
	const char *reason;

	return parse(isa, text, &reason);
}
