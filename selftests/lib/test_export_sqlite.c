// SPDX-License-Identifier: GPL-2.0-only
/*
 * The database of calls from hand-made changes: rows of calls, intervals and losses, their times and
 * names. selftests/tools/sqlite.sh has real recordings, and queries of the documentation.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <ntrace/export_sqlite.h>

#include "export/sqlite_library.h"
#include "scratch.h"
#include "session/session.h"
#include "tap.h"

static struct ntrace_params params = { .size = sizeof(params) };
static struct ntrace_stream streams[2] = {
	{ .params = &params,
	  .cpu = 3,
	  .hartid = 4,
	  .file = "aux.0",
	  .bytes = 100,
	  .lost = 5,
	  .lost_exact = true,
	  .gaps = 6 },
	{ .params = &params, .cpu = 7, .hartid = 8, .file = "aux.1" },
};
static struct ntrace_recording recording = { .streams = streams, .stream_count = 2 };
static struct ntrace_session session = { .recording = &recording, .streams = streams };

static struct ntrace_export_sqlite *sqlite;
static struct ntrace_export_sqlite_counts counts;
static struct ntrace_object *object, *stripped;
static struct ntrace_stack_change change; /* with the values that all changes share */

/* ---- queries ---- */

static char rows[4000];

static int take_row(void *data, int count, char **values, char **names)
{
	size_t used = strlen(rows);

	(void)data;
	(void)names;
	used += (size_t)snprintf(rows + used, sizeof(rows) - used, "%s", used ? "|" : "");
	for (int i = 0; i < count && used < sizeof(rows); i++)
		used += (size_t)snprintf(rows + used, sizeof(rows) - used, "%s%s", i ? " " : "",
					 values[i] ? values[i] : "-");
	return 0;
}

/* All rows as text: "A B|A B", "-" for NULL. */
static const char *query(const char *sql)
{
	const struct sqlite_library *library = sqlite_library();
	struct sqlite3 *db = NULL;

	rows[0] = '\0';
	if (library->open_v2(in("db"), &db, SQLITE_OPEN_READWRITE, NULL) ||
	    library->exec(db, sql, take_row, NULL, NULL))
		snprintf(rows, sizeof(rows), "no such rows");
	library->close(db);
	return rows;
}

/* ---- changes ---- */

static void begin(const struct ntrace_session *of)
{
	change = (struct ntrace_stack_change){ .cpu = 3,
					       .pid = 70,
					       .tid = 71,
					       .comm = "thread",
					       .kind = NTRACE_STACK_FUNCTION,
					       .object = object };
	unlink(in("db"));
	is_u64((uint64_t)ntrace_export_sqlite_open(&sqlite, in("db"), of), 0, "a database");
}

static void end(void)
{
	ok(access(in("db"), F_OK), "the file is not there before its end");
	is_u64((uint64_t)ntrace_export_sqlite_close(sqlite, true, &counts), 0, "is complete");
}

static void tell(unsigned int type, const char *name, uint64_t instructions)
{
	change.type = (uint8_t)type;
	change.name = name;
	change.instructions = instructions;
	/* Without timestamps the time is a number of instructions, too. */
	if (change.time_kind == NTRACE_STACK_TIME_NONE)
		change.time = instructions;
	if (ntrace_export_sqlite_change(sqlite, &change))
		ok(false, "a change is taken");
}

static void enter(const char *name, uint64_t instructions)
{
	change.called = true;
	tell(NTRACE_STACK_ENTER, name, instructions);
	change.called = false;
}

static void leave(uint64_t instructions)
{
	change.ended = true;
	tell(NTRACE_STACK_LEAVE, NULL, instructions);
	change.ended = false;
}

static void runs(uint64_t instructions)
{
	unsigned int kind = change.kind;

	change.kind = NTRACE_STACK_TASK;
	tell(NTRACE_STACK_RUN, NULL, instructions);
	change.kind = kind;
}

/* The tables say how well times are known. */
static void test_time_error(void)
{
	begin(&session);
	change.time_error = 700;
	runs(0);
	change.time_error = 1234567;
	runs(10);
	end();
	is_str(query("SELECT * FROM recording"),
	       "version 1|times CLOCK_MONOTONIC, within 1235 us|time_error 1234567",
	       "the bound of the error of times");
	begin(&session);
	change.time_error = UINT32_MAX;
	runs(0);
	end();
	is_str(query("SELECT * FROM recording"),
	       "version 1|times of the trace's counter: nothing in the recording relates it to "
	       "CLOCK_MONOTONIC; durations are right|time_error -",
	       "a bound that is not known");
}

static void test_calls(void)
{
	begin(&session);
	tell(NTRACE_STACK_ENTER, "main", 0);
	enter("alpha", 10);
	enter("_Z4betai", 20);
	leave(30);
	enter("alpha", 40);
	leave(50);
	/* The end of alpha() was lost. */
	tell(NTRACE_STACK_LEAVE, NULL, 60);
	end();
	is_u64(counts.calls, 3, "three calls, as main() was not called");
	is_str(query("SELECT c.id, symbol, parent, depth, stream, cpu, pid, tid, comm, start, end, "
		     "time, "
		     "first_instruction, end_instruction, called, returned FROM calls c JOIN "
		     "functions "
		     "f ON f.id = function ORDER BY c.id"),
	       "1 main - 0 0 3 70 71 thread 0 60 instructions 0 60 0 0|"
	       "2 alpha 1 1 0 3 70 71 thread 10 60 instructions 10 60 1 0|"
	       "3 _Z4betai 2 2 0 3 70 71 thread 20 30 instructions 20 30 1 1|"
	       "4 alpha 2 2 0 3 70 71 thread 40 50 instructions 40 50 1 1",
	       "with parents, places and instructions; main() and the first alpha() did not "
	       "return");
	is_str(query("SELECT name, symbol, object FROM functions ORDER BY id"),
	       "main main 1|alpha alpha 1|beta(int) _Z4betai 1", "functions, each once");
	is_str(query("SELECT id, name, build_id FROM objects"), "1 /bin/program -", "objects");
	is_str(query("SELECT * FROM recording"), "version 1", "the version");
	is_str(query("SELECT * FROM streams"), "0 3 4 aux.0 100 5 1 6 0|1 7 8 aux.1 0 0 0 0 0",
	       "streams");
}

/* Functions by their names, wherever the texts are. */
static void test_functions(void)
{
	static char names[3000][12];
	char again[12] = "f7";
	char want[40];

	begin(NULL);
	for (unsigned int i = 0; i < 3000; i++) {
		sprintf(names[i], "f%u", i);
		enter(names[i], i);
		leave(i);
	}
	enter(again, 5000);
	leave(5001);
	change.object = stripped;
	enter(again, 5002);
	leave(5003);
	change.kind = NTRACE_STACK_OBJECT;
	enter("stripped", 5004);
	leave(5005);
	change.kind = NTRACE_STACK_UNKNOWN;
	change.object = NULL;
	enter("[unknown]", 5006);
	leave(5007);
	end();
	is_str(query("SELECT count(*), count(DISTINCT symbol || ' ' || coalesce(object, '')) FROM "
		     "functions"),
	       "3003 3003", "each function once");
	is_str(query("SELECT name, object, count(*) FROM functions f JOIN calls ON function = f.id "
		     "WHERE symbol = 'f7' GROUP BY f.id"),
	       "f7 1 2|f7 2 1",
	       "a name at another address is the same, in another object it is not");
	is_str(query("SELECT name, symbol, object FROM functions WHERE id > 3001"),
	       "[stripped] stripped 2|  -", "code without a function is its object");
	snprintf(want, sizeof(want), "2 /lib/stripped");
	is_str(query("SELECT id, name FROM objects WHERE id = 2"), want, "the second object");
}

/* A thread keeps its calls when it moves to another hart. */
static void test_threads(void)
{
	begin(&session);
	runs(0);
	enter("alpha", 0);
	change.tid = 72;
	change.comm = "other";
	runs(10);
	enter("beta", 10);
	change.tid = 71;
	change.comm = "renamed";
	runs(20);
	leave(30);
	change.tid = -1;
	change.pid = -1;
	runs(40);
	tell(NTRACE_STACK_GAP, NULL, 45);
	change.stream = 1;
	change.cpu = 7;
	change.tid = 72;
	change.pid = 70;
	change.comm = "third";
	runs(53);
	enter("gamma", 55);
	leave(58);
	change.kind = NTRACE_STACK_ALL;
	tell(NTRACE_STACK_RUN, NULL, 59);
	end();
	is_str(query("SELECT symbol, stream, cpu, pid, tid, comm, start, end, returned FROM calls "
		     "c JOIN "
		     "functions f ON f.id = function ORDER BY c.id"),
	       "alpha 0 3 70 71 thread 0 30 1|beta 1 7 70 72 third 10 58 0|gamma 1 7 70 72 third "
	       "55 "
	       "58 1",
	       "calls of threads, which move");
	is_str(query("SELECT * FROM intervals"),
	       "1 0 3 70 71 thread 0 10 instructions 0 10|2 0 3 70 72 other 10 20 instructions 10 "
	       "20|3 0 3 70 71 renamed 20 40 instructions 20 40|4 1 7 70 72 third 53 59 "
	       "instructions "
	       "53 59|5 0 3 - - renamed 40 45 instructions 40 45",
	       "intervals end with the next one of the hart, or with the trace");
	is_str(query("SELECT * FROM losses"), "1 0 3 - - 45 instructions 45", "losses");
	ok(counts.calls == 3 && counts.intervals == 5 && counts.losses == 1, "their numbers");
}

static void test_times(void)
{
	static const struct {
		unsigned int begin, end;
		const char *time;
	} kinds[] = {
		{ NTRACE_STACK_TIME_NONE, NTRACE_STACK_TIME_NONE, "100 200 instructions" },
		{ 1, 1, "2000 3000 exact" },
		{ 1, 2, "2000 3000 interpolated" },
		{ 2, 1, "2000 3000 interpolated" },
		{ 3, 1, "2000 3000 outside" },
		{ 1, 3, "2000 3000 outside" },
	};

	params.timestamp_hz = 1000000;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		begin(&session);
		change.time_kind = (uint8_t)kinds[i].begin;
		change.time = 2000;
		runs(100);
		enter("alpha", 100);
		tell(NTRACE_STACK_GAP, NULL, 100);
		change.time_kind = (uint8_t)kinds[i].end;
		change.time = 3000;
		leave(200);
		change.kind = NTRACE_STACK_ALL;
		tell(NTRACE_STACK_RUN, NULL, 200);
		end();
		is_str(query("SELECT start, end, time FROM calls"), kinds[i].time,
		       "times of a call are as good as the worse one");
		is_str(query("SELECT start, end, time FROM intervals"), kinds[i].time,
		       "so are those of an interval");
		is_str(query("SELECT at FROM losses"), kinds[i].begin ? "2000" : "100",
		       "times are those of the changes");
	}
	params.timestamp_hz = 0;
	begin(&session);
	change.time_kind = 1;
	change.time = UINT64_MAX;
	enter("alpha", 1);
	leave(UINT64_MAX);
	end();
	is_str(query("SELECT start, end_instruction FROM calls"),
	       "9223372036854775807 9223372036854775807", "numbers end at the greatest of SQL");
	ok(counts.cut >= 2, "and how many is told");
	begin(NULL);
	change.time_kind = 1;
	change.time = 12;
	enter("alpha", 1);
	leave(2);
	end();
	is_str(query("SELECT start, end, stream FROM calls"), "12 12 0",
	       "without a session, in ticks");
	is_str(query("SELECT count(*) FROM streams"), "0", "and without streams");
}

static void test_files(void)
{
	begin(&session);
	enter("alpha", 0);
	end();
	is_u64((uint64_t)ntrace_export_sqlite_open(&sqlite, in("db"), NULL), 0,
	       "a second database");
	is_u64((uint64_t)ntrace_export_sqlite_close(sqlite, false, NULL), 0, "is not kept");
	is_str(query("SELECT symbol FROM functions"), "alpha", "the first one is still there");
	ok(!run("test $(ls -d %s* | wc -l) = 1", in("db")), "and nothing else");
	errno = 0;
	is_u64((uint64_t)ntrace_export_sqlite_open(&sqlite, in("none/db"), NULL),
	       (uint64_t)NTRACE_ERR_IO, "no such directory");
	is_u64((uint64_t)errno, ENOENT, "errno says so");
	run("mkdir %s %s/x", in("full"), in("full"));
	is_u64((uint64_t)ntrace_export_sqlite_open(&sqlite, in("full"), NULL),
	       (uint64_t)NTRACE_ERR_IO, "a directory has the name");
	is_u64((uint64_t)errno, EISDIR, "errno says so");
	ok(!run("test $(ls -d %s* | wc -l) = 1", in("full")), "and nothing is left beside it");
}

/* Sets @rows to what ntrace_export_sqlite_calls() writes; the database is a temporary file. */
static void text_of_calls(void)
{
	FILE *file = tmpfile();
	size_t size;

	if (!file)
		abort();
	is_u64((uint64_t)ntrace_export_sqlite_calls(sqlite, file), 0, "calls as text");
	rewind(file);
	size = fread(rows, 1, sizeof(rows) - 1, file);
	rows[size] = '\0';
	fclose(file);
	is_u64((uint64_t)ntrace_export_sqlite_close(sqlite, false, NULL), 0, "is complete");
}

static void test_text(void)
{
	static const char head[] = "call,parent,depth,pid,tid,comm,function,object,start,end,time,"
				   "first_instruction,end_instruction,called,returned";
	struct ntrace_session *none = NULL;

	begin(NULL);
	ntrace_export_sqlite_close(sqlite, false, NULL);
	is_u64((uint64_t)ntrace_export_sqlite_open(&sqlite, NULL, &session), 0, "without a path");
	change.comm = "a \"name\"";
	enter("alpha", 1);
	enter("beta", 3);
	leave(9);
	text_of_calls();
	is_u64(strcspn(rows, "\n"), strlen(head), "names of columns");
	ok(!strncmp(rows, head, strlen(head)), "as documented");
	ok(strstr(rows, "\n1,,0,70,71,\"a \"\"name\"\"\",\"alpha\","),
	   "names are quoted, and unknown is empty");
	ok(!run("test $(ls %s 2>/dev/null | wc -l) = 0", in("db")), "and there is no database");
	is_u64((uint64_t)ntrace_export_sqlite_open(&sqlite, NULL, &session), 0, "once more");
	is_u64((uint64_t)ntrace_export_sqlite_values(sqlite, none), 0, "values of no calls");
	is_u64((uint64_t)ntrace_export_sqlite_close(sqlite, false, NULL), 0, "are none");
}

int main(void)
{
	if (!sqlite_library()) {
		skip("databases", "libsqlite3 is not installed");
		return done_testing();
	}
	if (!scratch_make())
		return 1;
	ntrace_object_from_bytes(&object, "/bin/program", "\x13\0\0", 4, 0x1000);
	ntrace_object_from_bytes(&stripped, "/lib/stripped", "\x13\0\0", 4, 0x1000);
	test_calls();
	test_time_error();
	test_functions();
	test_threads();
	test_times();
	test_files();
	test_text();
	ntrace_object_put(object);
	ntrace_object_put(stripped);
	scratch_remove();
	return done_testing();
}
