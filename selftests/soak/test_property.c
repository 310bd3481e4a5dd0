// SPDX-License-Identifier: GPL-2.0-only
/* The property tests for some minutes, with SEED and COUNT from the caller. */
#include "../property/check.h"

int main(void)
{
	return property_main("make soak TEST=property", 100000);
}
