// SPDX-License-Identifier: GPL-2.0-only
/* Times that users type. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool parse_ticks(const char *text, uint64_t *ticks)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ticks = strtoull(text, &end, 10);
	return !errno && !*end;
}

const char *moment_parse(const char *text, const struct moment_scale *scale, uint64_t *ticks)
{
	double seconds;
	char *end;

	if (!scale->known)
		return "the trace has no timestamps";
	if (*text == '@')
		return parse_ticks(text + 1, ticks) ? NULL :
						      "a time in ticks is a number, such as @1000";
	seconds = strtod(text, &end);
	seconds *= unit(end);
	if (end == text || !unit(end) || !isfinite(seconds) || seconds < 0)
		return "a time is a number of seconds since the first timestamp, such as 1.25 or "
		       "3ms, or @TICKS";
	if (!scale->hz)
		return "the frequency of the timestamps is unknown: use @TICKS, or --params tshz=N";
	seconds *= (double)scale->hz;
	if (seconds >= (double)(UINT64_MAX - scale->first))
		return "this time is too large";
	*ticks = scale->first + (uint64_t)seconds;
	return NULL;
}
