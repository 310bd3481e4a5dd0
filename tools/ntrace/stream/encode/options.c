// SPDX-License-Identifier: GPL-2.0-only
/* Keys of --encoder: a table of the fields of the configuration that they set. */
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum kind {
	KIND_NUMBER,	/* unsigned int or enum */
	KIND_WIDE,	/* uint32_t */
	KIND_FLAG,	/* bool: 0 or 1 */
	KIND_FIXED,	/* uint32_t in 16.16, with decimals */
	KIND_CODE,	/* unsigned int: SYNC, EVCODE */
	KIND_MASK,	/* uint32_t: a bit for each privilege */
};

/* The encoder refuses other numbers itself. @hint: which ones are allowed, for the error message */
static const struct {
	uint32_t max;
	const char *hint;
} kinds[] = {
	[KIND_NUMBER] = { UINT32_MAX, "" },
	[KIND_WIDE] = { UINT32_MAX, "" },
	[KIND_FLAG] = { 1, "" },
	[KIND_FIXED] = { UINT32_MAX, "" },
	[KIND_CODE] = { 15, ": the field has 4 bits" },
	[KIND_MASK] = { 0xff, ": the mask has 8 bits" },
};

/* Names of the numbers from 0 on. */
static const char *const sync_names[] = { "off", "messages", "cycles", "parcels", NULL };
static const char *const time_names[] = { "none", "sync", "branch", "all", NULL };

static const struct key {
	const char *name;
	size_t offset;
	enum kind kind;
	const char *const *names;
} keys[] = {
#define KEY(name, field, kind, names)                                                              \
	{                                                                                          \
		name, offsetof(struct encode_options, field), kind, names                          \
	}
	KEY("icntbits", config.icnt_bits, KIND_NUMBER, NULL),
	KEY("icntfull", config.icnt_full, KIND_WIDE, NULL),
	KEY("histbits", config.hist_bits, KIND_NUMBER, NULL),
	KEY("hrepeatbits", config.hrepeat_bits, KIND_NUMBER, NULL),
	KEY("repeatbranch", config.repeat_branch, KIND_FLAG, NULL),
	KEY("bcntbits", config.bcnt_bits, KIND_NUMBER, NULL),
	KEY("seqjumps", config.sequential_jumps, KIND_FLAG, NULL),
	KEY("retbits", config.return_compare_bits, KIND_NUMBER, NULL),
	KEY("sync", config.sync_mode, KIND_NUMBER, sync_names),
	KEY("syncmax", config.sync_max, KIND_NUMBER, NULL),
	KEY("sync4", config.sync4_for_icnt, KIND_FLAG, NULL),
	KEY("timestamps", config.timestamps, KIND_NUMBER, time_names),
	KEY("context", config.context, KIND_FLAG, NULL),
	KEY("hypervisor", config.hypervisor, KIND_FLAG, NULL),
	KEY("privmask", config.priv_mask, KIND_MASK, NULL),
	KEY("onebtype", config.trap_btype, KIND_FLAG, NULL),
	KEY("idlecorr", config.idle_correlations, KIND_FLAG, NULL),
	KEY("fifo", config.fifo_bytes, KIND_WIDE, NULL),
	KEY("drain", config.fifo_drain, KIND_FIXED, NULL),
	KEY("stall", config.stall, KIND_FLAG, NULL),
	KEY("zcaccesses", config.zc_accesses, KIND_FLAG, NULL),
	KEY("emptyfields", config.empty_fields, KIND_FLAG, NULL),
	KEY("emptyhist", config.empty_history, KIND_FLAG, NULL),
	KEY("noecode", config.unspecified_errors, KIND_FLAG, NULL),
	KEY("start", start, KIND_CODE, NULL),
	KEY("stop", stop, KIND_CODE, NULL),
#undef KEY
};

_Static_assert(sizeof(enum ntrace_timestamps) == sizeof(unsigned int), "KIND_NUMBER sets it");

void encode_options_init(struct encode_options *options)
{
	ntrace_encoder_config_init(&options->config);
	ntrace_params_init(&options->params);
	options->params.mode = NTRACE_MODE_HISTORY;
	options->config.params = &options->params;
	options->start = NTRACE_SYNC_RESET_EXIT;
	options->stop = NTRACE_EVCODE_DEBUG_ENTRY;
}

static bool find_name(const char *const *names, const char *text, uint64_t *number)
{
	for (*number = 0; names && names[*number]; ++*number) {
		if (!strcmp(names[*number], text))
			return true;
	}
	return false;
}

static bool parse_number(const struct key *key, const char *text, uint64_t *number)
{
	const char *end;
	double fixed;

	if (key->kind == KIND_FIXED) {
		if (!real_parse(text, &end, &fixed) || *end)
			return false;
		fixed *= 65536;
		/* A rate above 0 must not become 0. */
		*number = fixed > 0 && fixed < 1 ? 1 :
			  fixed > UINT32_MAX	 ? UINT32_MAX :
						   (uint64_t)fixed;
		return true;
	}
	return number_parse(text, &end, 0, number) && !*end && *number <= kinds[key->kind].max;
}

static bool set(struct encode_options *options, const struct key *key, const char *text)
{
	char *field = (char *)options + key->offset;
	unsigned int number;
	uint64_t value;
	bool flag;

	if (key->names ? !find_name(key->names, text, &value) : !parse_number(key, text, &value))
		return false;
	number = (unsigned int)value;
	flag = value;
	if (key->kind == KIND_FLAG)
		memcpy(field, &flag, sizeof(flag));
	else
		memcpy(field, &number, sizeof(number));
	return true;
}

static const struct key *find_key(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strncmp(keys[i].name, name, length) && !keys[i].name[length])
			return &keys[i];
	}
	return NULL;
}

/* range=FIRST-LAST, may be repeated */
static bool add_range(struct ntrace_encoder_config *config, const char *text)
{
	struct ntrace_encoder_range *range = &config->range[config->range_count];

	if (config->range_count == NTRACE_ENCODER_RANGES_MAX)
		return false;
	config->range_count++;
	return number_range(text, &range->first, &range->last);
}

static bool parse_pair(struct encode_options *options, const char *pair)
{
	const char *equals = strchr(pair, '=');
	const struct key *key;

	if (!equals)
		return false;
	if (equals - pair == 5 && !strncmp(pair, "range", 5))
		return add_range(&options->config, equals + 1);
	key = find_key(pair, (size_t)(equals - pair));
	return key && set(options, key, equals + 1);
}

static const char *hint(const char *pair)
{
	const struct key *key = find_key(pair, strcspn(pair, "="));

	return key ? kinds[key->kind].hint : "";
}

int encode_options_parse(const struct command *command, struct encode_options *options,
			 const char *text)
{
	char *copy = strdup(text), *rest = copy, *pair;
	int result = EXIT_OK;

	while (copy && !result && (pair = strsep(&rest, ","))) {
		if (!parse_pair(options, pair))
			result = usage_error(command, "option --encoder: cannot use '%s'%s", pair,
					     hint(pair));
	}
	if (!copy)
		result = EXIT_FAILED;
	free(copy);
	return result;
}
