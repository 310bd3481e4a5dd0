/* SPDX-License-Identifier: GPL-2.0-only */
/* Stores to stimulus registers as the text that programs print through them. */
#ifndef NTRACE_TOOL_STREAM_DECODE_ITC_H
#define NTRACE_TOOL_STREAM_DECODE_ITC_H

#include <ntrace/session.h>

/* Stimulus registers of an encoder, each a channel. */
#define ITC_CHANNELS 32
/* A line without an end is printed at this length. */
#define ITC_CHARACTERS 256

/**
 * struct itc_line - a line or value of a channel
 * @channel: number of the stimulus register
 * @text: characters without the end of the line; NULL = a value that is not text
 * @size: bytes of @text
 * @value: the value; @digits: its number of hexadecimal digits, 0 = without leading zeros
 */
struct itc_line {
	uint64_t channel;
	const char *text;
	size_t size;
	uint64_t value;
	unsigned int digits;
};

/* Called for each line; @event: the store that ends the line, or else its last store. */
typedef void itc_show(void *data, const struct ntrace_session_event *event,
		      const struct itc_line *line);

struct itc_channel;

/**
 * struct itc - incomplete lines, by SRC and channel
 * @show: set by the user before the first event
 * @data: argument of @show
 */
struct itc {
	itc_show *show;
	void *data;
	/* private */
	struct itc_channel **channels[1u << NTRACE_SRC_BITS_MAX];
};

/**
 * itc_store - take an NTRACE_FLOW_DATA event
 *
 * Bytes are taken as UTF-8, lowest first. A store that is not valid text ends the line, and is
 * shown as a value. Memory: some 2 KiB for each channel in use.
 * Return: 0, or 1 when out of memory.
 */
int itc_store(struct itc *itc, const struct ntrace_session_event *event);

/** itc_flush - print incomplete lines; call it at the end and at losses */
void itc_flush(struct itc *itc);

void itc_free(struct itc *itc);

#endif /* NTRACE_TOOL_STREAM_DECODE_ITC_H */
