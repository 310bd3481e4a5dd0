// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "pmu.h"

bool pmu_read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	bool good = file && fgets(text, (int)size, file);

	if (file)
		fclose(file);
	return good;
}

uint64_t pmu_number(const char *name, uint64_t missing)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), PMU "%s", name);
	return pmu_read_text(path, text, sizeof(text)) ? strtoull(text, NULL, 0) : missing;
}

int pmu_paranoia(void)
{
	char text[32];

	return pmu_read_text("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) ?
		       atoi(text) :
		       0;
}
