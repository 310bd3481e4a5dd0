// SPDX-License-Identifier: GPL-2.0-only
/* Times that users type. */
#include <string.h>

#include "command.h"
#include "moment.h"

static double unit(const char *text)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, text))
			return units[i].seconds;
	return 0;
}

const char *moment_parse(const char *text, const struct moment_scale *scale, uint64_t *ticks)
{
	double seconds;
	const char *end;

	if (!scale->known)
		return "the trace has no timestamps";
	if (*text == '@')
		return number_parse(text + 1, &end, 10, ticks) && !*end ?
			       NULL :
			       "a time in ticks is a number, such as @1000";
	if (!real_parse(text, &end, &seconds) || !unit(end))
		return "a time is a number of seconds since the first timestamp, such as 1.25 or "
		       "3ms, or @TICKS";
	if (!scale->hz)
		return "the frequency of the timestamps is unknown: use @TICKS, or --params tshz=N";
	seconds *= unit(end) * (double)scale->hz;
	if (seconds >= (double)(UINT64_MAX - scale->first))
		return "this time is too large";
	*ticks = scale->first + (uint64_t)seconds;
	return NULL;
}
