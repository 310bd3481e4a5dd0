/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Co-simulation port of the virtual SoC: `-M virt,ntrace-remote=unix:PATH`. Another process, the
 * server, has the trace components: an RTL simulation, or any other model. The SoC connects to it,
 * forwards register accesses and what the harts execute, and writes trace to memory for it.
 *
 *	server				SoC
 *	HELLO, PAGE ... PAGE	->		once, after the connection
 *			<-	RESET		at power-up and at each reset of the machine
 *			<-	READ, WRITE	one at a time
 *	MEM ..., ACTIVE ..., REPLY ->
 *			<-	BLOCK, STATE ..., SYNC
 *	MEM ..., ACTIVE ..., SYNC ->
 *
 * Each message has 32 bytes, little-endian. The SoC sends an access or SYNC, and then waits for REPLY or
 * SYNC with the same @id; before it, the server may send MEM, ACTIVE and STALL. It sends nothing at other
 * times, and has carried out all that the SoC sent before an access or SYNC when it answers.
 * The machine runs with -icount: all harts take turns in one thread.
 *
 * Documentation/trace/remote.md is the guide.
 */
#ifndef VSOC_REMOTE_H
#define VSOC_REMOTE_H

#include <stdint.h>

#define REMOTE_VERSION 1

/* In an instruction block: at most 15 instructions, so that iretire fits in 5 bits. */
#define REMOTE_BLOCK_INSTRUCTIONS 15

/* Component that a page sends to: none */
#define REMOTE_NONE UINT64_MAX

enum remote_op {
	/*
	 * Server: a = REMOTE_VERSION; b = width of itype, 3 or 4 bits (E-Trace, "Instruction
	 * Trace Interface"); c = number of PAGE messages that follow.
	 */
	REMOTE_HELLO = 1,
	/*
	 * Server: a page of registers, 4 KiB. id = component type as in tr??Impl: 1 encoder, 8
	 * funnel, 9 RAM sink, 10 PIB sink, 14 ATB bridge; a = its address; b = encoder: hart, else
	 * number among those of its type; c = number of the PAGE message, from 0, of the
	 * component that it sends to, which comes earlier, or REMOTE_NONE.
	 */
	REMOTE_PAGE,
	/* SoC: id = number of the access; a = address; b = value of WRITE; c = hart */
	REMOTE_READ,
	REMOTE_WRITE,
	/* Server: id = that of the access; a = value of READ; b = 1: bus error, else 0 */
	REMOTE_REPLY,
	/*
	 * SoC: an instruction block, of a hart that is ACTIVE. id = REMOTE_BLOCK_ID(); a = iaddr;
	 * b = tval, which is always 0; c = cause of the trap if itype is 1 or 2.
	 */
	REMOTE_BLOCK,
	/* SoC: id = hart; a = scontext from the next block on */
	REMOTE_STATE,
	/* SoC: a = time in virtual nanoseconds, before an access and a SYNC */
	REMOTE_TIME,
	/* SoC: id = its number. Server: the answer */
	REMOTE_SYNC,
	/* Server: a write to memory. id = number of bytes, 1 to 16; a = address; b, c = the bytes */
	REMOTE_MEM,
	/* Server: id = hart; a = 1: send BLOCK and STATE from the next block on, 0: do not */
	REMOTE_ACTIVE,
	/* Server: id = hart; a = cycles for which it was stalled. They are counted, and take no time. */
	REMOTE_STALL,
	/* SoC: all components are as after power-up. No hart is ACTIVE. */
	REMOTE_RESET,
};

struct remote_message {
	uint32_t op;	/* enum remote_op */
	uint32_t id;
	uint64_t a;
	uint64_t b;
	uint64_t c;
};

/* id of BLOCK: parcels (16 bits) that retired, itype, ilastsize, privilege code, hart */
#define REMOTE_BLOCK_ID(iretire, itype, ilastsize, priv, hart) \
	((uint32_t)(iretire) | (uint32_t)(itype) << 8 | (uint32_t)(ilastsize) << 12 | \
	 (uint32_t)(priv) << 13 | (uint32_t)(hart) << 16)
#define REMOTE_BLOCK_IRETIRE(id) ((id) & 0xff)
#define REMOTE_BLOCK_ITYPE(id) ((id) >> 8 & 0xf)
#define REMOTE_BLOCK_ILASTSIZE(id) ((id) >> 12 & 1)
#define REMOTE_BLOCK_PRIV(id) ((id) >> 13 & 7)
#define REMOTE_BLOCK_HART(id) ((id) >> 16)

#endif /* VSOC_REMOTE_H */
