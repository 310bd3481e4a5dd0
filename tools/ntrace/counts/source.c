// SPDX-License-Identifier: GPL-2.0-only
/* What identifies the streams of recordings in counts files: see source.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/input.h"
#include "source.h"

/* Bytes at the beginning and at the end of a file; all of most params files. */
#define SAMPLE 16384

typedef unsigned __int128 hash_t;

/* FNV-1a of 128 bits */
static void add_bytes(hash_t *hash, const void *bytes, size_t size)
{
	const hash_t prime = (hash_t)1 << 88 | 0x13b;
	const uint8_t *at = bytes;

	while (size--)
		*hash = (*hash ^ *at++) * prime;
}

static void add_number(hash_t *hash, uint64_t number)
{
	uint8_t bytes[8];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
	add_bytes(hash, bytes, sizeof(bytes));
}

static void add_file(hash_t *hash, const char *path)
{
	struct stat status = { 0 };
	uint8_t bytes[SAMPLE];
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode)) {
		got = pread(fd, bytes, sizeof(bytes), 0);
		add_bytes(hash, bytes, got > 0 ? (size_t)got : 0);
		if (status.st_size > SAMPLE) {
			got = pread(fd, bytes, sizeof(bytes), status.st_size - SAMPLE);
			add_bytes(hash, bytes, got > 0 ? (size_t)got : 0);
		}
	}
	if (fd >= 0)
		close(fd);
	add_number(hash, (uint64_t)status.st_size);
}

void source_identify(const char *recording, const char *file, unsigned int index,
		     struct ntrace_counts_source *source)
{
	hash_t hash = (hash_t)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d;
	const char *const names[] = { "params", file };
	char *path;

	if (!is_directory(recording))
		add_file(&hash, recording);
	for (unsigned int i = 0; is_directory(recording) && i < 2; i++) {
		if (!names[i] || asprintf(&path, "%s/%s", recording, names[i]) < 0)
			continue;
		add_file(&hash, path);
		free(path);
	}
	add_number(&hash, index);
	for (unsigned int i = 0; i < NTRACE_COUNTS_SOURCE_ID; i++)
		source->id[i] = (uint8_t)(hash >> 8 * i);
}
