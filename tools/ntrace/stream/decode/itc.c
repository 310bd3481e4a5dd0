// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores to stimulus registers as text. A program may write a line as bytes, halfwords or words, so
 * a character may come in pieces: an incomplete one waits in the tail of its channel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "itc.h"

/* The longest character in UTF-8. */
#define CHARACTER_MAX 4

/**
 * struct itc_channel - a line in progress
 * @event: the last store of the line, with copies of @flow and @comm, which the caller may free
 * @text: @used bytes of complete characters, and @tail bytes of an incomplete one
 * @characters: number of characters in @used
 */
struct itc_channel {
	uint64_t number;
	struct ntrace_session_event event;
	struct ntrace_flow_event flow;
	char comm[32];
	unsigned int characters;
	unsigned int used;
	unsigned int tail;
	uint8_t text[(ITC_CHARACTERS + 1) * CHARACTER_MAX];
};

enum sequence {
	SEQUENCE_BAD,		/* no printable character begins with these bytes */
	SEQUENCE_MORE,		/* a printable character may begin with these bytes */
	SEQUENCE_CHARACTER,
	SEQUENCE_LINE_END,
};

/* Returns the number of bytes of a character from its first byte; 0: not a first byte. */
static unsigned int character_bytes(uint8_t first)
{
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The second byte excludes overlong forms, surrogates and values above U+10FFFF. */
static bool second_fits(uint8_t first, uint8_t second)
{
	switch (first) {
	case 0xc2:
		/* Exclude the control characters U+0080 to U+009F. */
		return second >= 0xa0;
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second <= 0x9f;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second <= 0x8f;
	default:
		return true;
	}
}

static enum sequence sequence_of(const uint8_t *bytes, unsigned int count)
{
	uint8_t last = bytes[count - 1];
	unsigned int wanted;

	if (bytes[0] == '\r') {
		if (count == 1)
			return SEQUENCE_MORE;
		return last == '\n' ? SEQUENCE_LINE_END : SEQUENCE_BAD;
	}
	if (count == 1) {
		if (last == '\n')
			return SEQUENCE_LINE_END;
		if (last == '\t' || (last >= ' ' && last <= '~'))
			return SEQUENCE_CHARACTER;
		return character_bytes(last) ? SEQUENCE_MORE : SEQUENCE_BAD;
	}
	wanted = character_bytes(bytes[0]);
	if (last < 0x80 || last > 0xbf || (count == 2 && !second_fits(bytes[0], last)))
		return SEQUENCE_BAD;
	return count == wanted ? SEQUENCE_CHARACTER : SEQUENCE_MORE;
}

static struct itc_channel *channel_of(struct itc *itc, const struct ntrace_flow_event *flow)
{
	struct itc_channel ***source = &itc->channels[flow->src % (1u << NTRACE_SRC_BITS_MAX)];
	uint64_t number = flow->address / 4;
	struct itc_channel **channel;

	if (!*source)
		*source = calloc(ITC_CHANNELS, sizeof(**source));
	if (!*source)
		return NULL;
	channel = &(*source)[number];
	if (!*channel)
		*channel = calloc(1, sizeof(**channel));
	if (*channel)
		(*channel)->number = number;
	return *channel;
}

static void remember(struct itc_channel *channel, const struct ntrace_session_event *event)
{
	channel->event = *event;
	channel->flow = *event->flow;
	snprintf(channel->comm, sizeof(channel->comm), "%s", event->comm);
	channel->event.flow = &channel->flow;
	channel->event.comm = channel->comm;
}

/* Shows the complete characters of a line, and moves the tail to the start of the next line. */
static void show_text(struct itc *itc, struct itc_channel *channel)
{
	const struct itc_line line = {
		.channel = channel->number,
		.text = (const char *)channel->text,
		.size = channel->used,
	};

	itc->show(itc->data, &channel->event, &line);
	memmove(channel->text, channel->text + channel->used, channel->tail);
	channel->used = 0;
	channel->characters = 0;
}

/* Shows all pending bytes; a tail can no longer become a character, so it is shown as values. */
static void flush_channel(struct itc *itc, struct itc_channel *channel)
{
	unsigned int i;

	if (channel->used)
		show_text(itc, channel);
	for (i = 0; i < channel->tail; i++) {
		const struct itc_line line = {
			.channel = channel->number,
			.value = channel->text[i],
			.digits = 2,
		};

		itc->show(itc->data, &channel->event, &line);
	}
	channel->tail = 0;
}

/* Tells whether the bytes continue the line as text. */
static bool is_text(const struct itc_channel *channel, const uint8_t *bytes, unsigned int count)
{
	uint8_t sequence[CHARACTER_MAX];
	unsigned int length = channel->tail, i;
	enum sequence what;

	memcpy(sequence, channel->text + channel->used, length);
	for (i = 0; i < count; i++) {
		sequence[length++] = bytes[i];
		what = sequence_of(sequence, length);
		if (what == SEQUENCE_BAD)
			return false;
		if (what != SEQUENCE_MORE)
			length = 0;
	}
	return true;
}

/* Adds a byte that is_text() accepted. */
static void add_byte(struct itc *itc, struct itc_channel *channel, uint8_t byte)
{
	channel->text[channel->used + channel->tail++] = byte;
	switch (sequence_of(channel->text + channel->used, channel->tail)) {
	case SEQUENCE_CHARACTER:
		channel->used += channel->tail;
		channel->tail = 0;
		if (++channel->characters == ITC_CHARACTERS)
			show_text(itc, channel);
		break;
	case SEQUENCE_LINE_END:
		channel->tail = 0;
		show_text(itc, channel);
		break;
	default:
		break;
	}
}

static void show_value(struct itc *itc, const struct ntrace_session_event *event,
		       unsigned int bytes)
{
	const struct itc_line line = {
		.channel = event->flow->address / 4,
		.value = event->flow->value,
		.digits = 2 * bytes,
	};

	itc->show(itc->data, event, &line);
}

int itc_store(struct itc *itc, const struct ntrace_session_event *event)
{
	struct itc_channel *channel;
	unsigned int count, i;
	uint8_t bytes[4];
	bool text;

	count = ntrace_flow_data_bytes(event->flow, bytes);
	if (event->flow->address / 4 >= ITC_CHANNELS) {
		show_value(itc, event, count);
		return 0;
	}
	channel = channel_of(itc, event->flow);
	if (!channel)
		return 1;
	text = count && is_text(channel, bytes, count);
	if (!text) {
		bool tail = channel->tail;

		flush_channel(itc, channel);
		/* Bytes that do not complete the pending character may be text by themselves. */
		text = count && tail && is_text(channel, bytes, count);
	}
	if (!text) {
		show_value(itc, event, count);
		return 0;
	}
	remember(channel, event);
	for (i = 0; i < count; i++)
		add_byte(itc, channel, bytes[i]);
	return 0;
}

void itc_flush(struct itc *itc)
{
	unsigned int src, i;

	for (src = 0; src < 1u << NTRACE_SRC_BITS_MAX; src++) {
		for (i = 0; itc->channels[src] && i < ITC_CHANNELS; i++) {
			if (itc->channels[src][i])
				flush_channel(itc, itc->channels[src][i]);
		}
	}
}

void itc_free(struct itc *itc)
{
	unsigned int src, i;

	for (src = 0; src < 1u << NTRACE_SRC_BITS_MAX; src++) {
		for (i = 0; itc->channels[src] && i < ITC_CHANNELS; i++)
			free(itc->channels[src][i]);
		free(itc->channels[src]);
		itc->channels[src] = NULL;
	}
}
