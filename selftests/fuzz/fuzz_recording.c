// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damaged recordings. The input is cut at lines "\nFILE name\n" into the files
 * of a recording, which is then opened and decoded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/session.h>

#include "../include/decode_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
	"params", "data", "aux.0", "images/kernel.start", "images/kernel.end", "images/kallsyms"
};
#define NAMES (sizeof(names) / sizeof(names[0]))

static char directory[64];
static volatile size_t sink;

static void clean_up(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command))
		return;
}

static void put_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	if (!file)
		return;
	fwrite(data, 1, size, file);
	fclose(file);
}

/* Length of the part before the next separator. */
static size_t part(const uint8_t *data, size_t size)
{
	static const char separator[] = "\nFILE\n";
	const uint8_t *at = memmem(data, size, separator, sizeof(separator) - 1);

	return at ? (size_t)(at - data) : size;
}

static void note(void *data, const char *text)
{
	(void)data;
	sink = strlen(text);
}

static int take(void *data, const struct ntrace_session_event *event)
{
	unsigned int *count = data;

	sink = strlen(event->comm);
	/*
	 * Limit the work: a few bytes can stand for long loops. fuzz_flow tests
	 * the flow's own limits.
	 */
	return ++*count > 20000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = "/nowhere",
						  .note = note };
	struct ntrace_session *session;
	unsigned int count = 0, i;

	if (!directory[0]) {
		char images[80];

		snprintf(directory, sizeof(directory), "/dev/shm/ntrace-fuzz-%d", (int)getpid());
		snprintf(images, sizeof(images), "%s/images", directory);
		mkdir(directory, 0700);
		mkdir(images, 0700);
		atexit(clean_up);
	}
	for (i = 0; i < NAMES; i++) {
		size_t length = part(data, size);

		put_file(names[i], data, length);
		length = length + 6 < size ? length + 6 : size;
		data += length;
		size -= length;
	}
	if (!ntrace_session_open(&session, directory, &options)) {
		decode_stream(session, 0, take, NULL, &count, NULL);
		ntrace_session_close(session);
	}
	return 0;
}
