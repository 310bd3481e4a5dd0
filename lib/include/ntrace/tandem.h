/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tandem verification: the Trace Protocol Specification (Bluespec, 2018-11-20), a byte stream with
 * the architectural effects of each instruction of a hart. A reader, a writer, the state that a
 * trace describes, and a verifier that compares it with a model, instruction by instruction.
 *
 * The stream has no header: the parameters must come with it, see struct ntrace_tandem_params.
 * Reader, writer and state work without allocation and global state; the caller owns every struct.
 */
#ifndef NTRACE_TANDEM_H
#define NTRACE_TANDEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Data that the specification leaves open, in struct ntrace_tandem_params. */
#define NTRACE_TANDEM_SC_DATA	     0x1u	/* the response to an sc carries data */
#define NTRACE_TANDEM_FAILED_NO_DATA 0x2u	/* a response that failed carries no data */

/**
 * struct ntrace_tandem_params - properties of a stream that are not in the stream
 * @size: sizeof(struct ntrace_tandem_params)
 * @xlen: 32 or 64
 * @mlen: bits of an address: 64 (8 bytes) with xlen 64; with xlen 32: 32 (4 bytes), or 34 (5 bytes)
 *        with Sv32
 * @flen: 0 (no F extension), 32 or 64
 * @flags: NTRACE_TANDEM_SC_DATA, NTRACE_TANDEM_FAILED_NO_DATA
 */
struct ntrace_tandem_params {
	size_t size;
	unsigned int xlen;
	unsigned int mlen;
	unsigned int flen;
	unsigned int flags;
};

/* Type of a field; the values are the opcodes of the stream. */
enum ntrace_tandem_type {
	NTRACE_TANDEM_BEGIN = 0x01,	/* a group begins */
	NTRACE_TANDEM_END = 0x02,	/* a group ends */
	NTRACE_TANDEM_NEXT_PC = 0x03,	/* pc += length of the group's instruction */
	NTRACE_TANDEM_REGISTER = 0x04,	/* register @id = @value */
	NTRACE_TANDEM_ADD = 0x05,	/* register @id += @value, sign-extended from 8 bits */
	NTRACE_TANDEM_OR = 0x06,	/* register @id |= @value, 8 bits */
	NTRACE_TANDEM_STATE = 0x07,	/* additional state @id = @value */
	NTRACE_TANDEM_REQUEST = 0x08,	/* memory request: @op, @size, @address, @value */
	NTRACE_TANDEM_RESPONSE =
		0x09, /* response to the request before: @op, @size, @result, @value */
	NTRACE_TANDEM_RESET = 0x0a,	/* the hart was reset */
	NTRACE_TANDEM_INIT = 0x0b,	/* the group is a change by a debugger or loader */
	NTRACE_TANDEM_INSN16 = 0x10,	/* the instruction, @value of 16 bits */
	NTRACE_TANDEM_INSN32 = 0x11,	/* the instruction, @value of 32 bits */
};

/* Registers have the numbers of the debug specification: CSRs from 0. */
#define NTRACE_TANDEM_GPR 0x1000u
#define NTRACE_TANDEM_FPR 0x1020u
#define NTRACE_TANDEM_REGISTERS 0x1040u
/* Numbers for models, not in a stream: there, pc and privilege are additional state. */
#define NTRACE_TANDEM_PC 0x1040u
#define NTRACE_TANDEM_PRIV 0x1041u

/* Additional state. */
enum ntrace_tandem_state_id {
	NTRACE_TANDEM_STATE_PRIV = 1,
	NTRACE_TANDEM_STATE_PADDR = 2,	/* physical address of the data access */
	NTRACE_TANDEM_STATE_EADDR = 3,	/* effective address of the data access */
	NTRACE_TANDEM_STATE_STORE8 = 4,	/* store data, 8 bits; 5, 6, 7: 16, 32, 64 bits */
	NTRACE_TANDEM_STATE_STORE16 = 5,
	NTRACE_TANDEM_STATE_STORE32 = 6,
	NTRACE_TANDEM_STATE_STORE64 = 7,
	NTRACE_TANDEM_STATE_MTIME = 8,
	NTRACE_TANDEM_STATE_PC_PADDR = 9,
	NTRACE_TANDEM_STATE_PC = 10,
};

/* Operations of a memory request. */
enum ntrace_tandem_op {
	NTRACE_TANDEM_LOAD,
	NTRACE_TANDEM_STORE,
	NTRACE_TANDEM_LR,
	NTRACE_TANDEM_SC,
	NTRACE_TANDEM_SWAP,
	NTRACE_TANDEM_AMO_ADD,
	NTRACE_TANDEM_AMO_XOR,
	NTRACE_TANDEM_AMO_AND,
	NTRACE_TANDEM_AMO_OR,
	NTRACE_TANDEM_AMO_MIN,
	NTRACE_TANDEM_AMO_MAX,
	NTRACE_TANDEM_AMO_MINU,
	NTRACE_TANDEM_AMO_MAXU,
	NTRACE_TANDEM_IFETCH,
	NTRACE_TANDEM_OPS,
};

/*
 * Flags of a field. All but IMPLIED are violations of the specification after which reading
 * continues. Those of a whole group are in its END.
 */
#define NTRACE_TANDEM_IMPLIED	     0x001u	/* END: left out in the stream; @length is 0 */
#define NTRACE_TANDEM_STRAY_END	     0x002u	/* END outside a group: to be ignored */
#define NTRACE_TANDEM_OUTSIDE	     0x004u	/* has no meaning outside a group */
#define NTRACE_TANDEM_INSN_LENGTH    0x008u	/* INSN16 whose low bits are those of a longer one */
#define NTRACE_TANDEM_PC_ALONE	     0x010u	/* END: NEXT_PC without an instruction */
#define NTRACE_TANDEM_PC_TWICE	     0x020u	/* END: more than one new pc */
#define NTRACE_TANDEM_INSN_TWICE     0x040u	/* END: more than one instruction */
#define NTRACE_TANDEM_INIT_MIXED     0x080u	/* END: two of INIT, reset, instruction */
#define NTRACE_TANDEM_PROBLEMS	     0x0feu

/**
 * struct ntrace_tandem_field - one field of a stream
 * @offset: offset of its opcode in the stream
 * @value: value, data or instruction; 0 where there are none
 * @address: address of REQUEST and RESPONSE
 * @id: register number, or enum ntrace_tandem_state_id
 * @flags: NTRACE_TANDEM_IMPLIED...
 * @type: enum ntrace_tandem_type
 * @length: bytes in the stream
 * @op: enum ntrace_tandem_op of REQUEST; of RESPONSE: that of the request before it
 * @size: REQUEST, RESPONSE: the access has 8 << size bits, 0..3; bit 4, NTRACE_TANDEM_FAILED: the
 *        response says that the access failed
 *
 * Values are zero-extended, that of ADD is sign-extended.
 */
struct ntrace_tandem_field {
	uint64_t offset;
	uint64_t value;
	uint64_t address;
	uint16_t id;
	uint16_t flags;
	uint8_t type;
	uint8_t length;
	uint8_t op;
	uint8_t size;
};

/* In @size of a RESPONSE. */
#define NTRACE_TANDEM_FAILED 0x10u

/* Bytes of the longest field. */
#define NTRACE_TANDEM_FIELD_MAX 18

/**
 * ntrace_tandem_params_init - parameters of RV64 with D
 * @params: receives xlen 64, mlen 64, flen 64, no flags
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_params_init(struct ntrace_tandem_params *params);

/**
 * ntrace_tandem_params_refusal - check parameters
 * @params: parameters
 *
 * Return: NULL if a stream can have them, else a constant string that says what is wrong.
 */
NTRACE_EXPERIMENTAL const char *
ntrace_tandem_params_refusal(const struct ntrace_tandem_params *params);

/**
 * struct ntrace_tandem_reader - state of a reader
 * @offset: readable: offset of the next field; after an error, that of the field that is wrong
 * @error: readable after NTRACE_ERR_FORMAT: description of the error, a constant string
 * @wrong: readable after NTRACE_ERR_FORMAT: offset of the byte that is wrong
 * @open: readable: not 0 inside a group
 *
 * Owned by the caller, set up by ntrace_tandem_reader_init(); all other fields are private. Input
 * comes in chunks of any size, and the fields do not depend on the chunk boundaries.
 */
struct ntrace_tandem_reader {
	uint64_t offset;
	const char *error;
	uint64_t wrong;
	unsigned int open;
	/* private: */
	unsigned int mlen_bytes;
	unsigned int xlen_bytes;
	unsigned int flen_bytes;
	unsigned int params_flags;
	unsigned int held;
	unsigned int request;
	unsigned int request_size;
	uint64_t request_address;
	const uint8_t *next;
	const uint8_t *end;
	uint8_t state_bytes[16];
	uint8_t bytes[64];
	uint64_t reserved[4];
};

/**
 * ntrace_tandem_reader_init - start reading a stream
 * @reader: memory owned by the caller
 * @params: copied
 *
 * Return: 0, or NTRACE_ERR_INVALID, see ntrace_tandem_params_refusal().
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_reader_init(struct ntrace_tandem_reader *reader,
						  const struct ntrace_tandem_params *params);

/**
 * ntrace_tandem_reader_feed - give the next chunk
 * @reader: reader
 * @data: the next bytes of the stream; borrowed
 * @size: number of bytes at @data
 *
 * The previous chunk must have been read until ntrace_tandem_read() returned 0. @data must stay
 * valid until then.
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_reader_feed(struct ntrace_tandem_reader *reader,
						   const void *data, size_t size);

/**
 * ntrace_tandem_read - the next fields
 * @reader: reader
 * @fields: receives fields
 * @room: number of elements at @fields, at least 2
 *
 * A BEGIN inside a group delivers an END with NTRACE_TANDEM_IMPLIED first. An unknown opcode,
 * register, state, size, operation or result makes the length of the field unknown, so that reading
 * stops there: no later byte can be understood.
 *
 * Return: number of fields; 0 when the chunk is used up; NTRACE_ERR_FORMAT after an error, with
 * error, offset and wrong set (and again for every later call); NTRACE_ERR_INVALID for a small
 * @room.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_read(struct ntrace_tandem_reader *reader,
					   struct ntrace_tandem_field *fields, size_t room);

/**
 * ntrace_tandem_reader_pending - bytes of an incomplete field
 * @reader: reader whose chunk is used up
 *
 * Return: number of bytes that wait for the next chunk; at the end of the stream, it was cut if that
 * is not 0.
 */
NTRACE_EXPERIMENTAL unsigned int
ntrace_tandem_reader_pending(const struct ntrace_tandem_reader *reader);

/**
 * ntrace_tandem_write - one field as bytes
 * @params: valid parameters
 * @field: type and what belongs to the type; offset, flags and length are not read
 * @bytes: receives at most NTRACE_TANDEM_FIELD_MAX bytes
 *
 * The groups are the caller's: this function sees one field.
 *
 * Return: number of bytes, or NTRACE_ERR_INVALID for a field that a stream with @params cannot have,
 * such as a value that is too wide.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_write(const struct ntrace_tandem_params *params,
					    const struct ntrace_tandem_field *field,
					    uint8_t *bytes);

/* Registers with pc and privilege, and the words of a bitmap of them. */
#define NTRACE_TANDEM_STATE_REGISTERS (NTRACE_TANDEM_PRIV + 1)
#define NTRACE_TANDEM_BITMAP_WORDS ((NTRACE_TANDEM_STATE_REGISTERS + 63) / 64)

/* What a group has, in struct ntrace_tandem_state; the registers are in its bitmap. */
#define NTRACE_TANDEM_HAS_INSN	0x01u
#define NTRACE_TANDEM_HAS_PC	0x02u	/* NEXT_PC or the additional state pc */
#define NTRACE_TANDEM_HAS_PADDR 0x04u
#define NTRACE_TANDEM_HAS_EADDR 0x08u
#define NTRACE_TANDEM_HAS_STORE 0x10u	/* store data */
#define NTRACE_TANDEM_HAS_INIT	0x20u
#define NTRACE_TANDEM_HAS_RESET 0x40u
#define NTRACE_TANDEM_HAS_MTIME 0x80u

/**
 * struct ntrace_tandem_state - state of a hart as far as a trace has given it
 * @reg: values by register number, pc and privilege at NTRACE_TANDEM_PC and NTRACE_TANDEM_PRIV
 * @known: bit n % 64 of word n / 64: the trace has given register n
 * @changed: the same for the last group, or the current one
 * @offset: offset of the group's BEGIN, or of the first field between two groups
 * @pc_before: pc before the group
 * @insn: instruction of the group
 * @paddr: physical address of its data access
 * @eaddr: effective address of its data access
 * @store: its store data
 * @mtime: the last mtime
 * @has: NTRACE_TANDEM_HAS_INSN... of the group
 * @insn_bytes: 2 or 4: length of the instruction by its opcode, INSN16 or INSN32
 * @store_bytes: 1, 2, 4 or 8
 * @problems: flags of all fields of the group, NTRACE_TANDEM_PROBLEMS
 *
 * Owned by the caller, set up by ntrace_tandem_state_init().
 */
struct ntrace_tandem_state {
	uint64_t reg[NTRACE_TANDEM_STATE_REGISTERS];
	uint64_t known[NTRACE_TANDEM_BITMAP_WORDS];
	uint64_t changed[NTRACE_TANDEM_BITMAP_WORDS];
	uint64_t offset;
	uint64_t pc_before;
	uint64_t insn;
	uint64_t paddr;
	uint64_t eaddr;
	uint64_t store;
	uint64_t mtime;
	unsigned int has;
	unsigned int insn_bytes;
	unsigned int store_bytes;
	unsigned int problems;
	/* private: */
	uint64_t xlen_mask;
	unsigned int next_pc;
	unsigned int fresh;
	uint64_t dirty[2];
	uint64_t begin_offset;
	unsigned int begun;
	uint64_t reserved[2];
};

/**
 * ntrace_tandem_state_init - state before the trace: all registers 0 and unknown
 * @state: memory owned by the caller
 * @params: valid parameters
 */
NTRACE_EXPERIMENTAL void ntrace_tandem_state_init(struct ntrace_tandem_state *state,
						  const struct ntrace_tandem_params *params);

/**
 * ntrace_tandem_state_apply - apply a field of the trace
 * @state: state
 * @field: the next field
 *
 * Views of the same state follow each other: fflags, frm and fcsr; sstatus and mstatus; sie, sip and
 * those bits of mie, mip that mideleg selects. A RESET makes all registers unknown.
 *
 * What the trace gives between two groups is a group of its own. The BEGIN of the next group ends it.
 *
 * Return: 1 if @field ended a group, whose description is in @state until the next field; else 0.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_state_apply(struct ntrace_tandem_state *state,
						  const struct ntrace_tandem_field *field);

/**
 * ntrace_tandem_bit - look up a register in a bitmap
 * @bitmap: known or changed of struct ntrace_tandem_state
 * @id: register number, or NTRACE_TANDEM_PC, NTRACE_TANDEM_PRIV
 *
 * Return: whether the bitmap has the register.
 */
static inline bool ntrace_tandem_bit(const uint64_t *bitmap, unsigned int id)
{
	return bitmap[id / 64] >> id % 64 & 1;
}

/* Size of a buffer for ntrace_tandem_register_name(). */
#define NTRACE_TANDEM_NAME_MAX 16

/**
 * ntrace_tandem_register_name - name of a register
 * @id: register number, or NTRACE_TANDEM_PC, NTRACE_TANDEM_PRIV
 * @name: receives at most NTRACE_TANDEM_NAME_MAX bytes with the terminating 0: "sp", "fa0", "mepc",
 *        "csr0x7c0"
 *
 * Return: @name.
 */
NTRACE_EXPERIMENTAL const char *ntrace_tandem_register_name(unsigned int id, char *name);

/**
 * ntrace_tandem_register_number - number of a register
 * @name: ABI name, x0..x31, f0..f31, name of a CSR, csr0xNNN, "pc" or "priv"
 *
 * Return: the number, or NTRACE_ERR_INVALID for an unknown name.
 */
NTRACE_EXPERIMENTAL int ntrace_tandem_register_number(const char *name);

/**
 * ntrace_tandem_type_name - name of a type of fields
 * @type: enum ntrace_tandem_type
 *
 * Return: "begin", "register" and so on, a constant string; NULL for an unknown value.
 */
NTRACE_EXPERIMENTAL const char *ntrace_tandem_type_name(unsigned int type);

/**
 * ntrace_tandem_state_name - name of additional state
 * @id: enum ntrace_tandem_state_id
 *
 * Return: "priv", "paddr" and so on, a constant string; NULL for an unknown value.
 */
NTRACE_EXPERIMENTAL const char *ntrace_tandem_state_name(unsigned int id);

/**
 * ntrace_tandem_op_name - name of a memory operation
 * @op: enum ntrace_tandem_op
 *
 * Return: "load", "store" and so on, a constant string; NULL for an unknown value.
 */
NTRACE_EXPERIMENTAL const char *ntrace_tandem_op_name(unsigned int op);

/**
 * ntrace_tandem_problem - description of the first violation in the flags of a field
 * @flags: flags of a field
 *
 * Return: a constant string, or NULL if the flags contain no violation.
 */
NTRACE_EXPERIMENTAL const char *ntrace_tandem_problem(unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_TANDEM_H */
