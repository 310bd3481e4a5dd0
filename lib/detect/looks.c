// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Kinds of bytes that are no N-Trace stream. */
#include <string.h>

#include "detect.h"

/* E-Trace packets: minimum number of consecutive packets, nine of ten of the same kind. */
#define PACKETS_MIN 16
#define ALIKE_NUMERATOR 9
#define ALIKE_DENOMINATOR 10
/* Random bytes: minimum number for a reliable distribution. */
#define RANDOM_BYTES_MIN 256
#define SAMPLE_BYTES 65536

unsigned int detect_magic(const uint8_t *data, size_t size)
{
	static const struct {
		const char *magic;
		size_t size;
		unsigned int kind;
	} formats[] = {
		{ "\177ELF", 4, NTRACE_DETECT_ELF },
		{ "PERFILE2", 8, NTRACE_DETECT_PERF_DATA },
		{ "2ELIFREP", 8, NTRACE_DETECT_PERF_DATA },
		{ "\037\213\010", 3, NTRACE_DETECT_COMPRESSED },
		{ "\375"
		  "7zXZ",
		  5, NTRACE_DETECT_COMPRESSED },
		{ "\050\265\057\375", 4, NTRACE_DETECT_COMPRESSED },
		{ "BZh", 3, NTRACE_DETECT_COMPRESSED },
		{ "PK\003\004", 4, NTRACE_DETECT_COMPRESSED },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (size >= formats[i].size && !memcmp(data, formats[i].magic, formats[i].size))
			return formats[i].kind;
	}
	return NTRACE_DETECT_TRACE;
}

static bool is_text(const uint8_t *data, size_t size)
{
	size_t odd = 0;

	for (size_t i = 0; i < size; i++)
		odd += (data[i] < 0x20 && (data[i] < '\t' || data[i] > '\r')) || data[i] == 0x7f;
	return odd <= size / 100 && !memchr(data, 0, size);
}

static bool all_are(const uint8_t *data, size_t size, uint8_t value)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i] != value)
			return false;
	}
	return true;
}

/*
 * The low 5 bits of a header are the number of bytes that follow, the 3 bits above are the kind of
 * packet or flow, which is the same in nearly all packets. Random bytes can be followed as well,
 * but their kinds vary.
 */
static bool is_etrace(const uint8_t *data, size_t size)
{
	unsigned int kinds[8] = { 0 }, packets = 0, most = 0;
	size_t at = 0;

	while (at < size) {
		unsigned int length = data[at] & 31;

		if (length) {
			kinds[data[at] >> 5]++;
			packets++;
		}
		at += 1 + length;
	}
	for (unsigned int i = 0; i < 8; i++)
		most = kinds[i] > most ? kinds[i] : most;
	return packets >= PACKETS_MIN && most * ALIKE_DENOMINATOR >= packets * ALIKE_NUMERATOR;
}

/*
 * The values of random bytes are nearly equally frequent: the sum of squares is close to its
 * minimum.
 */
static bool is_random(const uint8_t *data, size_t size)
{
	uint64_t count[256] = { 0 }, squares = 0;

	if (size < RANDOM_BYTES_MIN)
		return false;
	for (size_t i = 0; i < size; i++)
		count[data[i]]++;
	for (unsigned int i = 0; i < 256; i++)
		squares += count[i] * count[i];
	/* The expected value for random bytes is size^2 / 256 + size. */
	return squares <= (uint64_t)size * size / 256 * 9 / 8 + 2 * (uint64_t)size;
}

unsigned int detect_looks(const uint8_t *data, size_t size)
{
	unsigned int kind = detect_magic(data, size);

	if (kind != NTRACE_DETECT_TRACE)
		return kind;
	if (!size)
		return NTRACE_DETECT_EMPTY;
	if (all_are(data, size, 0))
		return NTRACE_DETECT_ZEROS;
	if (all_are(data, size, 0xff))
		return NTRACE_DETECT_IDLE;
	if (size > SAMPLE_BYTES)
		size = SAMPLE_BYTES;
	if (is_text(data, size))
		return NTRACE_DETECT_TEXT;
	if (is_etrace(data, size))
		return NTRACE_DETECT_ETRACE;
	return is_random(data, size) ? NTRACE_DETECT_RANDOM : NTRACE_DETECT_BINARY;
}

const char *ntrace_detect_kind_text(unsigned int kind)
{
	static const char *const texts[] = {
		[NTRACE_DETECT_TRACE] = "an N-Trace stream",
		[NTRACE_DETECT_EMPTY] = "an empty file",
		[NTRACE_DETECT_IDLE] = "idle bytes alone",
		[NTRACE_DETECT_ZEROS] = "zeros alone",
		[NTRACE_DETECT_ELF] = "an ELF file",
		[NTRACE_DETECT_PERF_DATA] = "a perf.data file",
		[NTRACE_DETECT_COMPRESSED] = "a compressed file",
		[NTRACE_DETECT_TEXT] = "text",
		[NTRACE_DETECT_ETRACE] = "packets of E-Trace",
		[NTRACE_DETECT_RANDOM] = "random or compressed bytes",
		[NTRACE_DETECT_BINARY] = "binary data of another kind",
		[NTRACE_DETECT_PARTLY] = "N-Trace messages among other bytes",
	};

	return kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : "?";
}
