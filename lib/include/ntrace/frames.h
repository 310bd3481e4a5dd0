/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Frames of a CoreSight trace formatter (ARM IHI 0029, "Trace formatter"): 16 bytes that hold bytes
 * of several sources. An ATB bridge puts the trace of a RISC-V encoder into such frames.
 *
 *	byte   0    1    2    3   ...  12   13   14   15
 *	     even odd  even odd      even odd  even  bits 0 of the even bytes
 *
 * An even byte with bit 0 set is a source ID in bits 7:1. Its bit in byte 15 selects where the new
 * source begins: 0 = at the next byte, 1 = at the byte after the next. Any other even byte is data
 * whose bit 0 is in byte 15, bit N for byte 2 N. Odd bytes are data. An ID in byte 14 takes effect
 * from the next frame on. An ID holds until the next ID, across frames.
 *
 * A word 0x7fffffff may stand between frames and a half-word 0x7fff at any even offset, so that a
 * probe can find the frames. Four consecutive words are a barrier: the driver of a trace buffer
 * writes a barrier over lost trace.
 */
#ifndef NTRACE_FRAMES_H
#define NTRACE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTRACE_FRAME_BYTES 16
/* Maximum number of data bytes in a frame. */
#define NTRACE_FRAME_DATA 15

/* ID 0 is padding. IDs above NTRACE_FRAMES_SOURCE_MAX are reserved. */
#define NTRACE_FRAMES_SOURCE_MIN 0x01
#define NTRACE_FRAMES_SOURCE_MAX 0x6f
/* The reserved ID whose bytes report a trigger. */
#define NTRACE_FRAMES_TRIGGER 0x7d

/* Results of ntrace_frames_next(); each is reported once, in the order of the input. */
enum ntrace_frames_event {
	NTRACE_FRAMES_BYTES,	/* bytes of a source */
	NTRACE_FRAMES_BARRIER,	/* four synchronization words: trace is missing, IDs are reset */
	NTRACE_FRAMES_NAMELESS,	/* bytes before the first ID: their source is unknown */
	NTRACE_FRAMES_RESERVED,	/* bytes of a reserved ID other than NTRACE_FRAMES_TRIGGER */
	NTRACE_FRAMES_CUT,	/* a synchronization word begins inside a frame: the frame's
				 * bytes before the word are lost, and IDs are reset. If only
				 * byte 15 is missing, the bytes have been reported, with wrong
				 * bits 0 */
};

/**
 * struct ntrace_frames_piece - consecutive bytes of a frame
 * @source: ID; 0 for BARRIER, NAMELESS and CUT
 * @size: number of bytes; 0 for BARRIER; for CUT, bytes of the incomplete frame
 * @bytes: the bytes of BYTES, NAMELESS and RESERVED; valid until the next call for the same
 *         struct ntrace_frames; else NULL
 * @offset: position of the frame in the input; for BARRIER, of the byte after the barrier
 */
struct ntrace_frames_piece {
	unsigned int source;
	unsigned int size;
	const uint8_t *bytes;
	uint64_t offset;
};

/**
 * struct ntrace_frames - state of a frame reader
 * @offset: readable: number of input bytes read
 * @bytes: readable: bytes of sources so far
 * @nameless: readable: bytes before the first ID
 * @reserved: readable: bytes of reserved IDs except NTRACE_FRAMES_TRIGGER
 * @triggers: readable: bytes of NTRACE_FRAMES_TRIGGER
 * @cut: readable: bytes of incomplete frames
 * @barriers: readable: barriers so far
 *
 * Owned by the caller, set up by ntrace_frames_init(); fields not called readable are private.
 * Input comes in chunks of any size, and the result does not depend on the chunk boundaries. Needs
 * no heap.
 */
struct ntrace_frames {
	uint64_t offset;
	uint64_t bytes;
	uint64_t nameless;
	uint64_t reserved;
	uint64_t triggers;
	uint64_t cut;
	uint64_t barriers;
	/* private: */
	const uint8_t *next;
	const uint8_t *end;
	uint64_t start;			/* position of the current or last frame */
	uint32_t last;			/* the last four bytes of input, the newest lowest */
	uint32_t spare;
	uint8_t frame[NTRACE_FRAME_BYTES];
	uint8_t data[NTRACE_FRAME_DATA];	/* of the last frame; source of each byte */
	uint8_t source_of[NTRACE_FRAME_DATA];
	uint8_t data_size;
	uint8_t data_next;
	uint8_t used;			/* bytes of the frame in progress */
	uint8_t words;			/* consecutive synchronization words, saturating */
	uint8_t source;
	uint8_t spare_bytes[3];
	uint64_t spare_words[4];
};

/**
 * ntrace_frames_init - start reading
 * @frames: memory owned by the caller
 *
 * The input must begin with a frame or a synchronization word.
 */
NTRACE_API void ntrace_frames_init(struct ntrace_frames *frames);

/**
 * ntrace_frames_feed - give the next chunk
 * @frames: reader set up by ntrace_frames_init()
 * @data: the next bytes of the input; borrowed
 * @size: number of bytes at @data
 *
 * The previous chunk must have been read until NTRACE_ERR_AGAIN. @data must stay valid until then.
 */
NTRACE_API void ntrace_frames_feed(struct ntrace_frames *frames, const uint8_t *data, size_t size);

/**
 * ntrace_frames_next - the next bytes of a source, or a report of missing bytes
 * @frames: reader set up by ntrace_frames_init()
 * @piece: filled in
 *
 * ARM IHI 0029, "Trace formatter". Bytes of ID 0 and of NTRACE_FRAMES_TRIGGER are left out.
 *
 * Return: enum ntrace_frames_event, or NTRACE_ERR_AGAIN when the chunk is used up.
 */
NTRACE_API int ntrace_frames_next(struct ntrace_frames *frames, struct ntrace_frames_piece *piece);

/**
 * ntrace_frames_break - input is missing here
 * @frames: a reader whose chunk has been read until NTRACE_ERR_AGAIN
 *
 * The next byte fed begins a frame with an unknown source. Bytes of a frame in progress are lost
 * and counted in @cut of struct ntrace_frames.
 */
NTRACE_API void ntrace_frames_break(struct ntrace_frames *frames);

/**
 * ntrace_frames_pending - bytes of an incomplete frame at the end of the input
 * @frames: a reader whose chunk has been read until NTRACE_ERR_AGAIN
 *
 * Return: number of bytes, less than NTRACE_FRAME_BYTES; not 0: the input was cut inside a frame.
 */
NTRACE_API unsigned int ntrace_frames_pending(const struct ntrace_frames *frames);

/**
 * struct ntrace_frames_writer - state of a frame writer
 * @frames: readable: complete frames so far
 *
 * Owned by the caller, set up by ntrace_frames_writer_init(); the rest is private. Needs no heap.
 */
struct ntrace_frames_writer {
	uint64_t frames;
	/* private: */
	uint8_t frame[NTRACE_FRAME_BYTES];
	uint8_t used;
	uint8_t source;
	uint8_t spare_bytes[6];
	uint64_t spare_words[4];
};

/**
 * NTRACE_FRAMES_ROOM - maximum output of ntrace_frames_write()
 * @size: number of bytes passed to ntrace_frames_write()
 */
#define NTRACE_FRAMES_ROOM(size) \
	(((size_t)(size) + NTRACE_FRAME_DATA) / NTRACE_FRAME_DATA * NTRACE_FRAME_BYTES)

/**
 * ntrace_frames_writer_init - start writing
 * @writer: memory owned by the caller
 */
NTRACE_API void ntrace_frames_writer_init(struct ntrace_frames_writer *writer);

/**
 * ntrace_frames_write - write bytes of a source into frames
 * @writer: keeps the frame in progress
 * @source: ID of the source, NTRACE_FRAMES_SOURCE_MIN..NTRACE_FRAMES_SOURCE_MAX
 * @bytes: the bytes; must not overlap @out
 * @size: number of bytes
 * @out: room for NTRACE_FRAMES_ROOM(@size) bytes; receives the completed frames
 * @written: set to the number of bytes of @out, a multiple of NTRACE_FRAME_BYTES
 *
 * The exact inverse of the reader. Each change of the source writes one ID.
 *
 * Return: 0, or NTRACE_ERR_INVALID for another source, with nothing written.
 */
NTRACE_API int ntrace_frames_write(struct ntrace_frames_writer *writer, unsigned int source,
				   const uint8_t *bytes, size_t size, uint8_t *out,
				   size_t *written);

/**
 * ntrace_frames_flush - pad the frame in progress with ID 0
 * @writer: writer set up by ntrace_frames_writer_init()
 * @out: room for NTRACE_FRAME_BYTES bytes
 *
 * More data may be written afterwards.
 *
 * Return: bytes written: NTRACE_FRAME_BYTES, or 0 if no frame was in progress.
 */
NTRACE_API size_t ntrace_frames_flush(struct ntrace_frames_writer *writer, uint8_t *out);

/**
 * ntrace_frames_barrier - flush, then four synchronization words
 * @writer: writer set up by ntrace_frames_writer_init()
 * @out: room for 2 * NTRACE_FRAME_BYTES bytes
 *
 * A driver writes a barrier over lost trace; the next bytes get an ID.
 *
 * Return: bytes written.
 */
NTRACE_API size_t ntrace_frames_barrier(struct ntrace_frames_writer *writer, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_FRAMES_H */
