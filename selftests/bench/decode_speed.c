// SPDX-License-Identifier: GPL-2.0-only
/*
 * decode_speed RECORDING SYSROOT: measures the speed of the library reading and decoding a
 * recording. Prints lines "NAME VALUE UNIT".
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <ntrace/session.h>

#include "../include/decode_stream.h"

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The messages of one stream, fields only. */
static uint64_t read_messages(const struct ntrace_stream *stream, uint64_t *bytes)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	uint64_t messages = 0;
	struct stat status;
	uint8_t *data;
	FILE *file = fopen(stream->file, "rb");

	if (!file || fstat(fileno(file), &status) || !(data = malloc((size_t)status.st_size + 1)) ||
	    fread(data, 1, (size_t)status.st_size, file) != (size_t)status.st_size) {
		perror(stream->file);
		exit(1);
	}
	fclose(file);
	ntrace_reader_init(&reader, stream->params, true);
	ntrace_reader_feed(&reader, data, (size_t)status.st_size);
	while (ntrace_reader_next(&reader, &message) >= 0)
		messages++;
	free(data);
	*bytes += (uint64_t)status.st_size;
	return messages;
}

static int count(void *data, const struct ntrace_session_event *event)
{
	uint64_t *events = data;

	(void)event;
	++*events;
	return 0;
}

int main(int argc, char **argv)
{
	struct ntrace_session_options options = { .size = sizeof(options) };
	struct ntrace_flow_stats stats;
	struct ntrace_session *session;
	uint64_t bytes = 0, messages = 0, blocks = 0, instructions = 0, events = 0;
	double start, took;
	int error;

	if (argc != 3) {
		fprintf(stderr, "usage: decode_speed RECORDING SYSROOT\n");
		return 2;
	}
	options.sysroot = argv[2];
	error = ntrace_session_open(&session, argv[1], &options);
	if (error) {
		fprintf(stderr, "%s: %s\n", argv[1], ntrace_strerror(error));
		return 1;
	}
	start = seconds();
	for (unsigned int i = 0; i < ntrace_session_streams(session); i++)
		messages += read_messages(ntrace_session_stream(session, i), &bytes);
	took = seconds() - start;
	printf("messages %.3f MB/s\nmessages %.3f million/s\n", (double)bytes / took / 1e6,
	       (double)messages / took / 1e6);
	start = seconds();
	for (unsigned int i = 0; i < ntrace_session_streams(session); i++) {
		decode_stream(session, i, count, NULL, &events, &stats);
		blocks += stats.blocks;
		instructions += stats.instructions;
	}
	took = seconds() - start;
	printf("flow %.3f MB/s\nflow %.3f million blocks/s\nflow %.3f million instructions/s\n",
	       (double)bytes / took / 1e6, (double)blocks / took / 1e6,
	       (double)instructions / took / 1e6);
	ntrace_session_close(session);
	return 0;
}
