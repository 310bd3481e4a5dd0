// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random changes of a hart's state, written as a tandem stream and read again, for all widths. The
 * expected state is kept by this test; full and incremental forms of a change, the order of fields
 * in a group, and whether the end of a group is left out are random. Chunks are cut anywhere. Then
 * random fields of all kinds, which must be the same after writing and reading, and the same in one
 * chunk, where whole groups are parsed at once, as in chunks of a byte.
 *
 * SEED=N selects other changes.
 */
#include <stdlib.h>

#include <ntrace/tandem.h>

#include "tap.h"

#define GROUPS 2000
#define BYTES_MAX (1 << 20)

static uint64_t seed;

/* splitmix64 */
static uint64_t next_random(void)
{
	uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static unsigned int below(unsigned int limit)
{
	return (unsigned int)(next_random() % limit);
}

/* Often small, often at the ends of a width. */
static uint64_t random_value(unsigned int bits)
{
	uint64_t value = next_random() >> below(64);

	if (!below(4))
		value = ~value;
	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

struct stream {
	struct ntrace_tandem_params params;
	uint8_t bytes[BYTES_MAX];
	size_t size;
	unsigned int refused;
};

static void add(struct stream *stream, const struct ntrace_tandem_field *field)
{
	int length = ntrace_tandem_write(&stream->params, field, stream->bytes + stream->size);

	if (length < 0)
		stream->refused++;
	else
		stream->size += (size_t)length;
}

static void add_type(struct stream *stream, unsigned int type)
{
	struct ntrace_tandem_field field = { .type = (uint8_t)type };

	add(stream, &field);
}

/* Registers without views, so that the expected state needs no rules. */
static unsigned int random_register(const struct ntrace_tandem_params *params)
{
	switch (below(3)) {
	case 0:
		return 0x7c0 + below(64);
	case 1:
		return NTRACE_TANDEM_FPR + (params->flen ? below(32) : 0) -
		       (params->flen ? 0 : 1 + below(31));
	default:
		return NTRACE_TANDEM_GPR + 1 + below(31);
	}
}

static unsigned int register_bits(const struct ntrace_tandem_params *params, unsigned int id)
{
	return id >= NTRACE_TANDEM_FPR ? params->flen : params->xlen;
}

static void change_register(struct stream *stream, uint64_t *expected)
{
	struct ntrace_tandem_field field = { .id = (uint16_t)random_register(&stream->params) };
	unsigned int bits = register_bits(&stream->params, field.id);
	uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;

	switch (below(3)) {
	case 0:
		field.type = NTRACE_TANDEM_REGISTER;
		field.value = random_value(bits);
		expected[field.id] = field.value;
		break;
	case 1:
		/* Sums of FPRs have no meaning that the specification gives for FLEN 32. */
		if (field.id >= NTRACE_TANDEM_FPR)
			return;
		field.type = NTRACE_TANDEM_ADD;
		field.value = (uint64_t)(int8_t)next_random();
		expected[field.id] = (expected[field.id] + field.value) & mask;
		break;
	default:
		field.type = NTRACE_TANDEM_OR;
		field.value = next_random() & 0xff;
		expected[field.id] |= field.value;
		break;
	}
	add(stream, &field);
}

/* Writes a group with an instruction, and applies it to the expected state. */
static void add_group(struct stream *stream, uint64_t *expected, bool may_omit_end)
{
	unsigned int changes = below(4), order = below(2), bytes = below(2) ? 4 : 2;
	struct ntrace_tandem_field insn = { .type = NTRACE_TANDEM_INSN32 };
	struct ntrace_tandem_field pc = { .type = NTRACE_TANDEM_STATE,
					  .id = NTRACE_TANDEM_STATE_PC };
	uint64_t mask = stream->params.xlen == 32 ? UINT32_MAX : UINT64_MAX;

	add_type(stream, NTRACE_TANDEM_BEGIN);
	insn.value = (next_random() & UINT32_MAX) | 3;
	if (bytes == 2) {
		insn.type = NTRACE_TANDEM_INSN16;
		insn.value = (next_random() & 0xfffc) | below(3);
	}
	if (order)
		add(stream, &insn);
	if (below(2)) {
		add_type(stream, NTRACE_TANDEM_NEXT_PC);
		expected[NTRACE_TANDEM_PC] = (expected[NTRACE_TANDEM_PC] + bytes) & mask;
	} else {
		pc.value = random_value(stream->params.xlen);
		add(stream, &pc);
		expected[NTRACE_TANDEM_PC] = pc.value;
	}
	while (changes--)
		change_register(stream, expected);
	if (!order)
		add(stream, &insn);
	if (!may_omit_end || below(2))
		add_type(stream, NTRACE_TANDEM_END);
}

/* Everything that the reader tells of the stream. */
static uint64_t hash_of(const struct stream *stream, size_t chunk, size_t room)
{
	struct ntrace_tandem_field fields[64];
	struct ntrace_tandem_reader reader;
	uint64_t hash = 0;
	int count;

	ntrace_tandem_reader_init(&reader, &stream->params);
	for (size_t at = 0; at < stream->size; at += chunk) {
		ntrace_tandem_reader_feed(&reader, stream->bytes + at,
					  chunk > stream->size - at ? stream->size - at : chunk);
		while ((count = ntrace_tandem_read(&reader, fields, room)) > 0)
			for (int i = 0; i < count; i++) {
				const struct ntrace_tandem_field *f = &fields[i];

				hash = hash * 31 + f->offset;
				hash = hash * 31 + f->value;
				hash = hash * 31 + f->address;
				hash = hash * 31 + f->id;
				hash = hash * 31 + f->flags;
				hash = hash * 31 + f->type;
				hash = hash * 31 + f->length;
				hash = hash * 31 + f->op;
				hash = hash * 31 + f->size;
			}
	}
	return hash;
}

static void check_states(struct stream *stream, const char *name)
{
	static uint64_t expected[GROUPS + 1][NTRACE_TANDEM_STATE_REGISTERS];
	static struct ntrace_tandem_state state;
	struct ntrace_tandem_reader reader;
	struct ntrace_tandem_field fields[64];
	unsigned int group = 0, wrong = 0, problems = 0, i;
	int count = 0;

	stream->size = 0;
	stream->refused = 0;
	memset(expected[0], 0, sizeof(expected[0]));
	for (i = 1; i <= GROUPS; i++) {
		memcpy(expected[i], expected[i - 1], sizeof(expected[i]));
		add_group(stream, expected[i], i < GROUPS);
	}
	is_u64(stream->refused, 0, "%s: all fields are written", name);
	ntrace_tandem_reader_init(&reader, &stream->params);
	ntrace_tandem_state_init(&state, &stream->params);
	for (size_t at = 0; at < stream->size && count >= 0;) {
		size_t chunk = 1 + below(below(2) ? 40 : 4000);

		if (chunk > stream->size - at)
			chunk = stream->size - at;
		ntrace_tandem_reader_feed(&reader, stream->bytes + at, chunk);
		at += chunk;
		while ((count = ntrace_tandem_read(&reader, fields, 2 + below(63))) > 0)
			for (i = 0; i < (unsigned int)count; i++)
				if (ntrace_tandem_state_apply(&state, &fields[i])) {
					group++;
					wrong += group > GROUPS ||
						 memcmp(expected[group], state.reg,
							sizeof(state.reg));
					problems |= state.problems;
				}
	}
	is_u64(count, 0, "%s: read to the end", name);
	is_u64(group, GROUPS, "%s: all groups", name);
	is_u64(wrong, 0, "%s: the state after each group", name);
	is_u64(problems, 0, "%s: no violations", name);
	is_u64(hash_of(stream, stream->size, 64), hash_of(stream, 1, 2),
	       "%s: the same in one chunk", name);
}

static void random_field(const struct ntrace_tandem_params *params,
			 struct ntrace_tandem_field *field)
{
	static const uint8_t types[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17 };
	static const uint8_t state_bits[] = { 0, 8, 1, 1, 8, 16, 32, 64, 64, 1, 0 };
	unsigned int bits;

	memset(field, 0, sizeof(*field));
	field->type = types[below(sizeof(types))];
	switch (field->type) {
	case NTRACE_TANDEM_REGISTER:
	case NTRACE_TANDEM_ADD:
	case NTRACE_TANDEM_OR:
		field->id = (uint16_t)random_register(params);
		bits = register_bits(params, field->id);
		field->value = random_value(field->type == NTRACE_TANDEM_REGISTER ? bits : 8);
		if (field->type == NTRACE_TANDEM_ADD)
			field->value = (uint64_t)(int8_t)field->value;
		break;
	case NTRACE_TANDEM_STATE:
		field->id = (uint16_t)(1 + below(10));
		bits = state_bits[field->id];
		if (!bits)
			bits = params->xlen;
		if (bits == 1)
			bits = (params->mlen + 7) / 8 * 8;
		field->value = random_value(bits);
		break;
	case NTRACE_TANDEM_REQUEST:
		field->op = (uint8_t)below(NTRACE_TANDEM_OPS);
		field->size = (uint8_t)below(4);
		field->address = random_value((params->mlen + 7) / 8 * 8);
		if (field->op != NTRACE_TANDEM_LOAD && field->op != NTRACE_TANDEM_LR &&
		    field->op != NTRACE_TANDEM_IFETCH)
			field->value = random_value(8u << field->size);
		break;
	case NTRACE_TANDEM_INSN16:
		field->value = random_value(16);
		break;
	case NTRACE_TANDEM_INSN32:
		field->value = random_value(32);
		break;
	default:
		break;
	}
}

static void response_of(const struct ntrace_tandem_params *params,
			const struct ntrace_tandem_field *request,
			struct ntrace_tandem_field *field)
{
	bool failed = below(2), data = request->op != NTRACE_TANDEM_STORE;

	*field = *request;
	field->type = NTRACE_TANDEM_RESPONSE;
	field->value = 0;
	if (request->op == NTRACE_TANDEM_SC && !(params->flags & NTRACE_TANDEM_SC_DATA))
		data = false;
	if (failed && (params->flags & NTRACE_TANDEM_FAILED_NO_DATA))
		data = false;
	if (data)
		field->value = random_value(8u << request->size);
	if (failed)
		field->size |= NTRACE_TANDEM_FAILED;
}

static void check_fields(struct stream *stream, const char *name)
{
	static struct ntrace_tandem_field written[2 * GROUPS];
	struct ntrace_tandem_field fields[64];
	struct ntrace_tandem_reader reader;
	unsigned int total = 0, wrong = 0, i;
	int count = 0;

	stream->size = 0;
	stream->refused = 0;
	while (total < 2 * GROUPS) {
		struct ntrace_tandem_field *field = &written[total];

		if (total && field[-1].type == NTRACE_TANDEM_REQUEST && below(2)) {
			response_of(&stream->params, &field[-1], field);
		} else {
			random_field(&stream->params, field);
			if (field->type == NTRACE_TANDEM_RESPONSE)
				continue;
		}
		add(stream, field);
		total++;
	}
	is_u64(stream->refused, 0, "%s: all random fields are written", name);
	ntrace_tandem_reader_init(&reader, &stream->params);
	total = 0;
	for (size_t at = 0; at < stream->size && count >= 0;) {
		size_t chunk = 1 + below(below(2) ? 100 : 4000);

		if (chunk > stream->size - at)
			chunk = stream->size - at;
		ntrace_tandem_reader_feed(&reader, stream->bytes + at, chunk);
		at += chunk;
		while ((count = ntrace_tandem_read(&reader, fields, 2 + below(63))) > 0)
			for (i = 0; i < (unsigned int)count; i++) {
				const struct ntrace_tandem_field *w = &written[total],
								 *r = &fields[i];

				if (r->flags & NTRACE_TANDEM_IMPLIED)
					continue;
				if (total == 2 * GROUPS) {
					wrong++;
					break;
				}
				wrong += w->type != r->type || w->id != r->id || w->op != r->op ||
					 w->size != r->size || w->value != r->value ||
					 w->address != r->address;
				total++;
			}
	}
	is_u64(count, 0, "%s: random fields are read to the end", name);
	is_u64(total, 2 * GROUPS, "%s: the number of random fields", name);
	is_u64(wrong, 0, "%s: random fields are the same", name);
	is_u64(hash_of(stream, stream->size, 64), hash_of(stream, 1, 2),
	       "%s: random fields are the same in one chunk", name);
}

int main(void)
{
	static const struct {
		unsigned int xlen, mlen;
	} widths[] = { { 32, 32 }, { 32, 34 }, { 64, 64 } };
	static struct stream stream;
	const char *text = getenv("SEED");

	seed = text ? strtoull(text, NULL, 0) : 1;
	diag("SEED=%" PRIu64, seed);
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int flen = 0; flen <= 64; flen += 32)
			for (unsigned int flags = 0; flags < 4; flags++) {
				char name[64];

				ntrace_tandem_params_init(&stream.params);
				stream.params.xlen = widths[i].xlen;
				stream.params.mlen = widths[i].mlen;
				stream.params.flen = flen;
				stream.params.flags = flags;
				snprintf(name, sizeof(name), "xlen %u mlen %u flen %u flags %u",
					 widths[i].xlen, widths[i].mlen, flen, flags);
				check_states(&stream, name);
				check_fields(&stream, name);
			}
	return done_testing();
}
