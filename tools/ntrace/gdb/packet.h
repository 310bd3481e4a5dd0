/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets of the GDB remote serial protocol ("GDB Remote Serial Protocol", Overview). */
#ifndef NTRACE_TOOL_GDB_PACKET_H
#define NTRACE_TOOL_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest packet, as announced in qSupported. */
#define PACKET_MAX 0x10000

enum packet_event {
	PACKET_NONE,		/* more bytes are needed */
	PACKET_COMPLETE,	/* a packet: data and size */
	PACKET_DAMAGED,		/* wrong checksum: it was asked for again */
	PACKET_TOO_LONG,	/* dropped */
	PACKET_REFUSED,		/* the other side asked for a reply again too many times */
};

/**
 * struct packet_output - bytes to be sent
 * @failed: out of memory, bytes are missing
 */
struct packet_output {
	char *bytes;
	size_t size;
	size_t room;
	bool failed;
};

/**
 * struct packet_stream - one connection
 * @data: the packet, without frame, 0-terminated; escapes are not undone
 * @size: its size
 * @acknowledge: acknowledgements are sent and expected
 * @out: bytes to be sent; the caller removes those that it has sent with packet_sent()
 */
struct packet_stream {
	char data[PACKET_MAX + 1];
	size_t size;
	bool acknowledge;
	struct packet_output out;
	/* the rest is private */
	unsigned int state;
	uint8_t sum;
	uint8_t given;
	bool too_long;
	unsigned int refusals;
	struct packet_output last;	/* last reply, if it must be sent again */
	struct packet_output text;	/* reply that is being made */
};

/** packet_init - initial state: with acknowledgements */
void packet_init(struct packet_stream *stream);
void packet_free(struct packet_stream *stream);

/** packet_byte - take one received byte; answers it with + or - if that is needed. Return: enum packet_event */
int packet_byte(struct packet_stream *stream, uint8_t byte);

/** packet_begin - discard what was added to the reply so far */
void packet_begin(struct packet_stream *stream);

/* Append to the reply. packet_binary() escapes bytes; packet_hex() writes two digits for a byte. */
void packet_text(struct packet_stream *stream, const char *text);
void packet_format(struct packet_stream *stream, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void packet_binary(struct packet_stream *stream, const void *data, size_t size);
void packet_hex(struct packet_stream *stream, const void *data, size_t size);

/** packet_send - frame the reply and append it to the output */
void packet_send(struct packet_stream *stream);

/** packet_sent - @count bytes of the output have been sent */
void packet_sent(struct packet_stream *stream, size_t count);

/** packet_append - append bytes to a text that is sent later. Return: false when out of memory */
bool packet_append(struct packet_output *output, const void *bytes, size_t size);

/** packet_append_format - the same for formatted text of at most 1000 bytes */
bool packet_append_format(struct packet_output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* NTRACE_TOOL_GDB_PACKET_H */
