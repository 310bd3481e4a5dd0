// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <string.h>

#include <ntrace/trace_control.h>

#include "common/command.h"
#include "features.h"

static unsigned int return_mode(uint32_t inst_features)
{
	return (inst_features & TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK) >>
	       TR_TE_FEATURE_IMPLICIT_RETURN_MODE_SHIFT;
}

static const struct {
	const char *name;
	uint32_t feature;
	unsigned int event; /* position in the config of an event */
} names[] = {
	{ "implicit-return", NTRACE_FEATURE_IMPLICIT_RETURN, 28 },
	{ "repeated-history", NTRACE_FEATURE_REPEATED_HISTORY, 29 },
	{ "sequential-jumps", NTRACE_FEATURE_SEQUENTIAL_JUMP, 27 },
	{ "all-jumps", NTRACE_FEATURE_ALL_JUMPS, 30 },
	{ "extend-addresses", NTRACE_FEATURE_EXTEND_ADDRESS, 32 },
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* Position of NTRACE_CONFIG_STALL in the config of an event. */
#define EVENT_STALL 31

static bool take_name(const char *name, size_t length, struct ntrace_config *wanted)
{
	for (size_t i = 0; i < NAMES; i++) {
		if (strlen(names[i].name) != length || strncmp(names[i].name, name, length))
			continue;
		wanted->features |= names[i].feature;
		return true;
	}
	if (length != 5 || strncmp(name, "stall", 5))
		return false;
	wanted->flags |= NTRACE_CONFIG_STALL;
	return true;
}

int record_features_take(const struct command *command, const char *text,
			 struct ntrace_config *wanted)
{
	const uint32_t both = NTRACE_FEATURE_ALL_JUMPS | NTRACE_FEATURE_IMPLICIT_RETURN;

	bool best = false;

	wanted->features = 0;
	if (!strcmp(text, "none"))
		return EXIT_OK;
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");

		if (length == 4 && !strncmp(at, "best", 4))
			best = true;
		else if (!take_name(at, length, wanted))
			return usage_error(command,
					   "option --encoder: '%.*s' is not one of best, "
					   "implicit-return, repeated-history, sequential-jumps, "
					   "all-jumps, extend-addresses, stall; none stands alone",
					   (int)length, at);
		at += length;
		if (!*at)
			break;
	}
	if (best && wanted->features)
		return usage_error(command,
				   "option --encoder: beside best only stall can be given");
	if (best)
		wanted->features = RECORD_FEATURES_BEST;
	else if ((wanted->features & both) == both)
		return usage_error(command, "option --encoder: all-jumps hides the calls that "
					    "implicit-return needs");
	return EXIT_OK;
}

void record_features_choose(uint32_t inst_features, struct ntrace_config *config)
{
	uint32_t best = NTRACE_FEATURE_SEQUENTIAL_JUMP;

	if (config->features != RECORD_FEATURES_BEST)
		return;
	if (return_mode(inst_features) == TR_TE_IMPLICIT_RETURN_COMPARED)
		best |= NTRACE_FEATURE_IMPLICIT_RETURN;
	if (config->mode != NTRACE_MODE_BTM)
		best |= NTRACE_FEATURE_REPEATED_HISTORY;
	config->features = best & inst_features;
}

uint64_t record_features_event(const struct ntrace_config *config)
{
	uint64_t bits = config->flags & NTRACE_CONFIG_STALL ? UINT64_C(1) << EVENT_STALL : 0;

	for (size_t i = 0; i < NAMES; i++)
		if (config->features & names[i].feature)
			bits |= UINT64_C(1) << names[i].event;
	return bits;
}

const char *record_features_missing(const struct ntrace_config *wanted, uint32_t inst_features,
				    bool stall)
{
	if (wanted->flags & NTRACE_CONFIG_STALL && !stall)
		return "stall";
	for (size_t i = 0; i < NAMES; i++)
		if (wanted->features & ~inst_features & names[i].feature)
			return names[i].name;
	return NULL;
}

void record_features_describe(struct ntrace_params *params, const struct ntrace_config *config,
			      uint32_t inst_features)
{
	params->all_jumps = config->features & NTRACE_FEATURE_ALL_JUMPS;
	params->extend_address = config->features & NTRACE_FEATURE_EXTEND_ADDRESS;
	if (config->features & NTRACE_FEATURE_IMPLICIT_RETURN)
		params->implicit_return = return_mode(inst_features);
}
