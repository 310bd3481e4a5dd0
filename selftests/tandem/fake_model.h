/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A verifier whose model executes what a test tells it to: at a step, registers get the values of
 * model.after. Groups of the trace are made with begin_insn(), also(), set() and end().
 */
#ifndef SELFTESTS_TANDEM_FAKE_MODEL_H
#define SELFTESTS_TANDEM_FAKE_MODEL_H

#include <string.h>

#include <ntrace/tandem_verify.h>

#include "tap.h"

#define GPR NTRACE_TANDEM_GPR
#define FPR NTRACE_TANDEM_FPR
#define PC NTRACE_TANDEM_PC
#define PRIV NTRACE_TANDEM_PRIV
#define A0 (GPR + 10)
#define A1 (GPR + 11)
#define CODE 0x80000000
#define DATA 0x80000080
#define NOP 0x00000013
#define NONE 0xffff

enum {
	FCSR = 0x003,
	STVEC = 0x105,
	SEPC = 0x141,
	SCAUSE = 0x142,
	MSTATUS = 0x300,
	MIDELEG = 0x303,
	MIE = 0x304,
	MTVEC = 0x305,
	MSCRATCH = 0x340,
	MEPC = 0x341,
	MCAUSE = 0x342,
	MTVAL = 0x343,
	MIP = 0x344,
	CYCLE = 0xc00,
};

static struct {
	uint64_t reg[NTRACE_TANDEM_STATE_REGISTERS];
	uint8_t memory[256];	      /* from CODE on */
	uint64_t after[4][2];	      /* registers that the next step changes; 0: end */
	uint64_t at_step[NTRACE_TANDEM_STATE_REGISTERS];
	unsigned int steps, resets, writes;
	unsigned int lacks;	      /* a register that does not exist */
	unsigned int watched, reads;  /* whether the last reading of registers had this one */
	int read_error, write_error, memory_error, store_error, step_error, reset_error;
} model;

static int read_registers(void *data, const uint16_t *ids, uint64_t *values, size_t count)
{
	(void)data;
	if (model.read_error)
		return model.read_error;
	for (size_t i = 0; i < count; i++) {
		if (ids[i] == model.lacks)
			return NTRACE_ERR_UNSUPPORTED;
		model.reads += ids[i] == model.watched && count > 1;
		values[i] = model.reg[ids[i]];
	}
	return 0;
}

static int write_registers(void *data, const uint16_t *ids, const uint64_t *values, size_t count)
{
	(void)data;
	if (model.write_error)
		return model.write_error;
	for (size_t i = 0; i < count; i++) {
		model.reg[ids[i]] = values[i];
		model.writes += ids[i] == model.watched;
		if (ids[i] == model.lacks)
			return NTRACE_ERR_FORMAT;
	}
	return 0;
}

static int read_memory(void *data, uint64_t address, void *bytes, size_t size)
{
	(void)data;
	if (model.memory_error)
		return model.memory_error;
	if (address < CODE || address - CODE + size > sizeof(model.memory))
		return NTRACE_ERR_NOMAP;
	memcpy(bytes, model.memory + (address - CODE), size);
	return 0;
}

static int write_memory(void *data, uint64_t address, const void *bytes, size_t size)
{
	(void)data;
	if (model.store_error)
		return model.store_error;
	if (address < CODE || address - CODE + size > sizeof(model.memory))
		return NTRACE_ERR_NOMAP;
	memcpy(model.memory + (address - CODE), bytes, size);
	return 0;
}

static int step(void *data)
{
	(void)data;
	model.steps++;
	memcpy(model.at_step, model.reg, sizeof(model.reg));
	for (unsigned int i = 0; i < 4 && model.after[i][0]; i++)
		model.reg[model.after[i][0]] = model.after[i][1];
	return model.step_error;
}

static int reset(void *data)
{
	(void)data;
	model.resets++;
	return model.reset_error;
}

/* ---- the verifier ---- */

static struct ntrace_tandem_verifier *verifier;
static struct ntrace_tandem_verify_config config;
static struct ntrace_tandem_verify_stats stats;
static struct ntrace_tandem_mismatch found[8];
static unsigned int mismatches, groups;
static int verdict, group_verdict; /* what the callbacks return */
static int result;		   /* of the last field that was refused */
static uint64_t offset;

static int on_mismatch(void *user, const struct ntrace_tandem_mismatch *mismatch)
{
	if (user != &config)
		ok(false, "a mismatch comes with the caller's argument");
	if (mismatches < 8)
		found[mismatches] = *mismatch;
	mismatches++;
	return verdict;
}

static int on_group(void *user, const struct ntrace_tandem_state *state)
{
	if (user != &config || !state)
		ok(false, "a group comes with the caller's argument and the state");
	groups++;
	return group_verdict;
}

static void put(unsigned int type, unsigned int id, uint64_t value)
{
	const struct ntrace_tandem_field field = {
		.type = (uint8_t)type, .id = (uint16_t)id, .value = value, .offset = offset++
	};
	int error = ntrace_tandem_verifier_field(verifier, &field);

	if (error)
		result = error;
}

static void set(unsigned int id, uint64_t value)
{
	if (id == PC)
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, value);
	else if (id == PRIV)
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, value);
	else
		put(NTRACE_TANDEM_REGISTER, id, value);
}

static void begin(void)
{
	mismatches = 0;
	result = 0;
	model.writes = model.reads = 0;
	put(NTRACE_TANDEM_BEGIN, 0, 0);
}

static void end(void)
{
	put(NTRACE_TANDEM_END, 0, 0);
	ntrace_tandem_verifier_stats(verifier, &stats);
}

/* A register that a debugger sets in both. */
static void init(unsigned int id, uint64_t value)
{
	begin();
	put(NTRACE_TANDEM_INIT, 0, 0);
	set(id, value);
	end();
}

/* Begins the group of an instruction, which the model has too, and whose step leads to the next one. */
static void begin_insn(uint64_t insn)
{
	bool is_long = (insn & 3) == 3;

	init(PC, CODE);
	memcpy(model.memory, &insn, 4);
	memset(model.after, 0, sizeof(model.after));
	model.after[0][0] = PC;
	model.after[0][1] = CODE + (is_long ? 4 : 2);
	begin();
	put(NTRACE_TANDEM_NEXT_PC, 0, 0);
	put(is_long ? NTRACE_TANDEM_INSN32 : NTRACE_TANDEM_INSN16, 0, insn);
}

static void also(unsigned int id, uint64_t value)
{
	unsigned int i = 1;

	while (model.after[i][0])
		i++;
	model.after[i][0] = id;
	model.after[i][1] = value;
}

static void restart(void)
{
	ntrace_tandem_verifier_free(verifier);
	memset(&model, 0, sizeof(model));
	model.lacks = model.watched = NONE;
	groups = 0;
	verdict = group_verdict = 0;
	if (ntrace_tandem_verifier_new(&verifier, &config))
		ok(false, "a verifier");
}

static void defaults(void)
{
	ntrace_tandem_verify_config_init(&config);
	config.model = (struct ntrace_tandem_model){
		.size = sizeof(config.model),
		.read_registers = read_registers,
		.write_registers = write_registers,
		.read_memory = read_memory,
		.write_memory = write_memory,
		.step = step,
		.reset = reset,
	};
	config.mismatch = on_mismatch;
	config.group = on_group;
	config.user = &config;
}

static void start(void)
{
	defaults();
	restart();
}

#endif /* SELFTESTS_TANDEM_FAKE_MODEL_H */
