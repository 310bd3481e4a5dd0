// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any conversation to the GDB stub. Input: a line is the contents of a packet, which gets its
 * frame and checksum; a line that starts with '!' is passed as it is. Checks that each reply has a
 * frame and a checksum, and that every thread stays at an instruction of its history.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>

#include "gdb/remote.h"

#define THREADS 2
#define BASE 0x1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct history history;
static struct target target;
static uint8_t trace[8192];
static size_t trace_size;

static void write_message(void *data, const uint8_t *bytes, size_t size)
{
	(void)data;
	if (size > sizeof(trace) - trace_size)
		abort();
	memcpy(trace + trace_size, bytes, size);
	trace_size += size;
}

/* A hart that goes around a loop of three blocks; damage in the trace makes gaps. */
static void encode_loop(struct ntrace_params *params, unsigned int src, unsigned int turns)
{
	static const struct ntrace_ingress run[] = {
		{ BASE, 2, NTRACE_ITYPE_BRANCH_NOT_TAKEN, 0, NTRACE_PRIV_U, 0 },
		{ BASE + 4, 1, NTRACE_ITYPE_DIRECT_JUMP, 0, NTRACE_PRIV_U, 0 },
	};
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;

	ntrace_encoder_config_init(&config);
	config.params = params;
	config.src = src;
	config.timestamps = NTRACE_TIMESTAMPS_ALL;
	config.write = write_message;
	for (unsigned int i = 0; i < turns; i++) {
		if (i % 8 == 0 && ntrace_encoder_init(&encoder, &config))
			abort();
		if (i % 8 == 0)
			ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
		ntrace_encoder_time(&encoder, 10 * i);
		for (size_t k = 0; k < sizeof(run) / sizeof(run[0]); k++)
			ntrace_encoder_retire(&encoder, &run[k]);
		if (i % 8 < 7 && i + 1 < turns)
			continue;
		ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
		/* No message: an error and a gap. */
		write_message(NULL, (const uint8_t *)"\2\3", 2);
	}
}

/* Two harts in one trace: one that goes around a loop, with gaps; and one that does so once. */
static void make_history(void)
{
	/* c.nop; c.beqz a0, .; c.j .-4 */
	static const uint8_t code[64] = { 0x01, 0x00, 0x01, 0xc1, 0xf5, 0xbf };
	static struct ntrace_params params;
	struct ntrace_locator *locator = ntrace_locator_new();
	struct ntrace_object *object;
	struct ntrace_space *space;

	ntrace_params_init(&params);
	params.mode = NTRACE_MODE_HISTORY;
	params.src_bits = 1;
	params.timestamp_bits = 32;
	params.timestamp_hz = 1000;
	if (!locator || ntrace_object_from_bytes(&object, "code", code, sizeof(code), BASE) ||
	    ntrace_space_new(&space, "space", NULL) || ntrace_space_map_linked(space, object, 0))
		abort();
	history.stream = -1;
	for (unsigned int src = 0; src < THREADS; src++)
		encode_loop(&params, src, src ? 1 : 40);
	for (unsigned int src = 0; src < THREADS; src++) {
		int64_t number = history_thread(&history, -1, (int32_t)src + 1);
		struct ntrace_cursor_config *config = &history.thread[number].config;

		config->params = &params;
		config->src = src;
		config->space = space;
		config->data = trace;
		config->data_size = trace_size;
		config->window = 16;
		history.thread[number].hz = params.timestamp_hz;
		if (!history_survey(&history, (uint32_t)number, locator))
			abort();
	}
	if (target_init(&target, &history, 0) || target.threads != THREADS)
		abort();
	ntrace_locator_free(locator);
	ntrace_object_put(object);
}

static uint8_t sum_of(const char *text, size_t size)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += (uint8_t)text[i];
	return sum;
}

/* All output is acknowledgements and whole packets. */
static void check_output(struct packet_stream *packets)
{
	const char *at = packets->out.bytes, *end, *hash;
	char sum[4];

	if (!packets->out.size)
		return;
	end = at + packets->out.size;
	while (at < end) {
		if (*at == '+' || *at == '-') {
			at++;
			continue;
		}
		hash = memchr(at, '#', (size_t)(end - at));
		if (*at != '$' || !hash || end - hash < 3)
			abort();
		snprintf(sum, sizeof(sum), "#%02x", sum_of(at + 1, (size_t)(hash - at - 1)));
		if (memcmp(sum, hash, 3))
			abort();
		at = hash + 3;
	}
	packet_sent(packets, packets->out.size);
}

static void check_places(const struct remote *remote)
{
	for (size_t i = 0; i < THREADS; i++) {
		const struct remote_thread *thread = &remote->thread[i];
		uint64_t number = history_number(&thread->place);
		struct history_place same;

		if (!thread->placed)
			continue;
		same = history_seek(&history, thread->place.thread, number);
		if (number < thread->low || number > thread->high ||
		    history_pc(&history, &same) != history_pc(&history, &thread->place))
			abort();
	}
}

static bool take_line(struct remote *remote, const char *line, size_t size)
{
	char frame[4];
	bool good;

	if (size && *line == '!')
		return remote_input(remote, line + 1, size - 1);
	snprintf(frame, sizeof(frame), "#%02x", sum_of(line, size));
	good = remote_input(remote, "$", 1) && remote_input(remote, line, size) &&
	       remote_input(remote, frame, 3);
	/* A line with the characters of a frame does not end here. */
	return good && remote_input(remote, "+", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data, *end = line + size, *next;
	struct remote *remote;
	bool good = true;

	if (!history.thread_count)
		make_history();
	remote = remote_new(&target);
	if (!remote)
		abort();
	for (; good && line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			next = end;
		good = take_line(remote, line, (size_t)(next - line));
		check_output(&remote->packets);
		check_places(remote);
	}
	remote_free(remote);
	return 0;
}
