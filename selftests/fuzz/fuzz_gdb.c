// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any conversation to the GDB stub. Input: a line is the contents of a packet, which gets its
 * frame and checksum; a line that starts with '!' is passed as it is. Checks that each reply has a
 * frame and a checksum, and that every thread stays at an instruction of its history.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/remote.h"

#define THREADS 2
#define BASE 0x1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct history history;
static struct target target;

/* Two threads: a loop of two blocks, with a gap; and a single instruction. */
static void make_history(void)
{
	static const uint8_t code[64] = { 0x01, 0x00 }, sizes[] = { 2, 4, 2 };
	struct history_run run = { .time_known = true };
	struct ntrace_object *object;
	int64_t block[2], module;

	if (ntrace_object_from_bytes(&object, "code", code, sizeof(code), BASE) ||
	    ntrace_space_new(&run.space, "space", NULL) ||
	    ntrace_space_map_linked(run.space, object, 0))
		abort();
	module = history_add_module(&history, object, 0, 1);
	block[0] = history_add_code(&history, BASE, sizes, 3, (int32_t)module);
	block[1] = history_add_code(&history, BASE + 8, sizes, 2, (int32_t)module);
	for (unsigned int i = 0; i < 40; i++) {
		int64_t thread = history_thread(&history, 1, i == 39 ? 2 : 1);

		run.thread = (uint32_t)thread;
		run.time = 10 * i;
		run.order = i;
		history.thread[thread].hz = 1000;
		if (!history_add_run(&history, &run) ||
		    !history_add_block(&history, (uint32_t)block[0]) ||
		    !history_add_block(&history, (uint32_t)block[i & 1]))
			abort();
		if (i % 7 == 6) {
			struct history_run gap = run;

			gap.space = NULL;
			gap.gap = strdup("gap");
			if (!history_add_run(&history, &gap))
				abort();
		}
	}
	if (!history_end(&history, 0) || target_init(&target, &history, 0))
		abort();
	ntrace_object_put(object);
	ntrace_space_put(run.space);
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
		uint64_t number = history_number(&history, &thread->place);
		struct history_place same = history_seek(&history, thread->place.thread, number);

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
