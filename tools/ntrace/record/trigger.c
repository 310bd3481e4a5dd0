// SPDX-License-Identifier: GPL-2.0-only
/* ntrace record --trigger-in, --trigger-out, --debug-triggers and --armed. */
#include <string.h>

#include "common/command.h"
#include "common/ui.h"
#include "options.h"
#include "trigger.h"

/* Number of inputs, and of outputs, in the registers. */
#define TRIGGERS_MAX 8

struct action {
	const char *name;
	uint32_t value;
};

static const struct action in_actions[] = {
	{ "on", NTRACE_TRIGGER_ON },
	{ "off", NTRACE_TRIGGER_OFF },
	{ "notify", NTRACE_TRIGGER_NOTIFY },
	{ NULL, 0 },
};

static const struct action out_actions[] = {
	{ "on", NTRACE_TRIGGER_OUT_ON },
	{ "off", NTRACE_TRIGGER_OUT_OFF },
	{ "both", NTRACE_TRIGGER_OUT_ON | NTRACE_TRIGGER_OUT_OFF },
	{ NULL, 0 },
};

/* "0=on": four bits of @triggers. */
static bool parse(const char *text, const struct action *action, uint32_t *triggers)
{
	uint64_t number;
	const char *end;

	if (!number_parse(text, &end, 10, &number) || *end != '=' || number >= TRIGGERS_MAX)
		return false;
	while (action->name && strcmp(action->name, end + 1) != 0)
		action++;
	*triggers &= ~(0xfu << 4 * number);
	*triggers |= action->value << 4 * number;
	return action->name;
}

int record_trigger_take_in(struct record_options *options, const char *text)
{
	if (parse(text, in_actions, &options->wanted.trigger_in))
		return EXIT_OK;
	return usage_error(options->command,
			   "option --trigger-in: '%s' is not N=on, N=off or N=notify with an input "
			   "N from 0 to 7",
			   text);
}

int record_trigger_take_out(struct record_options *options, const char *text)
{
	if (parse(text, out_actions, &options->wanted.trigger_out))
		return EXIT_OK;
	return usage_error(options->command,
			   "option --trigger-out: '%s' is not N=on, N=off or N=both with an output "
			   "N from 0 to 7",
			   text);
}

/* True if an input or a debug trigger can start the trace. */
static bool can_begin(const struct ntrace_config *wanted)
{
	unsigned int i;

	for (i = 0; i < TRIGGERS_MAX; i++)
		if ((wanted->trigger_in >> 4 * i & 0xf) == NTRACE_TRIGGER_ON)
			return true;
	return wanted->flags & NTRACE_CONFIG_DEBUG_TRIGGERS;
}

int record_trigger_check(const struct record_options *options)
{
	const struct ntrace_config *wanted = &options->wanted;
	bool switches = wanted->trigger_in || wanted->flags & NTRACE_CONFIG_DEBUG_TRIGGERS;

	if (wanted->flags & NTRACE_CONFIG_ARMED && !can_begin(wanted))
		return usage_error(options->command, "--armed: nothing would start the trace "
						     "(--trigger-in N=on, --debug-triggers)");
	if (switches && options->strobe_on)
		return usage_error(options->command, "--strobe and triggers exclude each other");
	return EXIT_OK;
}

/* Bit n: number n is used. */
static uint32_t used(uint32_t triggers)
{
	uint32_t mask = 0;
	unsigned int i;

	for (i = 0; i < TRIGGERS_MAX; i++)
		if (triggers >> 4 * i & 0xf)
			mask |= 1u << i;
	return mask;
}

bool record_trigger_fits(const struct ntrace_config *wanted, uint32_t in, uint32_t out, bool debug)
{
	return !(used(wanted->trigger_in) & ~in) && !(used(wanted->trigger_out) & ~out) &&
	       (debug || !(wanted->flags & NTRACE_CONFIG_DEBUG_TRIGGERS));
}
