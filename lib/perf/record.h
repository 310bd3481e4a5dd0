/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Sideband records between bytes and parts; for lib/perf only. */
#ifndef NTRACE_PERF_RECORD_H
#define NTRACE_PERF_RECORD_H

#include "format.h"

/* @sample_type: of the event that wrote the record, 0 if it has no trailer. */
int record_parse(const struct ntrace_perf_record *record, uint64_t sample_type,
		 struct ntrace_sideband *sideband);

/* Return: bytes of the record; 0 if it cannot be made or does not fit. */
size_t record_build(const struct ntrace_sideband *sideband, uint64_t sample_type, uint64_t id,
		    uint8_t *bytes, size_t room);

#endif
