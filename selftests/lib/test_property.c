// SPDX-License-Identifier: GPL-2.0-only
/* Random programs, encoded and decoded: see selftests/property. */
#include "../property/check.h"

int main(void)
{
	return property_main("make check-lib TEST=property", 600);
}
