// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Perfetto's trace in protocol buffers, which ui.perfetto.dev and trace_processor read: packets
 * with track events. The first use of a name gives it a number, later ones use the number (interned
 * data); all packets belong to one sequence.
 */
#include <inttypes.h>
#include <string.h>

#include "timeline.h"

#define SEQUENCE 1
#define HART_UUID (UINT64_C(1) << 40)

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

/* Completes and writes the packet. */
static void put_packet(struct ntrace_export_timeline *timeline)
{
	protobuf_number(&timeline->packet, PACKET_SEQUENCE, SEQUENCE);
	/* The first packet resets the state of the reader. */
	protobuf_number(&timeline->packet, PACKET_FLAGS,
			timeline->written++ ? FLAGS_NEEDED : FLAGS_CLEARED | FLAGS_NEEDED);
	protobuf_message(&timeline->part, TRACE_PACKET, &timeline->packet);
	if (timeline->part.failed || timeline->packet.failed || timeline->inner.failed)
		timeline->error = NTRACE_ERR_NOMEM;
	else
		fwrite(timeline->part.data, 1, timeline->part.size, timeline->file);
	timeline->part.size = 0;
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

/* Tracks of threads are children of their hart's track, which comes first. */
static uint64_t track_of(struct ntrace_export_timeline *timeline,
			 const struct ntrace_stack_change *change)
{
	uint64_t hart = HART_UUID + change->stream, track;
	char name[64];
	bool is_new;

	track = timeline_number(timeline, &timeline->tracks, change->stream, (uint32_t)change->tid,
				&is_new);
	timeline_track_name(change, name, sizeof(name));
	if (change->tid == TIMELINE_HART)
		track = hart;
	if (is_new)
		put_track(timeline, track, track == hart ? 0 : hart, name);
	return track;
}

/* The number of a string; the packet that uses a string first also defines it. */
static uint64_t intern(struct ntrace_export_timeline *timeline, uint64_t key, unsigned int field,
		       const char *text)
{
	bool is_new;
	uint64_t number = timeline_number(timeline, &timeline->names, key, field, &is_new);
	struct protobuf entry = { 0 };

	if (!is_new)
		return number;
	protobuf_number(&entry, INTERNED_ID, number);
	protobuf_text(&entry, INTERNED_TEXT, text);
	protobuf_message(&timeline->inner, field, &entry);
	protobuf_free(&entry);
	return number;
}

void put_perfetto(struct ntrace_export_timeline *timeline, const struct ntrace_stack_change *change,
		  const char *name)
{
	static const uint8_t types[] = { [NTRACE_STACK_ENTER] = TYPE_BEGIN,
					 [NTRACE_STACK_LEAVE] = TYPE_END,
					 [NTRACE_STACK_GAP] = TYPE_INSTANT };
	uint64_t track = track_of(timeline, change), category, text = 0;
	bool of_hart = change->tid == TIMELINE_HART;

	category =
		intern(timeline, change->time_kind, INTERNED_CATEGORY, timeline_category(change));
	if (change->type != NTRACE_STACK_LEAVE && !of_hart)
		text = intern(timeline,
			      change->type == NTRACE_STACK_GAP ? 0 : (uintptr_t)change->name,
			      INTERNED_NAME, name);
	if (timeline->inner.size)
		protobuf_message(&timeline->packet, PACKET_INTERNED, &timeline->inner);
	protobuf_number(&timeline->packet, PACKET_TIMESTAMP,
			timeline_nanoseconds(timeline, change));
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
