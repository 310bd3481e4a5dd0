/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* An encoder that applies setups at once, and whose messages the test keeps. */
#ifndef SELFTESTS_VSOC_KEPT_H
#define SELFTESTS_VSOC_KEPT_H

#include <string.h>

#include "trace_encoder.h"

static struct trace_encoder te;
static struct {
	uint8_t bytes[1 << 16];
	size_t size;
} kept;

static void apply_now(void *opaque, const struct trace_encoder_setup *setup)
{
	(void)opaque;
	trace_encoder_apply(&te, setup);
}

static bool keep_bytes(void *opaque, const uint8_t *data, size_t count)
{
	(void)opaque;
	memcpy(kept.bytes + kept.size, data, count);
	kept.size += count;
	return true;
}

#endif /* SELFTESTS_VSOC_KEPT_H */
