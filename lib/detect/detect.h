/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions shared by the parts of detect. */
#ifndef NTRACE_DETECT_PARTS_H
#define NTRACE_DETECT_PARTS_H

#include <ntrace/detect.h>
#include <ntrace/wire.h>

#define SRC_COUNT (1u << NTRACE_SRC_BITS_MAX)
/* Number of bytes of a stream used to judge widths of SRC and addresses. */
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
 * detect_unframe - extract the streams of frames, the longest first; none if the bytes are no
 * frames
 * @streams: room for STREAMS_MAX
 * @count: filled in
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
int detect_unframe(const uint8_t *data, size_t size, struct detect_stream *streams,
		   unsigned int *count);

/** detect_unword - @stream: set to the bytes of 16-bit words. Return: 0 or NTRACE_ERR_NOMEM */
int detect_unword(const uint8_t *data, size_t size, struct detect_stream *stream);

/**
 * struct detect_score - how well a width of SRC fits
 * @cost: in sixteenths of a bit
 * @sifive: messages that only pre-ratification SiFive encoders send
 * @stores: DataAcquisition; @data: other messages of data trace
 * @vendor: vendor messages that may end with a TSTAMP
 * @markers: SYNC 4 with history, as in rc7
 * @branch: messages of BTM
 * @history: messages of HTM
 * @owners: Ownership messages
 * @odd_owners: those whose PROCESS is none of N-Trace 1.0
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
	uint64_t stores;
	uint64_t data;
	uint64_t vendor;
	uint64_t markers;
	uint64_t branch;
	uint64_t history;
	uint64_t owners;
	uint64_t odd_owners;
	uint32_t sources;
};

/** detect_score - score the stream with @src_bits. Return: 0 or NTRACE_ERR_NOMEM */
int detect_score(const uint8_t *data, size_t size, unsigned int src_bits,
		 struct detect_score *score);

/**
 * struct detect_verdict - judgement of a single message
 * @illegal: a reserved value
 * @rare: vendor values
 * @sifive: only pre-ratification SiFive encoders send it
 */
struct detect_verdict {
	bool illegal;
	bool sifive;
	unsigned int rare;
};

/** detect_judge - judge the field values of one message */
void detect_judge(const struct ntrace_message *message, struct detect_verdict *verdict);

#define WIDTHS_MAX 6

/**
 * struct detect_addresses - how well address settings fit
 * @cost: lower is better
 * @form: the part of @cost without addresses outside the programs
 * @padded: fields with more bytes than these settings need, which are 0; in no other count here
 * @copies: the same, copies of a set sign
 * @hash: hash of all addresses: equal hashes mean the same addresses
 */
struct detect_addresses {
	uint64_t addresses;
	uint64_t misplaced;
	uint64_t padded;
	uint64_t copies;
	uint64_t outside;
	uint64_t cost;
	uint64_t form;
	uint64_t hash;
	/*
	 * Among fields of 33 to 62 bits: the most frequent width and the greatest one; 0 if there
	 * is none.
	 */
	unsigned int usual;
	unsigned int widest;
	/*
	 * Their widths, then 0; the most frequent width comes first, even if only one field has it.
	 */
	unsigned int widths[WIDTHS_MAX];
	bool wide;		/* an address needs more than 32 bits */
};

/** detect_addresses - reconstruct all addresses. Return: 0 or NTRACE_ERR_NOMEM */
int detect_addresses(const uint8_t *data, size_t size, const struct ntrace_params *params,
		     struct ntrace_space *space, struct detect_addresses *addresses);

/** detect_misplace - count @fields more against the settings that @addresses is the result of */
void detect_misplace(struct detect_addresses *addresses, uint64_t fields);

/**
 * detect_times - find timestamp_delta and timestamp_bits
 * @damaged: part of the stream is lost or damaged
 * @open: set to NTRACE_DETECT_OPEN_DELTA and NTRACE_DETECT_OPEN_WRAP where they apply
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
int detect_times(const uint8_t *data, size_t size, struct ntrace_params *params, bool damaged,
		 uint32_t *open);

/** detect_owners - set owner, if @params leave it open and the stream has Ownership */
void detect_owners(const uint8_t *data, size_t size, struct ntrace_params *params);

/**
 * struct detect_code - result of following a candidate through the code
 * @path: hash of the executed blocks
 * @cost: evidence against the candidate, in bits
 * @repeats: there is a RepeatBranch
 */
struct detect_code {
	uint64_t path;
	uint64_t cost;
	bool repeats;
};

/** detect_flow - follow the code, within limits. Return: 0 or NTRACE_ERR_... */
int detect_flow(const uint8_t *data, size_t size, struct ntrace_space *space,
		struct ntrace_detect_candidate *candidate, struct detect_code *code);

/** detect_check - run the checker. Return: 0 or NTRACE_ERR_... */
int detect_check(const uint8_t *data, size_t size, struct ntrace_detect_candidate *candidate);

/** detect_looks - kind of bytes that are no trace: enum ntrace_detect_kind */
unsigned int detect_looks(const uint8_t *data, size_t size);

/** detect_magic - NTRACE_DETECT_TRACE unless the first bytes are the magic of a known format */
unsigned int detect_magic(const uint8_t *data, size_t size);

#endif /* NTRACE_DETECT_PARTS_H */
