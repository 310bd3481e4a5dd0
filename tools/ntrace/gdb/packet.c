// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of the GDB remote serial protocol: $DATA#CHECKSUM, acknowledged by + or -.
 *
 * Replies may be run-length encoded; packets of the debugger never are, so that a '*' in them is
 * an ordinary character.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "packet.h"

/* A debugger that refuses a correct reply so many times in a row will never take it. */
#define REFUSALS_MAX 16

enum { STATE_IDLE, STATE_DATA, STATE_SUM_HIGH, STATE_SUM_LOW };

bool packet_append(struct packet_output *output, const void *bytes, size_t size)
{
	size_t room = output->room ? output->room : 256;
	char *larger;

	if (output->failed || size > SIZE_MAX / 4 - output->size) {
		output->failed = true;
		return false;
	}
	while (room < output->size + size)
		room *= 2;
	if (room != output->room) {
		larger = realloc(output->bytes, room);
		if (!larger) {
			output->failed = true;
			return false;
		}
		output->bytes = larger;
		output->room = room;
	}
	if (size)
		memcpy(output->bytes + output->size, bytes, size);
	output->size += size;
	return true;
}

static bool append_arguments(struct packet_output *output, const char *format, va_list arguments)
{
	char text[1001], *clean, *room;
	bool done;

	if (vsnprintf(text, sizeof(text), format, arguments) < 0)
		return false;
	/* The debugger prints names as they come. */
	clean = ui_clean(format, text, &room);
	done = packet_append(output, clean, strlen(clean));
	free(room);
	return done;
}

bool packet_append_format(struct packet_output *output, const char *format, ...)
{
	va_list arguments;
	bool done;

	va_start(arguments, format);
	done = append_arguments(output, format, arguments);
	va_end(arguments);
	return done;
}

void packet_init(struct packet_stream *stream)
{
	memset(stream, 0, sizeof(*stream));
	stream->acknowledge = true;
}

void packet_free(struct packet_stream *stream)
{
	free(stream->out.bytes);
	free(stream->last.bytes);
	free(stream->text.bytes);
	packet_init(stream);
}

/* Value of a hexadecimal digit; any other character gives a wrong checksum. */
static uint8_t digit(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'F')
		return byte - 'A' + 10;
	return 0;
}

static int idle_byte(struct packet_stream *stream, uint8_t byte)
{
	if (byte == '+' || byte == '$')
		stream->refusals = 0;
	if (byte == '$') {
		stream->state = STATE_DATA;
		stream->size = 0;
		stream->sum = 0;
		stream->too_long = false;
	} else if (byte == '-' && stream->acknowledge) {
		if (++stream->refusals > REFUSALS_MAX)
			return PACKET_REFUSED;
		packet_append(&stream->out, stream->last.bytes, stream->last.size);
	}
	/*
	 * 0x03 interrupts a program that runs. A trace moves at once, so that the debugger has
	 * its stop reply already.
	 */
	return PACKET_NONE;
}

static int data_byte(struct packet_stream *stream, uint8_t byte)
{
	if (byte == '#') {
		stream->state = STATE_SUM_HIGH;
		return PACKET_NONE;
	}
	if (byte == '$') {
		/* The end of the packet was lost: this is the next one. */
		stream->size = 0;
		stream->sum = 0;
		stream->too_long = false;
		return PACKET_NONE;
	}
	stream->sum += byte;
	if (stream->size < PACKET_MAX)
		stream->data[stream->size++] = (char)byte;
	else
		stream->too_long = true;
	return PACKET_NONE;
}

static int end_packet(struct packet_stream *stream)
{
	bool good = stream->given == stream->sum;

	stream->state = STATE_IDLE;
	stream->data[stream->size] = '\0';
	if (stream->acknowledge)
		packet_append(&stream->out, good ? "+" : "-", 1);
	/* Without acknowledgements the transport is reliable. */
	if (!good && stream->acknowledge)
		return PACKET_DAMAGED;
	return stream->too_long ? PACKET_TOO_LONG : PACKET_COMPLETE;
}

int packet_byte(struct packet_stream *stream, uint8_t byte)
{
	switch (stream->state) {
	case STATE_IDLE:
		return idle_byte(stream, byte);
	case STATE_DATA:
		return data_byte(stream, byte);
	case STATE_SUM_HIGH:
		stream->given = (uint8_t)(digit(byte) << 4);
		stream->state = STATE_SUM_LOW;
		return PACKET_NONE;
	default:
		stream->given |= digit(byte);
		return end_packet(stream);
	}
}

/* ---- replies ---- */

void packet_begin(struct packet_stream *stream)
{
	stream->text.size = 0;
}

void packet_text(struct packet_stream *stream, const char *text)
{
	packet_append(&stream->text, text, strlen(text));
}

void packet_format(struct packet_stream *stream, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	append_arguments(&stream->text, format, arguments);
	va_end(arguments);
}

void packet_binary(struct packet_stream *stream, const void *data, size_t size)
{
	const char *bytes = data;
	char escaped[2] = "}";

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] && strchr("#$}*", bytes[i])) {
			escaped[1] = (char)(bytes[i] ^ 0x20);
			packet_append(&stream->text, escaped, 2);
		} else {
			packet_append(&stream->text, &bytes[i], 1);
		}
	}
}

void packet_hex(struct packet_stream *stream, const void *data, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = data;
	char pair[2];

	for (size_t i = 0; i < size; i++) {
		pair[0] = digits[bytes[i] >> 4];
		pair[1] = digits[bytes[i] & 15];
		packet_append(&stream->text, pair, 2);
	}
}

void packet_send(struct packet_stream *stream)
{
	char frame[4];
	uint8_t sum = 0;

	for (size_t i = 0; i < stream->text.size; i++)
		sum += (uint8_t)stream->text.bytes[i];
	snprintf(frame, sizeof(frame), "#%02x", sum);
	stream->last.size = 0;
	packet_append(&stream->last, "$", 1);
	packet_append(&stream->last, stream->text.bytes, stream->text.size);
	packet_append(&stream->last, frame, 3);
	packet_append(&stream->out, stream->last.bytes, stream->last.size);
	stream->out.failed |= stream->last.failed || stream->text.failed;
	stream->text.size = 0;
}

void packet_sent(struct packet_stream *stream, size_t count)
{
	if (!count)
		return;
	stream->out.size -= count;
	memmove(stream->out.bytes, stream->out.bytes + count, stream->out.size);
}
