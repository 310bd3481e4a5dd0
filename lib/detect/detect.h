/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the parts of detect share. */
#ifndef NTRACE_DETECT_PARTS_H
#define NTRACE_DETECT_PARTS_H

#include <ntrace/detect.h>
#include <ntrace/wire.h>

#define SRC_COUNT (1u << NTRACE_SRC_BITS_MAX)
/* Bytes of a stream that widths of SRC and addresses are judged by. */
#define SCORED_BYTES ((size_t)1 << 20)

/**
 * struct detect_stream - bytes of one stream, unpacked
 * @data: owned unless the packing is NTRACE_DETECT_BYTES
 */
struct detect_stream {
	uint8_t packing;
	uint8_t source;
	uint8_t *data;
	size_t size;
};

#define STREAMS_MAX 8

/**
 * detect_unframe - streams of frames, the longest first; none if it makes no sense as frames
 * @streams: room for STREAMS_MAX
 * @count: filled in
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
int detect_unframe(const uint8_t *data, size_t size, struct detect_stream *streams,
		   unsigned int *count);

/** detect_unword - @stream: the bytes of 16-bit words. Return: 0 or NTRACE_ERR_NOMEM */
int detect_unword(const uint8_t *data, size_t size, struct detect_stream *stream);

/**
 * struct detect_score - how well a width of SRC fits
 * @cost: in sixteenths of a bit
 * @sifive: what only SiFive before ratification sends
 * @markers: SYNC 4 with history, as rc7 has it
 * @branch: messages of BTM
 * @history: messages of HTM
 */
struct detect_score {
	uint64_t cost;
	uint64_t messages;
	uint64_t wire_errors;
	uint64_t unknown;
	uint64_t truncated;
	uint64_t extra;
	uint64_t illegal;
	uint64_t orphans;
	uint64_t syncs;
	uint64_t timestamps;
	uint64_t idle;
	uint64_t sound;
	uint64_t sifive;
	uint64_t markers;
	uint64_t branch;
	uint64_t history;
	uint32_t sources;
};

/** detect_score - take the stream apart with @src_bits. Return: 0 or NTRACE_ERR_NOMEM */
int detect_score(const uint8_t *data, size_t size, unsigned int src_bits,
		 struct detect_score *score);

/**
 * struct detect_verdict - a message by itself
 * @illegal: a reserved value
 * @rare: values that are a vendor's
 * @sifive: it is one of SiFive's before ratification
 */
struct detect_verdict {
	bool illegal;
	bool sifive;
	unsigned int rare;
};

/** detect_judge - values of the fields of one message */
void detect_judge(const struct ntrace_message *message, struct detect_verdict *verdict);

#define WIDTHS_MAX 6

/**
 * struct detect_addresses - how well settings of addresses fit
 * @cost: the less the better
 * @form: the part of @cost that does not count addresses outside of the programs
 * @hash: of all addresses: equal ones decode to the same
 */
struct detect_addresses {
	uint64_t addresses;
	uint64_t misplaced;
	uint64_t outside;
	uint64_t cost;
	uint64_t form;
	uint64_t hash;
	/* Of fields of 33 to 62 bits, 0 if there is none: the width that most have, and the largest. */
	unsigned int usual;
	unsigned int widest;
	/* Their widths, the one that most have first, though a single one has it; then 0. */
	unsigned int widths[WIDTHS_MAX];
	bool wide;		/* an address is above 32 bits */
};

/** detect_addresses - reconstruct all addresses. Return: 0 or NTRACE_ERR_NOMEM */
int detect_addresses(const uint8_t *data, size_t size, const struct ntrace_params *params,
		     struct ntrace_space *space, struct detect_addresses *addresses);

/**
 * detect_times - find timestamp_xor and timestamp_bits
 * @damaged: a part of the stream is lost or damaged
 * @open: set to those of NTRACE_DETECT_OPEN_DELTA and NTRACE_DETECT_OPEN_WRAP that hold
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
int detect_times(const uint8_t *data, size_t size, struct ntrace_params *params, bool damaged,
		 uint32_t *open);

/**
 * struct detect_code - what the code says of a candidate
 * @path: hash of the executed blocks
 * @cost: evidence against the candidate, in bits
 */
struct detect_code {
	uint64_t path;
	uint64_t cost;
};

/** detect_flow - follow the code, within bounds. Return: 0 or NTRACE_ERR_... */
int detect_flow(const uint8_t *data, size_t size, struct ntrace_space *space,
		struct ntrace_detect_candidate *candidate, struct detect_code *code);

/** detect_check - ask the checker. Return: 0 or NTRACE_ERR_... */
int detect_check(const uint8_t *data, size_t size, struct ntrace_detect_candidate *candidate);

/** detect_looks - what bytes that are no trace look like: enum ntrace_detect_kind */
unsigned int detect_looks(const uint8_t *data, size_t size);

/** detect_magic - NTRACE_DETECT_TRACE unless the first bytes are those of a known format */
unsigned int detect_magic(const uint8_t *data, size_t size);

#endif /* NTRACE_DETECT_PARTS_H */
