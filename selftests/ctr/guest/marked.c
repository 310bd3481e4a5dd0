// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes with distinct code addresses: the same few branches, mapped at 0x5100000000 in the
 * first, at 0x5200000000 in the second and so on. Each prints "PID 0x5N00" and runs as its own
 * user, yielding the CPU all the time, for ROUNDS rounds.
 * Usage: marked PROCESSES ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern const char code_begin[], code_end[];
__asm__(".text\n"
	"code_begin:\n"
	"1:	andi	t0, a0, 3\n"
	"	beqz	t0, 2f\n"
	"	jal	t1, 2f\n"
	"2:	addi	a0, a0, -1\n"
	"	bnez	a0, 1b\n"
	"	ret\n"
	"code_end:\n");

static void run(unsigned int number, uint64_t rounds)
{
	char *place = (char *)(0x5000000000 + number * 0x100000000);
	char *code = mmap(place, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (code != place) {
		perror("mmap");
		exit(1);
	}
	memcpy(code, code_begin, code_end - code_begin);
	__builtin___clear_cache(code, code + 4096);
	printf("%d %#llx\n", getpid(), (unsigned long long)(uintptr_t)place >> 16);
	fflush(stdout);
	if (setuid(1000 + number)) {
		perror("setuid");
		exit(1);
	}
	while (rounds--) {
		((void (*)(uint64_t))(uintptr_t)code)(2000);
		sched_yield();
	}
	exit(0);
}

int main(int argc, char **argv)
{
	unsigned int processes;
	uint64_t rounds;
	int status, bad = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: marked PROCESSES ROUNDS\n");
		return 2;
	}
	processes = strtoul(argv[1], NULL, 0);
	rounds = strtoull(argv[2], NULL, 0);
	for (unsigned int i = 1; i <= processes; i++) {
		if (!fork())
			run(i, rounds);
	}
	while (wait(&status) > 0)
		bad |= status;
	return !!bad;
}
