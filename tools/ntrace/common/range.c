// SPDX-License-Identifier: GPL-2.0-only
/* --offset, --time, --around and --no-index. */
#include <string.h>

#include "range.h"

/* One end of "A,B"; an empty one keeps its value. */
static bool take_end(const struct options *options, const char *name, const char *text,
		     size_t length, uint64_t *number)
{
	struct options end = *options;
	char copy[32];

	if (!length)
		return true;
	if (length >= sizeof(copy)) {
		usage_error(options->command, "option --%s: '%s' is not a number", name, text);
		return false;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	end.value = copy;
	return option_size(&end, name, 0, UINT64_MAX, number);
}

static int take_range(const struct options *options, const char *name, uint64_t *first,
		      uint64_t *last)
{
	const char *text = options->value, *comma = strchr(text, ',');

	*first = 0;
	*last = UINT64_MAX;
	if (!comma)
		return usage_error(options->command, "option --%s: '%s' is not A,B: two numbers",
				   name, text);
	if (!take_end(options, name, text, (size_t)(comma - text), first) ||
	    !take_end(options, name, comma + 1, strlen(comma + 1), last))
		return EXIT_USAGE;
	if (*first > *last)
		return usage_error(options->command, "option --%s: %s ends before it begins", name,
				   text);
	return EXIT_OK;
}

int range_option(const struct options *options, int option, struct range_options *range)
{
	struct ntrace_session_range *part = &range->range;

	if (option == OPTION_NO_INDEX) {
		range->no_index = true;
		return EXIT_OK;
	}
	if (option == OPTION_RANGE_AROUND) {
		range->around = options->value;
		return EXIT_OK;
	}
	if (!range->given)
		*part = (struct ntrace_session_range){ .size = sizeof(*part),
						       .last_offset = UINT64_MAX,
						       .last_time = UINT64_MAX };
	range->given = true;
	if (option == OPTION_RANGE_OFFSET)
		return take_range(options, "offset", &part->first_offset, &part->last_offset);
	part->by_time = true;
	return take_range(options, "time", &part->first_time, &part->last_time);
}
