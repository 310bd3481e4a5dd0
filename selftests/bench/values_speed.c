// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening a recording with values at its end, for the thread with most instructions: seconds of the processor until a0,
 * s0 and sp before its last instruction in user mode are read. Usage: values_speed RECORDING SYSROOT [count]
 * Prints: instructions, seconds of decoding (which every debugger of the recording needs), seconds of the values. With
 * count instead: how many of the registers that the thread reads are known in its whole run, of 1, and how many are wrong
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ntrace/values.h>

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void fail_if(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "values_speed: %s: %s\n", what, ntrace_strerror(error));
	exit(1);
}

/* Makes a cursor at the last block in user mode of the thread with most instructions. */
static struct ntrace_cursor *open_end(struct ntrace_session *session,
				      struct ntrace_cursor_thread *thread)
{
	const struct ntrace_cursor_thread *threads;
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;
	size_t count, most = SIZE_MAX;
	int error;

	fail_if(ntrace_cursor_threads(session, &threads, &count), "threads");
	for (size_t i = 0; i < count; i++)
		if (threads[i].pid > 0 &&
		    (most == SIZE_MAX || threads[i].instructions > threads[most].instructions))
			most = i;
	fail_if(most == SIZE_MAX ? NTRACE_ERR_UNSUPPORTED : 0, "no thread");
	*thread = threads[most];
	ntrace_cursor_config_init(&config);
	config.step = NTRACE_CURSOR_BLOCKS;
	config.session = session;
	config.pid = thread->pid;
	config.tid = thread->tid;
	config.privileges = 1u << NTRACE_PRIV_U;
	fail_if(ntrace_cursor_new(&cursor, &config), "cursor");
	for (error = ntrace_cursor_last(cursor);
	     !error && ntrace_cursor_place(cursor)->type != NTRACE_FLOW_BLOCK;
	     error = ntrace_cursor_prev(cursor))
		;
	fail_if(error, "last block");
	return cursor;
}

static void read_registers(struct ntrace_values *values, const struct ntrace_cursor *cursor)
{
	static const unsigned int registers[] = { 2, 8, 10 };
	struct ntrace_exec_value value = { 0, 0 };
	struct ntrace_cursor_mark mark;

	ntrace_cursor_save(cursor, &mark);
	fail_if(ntrace_values_seek(values, &mark, 0) < 0 ? NTRACE_ERR_FORMAT : 0, "seek");
	for (unsigned int i = 0; i < 3; i++)
		fail_if(ntrace_values_register(values, NTRACE_EXEC_X + registers[i], &value),
			"register");
}

static void print_counts(struct ntrace_values *values)
{
	struct ntrace_values_counts counts = { .size = sizeof(counts) };

	fail_if(ntrace_values_count(values, &counts), "count");
	printf("%.6f %llu\n", counts.reads ? (double)counts.known / (double)counts.reads : 0,
	       (unsigned long long)counts.wrong);
}

int main(int argc, char **argv)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = argc > 2 ? argv[2] : NULL };
	struct ntrace_values_config config = { .size = sizeof(config) };
	struct ntrace_cursor_thread thread;
	struct ntrace_session *session;
	struct ntrace_cursor *cursor;
	struct ntrace_values *values;
	double decoded;

	if (argc < 2)
		return 2;
	fail_if(ntrace_session_open(&session, argv[1], &options), argv[1]);
	cursor = open_end(session, &thread);
	decoded = seconds();
	config.session = session;
	config.pid = thread.pid;
	config.tid = thread.tid;
	fail_if(ntrace_values_new(&values, &config), "values");
	if (argc > 3) {
		print_counts(values);
	} else {
		read_registers(values, cursor);
		printf("%llu %.3f %.3f\n", (unsigned long long)thread.instructions, decoded,
		       seconds() - decoded);
	}
	ntrace_values_free(values);
	ntrace_cursor_free(cursor);
	ntrace_session_close(session);
	return 0;
}
