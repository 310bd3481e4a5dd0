/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions shared by the two formats of perf2bolt. */
#ifndef NTRACE_EXPORT_BOLT_H
#define NTRACE_EXPORT_BOLT_H

#include "counts.h"

/*
 * Branches out of the object: perf2bolt writes "X:0" for addresses outside of it.
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
int put_bolt_border(const struct counts_export *export);

#endif
