/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Stream parameters: facts that a decoder needs but that the stream does not contain (N-Trace 1.0).
 * The driver reports them, the recorder stores them, the decoder takes them, and the command spells
 * them "srcbits=2,xlen=64,...".
 */
#ifndef NTRACE_PARAMS_H
#define NTRACE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ntrace_dialect {
	NTRACE_DIALECT_RATIFIED,
	NTRACE_DIALECT_RC7,
	NTRACE_DIALECT_SIFIVE_V0,
};

/*
 * Values of trTeInstMode. The decoder does not need the mode and only checks the stream against it.
 */
enum ntrace_mode {
	NTRACE_MODE_ANY = 0,
	NTRACE_MODE_BRANCH = 3,		/* BTM */
	NTRACE_MODE_HISTORY = 6,	/* HTM */
};

/*
 * What PROCESS of Ownership is. N-Trace 1.0 has FORMAT, PRV, V and CONTEXT; pre-ratification SiFive
 * encoders send the same, or a number that software stored.
 */
enum ntrace_owner {
	NTRACE_OWNER_ANY,		/* CONTEXT, or in NTRACE_DIALECT_SIFIVE_V0 by the stream */
	NTRACE_OWNER_CONTEXT,
	NTRACE_OWNER_STORED,
};

/* What TSTAMP of a message without SYNC is; that of a message with SYNC is always the whole time. */
enum ntrace_time_delta {
	NTRACE_TIME_DELTA_ADD,		/* added to the last one (N-Trace 1.0, "timestamps") */
	NTRACE_TIME_DELTA_XOR,		/* XORed with the last one */
	NTRACE_TIME_DELTA_ABSOLUTE,	/* no difference: the whole time */
};

#define NTRACE_SRC_BITS_MAX 12

/*
 * All messages are those of one hart, or of one task that moves between harts: somebody has
 * separated them already, and SRC only tells which encoder each came from.
 */
#define NTRACE_SRC_ANY 0xffffffffu

/**
 * struct ntrace_params - parameters of one trace stream
 *
 * Other public structs hold a pointer to this struct, so that it can grow.
 *
 * @size: sizeof(struct ntrace_params) of the caller
 * @src_bits: width of the SRC field, 0..12; 0 = the field is absent
 * @xlen: 32 or 64
 * @extend_address: trTeInstExtendAddrMSB
 * @all_jumps: trTeInstEnAllJumps
 * @mode: enum ntrace_mode
 * @dialect: enum ntrace_dialect
 * @timestamp_bits: trTsWidth, 1..64; 0 = no timestamps; if there are some, they do not wrap
 * @timestamp_hz: frequency of the timestamp counter, 0 = unknown
 * @timestamp_delta: enum ntrace_time_delta; in NTRACE_DIALECT_SIFIVE_V0, ADD means XOR
 * @implicit_return: trTeInstImplicitReturnMode: 0 off, 1 counter, 2 partial, 3 full compare. The
 *                   encoder needs this mode. A decoder follows I-CNT and only warns of modes 1 and
 *                   2, which by design can infer a wrong address
 * @keep_stack: the encoder does not clear its return stack at markers (SYNC 0,
 *              4 and 6), as rc7 allows (N-Trace 1.0, "synchronization"). A decoder never clears it
 *              there: return addresses that the encoder has forgotten are not used
 * @isa: ISA string such as "rv64gc"; borrowed. The string ends at a 0 or a comma, so it may point
 *       into the text passed to ntrace_params_parse(). NULL or "" = from the ELF attributes
 * @jvt: address of the jump vector table (Zcmt), valid with @jvt_known
 * @jvt_known: if false, the ELF files give the address
 * @address_bits: F-ADDR and U-ADDR hold bits @address_bits to 1 of an address, whose higher bits
 *                equal bit @address_bits (encoders of SiFive); 1..63, 0 = as sent
 * @atid: the bytes of the stream are in frames of a CoreSight formatter, with this source ID
 *        (ntrace/frames.h); 1..0x6f, 0 = plain bytes. Readers of messages take the bytes without
 *        the frames: see ntrace_trace_file_unframe()
 * @owner: enum ntrace_owner
 * @repeat_message: RepeatBranch repeats the fields of the branch message, so that its U-ADDR is XORed
 *                  again each time; false: it repeats the branch, with its target (N-Trace 1.0)
 * @vendor_timestamps: vendor messages (TCODE 56 to 62) end with TSTAMP, which later ones count from
 */
struct ntrace_params {
	size_t size;
	unsigned int src_bits;
	unsigned int xlen;
	bool extend_address;
	bool all_jumps;
	enum ntrace_mode mode;
	enum ntrace_dialect dialect;
	unsigned int timestamp_bits;
	uint64_t timestamp_hz;
	enum ntrace_time_delta timestamp_delta;
	unsigned int implicit_return;
	bool keep_stack;
	const char *isa;
	uint64_t jvt;
	bool jvt_known;
	unsigned int address_bits;
	unsigned int atid;
	enum ntrace_owner owner;
	bool repeat_message;
	bool vendor_timestamps;
};

/**
 * ntrace_params_init - the defaults: no SRC, RV64, ratified, any mode, no timestamps
 * @params: memory owned by the caller; every field is set
 */
NTRACE_API void ntrace_params_init(struct ntrace_params *params);

/**
 * ntrace_params_parse - parse settings from text
 * @params: initialized parameters, changed by the settings in @text; if @text sets isa,
 *          @params->isa points into @text, which must then outlive @params
 * @text: "key=value,..." with the keys srcbits, xlen, extaddr, alljumps, mode (any, btm, htm),
 *        dialect (ratified, rc7, sifive-v0), tsbits, tshz, tsdelta (add, xor, abs), impret (0..3),
 *        keepstack, isa, jvt (address), addrbits (0..64; 64 as 0), atid (0..0x6f), owner (any,
 *        context, stored), repeat (target, message), vendorts; a boolean is 0 or 1
 * @bad: on error the start of the offending setting within @text; may be NULL
 *
 * Return: 0, or NTRACE_ERR_INVALID with @params unchanged.
 */
NTRACE_API int ntrace_params_parse(struct ntrace_params *params, const char *text,
				   const char **bad);

/**
 * struct ntrace_params_key - a key of ntrace_params_parse(), for help texts
 * @name: spelling of the key
 * @values: permitted values: "0 to 12"
 * @without: default value; "ELF's": taken from the program
 * @meaning: English phrase
 */
struct ntrace_params_key {
	const char *name;
	const char *values;
	const char *without;
	const char *meaning;
};

/**
 * ntrace_params_keys - all keys of ntrace_params_parse()
 * @count: set to the number of keys
 *
 * Return: a static array.
 */
NTRACE_API const struct ntrace_params_key *ntrace_params_keys(size_t *count);

/**
 * ntrace_params_format - write the text that ntrace_params_parse() reads
 * @params: the parameters to write
 * @text: room for @size bytes; may be NULL if @size is 0
 * @size: bytes of @text, the terminating 0 included
 *
 * Writes at most @size bytes, always 0-terminated.
 *
 * Return: length of the whole text without the 0, as snprintf() does; NTRACE_ERR_INVALID if @params
 * has fields that the library does not know.
 */
NTRACE_API int ntrace_params_format(const struct ntrace_params *params, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_PARAMS_H */
