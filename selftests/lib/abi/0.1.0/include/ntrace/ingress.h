/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The trace ingress port of a hart (E-Trace, chapter 4): the input of an encoder, and the file
 * format that stores this input.
 *
 * All functions work without allocation and global state; the caller owns every struct.
 */
#ifndef NTRACE_INGRESS_H
#define NTRACE_INGRESS_H

#include <ntrace/isa.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ctype of the ingress port */
enum ntrace_ctype {
	NTRACE_CTYPE_NONE = 0,		/* the change is not reported */
	NTRACE_CTYPE_IMPRECISE = 1,	/* Ownership at an unspecified nearby instruction */
	NTRACE_CTYPE_PRECISE = 2,	/* Ownership at the first instruction of the new context */
	NTRACE_CTYPE_DISCONTINUITY = 3,	/* the same, and control was redirected as by a trap */
};

/*
 * Maximum number of parcels of a block. No hart retires as many in a cycle, and emulators stay far
 * below. The limit bounds the number of messages that one block makes with a narrow I-CNT.
 */
#define NTRACE_IRETIRE_MAX 0xffffu

/**
 * struct ntrace_ingress - one block group of the ingress port
 * @iaddr: address of the first instruction; with iretire 0 valid only for
 *         itype 1 (address of the faulting instruction)
 * @iretire: 16-bit parcels retired in the block, at most NTRACE_IRETIRE_MAX
 * @itype: enum ntrace_itype: how the block ends
 * @ilastsize: the last instruction is 2^ilastsize parcels
 * @priv: enum ntrace_priv of the whole block
 * @sijump: not 0: the jump at the end is sequentially inferable; read only for itype 6, 8, 10, 12
 *          and 14
 *
 * Pass blocks oldest first. A trap is either the itype of the block before it or a separate block
 * with iretire 0. If that separate block follows an indirect jump or another trap, its iaddr is
 * reported as their target. So iaddr should then also be valid for itype 2, for which the port does
 * not guarantee it: the address at which the interrupt was taken.
 */
struct ntrace_ingress {
	uint64_t iaddr;
	uint32_t iretire;
	uint8_t itype;
	uint8_t ilastsize;
	uint8_t priv;
	uint8_t sijump;
};

/* Maximum number of block groups in a cycle. */
#define NTRACE_INGRESS_GROUPS_MAX 8

/**
 * struct ntrace_ingress_group - the replicated signals of a cycle
 * @iaddr: as in struct ntrace_ingress
 * @iretire: block port: parcels; single-instruction (SR) port: 0 or 1 instructions, of 2^ilastsize
 *           parcels
 * @itype: as in struct ntrace_ingress
 * @ilastsize: as in struct ntrace_ingress
 * @sijump: as in struct ntrace_ingress
 * @reserved: 0
 */
struct ntrace_ingress_group {
	uint64_t iaddr;
	uint32_t iretire;
	uint8_t itype;
	uint8_t ilastsize;
	uint8_t sijump;
	uint8_t reserved;
};

/**
 * struct ntrace_ingress_cycle - all signals of one clock cycle
 * @time: core time, for timestamps
 * @scontext: the context signal: value of CSR scontext
 * @hcontext: the context signal: value of CSR hcontext
 * @cause: xcause code of itype 1 and 2, without the interrupt bit; N-Trace does not send it
 * @tval: xtval of itype 1 and 2; N-Trace does not send it
 * @idle: cycles without anything before this one
 * @notify: trace-notify trigger, bit n for group n
 * @priv: enum ntrace_priv of all instructions of the cycle
 * @ctype: enum ntrace_ctype
 * @groups: groups used; 0 in a cycle that retires nothing
 * @trace_on: trigger pulse: tracing starts at the oldest instruction of the cycle
 * @trace_off: trigger pulse: tracing stops after the newest instruction of the cycle
 * @external: pulse of an external trigger
 * @halted: the hart is in Debug Mode (level)
 * @reset: the hart is in reset (level)
 * @group: oldest first; group[0] is used first
 */
struct ntrace_ingress_cycle {
	uint64_t time;
	uint64_t scontext;
	uint64_t hcontext;
	uint64_t cause;
	uint64_t tval;
	uint32_t idle;
	uint32_t notify;
	uint8_t priv;
	uint8_t ctype;
	uint8_t groups;
	bool trace_on;
	bool trace_off;
	bool external;
	bool halted;
	bool reset;
	struct ntrace_ingress_group group[NTRACE_INGRESS_GROUPS_MAX];
};

/* Record types of a file of ingress input. */
enum ntrace_ingress_record_type {
	NTRACE_INGRESS_CYCLE,	/* signals of a cycle */
	NTRACE_INGRESS_START,	/* trTeInstTracing 0 -> 1; value = SYNC */
	NTRACE_INGRESS_STOP,	/* trTeInstTracing 1 -> 0; value = EVCODE */
	NTRACE_INGRESS_OVERRUN,	/* retired instructions are missing */
};

/**
 * struct ntrace_ingress_record - one line of a file
 * @type: enum ntrace_ingress_record_type
 * @value: SYNC of START, EVCODE of STOP
 * @cycle: signals of CYCLE
 */
struct ntrace_ingress_record {
	unsigned int type;
	unsigned int value;
	struct ntrace_ingress_cycle cycle;
};

/**
 * struct ntrace_ingress_port - the port as described in the first line of a file
 * @xlen: 32 or 64
 * @itype_bits: 3 or 4
 * @groups: block groups, 1..NTRACE_INGRESS_GROUPS_MAX
 * @single: single-instruction (SR) port
 */
struct ntrace_ingress_port {
	unsigned int xlen;
	unsigned int itype_bits;
	unsigned int groups;
	bool single;
};

/**
 * ntrace_ingress_check - check that a port can carry the signals of a cycle
 * @port: description of the port, as in the first line of a file
 * @cycle: signals of a cycle
 *
 * E-Trace, chapter 4: reserved values, groups that are not used in order, traps outside the newest
 * group, instructions retired while halted, addresses beyond XLEN.
 *
 * Return: NULL if the port can carry @cycle, else a constant string.
 */
NTRACE_EXPERIMENTAL const char *ntrace_ingress_check(const struct ntrace_ingress_port *port,
						     const struct ntrace_ingress_cycle *cycle);

/* Length of the longest line, with its newline; see Documentation/trace/ingress-file.md. */
#define NTRACE_INGRESS_LINE_MAX 1024

/**
 * struct ntrace_ingress_writer - state of a writer
 *
 * Owned by the caller, set up by ntrace_ingress_writer_init(); all fields are private. Needs no
 * heap.
 */
struct ntrace_ingress_writer {
	/* private: */
	struct ntrace_ingress_port port;
	struct ntrace_ingress_cycle last;
	uint64_t reserved[4];
};

/**
 * ntrace_ingress_writer_init - begin a file
 * @writer: memory owned by the caller
 * @port: copied
 * @line: at least NTRACE_INGRESS_LINE_MAX bytes; receives the first line
 *
 * Return: length of the line, or NTRACE_ERR_INVALID (a value out of range).
 */
NTRACE_EXPERIMENTAL int ntrace_ingress_writer_init(struct ntrace_ingress_writer *writer,
						   const struct ntrace_ingress_port *port,
						   char *line);

/**
 * ntrace_ingress_write - one record as a line of text
 * @writer: writer set up by ntrace_ingress_writer_init()
 * @record: a record that the port of this file can carry
 * @line: at least NTRACE_INGRESS_LINE_MAX bytes
 *
 * Return: length of the line, newline included, or NTRACE_ERR_INVALID for a record that the port
 * cannot carry (nothing is changed then).
 */
NTRACE_EXPERIMENTAL int ntrace_ingress_write(struct ntrace_ingress_writer *writer,
					     const struct ntrace_ingress_record *record,
					     char *line);

/**
 * ntrace_ingress_write_end - write the last line, which marks the file as complete
 * @writer: writer set up by ntrace_ingress_writer_init()
 * @line: at least NTRACE_INGRESS_LINE_MAX bytes
 *
 * Return: length of the line, newline included.
 */
NTRACE_EXPERIMENTAL int ntrace_ingress_write_end(struct ntrace_ingress_writer *writer, char *line);

/**
 * struct ntrace_ingress_reader - state of a reader
 * @port: readable after the first record or NTRACE_ERR_EOS
 * @line: readable: number of the line last read, from 1
 * @offset: readable: position in the file of the line's first byte
 * @column: readable after an error: column in the line, from 1
 * @error: readable after an error: description of the error, a constant string
 *
 * Owned by the caller, set up by ntrace_ingress_reader_init(); all other fields are private. Input
 * comes in chunks of any size, and the result does not depend on the chunk boundaries. Needs no
 * heap.
 */
struct ntrace_ingress_reader {
	struct ntrace_ingress_port port;
	uint64_t line;
	uint64_t offset;
	unsigned int column;
	const char *error;
	/* private: */
	const char *next;
	const char *end;
	uint64_t position;
	struct ntrace_ingress_cycle last;
	unsigned int state;
	unsigned int held;
	int result;
	char text[NTRACE_INGRESS_LINE_MAX];
	uint64_t reserved[4];
};

/**
 * ntrace_ingress_reader_init - start reading a file
 * @reader: memory owned by the caller
 */
NTRACE_EXPERIMENTAL void ntrace_ingress_reader_init(struct ntrace_ingress_reader *reader);

/**
 * ntrace_ingress_reader_feed - give the next chunk
 * @reader: reader set up by ntrace_ingress_reader_init()
 * @data: the next bytes of the file; borrowed
 * @size: number of bytes at @data
 *
 * The previous chunk must have been read until NTRACE_ERR_AGAIN. @data must stay valid until then.
 */
NTRACE_EXPERIMENTAL void ntrace_ingress_reader_feed(struct ntrace_ingress_reader *reader,
						    const char *data, size_t size);

/**
 * ntrace_ingress_reader_next - the next record
 * @reader: reader set up by ntrace_ingress_reader_init()
 * @record: filled in if the result is 0
 *
 * Return: 0; NTRACE_ERR_AGAIN when the chunk is used up (at the end of the file: the file is
 * truncated); NTRACE_ERR_EOS after the last line; NTRACE_ERR_FORMAT for a violation of the format,
 * with line, column and error set (and again for every later call).
 */
NTRACE_EXPERIMENTAL int ntrace_ingress_reader_next(struct ntrace_ingress_reader *reader,
						   struct ntrace_ingress_record *record);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_INGRESS_H */
