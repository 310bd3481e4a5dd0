// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread has the same instructions in the scheduling intervals of the SQLite export (the query "time
 * of each thread on each CPU") as in the occupancy of the profile (ntrace report --by-thread), also if
 * it calls exec in the middle of an interval.
 */
#include "test_session.h"

#include <ntrace/export_sqlite.h>
#include <ntrace/functions.h>
#include <ntrace/occupancy.h>

#include "export/sqlite_library.h"

static struct ntrace_profile *profile;
static struct ntrace_stacks *stacks;
static char rows[2000];

static int add_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	return ntrace_profile_event(profile, event) || ntrace_stacks_event(stacks, event);
}

static int add_segment(void *data, const struct ntrace_segment *segment)
{
	(void)data;
	return ntrace_profile_segment(profile, segment) || ntrace_stacks_segment(stacks, segment);
}

static int add_row(void *data, int count, char **values, char **columns)
{
	size_t used = strlen(rows);

	(void)data;
	(void)count;
	(void)columns;
	snprintf(rows + used, sizeof(rows) - used, "%s %s %s\n", values[0], values[1], values[2]);
	return 0;
}

/* The sums of intervals by thread, as the query of Documentation/sql.md has them. */
static const char *intervals(void)
{
	const struct sqlite_library *library = sqlite_library();
	struct sqlite3 *db = NULL;

	rows[0] = '\0';
	if (library->open_v2(in("db"), &db, SQLITE_OPEN_READWRITE, NULL) ||
	    library->exec(
		    db,
		    "SELECT pid, comm, sum(end_instruction - first_instruction) FROM intervals "
		    "GROUP BY pid, tid, comm ORDER BY pid, comm",
		    add_row, NULL, NULL))
		snprintf(rows, sizeof(rows), "no such rows");
	library->close(db);
	return rows;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same of the profile. */
static const char *occupied(void)
{
	const struct ntrace_occupancy *occupancy = ntrace_profile_occupancy(profile);
	static char lines[16][80], text[2000];
	char *order[16];
	size_t used = 0;

	for (uint32_t i = 1; i < occupancy->task_count && i < 16; i++) {
		const struct ntrace_occupancy_task *task = &occupancy->tasks[i];

		order[i] = lines[i];
		snprintf(lines[i], sizeof(lines[i]), "%d %s %u\n", task->pid, task->comm,
			 (unsigned int)occupancy->cpus[0]->tasks[i].instructions);
	}
	qsort(order + 1, occupancy->task_count - 1, sizeof(*order), compare_lines);
	for (uint32_t i = 1; i < occupancy->task_count && i < 16; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", order[i]);
	return text;
}

/* Decodes @name for both. */
static void decode_sums(const char *name)
{
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = in("root") };
	struct ntrace_stacks_options stacked = { .size = sizeof(stacked) };
	struct ntrace_profile_options profiled = { .size = sizeof(profiled),
						   .parts = NTRACE_PROFILE_OCCUPANCY };
	const struct ntrace_decode_options decoding = { .size = sizeof(decoding),
							.stream = NTRACE_ALL_STREAMS,
							.needs = NTRACE_NEEDS_TURNS,
							.event = add_event,
							.segment = add_segment };
	struct ntrace_export_sqlite *sqlite;
	struct ntrace_session *session;

	if (!ok(!ntrace_session_open(&session, in(name), &options), "%s opens", name))
		return;
	profiled.session = session;
	unlink(in("db"));
	ok(!ntrace_export_sqlite_open(&sqlite, in("db"), session), "a database");
	stacked.change = ntrace_export_sqlite_change;
	stacked.data = sqlite;
	ok(!ntrace_stacks_new(&stacks, &stacked) && !ntrace_profile_new(&profile, &profiled),
	   "stacks and a profile");
	is_u64((uint64_t)ntrace_session_decode(session, &decoding), 0, "%s decodes", name);
	ntrace_profile_end(profile);
	ntrace_stacks_end(stacks);
	ntrace_export_sqlite_close(sqlite, true, NULL);
	is_str(intervals(), occupied(), "intervals and the profile have the same threads");
	ntrace_stacks_free(stacks);
	ntrace_profile_free(profile);
	ntrace_session_close(session);
}

static void test_exec(void)
{
	start("exec", CODE, UINT32_MAX);
	named(100, 0, false, "recorder");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	switches(200, 100, CODE);
	hart_loop(&hart, 5);
	named(100, now + 20, true, "program");
	maps(100, now + 30, OTHER_CODE, "/ccc");
	hart_trap(&hart, BEGIN_NEW_EXEC, NOTHING, OTHER_CODE);
	hart_loop(&hart, 50);
	switches(100, 200, CODE);
	hart_loop(&hart, 7);
	switches(200, 100, OTHER_CODE);
	hart_loop(&hart, 9);
	stop("exec", 3);
	decode_sums("exec");
	ok(strstr(rows, "100 recorder ") && strstr(rows, "100 program "),
	   "before and after exec: %s", rows);
}

int main(void)
{
	if (!sqlite_library()) {
		skip("sums of threads", "libsqlite3 is not installed");
		return done_testing();
	}
	return test_sessions(test_exec);
}
