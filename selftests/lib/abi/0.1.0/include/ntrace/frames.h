/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Frames of a CoreSight trace formatter (ARM IHI 0029, "Trace formatter"): 16 bytes that hold the
 * bytes of several sources. A RISC-V encoder behind an ATB bridge writes its trace so.
 *
 *	byte   0    1    2    3   ...  12   13   14   15
 *	     even odd  even odd      even odd  even  bits 0 of the even bytes
 *
 * An even byte with bit 0 set is a source ID in bits 7:1. Its bit in byte 15 says where the new
 * source begins: 0 with the next byte, 1 with the byte after the next. Any other even byte is data
 * whose bit 0 is in byte 15, bit N for byte 2 N. Odd bytes are data. An ID in byte 14 counts from
 * the next frame on. An ID holds until another one comes, also over frames.
 *
 * A word 0x7fffffff may stand between frames and a half-word 0x7fff anywhere at an even place, for
 * a probe to find the frames by. Four words one after the other are a barrier: the driver of a
 * trace buffer writes it over lost trace.
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
/* Bytes of a frame that can be data. */
#define NTRACE_FRAME_DATA 15

/* ID 0 fills up frames. IDs after the last source are reserved. */
#define NTRACE_FRAMES_SOURCE_MIN 0x01
#define NTRACE_FRAMES_SOURCE_MAX 0x6f
/* A reserved ID whose bytes tell of a trigger. */
#define NTRACE_FRAMES_TRIGGER 0x7d

/* What ntrace_frames_next() returns; each is reported once, in the order of the input. */
enum ntrace_frames_event {
	NTRACE_FRAMES_BYTES,	/* bytes of a source */
	NTRACE_FRAMES_BARRIER,	/* four synchronization words: trace is missing, IDs start anew */
	NTRACE_FRAMES_NAMELESS,	/* bytes before the first ID: their source is not known */
	NTRACE_FRAMES_RESERVED,	/* bytes of a reserved ID other than NTRACE_FRAMES_TRIGGER */
	NTRACE_FRAMES_CUT,	/* a synchronization word begins inside a frame: the frame's bytes
				 * before the word are lost, and IDs start anew. If only byte 15 is
				 * missing, the bytes have been reported, with wrong bits 0 */
};

/**
 * struct ntrace_frames_piece - bytes that stand one after the other in a frame
 * @source: ID; 0 for BARRIER, NAMELESS and CUT
 * @size: how many bytes; 0 for BARRIER; of CUT, bytes of the frame as it came
 * @bytes: the bytes of BYTES, NAMELESS and RESERVED; valid until the next call for the same
 *         struct ntrace_frames; else NULL
 * @offset: position of the frame in the input; of BARRIER, that of the byte after it
 */
struct ntrace_frames_piece {
	unsigned int source;
	unsigned int size;
	const uint8_t *bytes;
	uint64_t offset;
};

/**
 * struct ntrace_frames - state of a reader of frames
 * @offset: readable: bytes of input that were read
 * @bytes: readable: bytes of sources so far
 * @nameless: readable: bytes before the first ID
 * @reserved: readable: bytes of reserved IDs but NTRACE_FRAMES_TRIGGER
 * @triggers: readable: bytes of NTRACE_FRAMES_TRIGGER
 * @cut: readable: bytes of frames that were not whole
 * @barriers: readable: barriers so far
 *
 * Owned by the caller, set up by ntrace_frames_init(); fields not called readable are private.
 * Input comes in chunks of any size, and the result does not depend on how it is cut. Needs no heap.
 */
struct ntrace_frames {
	uint64_t offset;
	uint64_t bytes;
	uint64_t nameless;
	uint64_t reserved;
	uint64_t triggers;
	uint64_t cut;
	uint64_t barriers;
	const uint8_t *next;
	const uint8_t *end;
	uint64_t start;			/* position of the frame in progress, or of the one read last */
	uint32_t last;			/* the last four bytes of input, the newest lowest */
	uint32_t spare;
	uint8_t frame[NTRACE_FRAME_BYTES];
	uint8_t data[NTRACE_FRAME_DATA];	/* of the frame read last, and whose each byte is */
	uint8_t source_of[NTRACE_FRAME_DATA];
	uint8_t data_size;
	uint8_t data_next;
	uint8_t used;			/* bytes of the frame in progress */
	uint8_t words;			/* synchronization words one after the other, saturating */
	uint8_t source;
	uint8_t spare_bytes[3];
	uint64_t spare_words[4];
};

/** ntrace_frames_init - start reading. The first byte of input is that of a frame or of a word */
NTRACE_API void ntrace_frames_init(struct ntrace_frames *frames);

/**
 * ntrace_frames_feed - give the next chunk
 *
 * The previous chunk must have been read until NTRACE_ERR_AGAIN. @data must stay valid until then.
 */
NTRACE_API void ntrace_frames_feed(struct ntrace_frames *frames, const uint8_t *data, size_t size);

/**
 * ntrace_frames_next - the next bytes of a source, or what is missing
 * @frames: a reader
 * @piece: filled in
 *
 * ARM IHI 0029, "Trace formatter". Bytes of ID 0 and of NTRACE_FRAMES_TRIGGER are left out.
 * Return: enum ntrace_frames_event, or NTRACE_ERR_AGAIN when the chunk is used up.
 */
NTRACE_API int ntrace_frames_next(struct ntrace_frames *frames, struct ntrace_frames_piece *piece);

/**
 * ntrace_frames_break - input is missing here
 *
 * The next byte that is fed begins a frame, of an unknown source. The chunk must have been read until
 * NTRACE_ERR_AGAIN. Bytes of a frame in progress are lost and counted in @cut.
 */
NTRACE_API void ntrace_frames_break(struct ntrace_frames *frames);

/** ntrace_frames_pending - at the end of the input: bytes of a frame that is not whole */
NTRACE_API unsigned int ntrace_frames_pending(const struct ntrace_frames *frames);

/**
 * struct ntrace_frames_writer - state of a writer of frames
 * @frames: readable: whole frames so far
 *
 * Owned by the caller, set up by ntrace_frames_writer_init(); the rest is private. Needs no heap.
 */
struct ntrace_frames_writer {
	uint64_t frames;
	uint8_t frame[NTRACE_FRAME_BYTES];
	uint8_t used;
	uint8_t source;
	uint8_t spare_bytes[6];
	uint64_t spare_words[4];
};

/** NTRACE_FRAMES_ROOM - bytes that ntrace_frames_write() can write for @size bytes of a source */
#define NTRACE_FRAMES_ROOM(size) \
	(((size_t)(size) + NTRACE_FRAME_DATA) / NTRACE_FRAME_DATA * NTRACE_FRAME_BYTES)

NTRACE_API void ntrace_frames_writer_init(struct ntrace_frames_writer *writer);

/**
 * ntrace_frames_write - bytes of a source into frames
 * @writer: keeps the frame in progress
 * @source: NTRACE_FRAMES_SOURCE_MIN..NTRACE_FRAMES_SOURCE_MAX
 * @bytes: the bytes; not the memory of @out
 * @size: how many
 * @out: room for NTRACE_FRAMES_ROOM(@size) bytes; gets the frames that became whole
 * @written: bytes of @out, a multiple of NTRACE_FRAME_BYTES
 *
 * The exact inverse of the reader. An ID is written where the source changes, and once per change.
 * Return: 0, or NTRACE_ERR_INVALID for another source, with nothing written.
 */
NTRACE_API int ntrace_frames_write(struct ntrace_frames_writer *writer, unsigned int source,
				   const uint8_t *bytes, size_t size, uint8_t *out,
				   size_t *written);

/**
 * ntrace_frames_flush - fill up the frame in progress with ID 0
 * @out: room for NTRACE_FRAME_BYTES bytes
 *
 * Writing may go on afterwards. Return: bytes written: NTRACE_FRAME_BYTES, or 0 if no frame was in
 * progress.
 */
NTRACE_API size_t ntrace_frames_flush(struct ntrace_frames_writer *writer, uint8_t *out);

/**
 * ntrace_frames_barrier - flush, then four synchronization words
 * @out: room for 2 * NTRACE_FRAME_BYTES bytes
 *
 * What a driver writes where trace was lost; the next bytes get an ID. Return: bytes written.
 */
NTRACE_API size_t ntrace_frames_barrier(struct ntrace_frames_writer *writer, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_FRAMES_H */
