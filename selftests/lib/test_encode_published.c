// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Encoder against the published results of the N-Trace task group's reference encoder for xrle:
 * bytes and messages. The README of the shared test data has the rules under which they were made.
 */
#include <stdlib.h>

#include <ntrace/encode.h>

#include "tap.h"

static void count_only(void *data, const uint8_t *bytes, size_t size)
{
	(void)data;
	(void)bytes;
	(void)size;
}

/* Maps letters of a PC list to the way an instruction ends a block. */
static int itype_of(const char *type)
{
	bool indirect = strchr(type, 'I');

	switch (type[0]) {
	case 'L':
		return NTRACE_ITYPE_NONE;
	case 'B':
		return type[1] == 'N' ? NTRACE_ITYPE_BRANCH_NOT_TAKEN : NTRACE_ITYPE_BRANCH_TAKEN;
	case 'J':
		return indirect ? NTRACE_ITYPE_INDIRECT_JUMP : NTRACE_ITYPE_DIRECT_JUMP;
	case 'C':
		return indirect ? NTRACE_ITYPE_INDIRECT_CALL : NTRACE_ITYPE_DIRECT_CALL;
	case 'R':
		return NTRACE_ITYPE_RETURN;
	default:
		return -1;
	}
}

/* One column of the published table. */
struct column {
	const char *name;
	enum ntrace_mode mode;
	bool returns;		/* depth 8 */
	bool repeated_history;
	uint64_t bytes;
	uint64_t messages;
};

static bool encode(FILE *list, const struct column *column, struct ntrace_encoder *encoder,
		   uint64_t *instructions)
{
	struct ntrace_encoder_config config;
	struct ntrace_params given;
	char type[16];
	uint64_t pc;

	ntrace_encoder_config_init(&config);
	ntrace_params_init(&given);
	config.params = &given;
	given.mode = column->mode;
	given.xlen = 32;
	given.implicit_return = column->returns ? 3 : 0;
	config.implicit_return_depth = 8;
	config.repeated_history = column->repeated_history;
	config.icnt_bits = 26;
	config.write = count_only;
	if (ntrace_encoder_init(encoder, &config))
		return false;
	ntrace_encoder_start(encoder, NTRACE_SYNC_RESET_EXIT);
	while (fscanf(list, "%" SCNx64 ",%15s", &pc, type) == 2) {
		struct ntrace_ingress block = {
			.iaddr = pc,
			.iretire = type[strlen(type) - 1] == '4' ? 2 : 1,
			.itype = (uint8_t)itype_of(type),
		};

		if (itype_of(type) < 0 || ntrace_encoder_retire(encoder, &block))
			return false;
		++*instructions;
	}
	ntrace_encoder_stop(encoder, NTRACE_EVCODE_DEBUG_ENTRY);
	return true;
}

static void compare(const char *directory, const struct column *column)
{
	struct ntrace_encoder encoder = { 0 };
	uint64_t instructions = 0;
	char command[512];
	FILE *list;

	snprintf(command, sizeof(command), "gzip -dc '%s/data/refcode/xrle.pcseq.txt.gz'",
		 directory);
	list = popen(command, "r");
	ok(list && encode(list, column, &encoder, &instructions), "xrle %s: encoded", column->name);
	if (list)
		pclose(list);
	is_u64(instructions, 164959, "xrle %s: instructions", column->name);
	if (column->repeated_history) {
		ok(encoder.bytes <= column->bytes, "xrle %s: %" PRIu64 " bytes, published %" PRIu64,
		   column->name, encoder.bytes, column->bytes);
		return;
	}
	is_u64(encoder.bytes, column->bytes, "xrle %s: published bytes", column->name);
	is_u64(encoder.messages, column->messages, "xrle %s: published messages", column->name);
}

static const struct column columns[] = {
	{ "BTM", NTRACE_MODE_BRANCH, false, false, 12978, 6233 },
	{ "HTM", NTRACE_MODE_HISTORY, false, false, 3393, 485 },
	{ "HTM, repeated history", NTRACE_MODE_HISTORY, false, true, 2628, 371 },
	{ "HTM, implicit return", NTRACE_MODE_HISTORY, true, false, 3374, 482 },
	{ "HTM, both", NTRACE_MODE_HISTORY, true, true, 2604, 367 },
};

int main(void)
{
	const char *directory = getenv("NTRACE_SHARED");
	char name[512];
	FILE *file;

	if (!directory)
		directory = "../shared";
	snprintf(name, sizeof(name), "%s/data/refcode/xrle.pcseq.txt.gz", directory);
	file = fopen(name, "r");
	if (!file) {
		skip("published results of xrle", "no ../shared/data/refcode, nor NTRACE_SHARED");
		return done_testing();
	}
	fclose(file);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		compare(directory, &columns[i]);
	return done_testing();
}
