// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Stream parameters as text and back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/params.h>

/* A spelling of an enumerator; the first one of a value is the one written. */
struct name {
	const char *text;
	unsigned int value;
};

static const struct name mode_names[] = {
	{ "any", NTRACE_MODE_ANY },
	{ "btm", NTRACE_MODE_BRANCH },
	{ "htm", NTRACE_MODE_HISTORY },
	{ NULL, 0 },
};

static const struct name dialect_names[] = {
	{ "ratified", NTRACE_DIALECT_RATIFIED },
	{ "rc7", NTRACE_DIALECT_RC7 },
	{ "sifive-v0", NTRACE_DIALECT_SIFIVE_V0 },
	{ NULL, 0 },
};

static const struct name delta_names[] = {
	{ "add", false },
	{ "xor", true },
	{ NULL, 0 },
};

void ntrace_params_init(struct ntrace_params *params)
{
	memset(params, 0, sizeof(*params));
	params->size = sizeof(*params);
	params->xlen = 64;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value <= max;
}

static bool parse_uint(const char *text, unsigned int max, unsigned int *value)
{
	uint64_t number;

	if (!parse_number(text, max, &number))
		return false;
	*value = (unsigned int)number;
	return true;
}

static bool parse_bool(const char *text, bool *value)
{
	unsigned int number;

	if (!parse_uint(text, 1, &number))
		return false;
	*value = number;
	return true;
}

static bool parse_name(const char *text, const struct name *names, unsigned int *value)
{
	for (; names->text; names++) {
		if (!strcmp(text, names->text)) {
			*value = names->value;
			return true;
		}
	}
	return false;
}

static const char *name_of(const struct name *names, unsigned int value)
{
	for (; names->text; names++) {
		if (names->value == value)
			return names->text;
	}
	return "?";
}

/* An ISA string stands between commas, so it must not hold one, nor anything unprintable. */
static bool parse_isa(const char *text, char *isa, size_t size)
{
	size_t length = strlen(text);

	if (length >= size)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] > '~' || text[i] == ',')
			return false;
	}
	memcpy(isa, text, length + 1);
	return true;
}

static bool parse_setting(struct ntrace_params *params, const char *key, const char *value)
{
	unsigned int number;

	if (!strcmp(key, "srcbits"))
		return parse_uint(value, NTRACE_SRC_BITS_MAX, &params->src_bits);
	if (!strcmp(key, "xlen"))
		return parse_uint(value, 64, &params->xlen) &&
		       (params->xlen == 32 || params->xlen == 64);
	if (!strcmp(key, "extaddr"))
		return parse_bool(value, &params->extend_address);
	if (!strcmp(key, "alljumps"))
		return parse_bool(value, &params->all_jumps);
	if (!strcmp(key, "mode")) {
		if (!parse_name(value, mode_names, &number))
			return false;
		params->mode = (enum ntrace_mode)number;
		return true;
	}
	if (!strcmp(key, "dialect")) {
		if (!parse_name(value, dialect_names, &number))
			return false;
		params->dialect = (enum ntrace_dialect)number;
		return true;
	}
	if (!strcmp(key, "tsbits"))
		return parse_uint(value, 64, &params->timestamp_bits);
	if (!strcmp(key, "tshz"))
		return parse_number(value, UINT64_MAX, &params->timestamp_hz);
	if (!strcmp(key, "tsdelta")) {
		if (!parse_name(value, delta_names, &number))
			return false;
		params->timestamp_xor = number;
		return true;
	}
	if (!strcmp(key, "impret"))
		return parse_uint(value, 3, &params->implicit_return);
	if (!strcmp(key, "keepstack"))
		return parse_bool(value, &params->keep_stack);
	if (!strcmp(key, "isa"))
		return parse_isa(value, params->isa, sizeof(params->isa));
	if (!strcmp(key, "jvt")) {
		if (!parse_number(value, UINT64_MAX, &params->jvt))
			return false;
		params->jvt_known = true;
		return true;
	}
	return false;
}

int ntrace_params_parse(struct ntrace_params *params, const char *text, const char **bad)
{
	struct ntrace_params result;
	const char *start = text;

	if (bad)
		*bad = text;
	if (!params || !text || params->size < sizeof(result))
		return NTRACE_ERR_INVALID;
	result = *params;
	while (*start) {
		char setting[sizeof(result.isa) + 16];
		size_t length = strcspn(start, ",");
		char *value;

		if (bad)
			*bad = start;
		if (length >= sizeof(setting))
			return NTRACE_ERR_INVALID;
		memcpy(setting, start, length);
		setting[length] = '\0';
		value = strchr(setting, '=');
		if (!value)
			return NTRACE_ERR_INVALID;
		*value++ = '\0';
		if (!parse_setting(&result, setting, value))
			return NTRACE_ERR_INVALID;
		start += length;
		if (*start != ',')
			break;
		/* A comma must have a setting behind it. */
		if (!*++start) {
			if (bad)
				*bad = start;
			return NTRACE_ERR_INVALID;
		}
	}
	if (bad)
		*bad = NULL;
	*params = result;
	return NTRACE_OK;
}

int ntrace_params_format(const struct ntrace_params *params, char *text, size_t size)
{
	char jvt[32] = "";

	if (params->jvt_known)
		snprintf(jvt, sizeof(jvt), ",jvt=0x%llx", (unsigned long long)params->jvt);
	return snprintf(text, size,
			"srcbits=%u,xlen=%u,extaddr=%u,alljumps=%u,mode=%s,dialect=%s,"
			"tsbits=%u,tshz=%llu,tsdelta=%s,impret=%u,keepstack=%u%s%s%s",
			params->src_bits, params->xlen, params->extend_address, params->all_jumps,
			name_of(mode_names, params->mode), name_of(dialect_names, params->dialect),
			params->timestamp_bits, (unsigned long long)params->timestamp_hz,
			name_of(delta_names, params->timestamp_xor), params->implicit_return,
			params->keep_stack, params->isa[0] ? ",isa=" : "", params->isa, jvt);
}
