// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a database of SQLite with calls and preemptions made by hand: hand_database FILE
 *
 * On CPU 2 thread 10 calls slow() from 100 to 400, of which threads 20 and 30 take 100 and 50, and
 * from 500 to 520; a third call from 600 on does not return. On CPU 3 thread 40 runs all the time.
 */
#include <stdbool.h>
#include <stdlib.h>

#include <ntrace/export_sqlite.h>

static struct ntrace_export_sqlite *sqlite;

static void change(unsigned int type, uint32_t cpu, int32_t tid, uint64_t time)
{
	struct ntrace_stack_change made = { .type = (uint8_t)type,
					    .time_kind = NTRACE_STACK_TIME_EXACT,
					    .called = true,
					    .begins = true,
					    .ended = type == NTRACE_STACK_LEAVE,
					    .stream = cpu,
					    .cpu = cpu,
					    .pid = tid,
					    .tid = tid,
					    .kind = NTRACE_STACK_FUNCTION,
					    .comm = tid == 10 ? "ten" : "other",
					    .name = "slow",
					    .instructions = time,
					    .time = time };

	if (type == NTRACE_STACK_RUN) {
		made.kind = tid < 0 ? NTRACE_STACK_ALL : NTRACE_STACK_TASK;
		made.name = "";
	}
	if (ntrace_export_sqlite_change(sqlite, &made))
		exit(1);
}

int main(int argc, char **argv)
{
	struct ntrace_export_sqlite_counts counts;

	if (argc != 2 || ntrace_export_sqlite_open(&sqlite, argv[1], NULL))
		return 1;
	change(NTRACE_STACK_RUN, 2, 10, 50);
	change(NTRACE_STACK_ENTER, 2, 10, 100);
	change(NTRACE_STACK_RUN, 2, 20, 150);
	change(NTRACE_STACK_RUN, 2, 30, 250);
	change(NTRACE_STACK_RUN, 2, 10, 300);
	change(NTRACE_STACK_LEAVE, 2, 10, 400);
	change(NTRACE_STACK_ENTER, 2, 10, 500);
	change(NTRACE_STACK_LEAVE, 2, 10, 520);
	change(NTRACE_STACK_ENTER, 2, 10, 600);
	change(NTRACE_STACK_GAP, 2, 10, 650);
	change(NTRACE_STACK_RUN, 2, -1, 700);
	change(NTRACE_STACK_RUN, 3, 40, 0);
	change(NTRACE_STACK_RUN, 3, -1, 700);
	if (ntrace_export_sqlite_close(sqlite, true, &counts))
		return 1;
	return counts.calls != 3 || counts.intervals != 5 || counts.losses != 1;
}
