// SPDX-License-Identifier: GPL-2.0-only
/* Stream parameters as the hardware and its configuration determine them. */
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

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

/* The hart id is in the device tree, as one or two big-endian cells. */
uint64_t stream_params_hart(int cpu)
{
	uint32_t cells[2] = { 0 };
	char path[96];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/of_node/reg", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, cells, sizeof(cells));
		close(fd);
	}
	if (got == (ssize_t)sizeof(cells))
		return (uint64_t)be32toh(cells[0]) << 32 | be32toh(cells[1]);
	return got == (ssize_t)sizeof(cells[0]) ? be32toh(cells[0]) : 0;
}
