// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with call stacks of up to 100 frames below main. It executes about 1000 instructions in
 * each of them, on the way down and on the way up.
 * Usage: descend ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAMES 100

static volatile uint64_t sink;

__attribute__((noipa)) static void work(unsigned int rounds)
{
	while (rounds--)
		sink += rounds;
}

__attribute__((noipa)) static void descend(unsigned int frames)
{
	work(200);
	if (frames > 1)
		descend(frames - 1);
	work(200);
}

int main(int argc, char **argv)
{
	unsigned long rounds;

	if (argc != 2) {
		fprintf(stderr, "usage: descend ROUNDS\n");
		return 2;
	}
	rounds = strtoul(argv[1], NULL, 0);
	while (rounds--)
		descend(FRAMES);
	return 0;
}
