// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that does the same for ever: what `ntrace top` and `ntrace trigger` are held against.
 *
 * light(), medium() and heavy() are called in turn and execute 402, 802 and 2002 instructions. With
 * an argument, at the first SIGUSR1: seldom() is called once, sleeps so many milliseconds, and
 * steady goes on; with a second one it then writes to an address that nothing is at. It says "ready"
 * when it may get signals, and "returned" after seldom().
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void light(void);
void medium(void);
void heavy(void);

/* Rounds of four, the one before them and the return are the rest. No compression, no relaxation. */
__asm__(".option push\n"
	".option norvc\n"
	".option norelax\n"
	".text\n"
	".macro rounds name, count\n"
	".balign 64\n"
	".type \\name, @function\n"
	".globl \\name\n"
	"\\name:	li a0, \\count\n"
	"1:	addi a0, a0, -1\n"
	"	nop\n"
	"	nop\n"
	"	bgtz a0, 1b\n"
	"	ret\n"
	".size \\name, . - \\name\n"
	".endm\n"
	"	rounds light, 100\n"
	"	rounds medium, 200\n"
	"	rounds heavy, 500\n"
	".option pop\n");

static volatile sig_atomic_t asked;

static void ask(int number)
{
	(void)number;
	asked = 1;
}

__attribute__((noipa)) static void seldom(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	if (milliseconds)
		nanosleep(&time, NULL);
}

static void tell(const char *text)
{
	puts(text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int *volatile nowhere = NULL;

	signal(SIGUSR1, ask);
	tell("ready");
	for (;;) {
		light();
		medium();
		heavy();
		if (!asked || argc < 2)
			continue;
		asked = 0;
		seldom(atol(argv[1]));
		if (argc > 2)
			*nowhere = 1;
		tell("returned");
	}
}
