// SPDX-License-Identifier: GPL-2.0-only
/* Stream parameters as the hardware and its configuration determine them. */
#include <stdio.h>

#include "stream_params.h"

void stream_params_timestamps(struct ntrace_params *params, const struct ntrace_config *config,
			      uint32_t bits, uint64_t hz)
{
	if (!config->timestamps)
		return;
	params->timestamp_bits = bits;
	params->timestamp_hz = hz >> 2 * config->timestamp_prescale;
}

/*
 * The most significant address bit, of which all higher bits are copies: 38 with Sv39. SiFive
 * encoders send some of these copies, and no register says how many: all are dropped.
 */
static unsigned int address_bits(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	unsigned int bits = 0;
	char line[256];

	if (!file)
		return 0;
	while (!bits && fgets(line, sizeof(line), file))
		if (sscanf(line, "mmu : sv%u", &bits) == 1 && (bits < 32 || bits > 64))
			bits = 0;
	fclose(file);
	return bits ? bits - 1 : 0;
}

void stream_params_version(struct ntrace_params *params, uint32_t major)
{
	/* Version 0: pre-ratification SiFive encoders. */
	if (major)
		return;
	params->dialect = NTRACE_DIALECT_SIFIVE_V0;
	params->timestamp_delta = NTRACE_TIME_DELTA_XOR;
	params->address_bits = address_bits();
}
