// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that knows its own values, to check what is read out of `ntrace record --values`. It enters amounts
 * into a ledger, and one stray store changes the balance. At its end it prints, for each call of enter(), its
 * arguments, the balance before it, and its result; before that it makes no system call after its first one.
 */
#include <stdio.h>
#include <stdlib.h>

#define ENTRIES 40
#define STRAY 23	/* the stray store comes before this entry */

struct ledger {
	long balance;
	long entries;
};

struct truth {
	long amount;
	long balance;
	long result;
	double factor;
};

static const long weights[] = { 3, 5, -7, 11 };
static struct truth truth[ENTRIES];
static long checksum;

__attribute__((noipa)) static long enter(struct ledger *ledger, long amount, double factor)
{
	ledger->balance += amount * weights[amount & 3];
	ledger->entries++;
	checksum ^= ledger->balance;
	return (long)((double)amount * factor);
}

__attribute__((noipa)) static void stray(long *where)
{
	*where = 42;
}

int main(void)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));
	unsigned long random = 1;

	if (!ledger)
		return 1;
	for (int i = 0; i < ENTRIES; i++) {
		struct truth *of = &truth[i];

		random = random * 6364136223846793005ul + 1442695040888963407ul;
		if (i == STRAY)
			stray(&ledger->balance);
		of->amount = (long)(random >> 40);
		of->balance = ledger->balance;
		of->factor = (double)i / 4 - 3;
		of->result = enter(ledger, of->amount, of->factor);
	}
	for (int i = 0; i < ENTRIES; i++)
		printf("%p %ld %.17g %ld %ld\n", (void *)ledger, truth[i].amount, truth[i].factor,
		       truth[i].balance, truth[i].result);
	printf("checksum %ld\n", checksum);
	return 0;
}
