// SPDX-License-Identifier: GPL-2.0-only
/*
 * peer_libipt FILE: the speed of libipt's block decoder, for comparison. Intel PT of a loop of 10 instructions
 * whose branch is taken 9 times of 10, as TNT packets in memory. The code goes to FILE. Prints "block N" for each round: million
 * instructions a second.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <intel-pt.h>

#define ROUNDS 5
#define CODE 0x1000
#define BRANCHES 1200000u
#define ROOM (BRANCHES / 6 + 256)

/*
 * 0x1000: 8 instructions of one byte (nop), 0x1008: jnz 0x1000, 0x100a: jmp 0x1000: each branch that is
 * not taken is followed by a jump.
 */
static const uint8_t code[] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
				0x90, 0x90, 0x75, 0xf6, 0xeb, 0xf4 };

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* libipt caches the blocks of files, not those of a callback. Return: false: no such file. */
static bool write_code(const char *path)
{
	FILE *file = fopen(path, "wb");
	bool good = file && fwrite(code, sizeof(code), 1, file) == 1;

	return (file ? !fclose(file) : false) && good;
}

/* PSB, MODE.Exec (64 bit), PSBEND, TIP.PGE, then short TNT packets of 6 branches. */
static size_t make_trace(uint8_t *out)
{
	uint8_t *at = out;

	for (int i = 0; i < 8; i++) {
		*at++ = 0x02;
		*at++ = 0x82;
	}
	*at++ = 0x02;
	*at++ = 0x23;
	*at++ = 0x99;
	*at++ = 0x01;
	/* TIP.PGE with a full address (IPBytes 3: 48 bits, sign extended). */
	*at++ = 0x71;
	for (int i = 0; i < 6; i++)
		*at++ = (uint8_t)((uint64_t)CODE >> 8 * i);
	for (uint32_t i = 0; i < BRANCHES; i += 6) {
		uint8_t packet = 1;

		for (uint32_t k = i; k < i + 6; k++)
			packet = (uint8_t)(packet << 1 | (k % 10 != 9));
		*at++ = (uint8_t)(packet << 1);
	}
	return (size_t)(at - out);
}

static uint64_t decode(const char *path, uint8_t *trace, size_t size)
{
	struct pt_block_decoder *decoder;
	struct pt_config config;
	struct pt_image *image = pt_image_alloc("loop");
	uint64_t instructions = 0;
	int status;

	pt_config_init(&config);
	config.begin = trace;
	config.end = trace + size;
	decoder = pt_blk_alloc_decoder(&config);
	if (!decoder || !image || pt_image_add_file(image, path, 0, sizeof(code), NULL, CODE) ||
	    pt_blk_set_image(decoder, image))
		exit(1);
	status = pt_blk_sync_forward(decoder);
	while (status >= 0) {
		struct pt_block block;

		while (status & pts_event_pending) {
			struct pt_event event;

			status = pt_blk_event(decoder, &event, sizeof(event));
			if (status < 0)
				break;
		}
		if (status < 0 || status & pts_eos)
			break;
		status = pt_blk_next(decoder, &block, sizeof(block));
		instructions += block.ninsn;
	}
	pt_blk_free_decoder(decoder);
	pt_image_free(image);
	return instructions;
}

int main(int argc, char **argv)
{
	uint8_t *trace = malloc(ROOM);
	size_t size;

	if (!trace || argc != 2 || !write_code(argv[1]))
		return 1;
	size = make_trace(trace);
	for (int i = 0; i < ROUNDS; i++) {
		double start = seconds();
		uint64_t instructions = decode(argv[1], trace, size);

		/* 8 instructions and a branch each, and a jump after every tenth. */
		if (instructions < UINT64_C(9) * BRANCHES) {
			fprintf(stderr, "libipt decodes %llu instructions only\n",
				(unsigned long long)instructions);
			return 1;
		}
		printf("block %.3f\n", (double)instructions / (seconds() - start) / 1e6);
	}
	free(trace);
	return 0;
}
