// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose functions are called a known number of times and have a known number of
 * instructions, to check the output of `ntrace report`:
 *
 *	function	calls	instructions of a call
 *	counted		1750	9	(1000 direct, 500 indirect, 250 by tail call)
 *	tail		250	1
 *	twice		300	7: three rounds of two, and the return. Its loop goes
 *				to its first instruction, which is no call. The child
 *				calls it once more with five rounds: 11
 *	recursive	101	8, the innermost 2
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

void counted(void);
void tail(void);
long twice(long rounds);
long recursive(long depth);

/* No compression and no relaxation: the assembler must not change the instructions. */
__asm__(".option push\n"
	".option norvc\n"
	".option norelax\n"
	".text\n"
	".balign 64\n"
	".type counted, @function\n"
	".globl counted\n"
	"counted:\n"
	"	.rept 8\n"
	"	nop\n"
	"	.endr\n"
	"	ret\n"
	".size counted, . - counted\n"
	".type tail, @function\n"
	".globl tail\n"
	"tail:	j counted\n"
	".size tail, . - tail\n"
	".type twice, @function\n"
	".globl twice\n"
	"twice:	addi a0, a0, -1\n"
	"	bgtz a0, twice\n"
	"	ret\n"
	".size twice, . - twice\n"
	".type recursive, @function\n"
	".globl recursive\n"
	"recursive:\n"
	"	beqz a0, 1f\n"
	"	addi sp, sp, -16\n"
	"	sd ra, 8(sp)\n"
	"	addi a0, a0, -1\n"
	"	jal recursive\n"
	"	ld ra, 8(sp)\n"
	"	addi sp, sp, 16\n"
	"1:	ret\n"
	".size recursive, . - recursive\n"
	".option pop\n");

int main(void)
{
	void (*volatile indirect)(void) = counted;
	pid_t pid;
	int i;

	for (i = 0; i < 1000; i++)
		counted();
	for (i = 0; i < 500; i++)
		indirect();
	for (i = 0; i < 250; i++)
		tail();
	for (i = 0; i < 300; i++)
		twice(3);
	recursive(100);
	/* A child without exec: another process with the same code. */
	pid = fork();
	if (!pid) {
		twice(5);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("done\n");
	return 7;
}
