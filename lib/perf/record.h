/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Conversion of sideband records between bytes and fields; internal to lib/perf. */
#ifndef NTRACE_PERF_RECORD_H
#define NTRACE_PERF_RECORD_H

#include "format.h"

/* @sample_type: sample_type of the event that wrote the record, 0 if it has no trailer. */
int record_parse(const struct ntrace_perf_record *record, uint64_t sample_type,
		 struct ntrace_sideband *sideband);

/* Return: bytes of the record; 0 if the type is unsupported or the record does not fit. */
size_t record_build(const struct ntrace_sideband *sideband, uint64_t sample_type, uint64_t id,
		    uint8_t *bytes, size_t room);

#endif
