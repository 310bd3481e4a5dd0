/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Detect: which parameters was a raw trace made with?
 *
 * A stream does not say how wide SRC is, nor XLEN, nor how its bytes are packed (N-Trace 1.0, "message
 * layout"). Wrong parameters make messages that no encoder sends: reserved
 * values, SRC that never synchronize, histories longer than I-CNT, addresses all over memory. What
 * contradicts least is the best candidate; with the programs that were traced, the code decides
 * what is left.
 *
 * The judgement is by counts alone: the same bytes always have the same result.
 */
#ifndef NTRACE_DETECT_H
#define NTRACE_DETECT_H

#include <ntrace/image.h>
#include <ntrace/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More bytes than these are not looked at. */
#define NTRACE_DETECT_BYTES_MAX ((size_t)8 << 20)

/** enum ntrace_detect_kind - what the bytes look like */
enum ntrace_detect_kind {
	NTRACE_DETECT_TRACE,	/* an N-Trace stream */
	NTRACE_DETECT_EMPTY,	/* no bytes */
	NTRACE_DETECT_IDLE,	/* idle bytes (0xff) alone */
	NTRACE_DETECT_ZEROS,	/* zeros alone */
	NTRACE_DETECT_ELF,
	NTRACE_DETECT_PERF_DATA,
	NTRACE_DETECT_COMPRESSED,	/* gzip, xz, zstd, bzip2 or zip */
	NTRACE_DETECT_TEXT,
	NTRACE_DETECT_ETRACE,	/* packets of E-Trace */
	NTRACE_DETECT_RANDOM,	/* random, encrypted or compressed bytes */
	NTRACE_DETECT_BINARY,	/* anything else */
};

/** enum ntrace_detect_packing - how the bytes of a stream are packed */
enum ntrace_detect_packing {
	NTRACE_DETECT_BYTES,	/* not at all */
	NTRACE_DETECT_WORDS16,	/* 16-bit words with the later byte first */
	NTRACE_DETECT_FRAMES,	/* frames of a CoreSight formatter (ntrace/frames.h) */
};

/* Bits of ntrace_detect_candidate.open: what the stream cannot tell. */
#define NTRACE_DETECT_OPEN_XLEN (1u << 0)	/* all addresses fit in 32 bits */
#define NTRACE_DETECT_OPEN_MODE (1u << 1)	/* no message of BTM or HTM alone */
#define NTRACE_DETECT_OPEN_DELTA (1u << 2)	/* time stamps fit being added and XORed */
#define NTRACE_DETECT_OPEN_SRC (1u << 3)	/* another width of SRC fits as well */
#define NTRACE_DETECT_OPEN_JUMPS (1u << 4)	/* all_jumps: losses contradict either value */
#define NTRACE_DETECT_OPEN_DIALECT (1u << 5)	/* few messages of SiFive's dialect: maybe damage */
#define NTRACE_DETECT_OPEN_EXTADDR (1u << 6)	/* the top bit of addresses may be a sign or a bit */
#define NTRACE_DETECT_OPEN_ADDRBITS (1u << 7)	/* another width of addresses fits as well */
#define NTRACE_DETECT_OPEN_WRAP (1u << 8)	/* times wrap at tsbits, or some are damaged */

/**
 * struct ntrace_detect_candidate - parameters, and what speaks for and against them
 * @params: parameters
 * @packing: enum ntrace_detect_packing
 * @source: with NTRACE_DETECT_FRAMES: source ID
 * @equal: fits as well as the first candidate of its packing and source
 * @open: NTRACE_DETECT_OPEN_...
 * @bytes: of the stream, taken out of words or frames
 * @idle: idle bytes
 * @sound: bytes of messages with nothing wrong
 * @messages: messages, wrong ones among them
 * @wire_errors: places where bytes are no message (reserved MSEO codes)
 * @unknown: messages of a reserved TCODE
 * @truncated: messages without a mandatory field
 * @extra: messages with too many fields
 * @illegal: messages with a reserved value, or that contradict those before them
 * @orphans: messages of a SRC before its first sync
 * @syncs: messages with SYNC
 * @sources: SRC that occur
 * @timestamps: messages with TSTAMP
 * @cost: evidence against it in bits: by that much less likely, as a power of 2
 * @addresses: F-ADDR and U-ADDR looked at
 * @misplaced: of them, those that no hart of this XLEN would report
 * @programs: there was a space: what follows counts
 * @outside: of the addresses, those where the programs have no code
 * @instructions: instructions that were followed
 * @flow_errors: contradictions to the code
 * @lost: messages about code that could not be followed, from a contradiction to the next sync
 * @gaps: places where the flow was lost
 * @checked: the checker (ntrace/check.h) was asked: what follows counts
 * @check_errors: violations of the specification
 * @check_warnings: likewise, of the rules that are warnings
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
 * @bytes: bytes that were looked at: without zeros at the end, which fill a buffer
 * @candidate: the best first; of equal ones the simplest. Of frames, those of the source with most
 *             bytes come first
 */
struct ntrace_detect_result {
	uint32_t kind;
	uint32_t count;
	uint64_t bytes;
	struct ntrace_detect_candidate candidate[NTRACE_DETECT_CANDIDATES];
};

/**
 * struct ntrace_detect_config - what is to be judged
 * @size: sizeof(struct ntrace_detect_config) of the caller
 * @data: bytes of a trace, from anywhere within it; borrowed
 * @bytes: how many; of more than NTRACE_DETECT_BYTES_MAX the first ones count
 * @space: what was traced; NULL: not known; referenced during the call
 * @params: what is known and cannot be detected, which all candidates have: timestamp_hz,
 *          implicit_return, keep_stack, isa, jvt; of the rest nothing is used but, if @xlen_known, xlen.
 *          NULL: nothing is known. The isa of the candidates is the same pointer
 * @xlen_known: @params says XLEN, as an ELF file knows it; else both are tried
 * @progress: called now and then with the steps done and all of them; not 0 stops; may be NULL
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

/** ntrace_detect_config_init - no bytes, no space, nothing known */
NTRACE_EXPERIMENTAL void ntrace_detect_config_init(struct ntrace_detect_config *config);

/**
 * ntrace_detect - find the parameters of a raw trace
 * @config: what is to be judged
 * @result: memory of the caller, filled in
 *
 * N-Trace 1.0, "message layout", "synchronization", "addresses" and "timestamps". Memory is a few times @bytes of @config; time grows with it and with the
 * instructions followed, which are bounded.
 * Return: 0, also if the bytes are no trace: see @kind; what @progress returned; NTRACE_ERR_INVALID
 * or NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_detect(const struct ntrace_detect_config *config,
				      struct ntrace_detect_result *result);

/** ntrace_detect_kind_text - an English phrase for enum ntrace_detect_kind: "an ELF file"; static */
NTRACE_EXPERIMENTAL const char *ntrace_detect_kind_text(unsigned int kind);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_DETECT_H */
