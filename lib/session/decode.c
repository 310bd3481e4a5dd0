// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decoding a stream of a recording: bytes to messages to flow, the follower
 * beside it. Per block only two addresses are compared.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"

#define CHUNK 65536

/* Privilege codes of the ingress port (digest ingress.md), as linux/ntrace.h numbers them. */
#define PRIVILEGE_U 0
#define PRIVILEGE_S 1
#define PRIVILEGE_M 3
#define TRACED_S (1u << PRIVILEGE_S)

struct decoding {
	struct ntrace_session *session;
	struct follower follower;
	int (*callback)(void *data, const struct ntrace_session_event *event);
	void *data;
	struct ntrace_session_event event;
	uint64_t sign_bit;		/* set in kernel addresses */
	bool countable;			/* every task switch is seen */
	bool was_user;
};

static bool in_firmware(const struct ntrace_session *session, uint64_t address)
{
	return address >= session->firmware_start && address <= session->firmware_last;
}

static unsigned int privilege_of(const struct decoding *decoding, uint64_t address)
{
	if (in_firmware(decoding->session, address))
		return PRIVILEGE_M;
	return address & decoding->sign_bit ? PRIVILEGE_S : PRIVILEGE_U;
}

static struct ntrace_space *select_space(void *data, unsigned int reason, uint64_t address)
{
	struct decoding *decoding = data;
	struct ntrace_space *space = NULL;

	(void)reason;
	if (privilege_of(decoding, address) == PRIVILEGE_U) {
		/* Where switches are not seen, any task may come back from the kernel. */
		if (!decoding->countable && !decoding->was_user &&
		    follower_gap(&decoding->follower))
			return NULL;
		decoding->was_user = true;
		space = follower_user(&decoding->follower, address);
	} else {
		decoding->was_user = false;
	}
	return space ? space : decoding->session->kernel;
}

static int take_event(void *data, const struct ntrace_flow_event *flow)
{
	struct decoding *decoding = data;
	struct follower *follower = &decoding->follower;
	struct ntrace_session *session = decoding->session;
	struct ntrace_session_event *event = &decoding->event;
	int result;

	event->flow = flow;
	event->pid = follower->pid;
	event->tid = follower->tid;
	event->comm = follower->comm;
	if (flow->type == NTRACE_FLOW_BLOCK) {
		event->privilege = privilege_of(decoding, flow->address);
		/* The block that switches belongs to the task that goes. */
		result = decoding->callback(decoding->data, event);
		if (flow->address == session->switch_address && !result && decoding->countable)
			return follower_switch(follower);
		if (flow->address == session->exec_address)
			follower_exec(follower);
		return result;
	}
	if (flow->type != NTRACE_FLOW_GAP && flow->address)
		event->privilege = privilege_of(decoding, flow->address);
	result = decoding->callback(decoding->data, event);
	if (!result && (flow->type == NTRACE_FLOW_GAP ||
			(flow->type == NTRACE_FLOW_TRACE_OFF && !decoding->countable)))
		result = follower_gap(follower);
	return result;
}

/* Gives one chunk's messages to the flow. */
static int walk_chunk(struct ntrace_reader *reader, struct ntrace_flow *flow)
{
	struct ntrace_message message;
	int result = 0;

	while (!result) {
		int got = ntrace_reader_next(reader, &message);

		if (got == NTRACE_ERR_AGAIN)
			return 0;
		if (got == NTRACE_WIRE_MESSAGE)
			result = ntrace_flow_message(flow, &message);
		else if (got == NTRACE_WIRE_ERROR)
			result = ntrace_flow_wire_error(flow, message.offset);
		else
			result = got;
	}
	return result;
}

static int walk_file(const struct ntrace_stream *stream, struct ntrace_flow *flow)
{
	struct ntrace_reader reader;
	FILE *file = fopen(stream->file, "rbe");
	uint8_t *chunk = malloc(CHUNK);
	int result = 0;
	size_t got;

	if (!chunk)
		result = NTRACE_ERR_NOMEM;
	else if (!file)
		result = NTRACE_ERR_IO;
	else
		result = ntrace_reader_init(&reader, &stream->params, true);
	while (!result && (got = fread(chunk, 1, CHUNK, file)) > 0) {
		ntrace_reader_feed(&reader, chunk, got);
		result = walk_chunk(&reader, flow);
	}
	if (!result && ferror(file))
		result = NTRACE_ERR_IO;
	if (!result)
		result = ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	free(chunk);
	if (file) {
		int saved = errno;

		fclose(file);
		errno = saved;
	}
	return result;
}

int ntrace_session_decode(struct ntrace_session *session, unsigned int stream,
			  int (*callback)(void *data, const struct ntrace_session_event *event),
			  void *data, struct ntrace_flow_stats *stats)
{
	const struct ntrace_stream *info = ntrace_session_stream(session, stream);
	struct decoding decoding = { .session = session, .callback = callback, .data = data };
	struct ntrace_flow_config config = { .size = sizeof(config), .event = take_event,
					     .select = select_space, .space = session->kernel,
					     .data = &decoding };
	struct ntrace_flow *flow;
	int result;

	if (!info)
		return NTRACE_ERR_INVALID;
	config.params = info->params;
	config.src = info->src;
	decoding.event.stream = stream;
	decoding.event.cpu = info->cpu;
	decoding.event.privilege = PRIVILEGE_S;
	decoding.sign_bit = UINT64_C(1) << (info->params.xlen - 1);
	decoding.countable = session->switch_address &&
			     (!session->recording->privilege ||
			      session->recording->privilege & TRACED_S);
	session_drop_spaces(session);
	result = follower_init(&decoding.follower, session, stream);
	if (result)
		return result;
	result = ntrace_flow_new(&flow, &config);
	if (!result) {
		result = walk_file(info, flow);
		if (stats)
			ntrace_flow_get_stats(flow, stats);
		ntrace_flow_free(flow);
	}
	follower_free(&decoding.follower);
	return result;
}
