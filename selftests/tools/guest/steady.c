// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with constant behaviour, for the tests of `ntrace top` and `ntrace trigger`.
 *
 * light(), medium() and heavy() are called in turn and execute 402, 802 and 2002 instructions. With
 * an argument, the first SIGUSR1 makes it call seldom() once, which sleeps for that many
 * milliseconds; with a second argument, it then writes to an unmapped address. It prints "ready"
 * when it can handle signals, and "returned" after seldom().
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void light(void);
void medium(void);
void heavy(void);

/*
 * Rounds of four instructions; the rest are the instruction before them and the return. No
 * compression, no relaxation.
 */
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
