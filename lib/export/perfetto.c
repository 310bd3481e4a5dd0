// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Perfetto's trace in protocol buffers, which ui.perfetto.dev and trace_processor read: packets
 * with track events. The first use of a name gives it a number, later ones use the number (interned
 * data); all packets belong to one sequence.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "timeline.h"

#define SEQUENCE 1
#define HART_UUID (UINT64_C(1) << 40)
#define TIME_UUID (UINT64_C(1) << 41)

/* Field numbers of trace.proto and the files that it includes. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60
};
enum { FLAGS_CLEARED = 1, FLAGS_NEEDED = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5 };
enum {
	EVENT_CATEGORY = 3,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_NAME_TEXT = 23
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME };
enum { INTERNED_ID = 1, INTERNED_TEXT };

/* Packets are written in pieces of this size. */
#define PIECE 32768

static void write_packets(struct ntrace_export_timeline *timeline)
{
	if (timeline->part.failed || timeline->packet.failed || timeline->inner.failed)
		timeline->error = NTRACE_ERR_NOMEM;
	else
		fwrite(timeline->part.data, 1, timeline->part.size, timeline->file);
	timeline->part.size = 0;
}

/* Completes the packet. */
static void put_packet(struct ntrace_export_timeline *timeline)
{
	protobuf_number(&timeline->packet, PACKET_SEQUENCE, SEQUENCE);
	/* The first packet resets the state of the reader. */
	protobuf_number(&timeline->packet, PACKET_FLAGS,
			timeline->written++ ? FLAGS_NEEDED : FLAGS_CLEARED | FLAGS_NEEDED);
	protobuf_message(&timeline->part, TRACE_PACKET, &timeline->packet);
	if (timeline->part.size >= PIECE || timeline->part.failed)
		write_packets(timeline);
}

static void put_track(struct ntrace_export_timeline *timeline, uint64_t uuid, uint64_t parent,
		      const char *name)
{
	protobuf_number(&timeline->inner, TRACK_UUID, uuid);
	protobuf_text(&timeline->inner, TRACK_NAME, name);
	protobuf_number(&timeline->inner, TRACK_PARENT, parent);
	protobuf_message(&timeline->packet, PACKET_TRACK, &timeline->inner);
	put_packet(timeline);
}

/* Each hart has a track, and each thread, which it keeps on all harts. */
static uint64_t track_of(struct ntrace_export_timeline *timeline,
			 const struct ntrace_stack_change *change)
{
	uint32_t place = timeline_place(change);
	uint64_t track;
	char name[64];
	bool is_new;

	if (timeline->last_track && timeline->last_place == place &&
	    timeline->last_tid == change->tid)
		return timeline->last_track;
	track = timeline_number(timeline, &timeline->tracks, place, (uint32_t)change->tid, &is_new);
	if (change->tid == TIMELINE_HART)
		track = HART_UUID + change->stream;
	if (is_new) {
		timeline_track_name(change, name, sizeof(name));
		put_track(timeline, track, 0, name);
	}
	timeline->last_place = place;
	timeline->last_tid = change->tid;
	timeline->last_track = track;
	return track;
}

/* The packet that uses a string first also defines it. */
static void define(struct ntrace_export_timeline *timeline, unsigned int field, uint64_t number,
		   const char *text)
{
	struct protobuf entry = { 0 };

	protobuf_number(&entry, INTERNED_ID, number);
	protobuf_text(&entry, INTERNED_TEXT, text);
	protobuf_message(&timeline->inner, field, &entry);
	protobuf_free(&entry);
}

static uint64_t category_of(struct ntrace_export_timeline *timeline,
			    const struct ntrace_stack_change *change)
{
	uint64_t number = timeline->categories[change->time_kind % TIMELINE_CATEGORIES];
	bool is_new;

	if (number)
		return number;
	number = timeline_number(timeline, &timeline->names, change->time_kind, INTERNED_CATEGORY,
				 &is_new);
	if (is_new)
		define(timeline, INTERNED_CATEGORY, number, timeline_category(change));
	timeline->categories[change->time_kind % TIMELINE_CATEGORIES] = number;
	return number;
}

/* @name: NULL = that of the frame. */
static uint64_t name_of(struct ntrace_export_timeline *timeline,
			const struct ntrace_stack_change *change, const char *name)
{
	uint64_t key = change->type == NTRACE_STACK_GAP ? 0 : (uintptr_t)change->name, number;
	size_t at = (key >> 4 ^ key >> 14) % TIMELINE_RECENT;
	char *made = NULL;
	bool is_new;

	if (key && timeline->recent[at].name == key)
		return timeline->recent[at].number;
	number = timeline_number(timeline, &timeline->names, key, INTERNED_NAME, &is_new);
	timeline->recent[at].name = number ? key : 0;
	timeline->recent[at].number = number;
	if (!is_new)
		return number;
	if (!name)
		name = made = stack_frame_name(change->kind, change->name);
	if (name)
		define(timeline, INTERNED_NAME, number, name);
	else
		timeline->error = NTRACE_ERR_NOMEM;
	free(made);
	return number;
}

/* A field with a number other than 0; its tag has one byte. */
static uint8_t *put_field(uint8_t *at, unsigned int field, uint64_t value)
{
	if (!value)
		return at;
	*at++ = (uint8_t)(field << 3);
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

/* Room for an event of numbers; so its messages are shorter than 128 bytes. */
#define EVENT_ROOM 96

/*
 * A packet of numbers only, as nearly all are: the same bytes as those of put_packet(), without
 * messages in between.
 */
static void put_numbers(struct ntrace_export_timeline *timeline, uint64_t time, unsigned int type,
			uint64_t track, uint64_t category, uint64_t name)
{
	uint8_t *start = protobuf_extend(&timeline->part, EVENT_ROOM), *inner, *at;

	if (!start) {
		write_packets(timeline);
		return;
	}
	at = put_field(start + 2, PACKET_TIMESTAMP, time);
	*at++ = PACKET_TRACK_EVENT << 3 | 2;
	inner = ++at;
	at = put_field(at, EVENT_TYPE, type);
	at = put_field(at, EVENT_TRACK, track);
	at = put_field(at, EVENT_CATEGORY, category);
	at = put_field(at, EVENT_NAME, name);
	inner[-1] = (uint8_t)(at - inner);
	at = put_field(at, PACKET_SEQUENCE, SEQUENCE);
	at = put_field(at, PACKET_FLAGS, FLAGS_NEEDED);
	start[0] = TRACE_PACKET << 3 | 2;
	start[1] = (uint8_t)(at - start - 2);
	timeline->part.size += (size_t)(at - start);
	if (timeline->part.size >= PIECE)
		write_packets(timeline);
}

void put_perfetto(struct ntrace_export_timeline *timeline, const struct ntrace_stack_change *change,
		  const char *name)
{
	static const uint8_t types[] = { [NTRACE_STACK_ENTER] = TYPE_BEGIN,
					 [NTRACE_STACK_LEAVE] = TYPE_END,
					 [NTRACE_STACK_GAP] = TYPE_INSTANT };
	uint64_t track = track_of(timeline, change), category, text = 0;
	bool of_hart = change->tid == TIMELINE_HART;

	category = category_of(timeline, change);
	if (change->type != NTRACE_STACK_LEAVE && !of_hart)
		text = name_of(timeline, change, name);
	if (!timeline->inner.size && !of_hart && timeline->written) {
		put_numbers(timeline, change->time, types[change->type], track, category, text);
		return;
	}
	if (timeline->inner.size)
		protobuf_message(&timeline->packet, PACKET_INTERNED, &timeline->inner);
	protobuf_number(&timeline->packet, PACKET_TIMESTAMP, change->time);
	protobuf_number(&timeline->inner, EVENT_TYPE, types[change->type]);
	protobuf_number(&timeline->inner, EVENT_TRACK, track);
	protobuf_number(&timeline->inner, EVENT_CATEGORY, category);
	protobuf_number(&timeline->inner, EVENT_NAME, text);
	/* Names of threads on a hart's track are not interned, since they change rarely. */
	if (of_hart)
		protobuf_text(&timeline->inner, EVENT_NAME_TEXT, name);
	protobuf_message(&timeline->packet, PACKET_TRACK_EVENT, &timeline->inner);
	put_packet(timeline);
}

/* A track of its own says how well times are known: only tracks with an event are shown. */
static void put_time_error(struct ntrace_export_timeline *timeline)
{
	char text[NTRACE_TIME_ERROR_SIZE], name[sizeof(text) + 8];

	snprintf(name, sizeof(name), "times: %s",
		 ntrace_time_error_text(timeline->time_error, text));
	put_track(timeline, TIME_UUID, 0, name);
	protobuf_number(&timeline->packet, PACKET_TIMESTAMP, timeline->last_time);
	protobuf_number(&timeline->inner, EVENT_TYPE, TYPE_INSTANT);
	protobuf_number(&timeline->inner, EVENT_TRACK, TIME_UUID);
	protobuf_text(&timeline->inner, EVENT_NAME_TEXT, name);
	protobuf_message(&timeline->packet, PACKET_TRACK_EVENT, &timeline->inner);
	put_packet(timeline);
}

void end_perfetto(struct ntrace_export_timeline *timeline)
{
	if (timeline->time_error)
		put_time_error(timeline);
	if (timeline->part.size)
		write_packets(timeline);
}
