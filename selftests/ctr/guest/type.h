/* SPDX-License-Identifier: GPL-2.0-only */
/* The PMU "ctr" of the running kernel. */
#ifndef SELFTESTS_CTR_GUEST_TYPE_H
#define SELFTESTS_CTR_GUEST_TYPE_H

#include <stdio.h>
#include <stdlib.h>

#include "kselftest.h"

/* The type of its events. Skips the test if there is no such PMU. */
static inline unsigned int ctr_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/ctr/type", "r");
	unsigned int type = 0;

	if (!file || fscanf(file, "%u", &type) != 1)
		ksft_exit_skip("no PMU \"ctr\"\n");
	fclose(file);
	return type;
}

#endif /* SELFTESTS_CTR_GUEST_TYPE_H */
