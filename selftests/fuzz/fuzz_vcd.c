// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any bytes as a VCD waveform: checks that time steps, values and errors do not depend on how the input is cut, and
 * that tracked signals have no other values than 0, 1, x and z.
 */
#include <stdlib.h>
#include <string.h>

#include "common/vcd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
	struct vcd vcd;
	uint64_t hash;
	uint64_t bits;
};

/* FNV-1a over all that the reader reports. */
static void mix(struct run *run, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		run->hash = (run->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static int take_var(void *data, const char *path, unsigned int width, unsigned int low,
		    const char *id)
{
	struct run *run = data;
	int index = -1;

	if (strlen(path) > VCD_PATH_MAX || !width || strlen(id) > VCD_ID_MAX)
		abort();
	/* Bounds the memory, as a map does. */
	if (run->bits + width < 1 << 18)
		index = vcd_track(&run->vcd, id, width);
	if (index >= 0)
		run->bits += width;
	mix(run, path, strlen(path) + 1);
	mix(run, &width, sizeof(width));
	mix(run, &low, sizeof(low));
	mix(run, &index, sizeof(index));
	return 0;
}

static int take_step(void *data)
{
	struct run *run = data;

	mix(run, &run->vcd.time, sizeof(run->vcd.time));
	for (unsigned int i = 0; i < run->vcd.signals; i++) {
		const struct vcd_signal *signal = &run->vcd.signal[i];

		for (unsigned int k = 0; k < 2 * signal->width; k++)
			if (!memchr("01xz", signal->now[k], 4))
				abort();
		if (signal->rose || signal->fell)
			mix(run, &i, sizeof(i));
		/* All signals of each step would make long inputs slow. */
		if (i < 4)
			mix(run, signal->next, signal->width < 64 ? signal->width : 64);
	}
	return 0;
}

static uint64_t read_all(const uint8_t *data, size_t size, size_t chunk)
{
	static struct run run;
	int result = 0;

	vcd_init(&run.vcd);
	run.hash = UINT64_C(0xcbf29ce484222325);
	run.bits = 0;
	run.vcd.var = take_var;
	run.vcd.step = take_step;
	run.vcd.data = &run;
	for (size_t at = 0; at < size && !result; at += chunk)
		result = vcd_feed(&run.vcd, (const char *)data + at,
				  size - at < chunk ? size - at : chunk);
	result = vcd_end(&run.vcd);
	if ((result != 0) != (run.vcd.error != NULL))
		abort();
	mix(&run, &result, sizeof(result));
	mix(&run, &run.vcd.line, sizeof(run.vcd.line));
	if (run.vcd.error)
		mix(&run, run.vcd.error, strlen(run.vcd.error));
	vcd_free(&run.vcd);
	return run.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole = read_all(data, size, size + 1);

	if (read_all(data, size, 1) != whole || read_all(data, size, 13) != whole)
		abort();
	return 0;
}
