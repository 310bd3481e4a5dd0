// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program without the C library, linked at 0x70000000, where no other program has code. Calls a function through a
 * pointer, 3,000 times.
 */
#include <asm/unistd.h>

static volatile unsigned long sink;

static void leaf(void)
{
	sink++;
}

static void (*volatile const pointer)(void) = leaf;

void _start(void);
void _start(void)
{
	for (unsigned int i = 0; i < 3000; i++)
		pointer();
	__asm__ volatile("li	a0, 0\n	li	a7, %0\n	ecall" : : "i"(__NR_exit));
	__builtin_unreachable();
}
