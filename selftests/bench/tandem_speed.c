// SPDX-License-Identifier: GPL-2.0-only
/*
 * Speed of reading a tandem stream: tandem_speed ROUNDS. The stream has the mix of a program:
 * integer instructions, loads, stores, branches and system instructions. Prints MB/s of the reader,
 * of reader and state, and instructions/s of the executor with such a mix, a line for each round;
 * seconds are those of the processor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ntrace/exec.h>
#include <ntrace/tandem.h>

#define BYTES (64u << 20)

static struct ntrace_tandem_params params;
static uint8_t *bytes;
static size_t size;

static void add(unsigned int type, unsigned int id, uint64_t value)
{
	struct ntrace_tandem_field field = { .type = (uint8_t)type,
					     .id = (uint16_t)id,
					     .value = value };

	size += (size_t)ntrace_tandem_write(&params, &field, bytes + size);
}

static void add_group(unsigned int random)
{
	add(NTRACE_TANDEM_BEGIN, 0, 0);
	if (random % 8 == 0)
		add(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, 0x80000000 + random % 65536 * 2);
	else
		add(NTRACE_TANDEM_NEXT_PC, 0, 0);
	if (random / 8 % 3 == 0)
		add(NTRACE_TANDEM_INSN16, 0, 0x8d0d);
	else
		add(NTRACE_TANDEM_INSN32, 0, 0x006281b3);
	if (random % 8)
		add(NTRACE_TANDEM_REGISTER, NTRACE_TANDEM_GPR + 1 + random / 64 % 31, random);
	if (random / 32 % 4 == 0)
		add(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_EADDR, random);
	if (random / 32 % 8 == 1)
		add(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_STORE64, random);
	if (random / 256 % 64 == 0)
		add(NTRACE_TANDEM_REGISTER, 0x340, random);
	add(NTRACE_TANDEM_END, 0, 0);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Return: MB/s */
static double read_all(struct ntrace_tandem_state *state, uint64_t *total)
{
	static struct ntrace_tandem_field fields[256];
	struct ntrace_tandem_reader reader;
	double start = now();
	int count;

	if (state)
		ntrace_tandem_state_init(state, &params);
	ntrace_tandem_reader_init(&reader, &params);
	for (size_t at = 0; at < size; at += 65536) {
		ntrace_tandem_reader_feed(&reader, bytes + at,
					  size - at < 65536 ? size - at : 65536);
		while ((count = ntrace_tandem_read(&reader, fields, 256)) > 0) {
			*total += (uint64_t)count;
			for (int i = 0; state && i < count; i++)
				ntrace_tandem_state_apply(state, &fields[i]);
		}
		if (count < 0)
			exit(1);
	}
	return (double)size / 1e6 / (now() - start);
}

static uint64_t memory[512];

static int read_memory(void *user, uint64_t address, unsigned int size_of_access,
		       struct ntrace_exec_value *value)
{
	(void)user;
	(void)size_of_access;
	*value = (struct ntrace_exec_value){ memory[address / 8 % 512], 0xff };
	return 0;
}

static int write_memory(void *user, uint64_t address, unsigned int size_of_access,
			const struct ntrace_exec_value *value)
{
	(void)user;
	(void)size_of_access;
	memory[address / 8 % 512] = value->bits;
	return 0;
}

/* Return: instructions of the executor in a second */
static double execute(void)
{
	/* ld, add, xori, srli, sd, c.addi, and, slt, bne, addiw, lui, c.add, sub, lw, mul, beq */
	static const uint32_t program[] = { 0x0005b503, 0x00c50533, 0x05554513, 0x00355513,
					    0x00a5b423, 0x000005a1, 0x00c57633, 0x00a626b3,
					    0x00d61463, 0x0015061b, 0x123456b7, 0x00009536,
					    0x40a60633, 0x0085a703, 0x02e50733, 0x00b70463 };
	struct ntrace_exec_config config = {
		.size = sizeof(config),
		.isa = { .xlen = 64, .compressed = true },
		.flen = 64,
		.read = read_memory,
		.write = write_memory,
	};
	struct ntrace_exec_value value = { 0x1000, 0xff };
	struct ntrace_exec_effects effects;
	struct ntrace_exec *exec;
	const uint64_t count = 20000000;
	uint64_t pc = 0;
	double start;

	if (ntrace_exec_new(&exec, &config))
		exit(1);
	for (unsigned int i = 1; i < 32; i++)
		ntrace_exec_set(exec, NTRACE_EXEC_X + i, &value);
	start = now();
	for (uint64_t i = 0; i < count; i++, pc += effects.size)
		if (ntrace_exec_step(exec, program[i % 16], pc, &effects))
			exit(1);
	start = now() - start;
	ntrace_exec_free(exec);
	return (double)count / start;
}

int main(int argc, char **argv)
{
	static struct ntrace_tandem_state state;
	unsigned int random = 1;
	uint64_t fields = 0;

	ntrace_tandem_params_init(&params);
	bytes = malloc(BYTES);
	if (!bytes)
		return 1;
	while (size < BYTES - 256) {
		random = random * 1664525 + 1013904223;
		add_group(random >> 8);
	}
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 5); i++) {
		printf("read %.0f\n", read_all(NULL, &fields));
		printf("state %.0f\n", read_all(&state, &fields));
		printf("exec %.0f\n", execute());
	}
	printf("fields %" PRIu64 "\n", fields);
	free(bytes);
	return 0;
}
