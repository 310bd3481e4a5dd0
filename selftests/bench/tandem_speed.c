// SPDX-License-Identifier: GPL-2.0-only
/*
 * Speed of reading a tandem stream: tandem_speed ROUNDS. The stream has the mix of a program:
 * integer instructions, loads, stores, branches and system instructions. Prints MB/s of the reader,
 * and of reader and state, a line for each round; seconds are those of the processor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
	}
	printf("fields %" PRIu64 "\n", fields);
	free(bytes);
	return 0;
}
