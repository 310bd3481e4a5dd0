// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any bytes to the reader of frames. Input: one byte of settings, frames. Checks that the
 * events do not depend on how the input is cut; that every data byte is counted once; that the data
 * is the same after writing and reading it again; and that no break assigns bytes of an unknown
 * source to a known one.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/frames.h>

#define BYTES_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes and their sources, in order. */
struct items {
	size_t count;
	uint8_t bytes[BYTES_MAX];
	uint8_t sources[BYTES_MAX];
};

/* FNV-1a over all output. */
static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static void check_piece(int event, const struct ntrace_frames_piece *piece)
{
	bool source = piece->source >= NTRACE_FRAMES_SOURCE_MIN &&
		      piece->source <= NTRACE_FRAMES_SOURCE_MAX;

	if ((event == NTRACE_FRAMES_BYTES) != source)
		abort();
	if ((event == NTRACE_FRAMES_RESERVED) != (piece->source > NTRACE_FRAMES_SOURCE_MAX))
		abort();
	if (piece->size > NTRACE_FRAME_BYTES || !piece->size != (event == NTRACE_FRAMES_BARRIER))
		abort();
	if (!piece->bytes != (event == NTRACE_FRAMES_BARRIER || event == NTRACE_FRAMES_CUT))
		abort();
}

static void collect(struct items *items, const struct ntrace_frames_piece *piece)
{
	memcpy(items->bytes + items->count, piece->bytes, piece->size);
	memset(items->sources + items->count, (int)piece->source, piece->size);
	items->count += piece->size;
}

/* @items: gets the bytes of all sources; may be NULL */
static uint64_t read_all(const uint8_t *data, size_t size, size_t chunk, struct items *items)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325), counted[NTRACE_FRAMES_CUT + 1] = { 0 };
	struct ntrace_frames_piece piece;
	struct ntrace_frames frames;
	int event;

	ntrace_frames_init(&frames);
	for (size_t done = 0; done < size; done += chunk) {
		ntrace_frames_feed(&frames, data + done, size - done < chunk ? size - done : chunk);
		while ((event = ntrace_frames_next(&frames, &piece)) >= 0) {
			check_piece(event, &piece);
			counted[event] += event == NTRACE_FRAMES_BARRIER ? 1 : piece.size;
			hash = mix(hash, &event, sizeof(event));
			hash = mix(hash, &piece.source, sizeof(piece.source));
			hash = mix(hash, &piece.offset, sizeof(piece.offset));
			if (piece.bytes)
				hash = mix(hash, piece.bytes, piece.size);
			if (event == NTRACE_FRAMES_BYTES && piece.bytes && items)
				collect(items, &piece);
		}
	}
	if (frames.offset != size || frames.bytes != counted[NTRACE_FRAMES_BYTES] ||
	    frames.nameless != counted[NTRACE_FRAMES_NAMELESS] ||
	    frames.reserved != counted[NTRACE_FRAMES_RESERVED] ||
	    frames.cut != counted[NTRACE_FRAMES_CUT] ||
	    frames.barriers != counted[NTRACE_FRAMES_BARRIER] ||
	    frames.bytes + frames.nameless + frames.reserved + frames.triggers > size)
		abort();
	return hash + ntrace_frames_pending(&frames);
}

static void write_again(const struct items *items)
{
	static uint8_t out[2 * BYTES_MAX + 2 * NTRACE_FRAME_BYTES];
	static struct items back;
	struct ntrace_frames_writer writer;
	size_t total = 0, written, run;

	ntrace_frames_writer_init(&writer);
	for (size_t at = 0; at < items->count; at += run) {
		for (run = 1; at + run < items->count && run < 100; run++)
			if (items->sources[at + run] != items->sources[at])
				break;
		if (ntrace_frames_write(&writer, items->sources[at], items->bytes + at, run,
					out + total, &written) ||
		    written > NTRACE_FRAMES_ROOM(run))
			abort();
		total += written;
	}
	total += ntrace_frames_flush(&writer, out + total);
	back.count = 0;
	read_all(out, total, total + 1, &back);
	if (back.count != items->count || memcmp(back.bytes, items->bytes, items->count) ||
	    memcmp(back.sources, items->sources, items->count))
		abort();
}

/*
 * After a break, the source is unknown up to the next ID: the first byte is that ID, or belongs to
 * no source.
 */
static void break_at(const uint8_t *data, size_t size, size_t at)
{
	struct ntrace_frames_piece piece;
	struct ntrace_frames frames;
	unsigned int pending;
	uint64_t cut;
	int event;

	ntrace_frames_init(&frames);
	ntrace_frames_feed(&frames, data, at);
	while (ntrace_frames_next(&frames, &piece) >= 0)
		;
	pending = ntrace_frames_pending(&frames);
	cut = frames.cut;
	ntrace_frames_break(&frames);
	if (frames.cut != cut + pending || ntrace_frames_pending(&frames))
		abort();
	ntrace_frames_feed(&frames, data + at, size - at);
	event = ntrace_frames_next(&frames, &piece);
	if (event == NTRACE_FRAMES_BYTES && piece.offset + NTRACE_FRAME_BYTES <= size &&
	    !memchr(data + at, (int)(piece.source << 1 | 1), size - at))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct items items;
	uint64_t whole;
	uint8_t settings;

	if (size <= 1 || size > BYTES_MAX)
		return 0;
	settings = *data++;
	size--;
	items.count = 0;
	whole = read_all(data, size, size, &items);
	if (read_all(data, size, 1, NULL) != whole ||
	    read_all(data, size, 2 + settings % 31, NULL) != whole)
		abort();
	write_again(&items);
	break_at(data, size, settings % size);
	return 0;
}
