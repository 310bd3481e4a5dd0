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
 * enum ntrace_dtype - kind of a data access (E-Trace, chapter 4, data interface)
 * @NTRACE_DTYPE_LOAD: load; also LR, and each register of a pop
 * @NTRACE_DTYPE_STORE: store; also SC that succeeds, and each register of a push
 * @NTRACE_DTYPE_CSR_WRITE: CSR read-write
 * @NTRACE_DTYPE_CSR_SET: CSR read-set
 * @NTRACE_DTYPE_CSR_CLEAR: CSR read-clear
 * @NTRACE_DTYPE_SWAP: atomic swap
 * @NTRACE_DTYPE_ADD: atomic add
 * @NTRACE_DTYPE_AND: atomic AND
 * @NTRACE_DTYPE_OR: atomic OR
 * @NTRACE_DTYPE_XOR: atomic XOR
 * @NTRACE_DTYPE_MAX: atomic maximum, signed or unsigned
 * @NTRACE_DTYPE_MIN: atomic minimum, signed or unsigned
 * @NTRACE_DTYPE_STORE_FAILURE: SC that failed
 *
 * 2, 3 and 7 are reserved. A port whose dtype has 1 bit has loads and stores, one with 3 bits also
 * CSRs, one with 4 bits also atomics.
 */
enum ntrace_dtype {
	NTRACE_DTYPE_LOAD = 0,
	NTRACE_DTYPE_STORE = 1,
	NTRACE_DTYPE_CSR_WRITE = 4,
	NTRACE_DTYPE_CSR_SET = 5,
	NTRACE_DTYPE_CSR_CLEAR = 6,
	NTRACE_DTYPE_SWAP = 8,
	NTRACE_DTYPE_ADD = 9,
	NTRACE_DTYPE_AND = 10,
	NTRACE_DTYPE_OR = 11,
	NTRACE_DTYPE_XOR = 12,
	NTRACE_DTYPE_MAX = 13,
	NTRACE_DTYPE_MIN = 14,
	NTRACE_DTYPE_STORE_FAILURE = 15,
};

/* The kind of data interface of a port. */
enum ntrace_ingress_data {
	NTRACE_INGRESS_DATA_NONE,	/* the port has instructions only */
	NTRACE_INGRESS_DATA_UNIFIED,	/* everything is in the cycle in which the access retires */
	NTRACE_INGRESS_DATA_SPLIT,	/* the data of loads comes later, with an id */
};

/* lresp of a split port. */
enum ntrace_lresp {
	NTRACE_LRESP_NONE = 0,
	NTRACE_LRESP_OKAY = 2,
	NTRACE_LRESP_ERROR = 3,
};

/* Maximum number of data accesses, and of load responses, in a cycle. */
#define NTRACE_INGRESS_ACCESSES_MAX 8

/* Maximum width of lrid and lid: at most 256 loads are in flight. */
#define NTRACE_INGRESS_LRID_BITS_MAX 8

/**
 * struct ntrace_ingress_access - a data access that retires (dretire)
 * @daddr: address; number of the CSR
 * @store: stores, CSR accesses and atomics: the value written, or the operand of an atomic on a
 *         split port; [0] has bits 63:0, [1] bits 127:64
 * @load: unified port: loads, CSR accesses and atomics: the value read (of an atomic either this or
 *        its operand); otherwise 0
 * @iaddr_lsbs: low bits of the address of the accessing instruction; 0 if the port lacks them
 * @dtype: enum ntrace_dtype
 * @dsize: 2^dsize bytes, at most 4
 * @dblock: group of this cycle with the accessing instruction; 0 if the port has one group
 * @lrid: split port, with @request: id of the load
 * @request: split port: a response with this lrid follows; for loads and atomics always
 * @reserved: 0
 */
struct ntrace_ingress_access {
	uint64_t daddr;
	uint64_t store[2];
	uint64_t load[2];
	uint16_t iaddr_lsbs;
	uint8_t dtype;
	uint8_t dsize;
	uint8_t dblock;
	uint8_t lrid;
	bool request;
	uint8_t reserved;
};

/**
 * struct ntrace_ingress_response - the answer to a load of a split port
 * @load: ldata, if @lresp is NTRACE_LRESP_OKAY; [0] has bits 63:0, [1] bits 127:64
 * @lresp: enum ntrace_lresp
 * @lid: lrid of the load
 * @reserved: 0
 */
struct ntrace_ingress_response {
	uint64_t load[2];
	uint8_t lresp;
	uint8_t lid;
	uint8_t reserved[6];
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
 * @impdef: the implementation-defined sideband signals; N-Trace does not send them
 * @priv: enum ntrace_priv of all instructions of the cycle
 * @ctype: enum ntrace_ctype
 * @groups: groups used; 0 in a cycle that retires nothing
 * @trace_on: trigger pulse: tracing starts at the oldest instruction of the cycle
 * @trace_off: trigger pulse: tracing stops after the newest instruction of the cycle
 * @external: pulse of an external trigger
 * @halted: the hart is in Debug Mode (level)
 * @reset: the hart is in reset (level)
 * @accesses: data accesses that retire
 * @responses: responses to loads of a split port
 * @group: oldest first; group[0] is used first
 * @access: in the order of the port's data groups
 * @response: in the order of the port's data groups
 */
struct ntrace_ingress_cycle {
	uint64_t time;
	uint64_t scontext;
	uint64_t hcontext;
	uint64_t cause;
	uint64_t tval;
	uint64_t impdef;
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
	uint8_t accesses;
	uint8_t responses;
	struct ntrace_ingress_group group[NTRACE_INGRESS_GROUPS_MAX];
	struct ntrace_ingress_access access[NTRACE_INGRESS_ACCESSES_MAX];
	struct ntrace_ingress_response response[NTRACE_INGRESS_ACCESSES_MAX];
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
 * @data: enum ntrace_ingress_data; @accesses, @dtype_bits, @iaddr_lsbs_bits and @lrid_bits are 0
 *        without a data interface
 * @retires: maximum number of instructions that retire in a cycle (retires_p); 1..65,535; 0 = not
 *           stated, without a data interface only
 * @accesses: data groups, 1..NTRACE_INGRESS_ACCESSES_MAX
 * @dtype_bits: width of dtype: 1, 3 or 4
 * @iaddr_lsbs_bits: width of iaddr_lsbs, 0..16; 0 only if @retires is 1
 * @lrid_bits: split port: width of lrid and lid, 1..NTRACE_INGRESS_LRID_BITS_MAX; else 0
 * @priv_bits: width of priv: 2 or 3; of this and the next widths, 0 = not stated
 * @ctype_bits: width of ctype: 1 or 2
 * @cause_bits: width of cause, 1..64
 * @iaddr_bits: width of iaddr, 8..@xlen
 * @scontext_bits: width of the part of context that has scontext, 1..64
 * @hcontext_bits: width of the part of context that has hcontext, 1..64
 * @impdef_bits: width of impdef, 1..64; 0 = the port has none
 * @hart: hart id (mhartid) of the hart; 0 = not stated
 */
struct ntrace_ingress_port {
	unsigned int xlen;
	unsigned int itype_bits;
	unsigned int groups;
	bool single;
	uint8_t data;
	uint16_t retires;
	uint8_t accesses;
	uint8_t dtype_bits;
	uint8_t iaddr_lsbs_bits;
	uint8_t lrid_bits;
	uint8_t priv_bits;
	uint8_t ctype_bits;
	uint8_t cause_bits;
	uint8_t iaddr_bits;
	uint8_t scontext_bits;
	uint8_t hcontext_bits;
	uint8_t impdef_bits;
	uint64_t hart;
};

/**
 * ntrace_ingress_port_refusal - why a file cannot describe a port
 * @port: description of a port
 *
 * Return: NULL for a valid description, else a constant string.
 */
NTRACE_EXPERIMENTAL const char *ntrace_ingress_port_refusal(const struct ntrace_ingress_port *port);

/**
 * ntrace_ingress_check - check that a port can carry the signals of a cycle
 * @port: valid description of the port, as in the first line of a file
 * @cycle: signals of a cycle
 *
 * E-Trace, chapter 4: reserved values, groups that are not used in order, traps outside the newest
 * group, instructions retired while halted, addresses beyond XLEN; data accesses that the port lacks,
 * that name no instruction, or that have data of another kind. Rules that concern more than a cycle:
 * ntrace/ingress_check.h.
 *
 * Return: NULL if the port can carry @cycle, else a constant string.
 */
NTRACE_EXPERIMENTAL const char *ntrace_ingress_check(const struct ntrace_ingress_port *port,
						     const struct ntrace_ingress_cycle *cycle);

/**
 * ntrace_ingress_check_instructions - ntrace_ingress_check() of the instruction interface alone
 * @port: description of the port; its data interface is not read
 * @cycle: signals of a cycle; data accesses and responses are not read
 *
 * An encoder of N-Trace needs no more: N-Trace does not send data accesses.
 *
 * Return: as ntrace_ingress_check().
 */
NTRACE_EXPERIMENTAL const char *
ntrace_ingress_check_instructions(const struct ntrace_ingress_port *port,
				  const struct ntrace_ingress_cycle *cycle);

/**
 * ntrace_dtype_name - name of a kind of data access
 * @dtype: enum ntrace_dtype
 *
 * Return: "load", "store", "csr-write", "csr-set", "csr-clear", "swap", "add", "and", "or", "xor",
 * "max", "min", "store-failure", "?" for reserved values; a static string.
 */
NTRACE_EXPERIMENTAL const char *ntrace_dtype_name(unsigned int dtype);

/* Bits of a mask of itypes: those to which sijump applies (E-Trace, chapter 4). */
#define NTRACE_SIJUMP_ITYPES                                                                       \
	(1u << NTRACE_ITYPE_INDIRECT_JUMP_3BIT | 1u << NTRACE_ITYPE_INDIRECT_CALL |                \
	 1u << NTRACE_ITYPE_INDIRECT_JUMP | 1u << NTRACE_ITYPE_COROUTINE_SWAP |                    \
	 1u << NTRACE_ITYPE_OTHER_INDIRECT_JUMP)

/* Bits of a mask of kinds of accesses: 1 << enum ntrace_dtype. */
#define NTRACE_DTYPES_LOADS  0x0001u
#define NTRACE_DTYPES_STORES 0x0002u
#define NTRACE_DTYPES_CSRS   0x0070u
#define NTRACE_DTYPES_ATOMICS 0x7f00u
#define NTRACE_DTYPES_ALL    0xff73u

/**
 * struct ntrace_data_filter - selects data accesses
 * @size: sizeof(struct ntrace_data_filter) of the caller
 * @dtypes: bit n: accesses of dtype n (trTeFilterMatchData, bits 15:0)
 * @dsizes: bit n: accesses of 2^n bytes (trTeFilterMatchData, bits 23:16)
 * @privs: bit n: enum ntrace_priv n (trTeFilterMatchInst, bits 7:0)
 * @iaddr_first: first address of the accessing instruction
 * @iaddr_last: last address of the accessing instruction, included
 * @daddr_first: first address of the access
 * @daddr_last: last address of the access, included
 *
 * All conditions must hold, as in a filter of the Trace Control Interface 1.0 with its comparators.
 */
struct ntrace_data_filter {
	size_t size;
	uint32_t dtypes;
	uint32_t dsizes;
	uint32_t privs;
	/* private: */
	uint32_t reserved;
	/* public: */
	uint64_t iaddr_first;
	uint64_t iaddr_last;
	uint64_t daddr_first;
	uint64_t daddr_last;
};

/**
 * ntrace_data_filter_init - a filter that selects every access
 * @filter: memory owned by the caller; every field is set
 */
NTRACE_EXPERIMENTAL void ntrace_data_filter_init(struct ntrace_data_filter *filter);

/**
 * ntrace_data_filter_match - whether a filter selects an access
 * @filter: filter set up by ntrace_data_filter_init()
 * @port: description of the port
 * @cycle: a cycle that the port can carry
 * @access: index of an access of @cycle
 *
 * daddr is compared as a filter in hardware compares it: the address of the first byte. If the port
 * does not give the address of the instruction completely (ntrace_ingress_access_iaddr()), the range
 * of iaddr matches if it contains any instruction that may have made the access.
 *
 * Return: whether all conditions hold; false for a @filter without its size and for an access that
 * @cycle does not have.
 */
NTRACE_EXPERIMENTAL bool ntrace_data_filter_match(const struct ntrace_data_filter *filter,
						  const struct ntrace_ingress_port *port,
						  const struct ntrace_ingress_cycle *cycle,
						  unsigned int access);

/**
 * ntrace_ingress_access_iaddr - addresses of the instructions that may have made an access
 * @port: description of the port
 * @cycle: signals of a cycle
 * @access: index of an access of @cycle
 * @first: set to the lowest address
 * @last: set to the highest address; the same as @first if the port identifies the instruction
 *
 * dblock names the group; iaddr_lsbs names the parcel in it, if one parcel of the group has these low
 * bits. A port that retires one instruction per cycle needs neither.
 *
 * Return: true, or false if no instruction of the group can have made the access.
 */
NTRACE_EXPERIMENTAL bool ntrace_ingress_access_iaddr(const struct ntrace_ingress_port *port,
						     const struct ntrace_ingress_cycle *cycle,
						     unsigned int access, uint64_t *first,
						     uint64_t *last);

/* Length of the longest line, with its newline; see Documentation/trace/ingress-file.md. */
#define NTRACE_INGRESS_LINE_MAX 2048

/**
 * struct ntrace_ingress_writer - state of a writer
 * @lenient: set by the caller after ntrace_ingress_writer_init(): cycles that break the rules of
 *           ntrace_ingress_check() are written, too, as far as the file can express them
 *
 * Owned by the caller, set up by ntrace_ingress_writer_init(); all other fields are private. Needs no
 * heap.
 */
struct ntrace_ingress_writer {
	bool lenient;
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
 * cannot carry (nothing is changed then); of a lenient writer, for one that the file cannot express.
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
 * @lenient: set by the caller after ntrace_ingress_reader_init(): cycles that break the rules of
 *           ntrace_ingress_check() are read, too; for checkers
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
	bool lenient;
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
