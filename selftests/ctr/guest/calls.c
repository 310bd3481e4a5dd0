// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with known system calls: prints its PID, waits for a line on standard input, then opens
 * a file that does not exist and one that does, ROUNDS times.
 * Usage: calls ROUNDS
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long rounds;

	if (argc != 2) {
		fprintf(stderr, "usage: calls ROUNDS\n");
		return 2;
	}
	rounds = strtoul(argv[1], NULL, 0);
	printf("%d\n", getpid());
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	while (rounds--) {
		int absent = open("/nonexistent", O_RDONLY);
		int present = open("/dev/null", O_RDONLY);

		if (absent >= 0 || present < 0)
			return 1;
		close(present);
	}
	return 0;
}
