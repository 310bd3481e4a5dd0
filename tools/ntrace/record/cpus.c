// SPDX-License-Identifier: GPL-2.0-only
/* Sets of CPUs, by Linux CPU number. */
#include <stdio.h>
#include <string.h>

#include "common/command.h"
#include "cpus.h"

bool cpu_mask_parse(struct cpu_mask *set, const char *text)
{
	uint64_t first, last;
	const char *end;

	memset(set, 0, sizeof(*set));
	while (*text && *text != '\n') {
		if (!number_parse(text, &end, 10, &first))
			return false;
		last = first;
		if (*end == '-' && !number_parse(end + 1, &end, 10, &last))
			return false;
		if (first > last || last >= CPUS_MAX)
			return false;
		for (; first <= last; first++)
			set->bits[first / 64] |= UINT64_C(1) << first % 64;
		if (*end == ',' && end[1])
			end++;
		else if (*end && *end != '\n')
			return false;
		text = end;
	}
	return true;
}

bool cpu_mask_online(struct cpu_mask *online)
{
	char text[4096];
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	bool good = file && fgets(text, sizeof(text), file) && cpu_mask_parse(online, text);

	if (file)
		fclose(file);
	return good;
}
