// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Frames of a CoreSight formatter, reading and writing; see ntrace/frames.h. */
#include <string.h>

#include <ntrace/frames.h>

#define WORD 4
#define HALF_WORD 2
#define BARRIER_WORDS 4
#define AUXILIARY 15

/* The bytes FF FF FF 7F and FF 7F, the newest lowest. */
#define SYNC_WORD UINT32_C(0xffffff7f)
#define SYNC_HALF_WORD UINT32_C(0xff7f)

/* The source before the first ID. */
#define NO_SOURCE 0xff

static const uint8_t sync_word[WORD] = { 0xff, 0xff, 0xff, 0x7f };

void ntrace_frames_init(struct ntrace_frames *frames)
{
	memset(frames, 0, sizeof(*frames));
	frames->source = NO_SOURCE;
}

void ntrace_frames_feed(struct ntrace_frames *frames, const uint8_t *data, size_t size)
{
	frames->next = data;
	frames->end = size ? data + size : data;
}

void ntrace_frames_break(struct ntrace_frames *frames)
{
	frames->cut += frames->used;
	frames->used = 0;
	frames->words = 0;
	frames->last = 0;
	frames->source = NO_SOURCE;
}

unsigned int ntrace_frames_pending(const struct ntrace_frames *frames)
{
	return frames->used;
}

static inline void add(struct ntrace_frames *frames, uint8_t byte)
{
	frames->data[frames->data_size] = byte;
	frames->source_of[frames->data_size++] = frames->source;
}

/* Decodes a whole frame. */
static void take_apart(struct ntrace_frames *frames)
{
	const uint8_t *frame = frames->frame;
	unsigned int i;

	frames->data_size = 0;
	frames->data_next = 0;
	for (i = 0; i < AUXILIARY; i += 2) {
		bool bit = frame[AUXILIARY] >> i / 2 & 1;
		bool id = frame[i] & 1;

		if (!id)
			add(frames, (uint8_t)(frame[i] | bit));
		else if (bit && i + 1 < AUXILIARY)
			add(frames, frame[i + 1]);	/* still belongs to the old source */
		if (id)
			frames->source = frame[i] >> 1;
		if (i + 1 < AUXILIARY && !(id && bit))
			add(frames, frame[i + 1]);
	}
}

static unsigned int run_length(const struct ntrace_frames *frames)
{
	unsigned int at = frames->data_next, source = frames->source_of[at];

	while (at < frames->data_size && frames->source_of[at] == source)
		at++;
	return at - frames->data_next;
}

/* Returns the next bytes to report from the last frame. */
static int next_run(struct ntrace_frames *frames, struct ntrace_frames_piece *piece)
{
	while (frames->data_next < frames->data_size) {
		unsigned int source = frames->source_of[frames->data_next];

		piece->source = source;
		piece->size = run_length(frames);
		piece->bytes = frames->data + frames->data_next;
		piece->offset = frames->start;
		frames->data_next = (uint8_t)(frames->data_next + piece->size);
		if (source == NO_SOURCE) {
			piece->source = 0;
			frames->nameless += piece->size;
			return NTRACE_FRAMES_NAMELESS;
		}
		if (source == NTRACE_FRAMES_TRIGGER) {
			frames->triggers += piece->size;
		} else if (source > NTRACE_FRAMES_SOURCE_MAX) {
			frames->reserved += piece->size;
			return NTRACE_FRAMES_RESERVED;
		} else if (source) {
			frames->bytes += piece->size;
			return NTRACE_FRAMES_BYTES;
		}
	}
	return NTRACE_ERR_AGAIN;
}

static int cut(struct ntrace_frames *frames, struct ntrace_frames_piece *piece, unsigned int size)
{
	*piece = (struct ntrace_frames_piece){ .size = size, .offset = frames->start };
	frames->cut += size;
	frames->source = NO_SOURCE;
	return NTRACE_FRAMES_CUT;
}

/*
 * Sixteen bytes have arrived. ID 0x7f is reserved for synchronization: in byte 14, the last byte
 * before the bits 0, it begins a synchronization word that cut the frame off.
 */
static int take_frame(struct ntrace_frames *frames, struct ntrace_frames_piece *piece)
{
	frames->used = 0;
	frames->words = 0;
	if (frames->frame[AUXILIARY - 1] == 0xff)
		return cut(frames, piece, AUXILIARY - 1);
	take_apart(frames);
	return next_run(frames, piece);
}

/*
 * A synchronization word has arrived. Frames never contain its bytes, since they contain the ID
 * 0x7f. So any bytes of a frame before the word belong to an incomplete frame.
 */
static int take_word(struct ntrace_frames *frames, struct ntrace_frames_piece *piece)
{
	unsigned int used = frames->used;

	frames->used = 0;
	if (used > WORD || used == WORD - 1) {
		frames->words = 1;
		/* A word that began in byte 15 replaced the bits 0 of the previous frame. */
		return cut(frames, piece, used > WORD ? used - WORD : AUXILIARY);
	}
	if (frames->words <= BARRIER_WORDS)
		frames->words++;
	if (frames->words != BARRIER_WORDS)
		return NTRACE_ERR_AGAIN;
	frames->source = NO_SOURCE;
	frames->barriers++;
	*piece = (struct ntrace_frames_piece){ .offset = frames->offset };
	return NTRACE_FRAMES_BARRIER;
}

/* Takes one byte of input. Return: as ntrace_frames_next() */
static int take_byte(struct ntrace_frames *frames, struct ntrace_frames_piece *piece)
{
	uint8_t byte = *frames->next++;

	if (!frames->used)
		frames->start = frames->offset;
	frames->offset++;
	frames->frame[frames->used++] = byte;
	frames->last = frames->last << 8 | byte;
	if (frames->last == SYNC_WORD)
		return take_word(frames, piece);
	if (!(frames->used % HALF_WORD) && (frames->last & 0xffff) == SYNC_HALF_WORD)
		frames->used -= HALF_WORD;
	return frames->used < NTRACE_FRAME_BYTES ? NTRACE_ERR_AGAIN : take_frame(frames, piece);
}

int ntrace_frames_next(struct ntrace_frames *frames, struct ntrace_frames_piece *piece)
{
	int event = next_run(frames, piece);

	while (event == NTRACE_ERR_AGAIN && frames->next < frames->end)
		event = take_byte(frames, piece);
	return event;
}

/* ---- writing ---- */

void ntrace_frames_writer_init(struct ntrace_frames_writer *writer)
{
	memset(writer, 0, sizeof(*writer));
}

/* Copies a complete frame. Return: bytes */
static size_t finish_frame(struct ntrace_frames_writer *writer, uint8_t *out)
{
	if (writer->used < AUXILIARY)
		return 0;
	memcpy(out, writer->frame, NTRACE_FRAME_BYTES);
	memset(writer->frame, 0, NTRACE_FRAME_BYTES);
	writer->used = 0;
	writer->frames++;
	return NTRACE_FRAME_BYTES;
}

/* The ID takes the next even byte; a data byte already there moves to the odd byte after it. */
static size_t change_source(struct ntrace_frames_writer *writer, unsigned int source, uint8_t *out)
{
	unsigned int at = writer->used & ~1u;

	if (writer->used & 1) {
		writer->frame[at + 1] = writer->frame[at];
		writer->frame[AUXILIARY] |= (uint8_t)(1u << at / 2);
	}
	writer->frame[at] = (uint8_t)(source << 1 | 1);
	writer->used++;
	writer->source = (uint8_t)source;
	return finish_frame(writer, out);
}

/* Bit 0 of the data byte at the even offset @at goes to byte 15. */
static void move_bit(struct ntrace_frames_writer *writer, unsigned int at)
{
	writer->frame[AUXILIARY] |= (uint8_t)((writer->frame[at] & 1) << at / 2);
	writer->frame[at] &= 0xfe;
}

/* A data byte at an even offset is final when the next byte has the same source. */
static size_t put(struct ntrace_frames_writer *writer, unsigned int source, uint8_t byte,
		  uint8_t *out)
{
	bool after_id = writer->source != source && !(writer->used & 1);
	size_t written = 0;
	unsigned int at;

	if (writer->source != source)
		written = change_source(writer, source, out);
	at = writer->used++;
	writer->frame[at] = byte;
	if (at & 1 && !after_id)
		move_bit(writer, at - 1);
	else if (at == AUXILIARY - 1)
		move_bit(writer, at);
	return written + finish_frame(writer, out + written);
}

int ntrace_frames_write(struct ntrace_frames_writer *writer, unsigned int source,
			const uint8_t *bytes, size_t size, uint8_t *out, size_t *written)
{
	size_t i;

	*written = 0;
	if (source < NTRACE_FRAMES_SOURCE_MIN || source > NTRACE_FRAMES_SOURCE_MAX)
		return NTRACE_ERR_INVALID;
	for (i = 0; i < size; i++)
		*written += put(writer, source, bytes[i], out + *written);
	return NTRACE_OK;
}

size_t ntrace_frames_flush(struct ntrace_frames_writer *writer, uint8_t *out)
{
	size_t written;

	if (!writer->used)
		return 0;
	written = change_source(writer, 0, out);
	if (written)
		return written;
	writer->used = AUXILIARY;
	return finish_frame(writer, out);
}

size_t ntrace_frames_barrier(struct ntrace_frames_writer *writer, uint8_t *out)
{
	size_t written = ntrace_frames_flush(writer, out), i;

	for (i = 0; i < BARRIER_WORDS; i++, written += WORD)
		memcpy(out + written, sync_word, WORD);
	writer->source = 0;
	return written;
}
