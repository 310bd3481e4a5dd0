// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Values of calls, in a database that has all calls of user code. A call has the numbers of the first instruction
 * and of the one after its last, among those that its thread executed in user mode. So each thread is executed once
 * (values.h), with a visit of each of its calls, which the database orders: memory is bounded.
 *
 *	call                 when       what is read, if                          the function of the row is
 *	its first one, n     2n         a0 to a7: its start was seen              that of instruction n
 *	after its last, n    2n - 1     a0: no other call ends there, and         that of instruction n - 1,
 *	                                it is seen to return                      which is a return
 *
 * If the numbers of a thread are not those of its values, a function differs. Then no values of the thread are known.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/text.h>
#include <ntrace/values.h>

#include "calls.h"
#include "output/text.h"

#define A0 (NTRACE_EXEC_X + 10)
#define ARGUMENTS 8

static const char add_columns[] =
	"ALTER TABLE calls ADD COLUMN a0 INTEGER; ALTER TABLE calls ADD COLUMN a1 INTEGER;"
	"ALTER TABLE calls ADD COLUMN a2 INTEGER; ALTER TABLE calls ADD COLUMN a3 INTEGER;"
	"ALTER TABLE calls ADD COLUMN a4 INTEGER; ALTER TABLE calls ADD COLUMN a5 INTEGER;"
	"ALTER TABLE calls ADD COLUMN a6 INTEGER; ALTER TABLE calls ADD COLUMN a7 INTEGER;"
	"ALTER TABLE calls ADD COLUMN result INTEGER;"
	"CREATE INDEX calls_thread ON calls(pid, tid);";

enum {
	GET_THREADS,
	GET_VISITS,
	SET_ARGUMENTS,
	SET_RESULT,
	FORGET_THREAD,
	STATEMENTS,
};

static const char *const statements[STATEMENTS] = {
	[GET_THREADS] = "SELECT DISTINCT pid, tid FROM calls WHERE pid > 0 AND tid > 0",
	[GET_VISITS] =
		"SELECT 2 * first_instruction AS visit, calls.id, symbol FROM calls"
		" JOIN functions ON functions.id = function WHERE pid = ?1 AND tid = ?2 AND called"
		" UNION ALL SELECT 2 * end_instruction - 1, calls.id, symbol FROM calls"
		" JOIN functions ON functions.id = function"
		" WHERE pid = ?1 AND tid = ?2 AND end_instruction > 0"
		" GROUP BY end_instruction HAVING count(*) = 1 AND min(returned)"
		" ORDER BY visit",
	[SET_ARGUMENTS] = "UPDATE calls SET a0 = ?2, a1 = ?3, a2 = ?4, a3 = ?5, a4 = ?6, a5 = ?7,"
			  " a6 = ?8, a7 = ?9 WHERE id = ?1",
	[SET_RESULT] = "UPDATE calls SET result = ?2 WHERE id = ?1",
	[FORGET_THREAD] = "UPDATE calls SET a0 = NULL, a1 = NULL, a2 = NULL, a3 = NULL, a4 = NULL,"
			  " a5 = NULL, a6 = NULL, a7 = NULL, result = NULL"
			  " WHERE pid = ?1 AND tid = ?2",
};

/*
 * @row: result of the last step over the visits of the thread
 * @differs: a call of the thread is not in the function that the row has
 * @result: the first result of a function that failed
 */
struct filling {
	const struct sqlite_library *library;
	struct sqlite3_stmt *statement[STATEMENTS];
	int row;
	bool differs;
	int result;
};

static void fill_failed(struct filling *filling, int result)
{
	if (!filling->result)
		filling->result = result;
}

/* Executes a statement, which has no rows. */
static void execute_statement(struct filling *filling, unsigned int which)
{
	int result = filling->library->step(filling->statement[which]);

	if (result != SQLITE_DONE)
		fill_failed(filling, result);
	filling->library->reset(filling->statement[which]);
}

static void next_row(struct filling *filling)
{
	filling->row = filling->library->step(filling->statement[GET_VISITS]);
	if (filling->row != SQLITE_ROW && filling->row != SQLITE_DONE)
		fill_failed(filling, filling->row);
}

static int64_t number_in_row(const struct filling *filling, int column)
{
	return filling->library->column_int64(filling->statement[GET_VISITS], column);
}

/* When the next row wants a visit. */
static uint64_t wanted(const struct filling *filling)
{
	return filling->row == SQLITE_ROW && !filling->differs ?
		       (uint64_t)number_in_row(filling, 0) :
		       UINT64_MAX;
}

/* Whether the instruction is in the function of the row. */
static bool is_in_function(const struct filling *filling, const struct ntrace_values_visit *visit)
{
	const unsigned char *symbol =
		filling->library->column_text(filling->statement[GET_VISITS], 2);
	struct ntrace_location at = { 0 };
	const char *name;
	char *room;
	bool same;

	if (!symbol || !visit->flow->space ||
	    ntrace_space_locate(visit->flow->space, visit->address, &at) || !at.object)
		return false;
	name = text_for_programs(at.symbol ? at.function : ntrace_object_short_name(at.object),
				 &room);
	same = !strcmp((const char *)symbol, name);
	free(room);
	return same;
}

/* Sets columns of the row to registers from a0 on. */
static void set_registers(struct filling *filling, unsigned int which, int count,
			  const struct ntrace_exec *exec)
{
	const struct sqlite_library *library = filling->library;
	struct sqlite3_stmt *statement = filling->statement[which];
	int bad = library->bind_int64(statement, 1, number_in_row(filling, 1));

	for (int i = 0; i < count; i++) {
		struct ntrace_exec_value value = { 0, 0 };

		ntrace_exec_get(exec, A0 + (unsigned int)i, &value);
		if (value.known == UINT64_MAX)
			bad |= library->bind_int64(statement, i + 2, (int64_t)value.bits);
		else
			bad |= library->bind_null(statement, i + 2);
	}
	if (bad)
		fill_failed(filling, bad);
	execute_statement(filling, which);
}

static uint64_t visit_call(void *data, const struct ntrace_values_visit *visit)
{
	struct filling *filling = data;
	bool after = visit->when & 1;

	while (wanted(filling) == visit->when) {
		bool same = is_in_function(filling, visit);

		/* After a tail call or longjmp() the last instruction is of another kind or function. */
		if (!after && same)
			set_registers(filling, SET_ARGUMENTS, ARGUMENTS, visit->exec);
		else if (after && same && visit->insn_class == NTRACE_INSN_RETURN)
			set_registers(filling, SET_RESULT, 1, visit->exec);
		filling->differs |= !after && !same;
		next_row(filling);
		if (filling->result)
			return UINT64_MAX;
	}
	return wanted(filling);
}

static void bind_thread(struct filling *filling, unsigned int which, int64_t pid, int64_t tid)
{
	struct sqlite3_stmt *statement = filling->statement[which];
	int bad = filling->library->bind_int64(statement, 1, pid) |
		  filling->library->bind_int64(statement, 2, tid);

	if (bad)
		fill_failed(filling, bad);
}

static int fill_thread(struct filling *filling, struct ntrace_session *session, int64_t pid,
		       int64_t tid)
{
	const struct ntrace_values_config config = {
		.size = sizeof(config),
		.session = session,
		.pid = (int32_t)pid,
		.tid = (int32_t)tid,
	};
	struct ntrace_values *values;
	int error = ntrace_values_new(&values, &config);

	if (error)
		return error;
	filling->differs = false;
	bind_thread(filling, GET_VISITS, pid, tid);
	next_row(filling);
	if (wanted(filling) != UINT64_MAX)
		error = ntrace_values_walk(values, wanted(filling), visit_call, filling);
	/* All rows are visited, unless the thread has fewer instructions. */
	filling->differs |= wanted(filling) != UINT64_MAX;
	filling->library->reset(filling->statement[GET_VISITS]);
	if (filling->differs && !filling->result) {
		bind_thread(filling, FORGET_THREAD, pid, tid);
		execute_statement(filling, FORGET_THREAD);
	}
	ntrace_values_free(values);
	return error;
}

static int fill_threads(struct filling *filling, struct ntrace_session *session)
{
	const struct sqlite_library *library = filling->library;
	struct sqlite3_stmt *threads = filling->statement[GET_THREADS];
	int row = 0, error = 0;

	while (!error && !filling->result && (row = library->step(threads)) == SQLITE_ROW)
		error = fill_thread(filling, session, library->column_int64(threads, 0),
				    library->column_int64(threads, 1));
	if (!error && row != SQLITE_ROW && row != SQLITE_DONE)
		fill_failed(filling, row);
	return error;
}

int calls_add_values(const struct sqlite_library *library, struct sqlite3 *db,
		     struct ntrace_session *session, int *result)
{
	struct filling filling = { .library = library };
	int error = 0;

	filling.result = library->exec(db, add_columns, NULL, NULL, NULL);
	for (unsigned int i = 0; i < STATEMENTS && !filling.result; i++)
		filling.result =
			library->prepare_v2(db, statements[i], -1, &filling.statement[i], NULL);
	if (!filling.result)
		error = fill_threads(&filling, session);
	for (unsigned int i = 0; i < STATEMENTS; i++)
		library->finalize(filling.statement[i]);
	*result = filling.result;
	return error;
}

/* ---- text ---- */

#define QUOTED(column) "'\"' || replace(" column ", '\"', '\"\"') || '\"' AS "
#define HEX(column) ", CASE WHEN " column " NOT NULL THEN printf('0x%x', " column ") END AS " column

#define SELECT_CALLS                                                                              \
	"SELECT calls.id AS call, parent, depth, pid, tid, " QUOTED("comm") "comm, "              \
	QUOTED("functions.name") "function, " QUOTED("objects.name") "object, start, end, time,"  \
	" first_instruction, end_instruction, called, returned"
#define FROM_CALLS                                                                                \
	" FROM calls JOIN functions ON functions.id = function"                                   \
	" LEFT JOIN objects ON objects.id = object ORDER BY calls.id"

static const char select_calls[] = SELECT_CALLS FROM_CALLS;
static const char select_values[] = SELECT_CALLS HEX("a0") HEX("a1") HEX("a2") HEX("a3") HEX("a4")
	HEX("a5") HEX("a6") HEX("a7") HEX("result") FROM_CALLS;

struct printing {
	FILE *file;
	bool started;
};

static void print_fields(FILE *file, int count, char **fields)
{
	char *room;

	for (int i = 0; i < count; i++) {
		fprintf(file, "%s%s", i ? "," : "",
			ntrace_text_clean(fields[i] ? fields[i] : "", &room));
		free(room);
	}
	putc('\n', file);
}

static int print_row(void *data, int count, char **values, char **names)
{
	struct printing *printing = data;

	if (!printing->started)
		print_fields(printing->file, count, names);
	printing->started = true;
	print_fields(printing->file, count, values);
	return ferror(printing->file);
}

int calls_print(const struct sqlite_library *library, struct sqlite3 *db, bool values, FILE *file)
{
	struct printing printing = { .file = file };

	return library->exec(db, values ? select_values : select_calls, print_row, &printing, NULL);
}
