// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The version of the library. */
#include <ntrace/version.h>

const char *ntrace_version(void)
{
	return NTRACE_VERSION;
}
