// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Stream parameters as text and back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/params.h>

#include "struct_size.h"
#include "wire/params.h"

/* NTRACE_FRAMES_SOURCE_MAX; the virtual SoC has this file without frames. */
#define ATID_MAX 0x6f

/* A spelling of a value; the first spelling of a value is used for output. */
struct spelling {
	const char *text;
	unsigned int value;
};

static const struct spelling xlen_names[] = {
	{ "32", 32 },
	{ "64", 64 },
	{ NULL, 0 },
};

static const struct spelling mode_names[] = {
	{ "any", NTRACE_MODE_ANY },
	{ "btm", NTRACE_MODE_BRANCH },
	{ "htm", NTRACE_MODE_HISTORY },
	{ NULL, 0 },
};

static const struct spelling dialect_names[] = {
	{ "ratified", NTRACE_DIALECT_RATIFIED },
	{ "rc7", NTRACE_DIALECT_RC7 },
	{ "sifive-v0", NTRACE_DIALECT_SIFIVE_V0 },
	{ NULL, 0 },
};

static const struct spelling owner_names[] = {
	{ "any", NTRACE_OWNER_ANY },
	{ "context", NTRACE_OWNER_CONTEXT },
	{ "stored", NTRACE_OWNER_STORED },
	{ NULL, 0 },
};

static const struct spelling delta_names[] = {
	{ "add", NTRACE_TIME_DELTA_ADD },
	{ "xor", NTRACE_TIME_DELTA_XOR },
	{ "abs", NTRACE_TIME_DELTA_ABSOLUTE },
	{ NULL, 0 },
};

static const struct spelling repeat_names[] = {
	{ "target", false },
	{ "message", true },
	{ NULL, 0 },
};

enum kind {
	KIND_NUMBER,	/* unsigned int */
	KIND_WIDE,	/* uint64_t */
	KIND_FLAG,	/* bool: 0 or 1 */
	KIND_NAME,	/* unsigned int: one of names */
	KIND_FLAG_NAME,	/* bool: one of names */
	KIND_ISA,	/* string */
	KIND_ADDRESS,	/* uint64_t with a flag that says whether it is known */
};

/* A field of struct ntrace_params and its values; in the order of the public table. */
struct param_field {
	enum kind kind;
	size_t offset;
	uint64_t max;
	const struct spelling *names;
};

#define FIELD(field) offsetof(struct ntrace_params, field)

static const struct param_field settings[] = {
	{ KIND_NUMBER, FIELD(src_bits), NTRACE_SRC_BITS_MAX, NULL },
	{ KIND_NAME, FIELD(xlen), 0, xlen_names },
	{ KIND_FLAG, FIELD(extend_address), 1, NULL },
	{ KIND_NUMBER, FIELD(address_bits), 64, NULL },
	{ KIND_FLAG, FIELD(all_jumps), 1, NULL },
	{ KIND_NAME, FIELD(mode), 0, mode_names },
	{ KIND_NAME, FIELD(dialect), 0, dialect_names },
	{ KIND_NUMBER, FIELD(timestamp_bits), 64, NULL },
	{ KIND_WIDE, FIELD(timestamp_hz), UINT64_MAX, NULL },
	{ KIND_NAME, FIELD(timestamp_delta), 0, delta_names },
	{ KIND_NUMBER, FIELD(implicit_return), 3, NULL },
	{ KIND_FLAG, FIELD(keep_stack), 1, NULL },
	{ KIND_ISA, FIELD(isa), 0, NULL },
	{ KIND_ADDRESS, FIELD(jvt), UINT64_MAX, NULL },
	{ KIND_NUMBER, FIELD(atid), ATID_MAX, NULL },
	{ KIND_NAME, FIELD(owner), 0, owner_names },
	{ KIND_FLAG_NAME, FIELD(repeat_message), 0, repeat_names },
	{ KIND_FLAG, FIELD(vendor_timestamps), 1, NULL },
};

static const struct ntrace_params_key keys[] = {
	{ "srcbits", "0 to 12", "0", "bits of the SRC field; 0: messages have none" },
	{ "xlen", "32 or 64", "ELF's or 64", "bits of an address" },
	{ "extaddr", "0 or 1", "0", "1: the top bit of an address field is copied upwards" },
	{ "addrbits", "0 to 64", "0",
	  "top bit of address fields, which is the sign (SiFive); 0: all are sent" },
	{ "alljumps", "0 or 1", "0", "1: direct jumps are reported as branches" },
	{ "mode", "any, btm or htm", "any", "branch or history trace messages" },
	{ "dialect", "ratified, rc7 or sifive-v0", "ratified", "version of the messages" },
	{ "tsbits", "0 to 64", "0", "bits of a timestamp; 0: no timestamps, or they do not wrap" },
	{ "tshz", "a number", "0", "timestamp ticks per second; 0: unknown" },
	{ "tsdelta", "add, xor or abs", "add",
	  "a timestamp without SYNC is added or XORed to the last one, or absolute" },
	{ "impret", "0 to 3", "0", "implicit returns: off, counted, partly or wholly compared" },
	{ "keepstack", "0 or 1", "0", "1: markers leave the return stack as it is (rc7)" },
	{ "isa", "an ISA string", "ELF's", "as rv64gc_zba, without commas" },
	{ "jvt", "an address", "ELF's", "the jump vector table of Zcmt" },
	{ "atid", "0 to 111", "0", "source ID of the bytes in CoreSight frames; 0: no frames" },
	{ "owner", "any, context or stored", "any",
	  "Ownership has a context and privilege, or what software stored (SiFive)" },
	{ "repeat", "target or message", "target",
	  "RepeatBranch repeats the target, or the message with its XOR" },
	{ "vendorts", "0 or 1", "0", "1: vendor messages (TCODE 56 to 62) end with a timestamp" },
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

_Static_assert(sizeof(settings) / sizeof(settings[0]) == KEYS, "one for each key");
_Static_assert(sizeof(enum ntrace_mode) == sizeof(unsigned int) &&
		       sizeof(enum ntrace_dialect) == sizeof(unsigned int) &&
		       sizeof(enum ntrace_owner) == sizeof(unsigned int) &&
		       sizeof(enum ntrace_time_delta) == sizeof(unsigned int),
	       "the parser sets them like the unsigned fields");

const struct ntrace_params_key *ntrace_params_keys(size_t *count)
{
	*count = KEYS;
	return keys;
}

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

static bool parse_name(const char *text, const struct spelling *names, uint64_t *value)
{
	for (; names->text; names++) {
		if (!strcmp(text, names->text)) {
			*value = names->value;
			return true;
		}
	}
	return false;
}

static const char *name_of(const struct spelling *names, unsigned int value)
{
	for (; names->text; names++) {
		if (names->value == value)
			return names->text;
	}
	return "?";
}

/* An ISA string ends with the setting and contains only printable characters. */
static bool parse_isa(struct ntrace_params *params, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	}
	params->isa = text;
	return true;
}

/* Greater than the length of any value but an ISA string. */
#define VALUE_SIZE 32

static bool parse_value(struct ntrace_params *params, const struct param_field *setting,
			const char *value, size_t length)
{
	void *field = (char *)params + setting->offset;
	char text[VALUE_SIZE];
	uint64_t number;

	if (setting->kind == KIND_ISA)
		return parse_isa(params, value, length);
	if (length >= sizeof(text))
		return false;
	memcpy(text, value, length);
	text[length] = '\0';
	if (setting->names ? !parse_name(text, setting->names, &number) :
			     !parse_number(text, setting->max, &number))
		return false;
	switch (setting->kind) {
	case KIND_FLAG:
	case KIND_FLAG_NAME:
		*(bool *)field = number;
		return true;
	case KIND_ADDRESS:
		params->jvt_known = true;
		*(uint64_t *)field = number;
		return true;
	case KIND_WIDE:
		*(uint64_t *)field = number;
		return true;
	default:
		*(unsigned int *)field = (unsigned int)number;
		return true;
	}
}

/* @text: KEY=VALUE of @length bytes */
static bool parse_setting(struct ntrace_params *params, const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	size_t key_length = equals ? (size_t)(equals - text) : 0;

	for (size_t i = 0; i < KEYS && equals; i++) {
		if (strlen(keys[i].name) != key_length || memcmp(text, keys[i].name, key_length))
			continue;
		if (!parse_value(params, &settings[i], equals + 1, length - key_length - 1))
			return false;
		/* 64 means all bits, which 0 stands for. */
		params->address_bits %= 64;
		return true;
	}
	return false;
}

int ntrace_params_parse(struct ntrace_params *params, const char *text, const char **bad)
{
	struct ntrace_params result;
	const char *start = text;

	ntrace_params_init(&result);

	if (bad)
		*bad = text;
	if (!params || !text || STRUCT_TAKE(&result, params))
		return NTRACE_ERR_INVALID;
	while (*start) {
		size_t length = strcspn(start, ",");

		if (bad)
			*bad = start;
		if (!parse_setting(&result, start, length))
			return NTRACE_ERR_INVALID;
		start += length;
		if (*start != ',')
			break;
		/* A setting must follow a comma. */
		if (!*++start) {
			if (bad)
				*bad = start;
			return NTRACE_ERR_INVALID;
		}
	}
	if (bad)
		*bad = NULL;
	STRUCT_GIVE(params, &result);
	return NTRACE_OK;
}

int ntrace_params_format(const struct ntrace_params *params, char *text, size_t size)
{
	char jvt[32] = "", bits[32] = "", atid[32] = "", owner[32] = "", vendor[32] = "";
	struct ntrace_params full;
	const char *isa;

	ntrace_params_init(&full);
	if (STRUCT_TAKE(&full, params))
		return NTRACE_ERR_INVALID;
	params = &full;
	isa = params_isa(params);
	if (params->jvt_known)
		snprintf(jvt, sizeof(jvt), ",jvt=0x%llx", (unsigned long long)params->jvt);
	if (params->address_bits)
		snprintf(bits, sizeof(bits), ",addrbits=%u", params->address_bits);
	if (params->atid)
		snprintf(atid, sizeof(atid), ",atid=%u", params->atid);
	if (params->owner)
		snprintf(owner, sizeof(owner), ",owner=%s", name_of(owner_names, params->owner));
	if (params->vendor_timestamps)
		snprintf(vendor, sizeof(vendor), ",vendorts=1");
	return snprintf(text, size,
			"srcbits=%u,xlen=%u,extaddr=%u,alljumps=%u,mode=%s,dialect=%s,"
			"tsbits=%u,tshz=%llu,tsdelta=%s,impret=%u,keepstack=%u%s%.*s%s%s%s%s%s%s",
			params->src_bits, params->xlen, params->extend_address, params->all_jumps,
			name_of(mode_names, params->mode), name_of(dialect_names, params->dialect),
			params->timestamp_bits, (unsigned long long)params->timestamp_hz,
			name_of(delta_names, params->timestamp_delta), params->implicit_return,
			params->keep_stack, isa ? ",isa=" : "", isa ? (int)strcspn(isa, ",") : 0,
			isa ? isa : "", jvt, bits, atid, owner,
			params->repeat_message ? ",repeat=message" : "", vendor);
}
