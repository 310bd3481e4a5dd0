// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces of Linux programs in user mode: what the verifier does to the model at a system call. The
 * model here only records what is asked of it; selftests/soak/tandem_user.sh has real ones.
 */
#include <string.h>

#include <ntrace/tandem_verify.h>

#include "tap.h"

#define GPR NTRACE_TANDEM_GPR
#define PC NTRACE_TANDEM_PC
#define A0 (GPR + 10)
#define A3 (GPR + 13)
#define A4 (GPR + 14)
#define A7 (GPR + 17)
#define BASE 0x10000

static struct {
	uint64_t reg[NTRACE_TANDEM_STATE_REGISTERS];
	uint8_t memory[256];		/* from BASE on: one ecall after another */
	unsigned int steps;
	uint64_t arguments[3];		/* a0, a3, a4 at the last step */
	uint64_t result;		/* of the next call that is executed */
	int error;			/* of the next step */
} model;

static int read_registers(void *data, const uint16_t *ids, uint64_t *values, size_t count)
{
	(void)data;
	for (size_t i = 0; i < count; i++)
		values[i] = model.reg[ids[i]];
	return 0;
}

static int write_registers(void *data, const uint16_t *ids, const uint64_t *values, size_t count)
{
	(void)data;
	for (size_t i = 0; i < count; i++)
		model.reg[ids[i]] = values[i];
	return 0;
}

static int access_memory(uint64_t address, void *to, const void *from, size_t size)
{
	if (address < BASE || address - BASE + size > sizeof(model.memory))
		return NTRACE_ERR_NOMAP;
	if (to)
		memcpy(to, model.memory + (address - BASE), size);
	else
		memcpy(model.memory + (address - BASE), from, size);
	return 0;
}

static int read_memory(void *data, uint64_t address, void *bytes, size_t size)
{
	(void)data;
	return access_memory(address, bytes, NULL, size);
}

static int write_memory(void *data, uint64_t address, const void *bytes, size_t size)
{
	(void)data;
	return access_memory(address, NULL, bytes, size);
}

/* A system call. */
static int step(void *data)
{
	(void)data;
	model.steps++;
	model.arguments[0] = model.reg[A0];
	model.arguments[1] = model.reg[A3];
	model.arguments[2] = model.reg[A4];
	model.reg[A0] = model.result;
	model.reg[PC] += 4;
	return model.error;
}

static struct ntrace_tandem_mismatch found;
static unsigned int mismatches;

static int on_mismatch(void *user, const struct ntrace_tandem_mismatch *mismatch)
{
	(void)user;
	found = *mismatch;
	mismatches++;
	return 0;
}

static struct ntrace_tandem_verifier *verifier;
static int refusal; /* of the last field */

static void field(unsigned int type, unsigned int id, uint64_t value)
{
	struct ntrace_tandem_field field = { .type = (uint8_t)type,
					     .id = (uint16_t)id,
					     .value = value };

	refusal = ntrace_tandem_verifier_field(verifier, &field);
	if (refusal && !model.error)
		ok(false, "the verifier refused a field");
}

/* Registers that an initialisation tells. */
static void init(unsigned int count, const uint64_t (*values)[2])
{
	field(NTRACE_TANDEM_BEGIN, 0, 0);
	field(NTRACE_TANDEM_INIT, 0, 0);
	for (unsigned int i = 0; i < count; i++)
		if (values[i][0] == PC)
			field(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, values[i][1]);
		else
			field(NTRACE_TANDEM_REGISTER, (unsigned int)values[i][0], values[i][1]);
	field(NTRACE_TANDEM_END, 0, 0);
}

/* A system call of the trace, with its arguments. */
static void call(uint64_t number, uint64_t a0, uint64_t a3, uint64_t a4, uint64_t result)
{
	const uint64_t values[][2] = { { A7, number }, { A0, a0 }, { A3, a3 }, { A4, a4 } };

	init(4, values);
	field(NTRACE_TANDEM_BEGIN, 0, 0);
	field(NTRACE_TANDEM_NEXT_PC, 0, 0);
	field(NTRACE_TANDEM_INSN32, 0, 0x73);
	field(NTRACE_TANDEM_REGISTER, A0, result);
	field(NTRACE_TANDEM_END, 0, 0);
}

static unsigned int xlen = 64;

static void start(unsigned int flags)
{
	const uint64_t pc[][2] = { { PC, BASE } };
	struct ntrace_tandem_verify_config config;

	ntrace_tandem_verifier_free(verifier);
	memset(&model, 0, sizeof(model));
	for (unsigned int i = 0; i < 128; i += 4)
		model.memory[i] = 0x73;
	mismatches = 0;
	ntrace_tandem_verify_config_init(&config);
	config.model = (struct ntrace_tandem_model){
		.size = sizeof(config.model),
		.read_registers = read_registers,
		.write_registers = write_registers,
		.read_memory = read_memory,
		.write_memory = write_memory,
		.step = step,
	};
	config.mismatch = on_mismatch;
	config.flags = flags;
	config.params.xlen = config.params.mlen = xlen;
	if (ntrace_tandem_verifier_new(&verifier, &config))
		ok(false, "no verifier");
	init(1, pc);
}

int main(void)
{
	struct ntrace_tandem_field store = {
		.type = NTRACE_TANDEM_REQUEST,
		.op = NTRACE_TANDEM_STORE,
		.size = 3,
		.address = BASE + 128,
		.value = 0x1122334455667788,
	};
	struct ntrace_tandem_verify_stats stats;
	uint64_t word;

	/* read: its result and its data come from the trace. */
	start(NTRACE_TANDEM_VERIFY_LINUX_USER);
	call(63, 3, 0, 0, 8);
	is_hex(model.steps, 0, "read is not executed");
	is_hex(model.reg[A0], 8, "its result is written to the model");
	is_hex(model.reg[PC], BASE + 4, "and the next pc");
	field(NTRACE_TANDEM_BEGIN, 0, 0);
	field(NTRACE_TANDEM_INIT, 0, 0);
	is_hex(ntrace_tandem_verifier_field(verifier, &store), 0, "what it wrote is taken");
	field(NTRACE_TANDEM_END, 0, 0);
	memcpy(&word, model.memory + 128, 8);
	is_hex(word, store.value, "and written to the model's memory");

	/* brk: executed and compared. */
	model.result = 0x20000;
	call(214, 0, 0, 0, 0x20000);
	is_hex(model.steps, 1, "brk is executed");
	is_hex(mismatches, 0, "its result is right");
	model.result = 0x21000;
	call(214, 0x21000, 0, 0, 0x22000);
	is_hex(mismatches, 1, "a wrong result of brk is found");
	is_hex(found.id, A0, "it is in a0");
	is_hex(model.reg[A0], 0x22000, "and is then that of the trace");

	/* mmap of a file: anonymous memory at the address of the trace. */
	model.result = 0x3f40000000;
	call(222, 0, 0x2, 5, 0x3f40000000);
	is_hex(model.steps, 3, "mmap is executed");
	is_hex(model.arguments[0], 0x3f40000000, "at the address of the trace");
	is_hex(model.arguments[1], 0x32, "private, fixed and anonymous");
	is_hex(model.arguments[2], UINT64_MAX, "without a file");
	is_hex(model.reg[A3], 0x2, "a3 stays as it was");
	is_hex(model.reg[A4], 5, "and a4");
	call(222, 0, 0x1, 5, (uint64_t)-12);
	is_hex(model.steps, 3, "an mmap that failed is not executed");
	is_hex(model.reg[A0], (uint64_t)-12, "its error is written to the model");
	is_hex(mismatches, 1, "no other difference");

	/* A wrong instruction is found at a call, too. */
	model.memory[model.reg[PC] - BASE] = 0x13;
	call(64, 1, 0, 0, 3);
	is_hex(mismatches, 2, "another instruction in the model's memory is found");
	is_hex(found.kind, NTRACE_TANDEM_DIFFERENT_INSN, "as one");
	ntrace_tandem_verifier_stats(verifier, &stats);
	is_hex(stats.calls, 6, "calls are counted");
	is_hex(stats.steps, 0, "and are not among the instructions");
	is_hex(stats.initialisations, 8,
	       "initialisations: the first one, a store, arguments of calls");

	/* Each call that changes the memory map, and its errors. */
	for (unsigned int number = 200; number < 240; number++) {
		bool executed = number == 214 || number == 215 || number == 216 || number == 222 ||
				number == 226 || number == 233;

		start(NTRACE_TANDEM_VERIFY_LINUX_USER);
		model.result = 8;
		call(number, 0x1000, 0, 0, 8);
		is_u64(model.steps, executed, "call %u is%s executed", number,
		       executed ? "" : " not");
		is_hex(model.reg[A0], 8, "its result is the model's");
		call(number, 0x1000, 0, 0, (uint64_t)-4095);
		is_u64(model.steps, executed, "nor is one that failed");
		model.result = (uint64_t)-4096 - 1;
		call(number, 0x1000, 0, 0, (uint64_t)-4096 - 1);
		is_u64(model.steps, 2 * executed, "the highest address is no error");
		model.error = NTRACE_ERR_EOS;
		call(number, 0x1000, 0, 0, 8);
		is_u64(refusal, executed ? NTRACE_ERR_EOS : 0, "an error of the step ends it");
	}
	xlen = 32;
	start(NTRACE_TANDEM_VERIFY_LINUX_USER);
	call(222, 0, 0, 0, 0xfffffff4);
	is_u64(model.steps, 0, "RV32: an mmap that failed is not executed");
	model.result = 0xffffe000;
	call(222, 0, 0, 0, 0xffffe000);
	is_u64(model.steps, 1, "RV32: the highest address is no error");
	xlen = 64;

	/* Without the flag, an ecall is an instruction. */
	start(0);
	model.result = 8;
	call(63, 3, 0, 0, 8);
	is_hex(model.steps, 1, "with a kernel in the model, it executes the call");
	ntrace_tandem_verifier_free(verifier);
	return done_testing();
}
