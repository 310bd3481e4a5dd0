// SPDX-License-Identifier: GPL-2.0-only
/*
 * The printed examples of the Trace Protocol Specification (appendix C), by hand as fields, in both
 * directions. Examples with misprints are read as printed, which must fail at the right byte, and
 * as corrected.
 */
#include <stdlib.h>

#include <ntrace/tandem.h>

#include "tap.h"

#define FIELDS_MAX 16

#define BEGIN { .type = NTRACE_TANDEM_BEGIN }
#define END { .type = NTRACE_TANDEM_END }
#define NEXT_PC { .type = NTRACE_TANDEM_NEXT_PC }
#define INIT { .type = NTRACE_TANDEM_INIT }
#define INSN16(v) { .type = NTRACE_TANDEM_INSN16, .value = (v) }
#define INSN32(v) { .type = NTRACE_TANDEM_INSN32, .value = (v) }
#define X(n, v) { .type = NTRACE_TANDEM_REGISTER, .id = NTRACE_TANDEM_GPR + (n), .value = (v) }
#define F(n, v) { .type = NTRACE_TANDEM_REGISTER, .id = NTRACE_TANDEM_FPR + (n), .value = (v) }
#define CSR(n, v) { .type = NTRACE_TANDEM_REGISTER, .id = (n), .value = (v) }
#define STATE(n, v) { .type = NTRACE_TANDEM_STATE, .id = (n), .value = (v) }
#define REQUEST(o, s, a, v) \
	{ .type = NTRACE_TANDEM_REQUEST, .op = (o), .size = (s), .address = (a), .value = (v) }
#define RESPONSE(o, s, a, v) \
	{ .type = NTRACE_TANDEM_RESPONSE, .op = (o), .size = (s), .address = (a), .value = (v) }

static const struct vector {
	const char *name, *bytes;
	unsigned int xlen, mlen, flen, flags;
	struct ntrace_tandem_field fields[FIELDS_MAX];
} vectors[] = {
	{ "C.1 add gp,t0,t1",
	  "01 03 11 B3 81 62 00 04 03 10 34 12 00 00 00 00 00 00 02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN, NEXT_PC, INSN32(0x006281b3), X(3, 0x1234), END } },
	{ "C.2 jr 256(sp)",
	  "01 07 0A 00 01 00 0C 00 00 00 00 11 67 00 01 10 02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN, STATE(10, 0x0c000100), INSN32(0x10010067), END } },
	{ "C.3 fadd.s ft7,fa3,fa7",
	  "01 03 11 D3 F3 16 01 04 27 10 F9 F4 FE 66 FF FF FF FF 06 03 00 01 02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN,
	    NEXT_PC,
	    INSN32(0x0116f3d3),
	    F(7, UINT64_C(0xffffffff66fef4f9)),
	    { .type = NTRACE_TANDEM_OR, .id = 3, .value = 1 },
	    END } },
	{ "C.4 c.sub a0,a1",
	  "01 03 10 0D 8D 04 0A 10 78 56 34 12 FF FF FF FF 02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN, NEXT_PC, INSN16(0x8d0d), X(10, UINT64_C(0xffffffff12345678)), END } },
	{ "C.5 lw tp,8(t0)",
	  "01 03 11 03 A2 82 00 04 04 10 AA 55 AA 55 AA 55 AA 55 07 02 08 00 00 01 00 00 00 00 02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN, NEXT_PC, INSN32(0x0082a203), X(4, UINT64_C(0x55aa55aa55aa55aa)),
	    STATE(2, 0x01000008), END } },
	{ "C.6 csrrc s1,mie,a1",
	  "01 03 11 F3 B4 45 30 04 09 10 88 08 00 00 00 00 00 00 04 04 03 80 08 00 00 00 00 00 00 "
	  "02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN, NEXT_PC, INSN32(0x3045b4f3), X(9, 0x888), CSR(0x304, 0x880), END } },
	{ "C.7 illegal instruction",
	  "01 07 0A 00 00 01 00 00 00 00 00 11 00 00 00 00 04 41 03 34 12 08 00 00 00 00 00 "
	  "04 42 03 02 00 00 00 00 00 00 00 04 00 03 B0 18 00 00 0A 00 00 00 "
	  "04 43 03 00 00 00 00 00 00 00 00 07 01 03 02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN, STATE(10, 0x10000), INSN32(0), CSR(0x341, 0x81234), CSR(0x342, 2),
	    CSR(0x300, UINT64_C(0xa000018b0)), CSR(0x343, 0), STATE(1, 3), END } },
	{ "C.8 interrupt",
	  "01 07 0A 00 00 01 00 00 00 00 00 04 41 03 56 12 08 00 00 00 00 00 "
	  "04 42 03 03 00 00 00 00 00 00 80 04 00 03 B0 18 00 00 0A 00 00 00 "
	  "04 43 03 00 00 00 00 00 00 00 00 07 01 03 02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN, STATE(10, 0x10000), CSR(0x341, 0x81256),
	    CSR(0x342, UINT64_C(0x8000000000000003)), CSR(0x300, UINT64_C(0xa000018b0)),
	    CSR(0x343, 0), STATE(1, 3), END } },
	{ "a loader stores a word",
	  "01 0B 08 00 00 00 80 00 00 00 00 21 13 05 00 00 02",
	  64,
	  64,
	  64,
	  0,
	  { BEGIN, INIT, REQUEST(NTRACE_TANDEM_STORE, 2, 0x80000000, 0x513), END } },
	{ "Sv32: an address of 34 bits",
	  "07 02 90 78 56 34 02",
	  32,
	  34,
	  32,
	  0,
	  { STATE(2, UINT64_C(0x234567890)) } },
	{ "a load and its response",
	  "08 00 00 00 80 20 09 02 01 02 03 04",
	  32,
	  32,
	  0,
	  0,
	  { REQUEST(NTRACE_TANDEM_LOAD, 2, 0x80000000, 0),
	    RESPONSE(NTRACE_TANDEM_LOAD, 2, 0x80000000, 0x04030201) } },
	{ "a load that fails, with data",
	  "08 00 00 00 80 20 09 12 01 02 03 04",
	  32,
	  32,
	  0,
	  0,
	  { REQUEST(NTRACE_TANDEM_LOAD, 2, 0x80000000, 0),
	    RESPONSE(NTRACE_TANDEM_LOAD, 2 | NTRACE_TANDEM_FAILED, 0x80000000, 0x04030201) } },
	{ "a load that fails, without data",
	  "08 00 00 00 80 20 09 12",
	  32,
	  32,
	  0,
	  NTRACE_TANDEM_FAILED_NO_DATA,
	  { REQUEST(NTRACE_TANDEM_LOAD, 2, 0x80000000, 0),
	    RESPONSE(NTRACE_TANDEM_LOAD, 2 | NTRACE_TANDEM_FAILED, 0x80000000, 0) } },
	{ "a byte is stored",
	  "08 04 00 00 80 01 7F 09 00",
	  32,
	  32,
	  0,
	  0,
	  { REQUEST(NTRACE_TANDEM_STORE, 0, 0x80000004, 0x7f),
	    RESPONSE(NTRACE_TANDEM_STORE, 0, 0x80000004, 0) } },
	{ "sc without data in the response",
	  "08 04 00 00 80 23 01 00 00 00 09 12",
	  32,
	  32,
	  0,
	  0,
	  { REQUEST(NTRACE_TANDEM_SC, 2, 0x80000004, 1),
	    RESPONSE(NTRACE_TANDEM_SC, 2 | NTRACE_TANDEM_FAILED, 0x80000004, 0) } },
	{ "sc with data in the response",
	  "08 04 00 00 80 23 01 00 00 00 09 02 05 00 00 00",
	  32,
	  32,
	  0,
	  NTRACE_TANDEM_SC_DATA,
	  { REQUEST(NTRACE_TANDEM_SC, 2, 0x80000004, 1),
	    RESPONSE(NTRACE_TANDEM_SC, 2, 0x80000004, 5) } },
	{ "an instruction is fetched",
	  "08 00 00 00 80 1D 09 01 13 05",
	  32,
	  32,
	  0,
	  0,
	  { REQUEST(NTRACE_TANDEM_IFETCH, 1, 0x80000000, 0),
	    RESPONSE(NTRACE_TANDEM_IFETCH, 1, 0x80000000, 0x513) } },
	{ "amomaxu.d and its response",
	  "08 08 00 00 80 00 00 00 00 3C 01 02 03 04 05 06 07 08 09 03 FF 00 00 00 00 00 00 00",
	  64,
	  64,
	  64,
	  0,
	  { REQUEST(NTRACE_TANDEM_AMO_MAXU, 3, 0x80000008, UINT64_C(0x0807060504030201)),
	    RESPONSE(NTRACE_TANDEM_AMO_MAXU, 3, 0x80000008, 0xff) } },
	{ "sp -= 16",
	  "05 02 10 F0",
	  64,
	  64,
	  64,
	  0,
	  { { .type = NTRACE_TANDEM_ADD, .id = NTRACE_TANDEM_GPR + 2, .value = (uint64_t)-16 } } },
	{ "store data, mtime, pc of RV32",
	  "01 07 05 34 12 07 08 01 00 00 00 00 00 00 80 07 0A 04 00 00 80 02",
	  32,
	  32,
	  32,
	  0,
	  { BEGIN, STATE(5, 0x1234), STATE(8, UINT64_C(0x8000000000000001)), STATE(10, 0x80000004),
	    END } },
};

static unsigned int parse_hex(const char *text, uint8_t *bytes)
{
	unsigned int count = 0;
	char *end;

	for (;; text = end) {
		unsigned long value = strtoul(text, &end, 16);

		if (end == text)
			return count;
		bytes[count++] = (uint8_t)value;
	}
}

static void set_params(struct ntrace_tandem_params *params, unsigned int xlen, unsigned int mlen,
		       unsigned int flen, unsigned int flags)
{
	ntrace_tandem_params_init(params);
	params->xlen = xlen;
	params->mlen = mlen;
	params->flen = flen;
	params->flags = flags;
}

/* Reads in chunks. Return: the last result */
static int read_chunks(struct ntrace_tandem_reader *reader, const uint8_t *bytes, unsigned int size,
		       unsigned int chunk, struct ntrace_tandem_field *fields, unsigned int *count)
{
	int result = 0;

	*count = 0;
	for (unsigned int at = 0; at < size; at += chunk) {
		ntrace_tandem_reader_feed(reader, bytes + at,
					  size - at < chunk ? size - at : chunk);
		while ((result = ntrace_tandem_read(reader, fields + *count, 2)) > 0)
			*count += (unsigned int)result;
		if (result < 0)
			break;
	}
	return result;
}

static bool same(const struct ntrace_tandem_field *a, const struct ntrace_tandem_field *b)
{
	return a->type == b->type && a->value == b->value && a->address == b->address &&
	       a->id == b->id && a->op == b->op && a->size == b->size;
}

static void check_vector(const struct vector *vector)
{
	struct ntrace_tandem_field fields[2 * FIELDS_MAX];
	uint8_t bytes[128], written[128];
	struct ntrace_tandem_params params;
	struct ntrace_tandem_reader reader;
	unsigned int size = parse_hex(vector->bytes, bytes), count, expected = 0, at = 0;

	set_params(&params, vector->xlen, vector->mlen, vector->flen, vector->flags);
	while (expected < FIELDS_MAX && vector->fields[expected].type)
		expected++;
	for (unsigned int chunk = 1; chunk <= size; chunk += chunk < 3 ? 1 : size) {
		bool good;

		ntrace_tandem_reader_init(&reader, &params);
		good = !read_chunks(&reader, bytes, size, chunk, fields, &count);
		good = good && count == expected && !ntrace_tandem_reader_pending(&reader) &&
		       reader.offset == size && !reader.open;
		for (unsigned int i = 0; good && i < count; i++)
			good = same(&fields[i], &vector->fields[i]) && !fields[i].flags;
		ok(good, "%s: read in chunks of %u", vector->name, chunk);
	}
	for (unsigned int i = 0; i < expected; i++) {
		int length = ntrace_tandem_write(&params, &vector->fields[i], written + at);

		if (length < 0 || length != fields[i].length || fields[i].offset != at)
			break;
		at += (unsigned int)length;
	}
	ok(at == size && !memcmp(bytes, written, size), "%s: written", vector->name);
}

static const struct failure {
	const char *name, *bytes, *error;
	unsigned int xlen, mlen, flen;
	unsigned int fields;	/* before the error */
	unsigned int offset, wrong;
} failures[] = {
	{ "C.2 as printed: state 0x10", "01 07 10 00 01 00 0C 00 00 00 00 11 67 00 01 10 02",
	  "unknown additional state", 64, 64, 64, 1, 1, 2 },
	{ "C.5 as printed: 4 bytes as a 16-bit instruction",
	  "01 03 10 03 A2 82 00 04 04 10 AA 55 AA 55 AA 55 AA 55 07 02 08 00 00 01 00 00 00 00 02",
	  "unknown opcode", 64, 64, 64, 3, 5, 5 },
	{ "C.7 as printed: state 0x10", "01 07 10 00 00 01 00 00 00 00 00 11 00 00 00 00 02",
	  "unknown additional state", 64, 64, 64, 1, 1, 2 },
	{ "C.8 as printed: state 0x10", "01 07 10 00 00 01 00 00 00 00 00 04 41 03 56 12 08",
	  "unknown additional state", 64, 64, 64, 1, 1, 2 },
	{ "opcode 0", "01 02 00", "unknown opcode", 64, 64, 64, 2, 2, 2 },
	{ "opcode 0x12", "12", "unknown opcode", 64, 64, 64, 0, 0, 0 },
	{ "state 0", "07 00 00", "unknown additional state", 64, 64, 64, 0, 0, 1 },
	{ "state 11", "07 0B 00", "unknown additional state", 64, 64, 64, 0, 0, 1 },
	{ "register 0x1040", "04 40 10 00", "unknown register", 64, 64, 64, 0, 0, 2 },
	{ "register 0xffff", "01 05 FF FF 00", "unknown register", 64, 64, 64, 1, 1, 3 },
	{ "f0 without F", "04 20 10 00", "floating-point register, but flen is 0", 64, 64, 0, 0, 0,
	  2 },
	{ "operation 14", "08 00 00 00 00 2E", "unknown operation of a memory request", 32, 32, 0,
	  0, 0, 5 },
	{ "request of 128 bits", "08 00 00 00 00 40", "unknown size of a memory request", 32, 32, 0,
	  0, 0, 5 },
	{ "response of 128 bits", "08 00 00 00 00 20 09 04", "unknown size of a memory response",
	  32, 32, 0, 1, 6, 7 },
	{ "result 2", "08 00 00 00 00 20 09 22", "unknown result of a memory response", 32, 32, 0,
	  1, 6, 7 },
	{ "response alone", "01 09 02 00 00 00 00 02",
	  "memory response that does not follow a request", 32, 32, 0, 1, 1, 1 },
	{ "response after another field", "08 00 00 00 00 20 03 09 02",
	  "memory response that does not follow a request", 32, 32, 0, 2, 7, 7 },
	{ "two responses", "08 00 00 00 00 20 09 02 00 00 00 00 09 02",
	  "memory response that does not follow a request", 32, 32, 0, 2, 12, 12 },
	{ "response of another size", "08 00 00 00 00 20 09 03",
	  "memory response with another size than its request", 32, 32, 0, 1, 6, 7 },
};

static void check_failure(const struct failure *failure)
{
	struct ntrace_tandem_field fields[2 * FIELDS_MAX];
	struct ntrace_tandem_params params;
	struct ntrace_tandem_reader reader;
	uint8_t bytes[128];
	unsigned int size = parse_hex(failure->bytes, bytes), count;

	set_params(&params, failure->xlen, failure->mlen, failure->flen, 0);
	for (unsigned int chunk = 1; chunk <= size; chunk += chunk < 3 ? 1 : size) {
		int result, again;

		ntrace_tandem_reader_init(&reader, &params);
		result = read_chunks(&reader, bytes, size, chunk, fields, &count);
		again = ntrace_tandem_read(&reader, fields, 2);
		if (!ok(result == NTRACE_ERR_FORMAT && again == result &&
				count == failure->fields && reader.offset == failure->offset &&
				reader.wrong == failure->wrong &&
				!strcmp(reader.error, failure->error),
			"%s: refused, in chunks of %u", failure->name, chunk))
			diag("result %d, %u fields, offset %u, wrong %u, %s", result, count,
			     (unsigned int)reader.offset, (unsigned int)reader.wrong,
			     reader.error ? reader.error : "no error");
	}
}

/* Violations after which reading continues: the flag is at the field with this number. */
static const struct violation {
	const char *name, *bytes;
	unsigned int fields, at, flags;
} violations[] = {
	{ "the end of a group is implied by the next", "01 03 10 01 00 01 10 01 00 02", 7, 3,
	  NTRACE_TANDEM_IMPLIED },
	{ "an end outside a group", "02 01 02", 3, 0, NTRACE_TANDEM_STRAY_END },
	{ "a second end", "01 02 02 01 02", 5, 2, NTRACE_TANDEM_STRAY_END },
	{ "an instruction outside a group", "10 01 00 01 02", 3, 0, NTRACE_TANDEM_OUTSIDE },
	{ "a next pc outside a group", "03", 1, 0, NTRACE_TANDEM_OUTSIDE },
	{ "an initialisation outside a group", "0B", 1, 0, NTRACE_TANDEM_OUTSIDE },
	{ "a reset outside a group is allowed", "0A", 1, 0, 0 },
	{ "a register outside a group is allowed", "06 03 00 01", 1, 0, 0 },
	{ "a next pc without an instruction", "01 03 02", 3, 2, NTRACE_TANDEM_PC_ALONE },
	{ "the next pc may precede the instruction", "01 03 10 01 00 02", 4, 3, 0 },
	{ "the next pc may follow the instruction", "01 10 01 00 03 02", 4, 3, 0 },
	{ "a next pc and a pc", "01 03 10 01 00 07 0A 00 00 00 00 02", 5, 4,
	  NTRACE_TANDEM_PC_TWICE },
	{ "two next pcs", "01 03 03 10 01 00 02", 5, 4, NTRACE_TANDEM_PC_TWICE },
	{ "two instructions", "01 10 01 00 10 01 00 02", 4, 3, NTRACE_TANDEM_INSN_TWICE },
	{ "an instruction in an initialisation", "01 0B 10 01 00 02", 4, 3,
	  NTRACE_TANDEM_INIT_MIXED },
	{ "a reset in an initialisation", "01 0A 0B 02", 4, 3, NTRACE_TANDEM_INIT_MIXED },
	{ "a reset with an instruction", "01 0A 10 01 00 02", 4, 3, NTRACE_TANDEM_INIT_MIXED },
	{ "the violations of a group with an implied end", "01 03 01 02", 5, 2,
	  NTRACE_TANDEM_IMPLIED | NTRACE_TANDEM_PC_ALONE },
	{ "0x11 with the bits of a 16-bit instruction is allowed", "01 11 00 00 00 00 02", 3, 1,
	  0 },
	{ "0x10 with the bits of a 32-bit instruction", "01 10 03 A2 02", 3, 1,
	  NTRACE_TANDEM_INSN_LENGTH },
};

static void check_violation(const struct violation *violation)
{
	struct ntrace_tandem_field fields[2 * FIELDS_MAX];
	struct ntrace_tandem_params params;
	struct ntrace_tandem_reader reader;
	uint8_t bytes[128];
	unsigned int size = parse_hex(violation->bytes, bytes), count, i;
	bool good;

	set_params(&params, 32, 32, 32, 0);
	ntrace_tandem_reader_init(&reader, &params);
	good = !read_chunks(&reader, bytes, size, size, fields, &count);
	good = good && count == violation->fields;
	for (i = 0; good && i < count; i++)
		good = fields[i].flags == (i == violation->at ? violation->flags : 0);
	ok(good, "%s", violation->name);
	ok(!(violation->flags & NTRACE_TANDEM_PROBLEMS) == !ntrace_tandem_problem(violation->flags),
	   "%s: has a text if it is a violation", violation->name);
}

static void check_params(void)
{
	static const struct {
		unsigned int xlen, mlen, flen, flags;
		bool good;
	} cases[] = {
		{ 64, 64, 64, 0, true },  { 64, 64, 0, 3, true },   { 32, 32, 0, 0, true },
		{ 32, 34, 64, 0, true },  { 128, 64, 64, 0, false }, { 64, 32, 64, 0, false },
		{ 32, 64, 32, 0, false }, { 64, 64, 16, 0, false },  { 64, 64, 64, 4, false },
	};
	struct ntrace_tandem_params params;
	struct ntrace_tandem_reader reader;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_params(&params, cases[i].xlen, cases[i].mlen, cases[i].flen, cases[i].flags);
		ok(!ntrace_tandem_params_refusal(&params) == cases[i].good &&
			   !ntrace_tandem_reader_init(&reader, &params) == cases[i].good,
		   "xlen %u mlen %u flen %u flags %u: %s", cases[i].xlen, cases[i].mlen,
		   cases[i].flen, cases[i].flags, cases[i].good ? "accepted" : "refused");
	}
	params.size = 0;
	ok(ntrace_tandem_params_refusal(&params), "parameters without a size are refused");
	ntrace_tandem_params_init(&params);
	ntrace_tandem_reader_init(&reader, &params);
	ok(ntrace_tandem_read(&reader, NULL, 1) == NTRACE_ERR_INVALID,
	   "room for one field is refused");
}

static void check_refused_writes(void)
{
	static const struct ntrace_tandem_field fields[] = {
		{ .type = 0 },
		{ .type = 0x12 },
		{ .type = NTRACE_TANDEM_INSN16, .value = 0x10000 },
		{ .type = NTRACE_TANDEM_INSN32, .value = UINT64_C(0x100000000) },
		{ .type = NTRACE_TANDEM_REGISTER, .id = NTRACE_TANDEM_REGISTERS },
		{ .type = NTRACE_TANDEM_REGISTER, .id = NTRACE_TANDEM_FPR },
		{ .type = NTRACE_TANDEM_REGISTER, .id = 3, .value = UINT64_C(0x100000000) },
		{ .type = NTRACE_TANDEM_ADD, .id = 3, .value = 128 },
		{ .type = NTRACE_TANDEM_OR, .id = 3, .value = 256 },
		{ .type = NTRACE_TANDEM_STATE, .id = 11 },
		{ .type = NTRACE_TANDEM_STATE, .id = 1, .value = 256 },
		{ .type = NTRACE_TANDEM_REQUEST, .op = 14 },
		{ .type = NTRACE_TANDEM_REQUEST, .size = 4 },
		{ .type = NTRACE_TANDEM_REQUEST, .address = UINT64_C(0x100000000) },
		{ .type = NTRACE_TANDEM_REQUEST, .op = NTRACE_TANDEM_LOAD, .value = 1 },
		{ .type = NTRACE_TANDEM_RESPONSE, .op = 14 },
		{ .type = NTRACE_TANDEM_RESPONSE, .size = 4 },
		{ .type = NTRACE_TANDEM_RESPONSE, .op = NTRACE_TANDEM_LOAD, .value = 256 },
	};
	struct ntrace_tandem_params params;
	uint8_t bytes[NTRACE_TANDEM_FIELD_MAX];

	set_params(&params, 32, 32, 0, 0);
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		ok(ntrace_tandem_write(&params, &fields[i], bytes) == NTRACE_ERR_INVALID,
		   "refused field %u is not written", i);
}

static void check_names(void)
{
	static const struct {
		const char *name;
		int number;
	} names[] = {
		{ "sp", 0x1002 },
		{ "x10", 0x100a },
		{ "t6", 0x101f },
		{ "ft0", 0x1020 },
		{ "f31", 0x103f },
		{ "fa0", 0x102a },
		{ "mepc", 0x341 },
		{ "fcsr", 3 },
		{ "pmpaddr15", 0x3bf },
		{ "hpmcounter3", 0xc03 },
		{ "mhpmcounter31", 0xb1f },
		{ "pc", NTRACE_TANDEM_PC },
		{ "priv", NTRACE_TANDEM_PRIV },
		{ "csr0x7cf", 0x7cf },
		{ "fp", 0x1008 },
		{ "x32", -1 },
		{ "f", -1 },
		{ "nonsense", -1 },
		{ "csr0x1000", -1 },
		{ "csr0x", -1 },
		{ "a-very-long-register-name", -1 },
		{ "?", -1 },
	};
	char name[NTRACE_TANDEM_NAME_MAX];
	unsigned int id, wrong = 0;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ok(ntrace_tandem_register_number(names[i].name) == names[i].number, "register %s",
		   names[i].name);
	for (id = 0; id <= NTRACE_TANDEM_PRIV; id++)
		wrong += ntrace_tandem_register_number(ntrace_tandem_register_name(id, name)) !=
			 (int)id;
	is_u64(wrong, 0, "every register has a name of its own");
	for (id = 0; id < 0x20; id++) {
		ok(!ntrace_tandem_type_name(id) ==
			   (id == 0 || (id > 0xb && id != 0x10 && id != 0x11)),
		   "type 0x%x", id);
		ok(!ntrace_tandem_state_name(id) == (id == 0 || id > 10), "state %u", id);
		ok(!ntrace_tandem_op_name(id) == (id > 13), "operation %u", id);
	}
}

#define EACH(array, check)                                              \
	for (unsigned int i = 0; i < sizeof(array) / sizeof((array)[0]); i++) \
		check(&(array)[i])

int main(void)
{
	EACH(vectors, check_vector);
	EACH(failures, check_failure);
	EACH(violations, check_violation);
	check_params();
	check_refused_writes();
	check_names();
	return done_testing();
}
