/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Encoder: from the E-Trace ingress port (E-Trace chapter 4; digest
 * ingress.md) to N-Trace messages. The reference encoder of the library, the
 * model inside the virtual SoC and the generator of test streams are this one.
 *
 * Allocation free and without global state; the caller owns the struct.
 */
#ifndef NTRACE_ENCODE_H
#define NTRACE_ENCODE_H

#include <ntrace/isa.h>
#include <ntrace/params.h>
#include <ntrace/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

/* priv of the ingress port */
enum ntrace_priv {
	NTRACE_PRIV_U = 0,
	NTRACE_PRIV_S = 1,
	NTRACE_PRIV_M = 3,
	NTRACE_PRIV_D = 4,
	NTRACE_PRIV_VU = 5,
	NTRACE_PRIV_VS = 6,
};

/**
 * struct ntrace_ingress - one block group of the ingress port
 * @iaddr: address of the first instruction; with iretire 0 valid only for
 *         itype 1 (address of the faulting instruction)
 * @iretire: 16-bit parcels retired in the block
 * @itype: enum ntrace_itype: how the block ends
 * @ilastsize: the last instruction is 2^ilastsize parcels
 * @priv: enum ntrace_priv of the whole block
 *
 * Blocks are given oldest first. A trap is either the itype of the block before
 * it or a block of its own with iretire 0. Where that block follows an indirect
 * jump or another trap, its iaddr is the target that is reported for those, so
 * iaddr should then be valid for itype 2 as well (the port promises it for
 * itype 1 only): the address at which the interrupt was taken.
 */
struct ntrace_ingress {
	uint64_t iaddr;
	uint32_t iretire;
	uint8_t itype;
	uint8_t ilastsize;
	uint8_t priv;
	uint8_t reserved;
};

/**
 * struct ntrace_encoder_config - what the control registers would say
 * @size: sizeof(struct ntrace_encoder_config) of the caller
 * @params: src_bits, xlen, mode (BTM or HTM)
 * @src: value of SRC
 * @icnt_bits: width of the I-CNT register; 1..32. ResourceFull RCODE 0 is sent
 *             before it would overflow
 * @hist_bits: branches that HIST holds, 1..31
 * @sync_mode: trTeInstSyncMode: 0 off, 1 messages, 2 cycles, 3 parcels
 * @sync_max: trTeInstSyncMax: interval 2^(sync_max + 4)
 * @priv_mask: privileges that are traced, bit n = enum ntrace_priv n. Leaving
 *             the set sends ProgTraceCorrelation EVCODE 4 in place of the trap
 *             or jump target, so that no address outside the set is ever sent;
 *             coming back sends ProgTraceSync SYNC 5
 * @trap_btype: false: BTYPE 2 and 3; true: BTYPE 1 for both
 * @write: takes whole messages, in order
 * @write_data: passed to @write
 */
struct ntrace_encoder_config {
	size_t size;
	struct ntrace_params params;
	unsigned int src;
	unsigned int icnt_bits;
	unsigned int hist_bits;
	unsigned int sync_mode;
	unsigned int sync_max;
	uint32_t priv_mask;
	bool trap_btype;
	void (*write)(void *write_data, const uint8_t *data, size_t size);
	void *write_data;
};

/** struct ntrace_encoder - state; fields are private, the size is part of the ABI */
struct ntrace_encoder {
	struct ntrace_encoder_config config;
	uint64_t messages;	/* readable: messages written */
	uint64_t bytes;		/* readable: bytes written */
	/* the rest is private */
	uint64_t reference;	/* of U-ADDR */
	uint64_t icnt;
	uint64_t icnt_max;
	uint64_t since_sync;	/* messages or parcels */
	uint64_t interval;	/* of periodic sync, 0 = none */
	uint64_t address_mask;
	uint32_t hist;
	uint32_t hist_full;	/* HIST is sent when it reaches this */
	uint32_t src;		/* SRC where it follows TCODE */
	uint8_t fixed_bits;	/* width of TCODE and SRC */
	uint8_t pending;	/* what waits for a target: enum in encode.c */
	uint8_t sync;		/* SYNC of the next ProgTraceSync */
	bool tracing;		/* trTeInstTracing */
	bool synced;		/* a decoder can follow: the last sync still holds */
	bool history;		/* HTM */
	bool lost;		/* Error is due before the next sync */
	uint8_t reserved8[5];
	uint64_t reserved[36];
};

/** ntrace_encoder_config_init - defaults: HTM, no SRC, 22-bit I-CNT, 31 history bits, no periodic sync, all privileges */
NTRACE_API void ntrace_encoder_config_init(struct ntrace_encoder_config *config);

/**
 * ntrace_encoder_init - an encoder with tracing off
 * Return: 0 or NTRACE_ERR_INVALID (a limit out of range, no mode, no write).
 */
NTRACE_API int ntrace_encoder_init(struct ntrace_encoder *encoder,
				   const struct ntrace_encoder_config *config);

/**
 * ntrace_encoder_start - trTeInstTracing 0 -> 1
 * @encoder: an encoder
 * @sync: SYNC of the ProgTraceSync that the next retired instruction starts with
 */
NTRACE_API void ntrace_encoder_start(struct ntrace_encoder *encoder, enum ntrace_sync sync);

/**
 * ntrace_encoder_retire - one ingress block
 *
 * Ignored while tracing is off. Return: 0, or NTRACE_ERR_INVALID for a block
 * that the port cannot carry (nothing is changed then).
 */
NTRACE_API int ntrace_encoder_retire(struct ntrace_encoder *encoder,
				     const struct ntrace_ingress *block);

/**
 * ntrace_encoder_stop - trTeInstTracing 1 -> 0
 * @encoder: an encoder
 * @evcode: EVCODE of the ProgTraceCorrelation that reports what is pending
 */
NTRACE_API void ntrace_encoder_stop(struct ntrace_encoder *encoder, enum ntrace_evcode evcode);

/**
 * ntrace_encoder_overrun - instructions were retired that nobody reported
 *
 * Ignored while tracing is off. What is pending is dropped; the next retired
 * instruction sends Error (ETYPE 0, program trace lost) and ProgTraceSync
 * SYNC 7, and a stop before that sends Error alone.
 */
NTRACE_API void ntrace_encoder_overrun(struct ntrace_encoder *encoder);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_ENCODE_H */
