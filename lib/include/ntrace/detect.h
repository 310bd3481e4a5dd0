/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Detect: find the parameters of a raw trace.
 *
 * A stream states neither the width of SRC nor XLEN nor the packing of its bytes (N-Trace 1.0,
 * "message layout"). Wrong parameters produce messages that no encoder sends: reserved values, SRC
 * that never synchronize, histories longer than I-CNT, addresses scattered over memory. The best
 * candidate is the one with the fewest contradictions. Given the traced programs, the code decides
 * between the remaining candidates.
 *
 * The result depends on counts alone: the same bytes always give the same result.
 */
#ifndef NTRACE_DETECT_H
#define NTRACE_DETECT_H

#include <ntrace/image.h>
#include <ntrace/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Only this many bytes are examined. */
#define NTRACE_DETECT_BYTES_MAX ((size_t)8 << 20)

/**
 * enum ntrace_detect_kind - the kind of data
 * @NTRACE_DETECT_TRACE: an N-Trace stream
 * @NTRACE_DETECT_EMPTY: no bytes
 * @NTRACE_DETECT_IDLE: only idle bytes (0xff)
 * @NTRACE_DETECT_ZEROS: only zeros
 * @NTRACE_DETECT_ELF: an ELF file
 * @NTRACE_DETECT_PERF_DATA: a perf.data file
 * @NTRACE_DETECT_COMPRESSED: gzip, xz, zstd, bzip2 or zip
 * @NTRACE_DETECT_TEXT: text
 * @NTRACE_DETECT_ETRACE: packets of E-Trace
 * @NTRACE_DETECT_RANDOM: random, encrypted or compressed bytes
 * @NTRACE_DETECT_BINARY: any other data
 * @NTRACE_DETECT_PARTLY: too few bytes are valid messages for a trace, too many for chance
 */
enum ntrace_detect_kind {
	NTRACE_DETECT_TRACE,
	NTRACE_DETECT_EMPTY,
	NTRACE_DETECT_IDLE,
	NTRACE_DETECT_ZEROS,
	NTRACE_DETECT_ELF,
	NTRACE_DETECT_PERF_DATA,
	NTRACE_DETECT_COMPRESSED,
	NTRACE_DETECT_TEXT,
	NTRACE_DETECT_ETRACE,
	NTRACE_DETECT_RANDOM,
	NTRACE_DETECT_BINARY,
	NTRACE_DETECT_PARTLY,
};

/**
 * enum ntrace_detect_packing - packing of the bytes of a stream
 * @NTRACE_DETECT_BYTES: not packed
 * @NTRACE_DETECT_WORDS16: 16-bit words with the later byte first
 * @NTRACE_DETECT_FRAMES: frames of a CoreSight formatter (ntrace/frames.h)
 */
enum ntrace_detect_packing {
	NTRACE_DETECT_BYTES,
	NTRACE_DETECT_WORDS16,
	NTRACE_DETECT_FRAMES,
};

/* Bits of ntrace_detect_candidate.open: questions that the stream leaves open. */
#define NTRACE_DETECT_OPEN_XLEN (1u << 0)	/* all addresses fit in 32 bits */
#define NTRACE_DETECT_OPEN_MODE (1u << 1)	/* no message occurs only in BTM or only in HTM */
#define NTRACE_DETECT_OPEN_DELTA (1u << 2)	/* timestamps fit both addition and XOR */
#define NTRACE_DETECT_OPEN_SRC (1u << 3)	/* another width of SRC fits as well */
#define NTRACE_DETECT_OPEN_JUMPS (1u << 4)	/* all_jumps: losses contradict either value */
#define NTRACE_DETECT_OPEN_DIALECT (1u << 5)	/* few messages of SiFive's dialect: maybe damage */
#define NTRACE_DETECT_OPEN_EXTADDR (1u << 6)	/* sign or address bit: top bit of addresses */
#define NTRACE_DETECT_OPEN_ADDRBITS (1u << 7)	/* another width of addresses fits as well */
#define NTRACE_DETECT_OPEN_WRAP (1u << 8)	/* timestamps wrap at tsbits, or some are damaged */
#define NTRACE_DETECT_OPEN_REPEAT (1u << 9)	/* repeat_message: the code fits either value */
#define NTRACE_DETECT_OPEN_VENDOR (1u << 10)	/* vendor_timestamps: vendor messages may have any */

/**
 * struct ntrace_detect_candidate - parameters with the evidence for and against them
 * @params: parameters
 * @packing: enum ntrace_detect_packing
 * @source: with NTRACE_DETECT_FRAMES: source ID
 * @equal: fits as well as the first candidate of its packing and source
 * @open: NTRACE_DETECT_OPEN_...
 * @bytes: bytes of the stream, extracted from words or frames
 * @idle: idle bytes
 * @sound: bytes of valid messages
 * @messages: all messages, invalid ones included
 * @wire_errors: places with bytes outside any message (reserved MSEO codes)
 * @unknown: messages of a reserved TCODE
 * @truncated: messages without a mandatory field
 * @extra: messages with too many fields
 * @illegal: messages that have a reserved value or contradict earlier ones
 * @orphans: messages of a SRC before its first sync
 * @syncs: messages with SYNC
 * @sources: number of SRC that occur
 * @timestamps: messages with TSTAMP
 * @cost: evidence against the candidate in bits: each bit halves its likelihood
 * @addresses: F-ADDR and U-ADDR examined
 * @misplaced: those of @addresses that no hart of this XLEN would report
 * @programs: a space was given: the following counts are valid
 * @outside: those of @addresses without code in the programs
 * @instructions: instructions followed
 * @flow_errors: contradictions between stream and code
 * @lost: messages between a contradiction and the next sync, whose code could not be followed
 * @gaps: places where the flow was lost
 * @checked: the checker (ntrace/check.h) ran: the following counts are valid
 * @reserved: 0
 * @check_errors: violations of the specification
 * @check_warnings: violations of rules that are warnings
 */
struct ntrace_detect_candidate {
	struct ntrace_params params;
	uint8_t packing;
	uint8_t source;
	bool equal;
	bool programs;
	bool checked;
	uint8_t reserved[3];
	uint32_t open;
	uint32_t sources;
	uint64_t bytes;
	uint64_t idle;
	uint64_t sound;
	uint64_t messages;
	uint64_t wire_errors;
	uint64_t unknown;
	uint64_t truncated;
	uint64_t extra;
	uint64_t illegal;
	uint64_t orphans;
	uint64_t syncs;
	uint64_t timestamps;
	uint64_t cost;
	uint64_t addresses;
	uint64_t misplaced;
	uint64_t outside;
	uint64_t instructions;
	uint64_t flow_errors;
	uint64_t lost;
	uint64_t gaps;
	uint64_t check_errors;
	uint64_t check_warnings;
};

#define NTRACE_DETECT_CANDIDATES 16

/**
 * struct ntrace_detect_result - the candidates
 * @kind: enum ntrace_detect_kind; NTRACE_DETECT_TRACE: there is a candidate
 * @count: candidates
 * @bytes: bytes examined: without the zeros at the end that fill a buffer
 * @candidate: best first, among equal ones the simplest first. With frames, candidates of the
 *             source with the most bytes come first
 */
struct ntrace_detect_result {
	uint32_t kind;
	uint32_t count;
	uint64_t bytes;
	struct ntrace_detect_candidate candidate[NTRACE_DETECT_CANDIDATES];
};

/**
 * struct ntrace_detect_config - the input
 * @size: sizeof(struct ntrace_detect_config) of the caller
 * @data: bytes of a trace, from anywhere within it; borrowed
 * @bytes: number of bytes; only the first NTRACE_DETECT_BYTES_MAX are examined
 * @space: the traced programs; NULL: not known; referenced during the call
 * @params: known parameters that cannot be detected, copied to all candidates: timestamp_hz,
 *          implicit_return, keep_stack, isa, jvt, and xlen if @xlen_known. Other fields are
 *          ignored. NULL: nothing is known. The isa of the candidates is the same pointer
 * @xlen_known: xlen of @params is known, for instance from an ELF file; else both values are tried
 * @progress: called from time to time with the number of steps done and of all steps; a nonzero
 *            result stops; may be NULL
 * @user: for @progress
 */
struct ntrace_detect_config {
	size_t size;
	const uint8_t *data;
	size_t bytes;
	struct ntrace_space *space;
	const struct ntrace_params *params;
	bool xlen_known;
	int (*progress)(void *user, unsigned int done, unsigned int total);
	void *user;
};

/**
 * ntrace_detect_config_init - defaults: no bytes, no space, no known parameters
 * @config: memory owned by the caller; every field is set
 */
NTRACE_EXPERIMENTAL void ntrace_detect_config_init(struct ntrace_detect_config *config);

/**
 * ntrace_detect - find the parameters of a raw trace
 * @config: the input
 * @result: memory owned by the caller, filled in
 *
 * N-Trace 1.0, "message layout", "synchronization", "addresses" and "timestamps". Uses a few times
 * @bytes of @config of memory. Time grows with @bytes and with the instructions followed, which are
 * bounded.
 *
 * Return: 0, also if the bytes are no trace (see @kind); the nonzero result of @progress;
 * NTRACE_ERR_INVALID or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_detect(const struct ntrace_detect_config *config,
				      struct ntrace_detect_result *result);

/**
 * ntrace_detect_kind_text - English phrase for a kind of data
 * @kind: enum ntrace_detect_kind
 *
 * Return: "an ELF file" and so on, "?" for any other value; a static string.
 */
NTRACE_EXPERIMENTAL const char *ntrace_detect_kind_text(unsigned int kind);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_DETECT_H */
