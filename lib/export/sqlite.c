// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A database of SQLite with every call, scheduling interval and loss, and the sums of functions and
 * branches, for questions in SQL: Documentation/sql.md. A call is a row when it has ended, so only
 * the calls in progress are in memory.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/export_sqlite.h>
#include <ntrace/functions.h>
#include <ntrace/output.h>

#include "calls.h"
#include "grow.h"
#include "output/text.h"
#include "pairs.h"
#include "sqlite_library.h"
#include "stacks.h"
#include "struct_size.h"

static const char schema[] =
	"PRAGMA journal_mode = OFF;"
	"PRAGMA synchronous = OFF;"
	"CREATE TABLE recording(key TEXT PRIMARY KEY, value);"
	"CREATE TABLE streams(id INTEGER PRIMARY KEY, cpu INTEGER, hart INTEGER, file TEXT,"
	" bytes INTEGER, lost_bytes INTEGER, lost_exact INTEGER, gaps INTEGER, tick_hz INTEGER);"
	"CREATE TABLE objects(id INTEGER PRIMARY KEY, name TEXT, build_id TEXT);"
	"CREATE TABLE functions(id INTEGER PRIMARY KEY, name TEXT, symbol TEXT,"
	" object INTEGER REFERENCES objects(id), instructions INTEGER DEFAULT 0,"
	" calls INTEGER DEFAULT 0, branches INTEGER DEFAULT 0);"
	"CREATE TABLE calls(id INTEGER PRIMARY KEY, function INTEGER REFERENCES functions(id),"
	" parent INTEGER, depth INTEGER, stream INTEGER REFERENCES streams(id), cpu INTEGER,"
	" pid INTEGER, tid INTEGER, comm TEXT, start INTEGER, end INTEGER, time TEXT,"
	" first_instruction INTEGER, end_instruction INTEGER, called INTEGER, returned INTEGER);"
	"CREATE TABLE intervals(id INTEGER PRIMARY KEY, stream INTEGER REFERENCES streams(id),"
	" cpu INTEGER, pid INTEGER, tid INTEGER, comm TEXT, start INTEGER, end INTEGER, time TEXT,"
	" first_instruction INTEGER, end_instruction INTEGER);"
	"CREATE TABLE losses(id INTEGER PRIMARY KEY, stream INTEGER REFERENCES streams(id),"
	" cpu INTEGER, pid INTEGER, tid INTEGER, at INTEGER, time TEXT, instruction INTEGER);"
	"CREATE TABLE branches(from_object INTEGER REFERENCES objects(id), from_address INTEGER,"
	" from_function INTEGER REFERENCES functions(id), object INTEGER REFERENCES objects(id),"
	" address INTEGER, function INTEGER REFERENCES functions(id), class TEXT, taken INTEGER,"
	" executed INTEGER);"
	"BEGIN;";

static const char indexes[] = "COMMIT;"
			      "CREATE INDEX calls_function ON calls(function);"
			      "CREATE INDEX calls_parent ON calls(parent);"
			      "CREATE INDEX intervals_cpu ON intervals(cpu, start);"
			      "CREATE INDEX branches_from ON branches(from_function);";

enum {
	PUT_RECORDING,
	PUT_STREAM,
	PUT_OBJECT,
	PUT_FUNCTION,
	PUT_SUMS,
	PUT_CALL,
	PUT_INTERVAL,
	PUT_LOSS,
	PUT_BRANCH,
	STATEMENTS,
};

static const char add_sums[] = "UPDATE functions SET instructions=instructions+?2, calls=calls+?3,"
			       " branches=branches+?4 WHERE id=?1";

static const char *const statements[STATEMENTS] = {
	[PUT_RECORDING] = "INSERT INTO recording VALUES(?,?)",
	[PUT_STREAM] = "INSERT INTO streams VALUES(?,?,?,?,?,?,?,?,?)",
	[PUT_OBJECT] = "INSERT INTO objects VALUES(?,?,?)",
	[PUT_FUNCTION] = "INSERT INTO functions(id,name,symbol,object) VALUES(?,?,?,?)",
	[PUT_SUMS] = add_sums,
	[PUT_CALL] = "INSERT INTO calls VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[PUT_INTERVAL] = "INSERT INTO intervals VALUES(?,?,?,?,?,?,?,?,?,?,?)",
	[PUT_LOSS] = "INSERT INTO losses VALUES(?,?,?,?,?,?,?,?)",
	[PUT_BRANCH] = "INSERT INTO branches VALUES(?,?,?,?,?,?,?,?,?)",
};

static const char *const time_names[] = { "instructions", "exact", "interpolated", "outside" };

/* A call in progress. */
struct open_call {
	uint64_t id;
	uint64_t function;
	uint64_t start;
	uint64_t instructions;
	uint8_t time_kind;
	uint8_t called;
};

/* The interval in progress of a hart, if @in_interval; @last is its last change. */
struct open_hart {
	struct ntrace_stack_change begin;
	struct ntrace_stack_change last;
	char comm[64];
	bool in_interval;
};

/* The calls in progress of a thread; @last is the last change of the thread. */
struct open_thread {
	struct open_call *calls;
	size_t count;
	size_t room;
	struct ntrace_stack_change last;
	char comm[64];
};

/* A known name; the numbers of names are those of their texts. */
struct text {
	char *text;
	uint64_t number;
};

/*
 * @objects: an object by its address
 * @names: a function by the object's number and the address of its name, which the stacks keep
 * @functions: a function by the object's number and the number of its name
 * @texts: hash table of names, for functions whose names are at several addresses
 * @threads: by tid; idle and unknown threads by stream and tid
 * @harts: by stream
 * @entered: number of calls that began
 * @time_error: as in struct ntrace_stack_change, of the last one
 * @valued: calls have values
 * @error: the first error; @reason: its errno, if it is NTRACE_ERR_IO
 */
struct ntrace_export_sqlite {
	const struct sqlite_library *library;
	const struct ntrace_session *session;
	struct sqlite3 *db;
	struct sqlite3_stmt *put[STATEMENTS];
	struct ntrace_output *output;
	struct pairs objects;
	struct pairs names;
	struct pairs functions;
	uint64_t *function_of_name;
	size_t function_of_name_room;
	struct text *texts;
	size_t text_count;
	size_t text_room;
	struct pairs threads;
	struct open_thread *open;
	size_t open_count;
	size_t open_room;
	struct open_hart *harts;
	size_t hart_count;
	uint64_t entered;
	uint64_t calls;
	uint64_t intervals;
	uint64_t losses;
	uint64_t cut;
	uint64_t time_error;
	bool valued;
	int error;
	int reason;
};

/* ---- rows ---- */

/* The error of all calls after the first one that failed. */
static int kept_error(const struct ntrace_export_sqlite *sqlite)
{
	if (sqlite->error == NTRACE_ERR_IO)
		errno = sqlite->reason;
	return sqlite->error;
}

/* @result: of the function that failed. SQLite does not keep the errno of every write. */
static void fail_db(struct ntrace_export_sqlite *sqlite, int result)
{
	int last = errno, reason = sqlite->db ? sqlite->library->system_errno(sqlite->db) : 0;

	if ((result & 0xff) == SQLITE_FULL)
		reason = ENOSPC;
	else if ((result & 0xff) == SQLITE_IOERR && !reason)
		reason = last;
	if (sqlite->error)
		return;
	sqlite->error = NTRACE_ERR_IO;
	sqlite->reason = reason ? reason : EIO;
}

static void run_sql(struct ntrace_export_sqlite *sqlite, const char *sql)
{
	int result = sqlite->error ? 0 : sqlite->library->exec(sqlite->db, sql, NULL, NULL, NULL);

	if (result)
		fail_db(sqlite, result);
}

/* SQLITE_TRANSIENT: the library copies the text. */
static int bind_name(const struct sqlite_library *library, struct sqlite3_stmt *statement,
		     int column, const char *name)
{
	char *room;
	const char *clean = text_for_programs(name, &room);
	int bad = library->bind_text(statement, column, clean, -1, (void (*)(void *))(intptr_t)-1);

	free(room);
	return bad;
}

/*
 * Executes a statement. @types has a letter for each value: i number, u number that may exceed the
 * signed range (ends there), t text, n number or NULL for UINT64_MAX.
 */
static void put_row(struct ntrace_export_sqlite *sqlite, unsigned int which, const char *types, ...)
{
	struct sqlite3_stmt *statement = sqlite->put[which];
	const struct sqlite_library *library = sqlite->library;
	va_list values;
	int bad = 0;

	if (sqlite->error)
		return;
	va_start(values, types);
	for (int i = 1; types[i - 1]; i++) {
		const char *text;
		uint64_t number;

		if (types[i - 1] == 't') {
			text = va_arg(values, const char *);
			bad |= text ? bind_name(library, statement, i, text) :
				      library->bind_null(statement, i);
			continue;
		}
		number = va_arg(values, uint64_t);
		if (types[i - 1] == 'n' && number == UINT64_MAX)
			bad |= library->bind_null(statement, i);
		else if (types[i - 1] == 'u' && number > INT64_MAX && ++sqlite->cut)
			bad |= library->bind_int64(statement, i, INT64_MAX);
		else
			bad |= library->bind_int64(statement, i, (int64_t)number);
	}
	va_end(values);
	if (!bad)
		bad = library->step(statement);
	if (bad != SQLITE_DONE)
		fail_db(sqlite, bad);
	library->reset(statement);
}

static uint64_t pair(struct ntrace_export_sqlite *sqlite, struct pairs *pairs, uint64_t a,
		     uint64_t b, bool *is_new)
{
	uint64_t number = pairs_number(pairs, a, b, is_new);

	if (!number && !sqlite->error)
		sqlite->error = NTRACE_ERR_NOMEM;
	return number;
}

/* ---- objects and functions ---- */

static uint64_t put_object(struct ntrace_export_sqlite *sqlite, const struct ntrace_object *object)
{
	char id[2 * NTRACE_BUILD_ID_MAX + 1] = "";
	const uint8_t *build_id;
	uint64_t number;
	size_t size, i;
	bool is_new;

	if (!object)
		return UINT64_MAX;
	number = pair(sqlite, &sqlite->objects, (uintptr_t)object, 0, &is_new);
	if (!is_new)
		return number;
	build_id = ntrace_object_build_id(object, &size);
	for (i = 0; i < size && i < NTRACE_BUILD_ID_MAX; i++)
		snprintf(id + 2 * i, 3, "%02x", build_id[i]);
	put_row(sqlite, PUT_OBJECT, "itt", number, ntrace_object_name(object), size ? id : NULL);
	return number;
}

static size_t text_slot(const struct ntrace_export_sqlite *sqlite, const char *text)
{
	uint64_t hash = 14695981039346656037u;
	size_t slot;

	for (const char *at = text; *at; at++)
		hash = (hash ^ (uint8_t)*at) * 1099511628211u;
	slot = (size_t)(hash ^ hash >> 32) & (sqlite->text_room - 1);
	while (sqlite->texts[slot].text && strcmp(sqlite->texts[slot].text, text))
		slot = (slot + 1) & (sqlite->text_room - 1);
	return slot;
}

static int grow_texts(struct ntrace_export_sqlite *sqlite)
{
	struct text *old = sqlite->texts;
	size_t room = sqlite->text_room, i;

	if (2 * sqlite->text_count < room)
		return 0;
	sqlite->texts = calloc(room ? 2 * room : 1024, sizeof(*sqlite->texts));
	if (!sqlite->texts) {
		sqlite->texts = old;
		return NTRACE_ERR_NOMEM;
	}
	sqlite->text_room = room ? 2 * room : 1024;
	for (i = 0; i < room; i++)
		if (old[i].text)
			sqlite->texts[text_slot(sqlite, old[i].text)] = old[i];
	free(old);
	return 0;
}

/* The number of a name, from 1 on. */
static uint64_t text_number(struct ntrace_export_sqlite *sqlite, const char *text)
{
	struct text *found;

	if (grow_texts(sqlite)) {
		sqlite->error = NTRACE_ERR_NOMEM;
		return 0;
	}
	found = &sqlite->texts[text_slot(sqlite, text)];
	if (!found->text) {
		found->text = strdup(text);
		found->number = ++sqlite->text_count;
		if (!found->text)
			sqlite->error = NTRACE_ERR_NOMEM;
	}
	return found->number;
}

/* @kind: enum ntrace_stack_kind; @name may be NULL: code without a function. */
static uint64_t put_function(struct ntrace_export_sqlite *sqlite,
			     const struct ntrace_object *object, unsigned int kind,
			     const char *name)
{
	uint64_t in = put_object(sqlite, object), number;
	bool is_new;
	char *shown;

	if (!name)
		name = object ? ntrace_object_short_name(object) : "";
	number = pair(sqlite, &sqlite->functions, in, text_number(sqlite, name), &is_new);
	if (!is_new)
		return number;
	shown = stack_frame_name(kind, name);
	if (!shown && !sqlite->error)
		sqlite->error = NTRACE_ERR_NOMEM;
	put_row(sqlite, PUT_FUNCTION, "ittn", number, shown, name, in);
	free(shown);
	return number;
}

/* The function of a change, whose name is at the same address each time. */
static uint64_t function_of(struct ntrace_export_sqlite *sqlite,
			    const struct ntrace_stack_change *change)
{
	uint64_t number;
	bool is_new;
	size_t room;

	number = pair(sqlite, &sqlite->names, (uintptr_t)change->object, (uintptr_t)change->name,
		      &is_new);
	while (number >= sqlite->function_of_name_room && !sqlite->error) {
		uint64_t *grown;

		room = sqlite->function_of_name_room ? 2 * sqlite->function_of_name_room : 1024;
		grown = realloc(sqlite->function_of_name, room * sizeof(*grown));
		if (!grown) {
			sqlite->error = NTRACE_ERR_NOMEM;
			break;
		}
		sqlite->function_of_name = grown;
		sqlite->function_of_name_room = room;
	}
	if (sqlite->error)
		return 0;
	if (is_new)
		sqlite->function_of_name[number] =
			put_function(sqlite, change->object, change->kind,
				     change->kind == NTRACE_STACK_FUNCTION ? change->name : NULL);
	return sqlite->function_of_name[number];
}

/* ---- changes ---- */

static uint64_t number_of(int32_t id)
{
	return id < 0 ? UINT64_MAX : (uint64_t)id;
}

static struct open_thread *thread_of(struct ntrace_export_sqlite *sqlite,
				     const struct ntrace_stack_change *change)
{
	struct open_thread *thread;
	uint64_t number;
	bool is_new;

	number = pair(sqlite, &sqlite->threads, change->tid > 0 ? 0 : change->stream + 1,
		      (uint32_t)change->tid, &is_new);
	if (is_new && !sqlite->error) {
		sqlite->error = grow((void **)&sqlite->open, sqlite->open_count, &sqlite->open_room,
				     sizeof(*sqlite->open));
		if (!sqlite->error)
			sqlite->open[sqlite->open_count++] = (struct open_thread){ .count = 0 };
	}
	if (sqlite->error)
		return NULL;
	thread = &sqlite->open[number - 1];
	if (change->type != NTRACE_STACK_LEAVE)
		snprintf(thread->comm, sizeof(thread->comm), "%s", change->comm);
	thread->last = *change;
	thread->last.comm = NULL;
	return thread;
}

static void put_call(struct ntrace_export_sqlite *sqlite, struct open_thread *thread,
		     const struct ntrace_stack_change *end, bool returned)
{
	const struct open_call *call = &thread->calls[--thread->count];
	uint64_t parent = thread->count ? thread->calls[thread->count - 1].id : UINT64_MAX;
	unsigned int time = call->time_kind < end->time_kind ? end->time_kind : call->time_kind;

	sqlite->calls += call->called == 1;
	put_row(sqlite, PUT_CALL, "iiniiinntuutuuii", call->id, call->function, parent,
		(uint64_t)thread->count, (uint64_t)end->stream, (uint64_t)end->cpu,
		number_of(end->pid), number_of(end->tid), thread->comm, call->start, end->time,
		time_names[time & 3], call->instructions, end->instructions, (uint64_t)call->called,
		(uint64_t)returned);
}

static void enter(struct ntrace_export_sqlite *sqlite, const struct ntrace_stack_change *change)
{
	struct open_thread *thread = thread_of(sqlite, change);
	uint64_t function = function_of(sqlite, change);

	if (sqlite->error)
		return;
	sqlite->error =
		grow((void **)&thread->calls, thread->count, &thread->room, sizeof(*thread->calls));
	if (sqlite->error)
		return;
	thread->calls[thread->count++] = (struct open_call){
		.id = ++sqlite->entered,
		.function = function,
		.start = change->time,
		.instructions = change->instructions,
		.time_kind = change->time_kind,
		.called = change->called ? 1 : 2 * change->begins,
	};
}

static void leave(struct ntrace_export_sqlite *sqlite, const struct ntrace_stack_change *change)
{
	struct open_thread *thread = thread_of(sqlite, change);

	if (thread && thread->count)
		put_call(sqlite, thread, change, change->ended);
}

static void put_loss(struct ntrace_export_sqlite *sqlite, const struct ntrace_stack_change *change)
{
	put_row(sqlite, PUT_LOSS, "iiinnuti", ++sqlite->losses, (uint64_t)change->stream,
		(uint64_t)change->cpu, number_of(change->pid), number_of(change->tid), change->time,
		time_names[change->time_kind & 3], change->instructions);
}

static void end_interval(struct ntrace_export_sqlite *sqlite, struct open_hart *hart,
			 const struct ntrace_stack_change *end)
{
	const struct ntrace_stack_change *begin = &hart->begin;
	unsigned int time = begin->time_kind < end->time_kind ? end->time_kind : begin->time_kind;

	if (!hart->in_interval)
		return;
	hart->in_interval = false;
	put_row(sqlite, PUT_INTERVAL, "iiinntuutuu", ++sqlite->intervals, (uint64_t)begin->stream,
		(uint64_t)begin->cpu, number_of(begin->pid), number_of(begin->tid), hart->comm,
		begin->time, end->time, time_names[time & 3], begin->instructions,
		end->instructions);
}

static void begin_interval(struct ntrace_export_sqlite *sqlite, struct open_hart *hart,
			   const struct ntrace_stack_change *change)
{
	end_interval(sqlite, hart, change);
	if (change->kind != NTRACE_STACK_TASK)
		return;
	hart->begin = *change;
	snprintf(hart->comm, sizeof(hart->comm), "%s", change->comm);
	hart->in_interval = true;
}

/* Writes the calls and intervals that were in progress at the end of the trace. */
static void end_trace(struct ntrace_export_sqlite *sqlite)
{
	for (size_t i = 0; i < sqlite->open_count; i++) {
		struct open_thread *thread = &sqlite->open[i];

		while (thread->count && !sqlite->error)
			put_call(sqlite, thread, &thread->last, false);
		free(thread->calls);
	}
	for (size_t i = 0; i < sqlite->hart_count; i++)
		end_interval(sqlite, &sqlite->harts[i], &sqlite->harts[i].last);
	sqlite->open_count = 0;
	free(sqlite->harts);
	sqlite->harts = NULL;
	sqlite->hart_count = 0;
	pairs_free(&sqlite->threads);
}

static struct open_hart *hart_of(struct ntrace_export_sqlite *sqlite, uint32_t stream)
{
	if (stream >= sqlite->hart_count) {
		struct open_hart *harts =
			realloc(sqlite->harts, (stream + (size_t)1) * sizeof(*harts));

		if (!harts) {
			sqlite->error = NTRACE_ERR_NOMEM;
			return NULL;
		}
		memset(harts + sqlite->hart_count, 0,
		       (stream + (size_t)1 - sqlite->hart_count) * sizeof(*harts));
		sqlite->harts = harts;
		sqlite->hart_count = stream + (size_t)1;
	}
	return &sqlite->harts[stream];
}

int ntrace_export_sqlite_change(void *data, const struct ntrace_stack_change *change)
{
	struct ntrace_export_sqlite *sqlite = data;
	struct open_hart *hart = hart_of(sqlite, change->stream);

	if (!hart)
		return kept_error(sqlite);
	switch (change->type) {
	case NTRACE_STACK_ENTER:
		enter(sqlite, change);
		break;
	case NTRACE_STACK_LEAVE:
		leave(sqlite, change);
		break;
	case NTRACE_STACK_GAP:
		put_loss(sqlite, change);
		break;
	default:
		begin_interval(sqlite, hart, change);
	}
	hart->last = *change;
	sqlite->time_error = change->time_error;
	return kept_error(sqlite);
}

/* ---- sums ---- */

static uint64_t function_at(struct ntrace_export_sqlite *sqlite, struct ntrace_object *object,
			    uint64_t address)
{
	struct ntrace_location location = { 0 };

	if (!object)
		return UINT64_MAX;
	ntrace_object_locate(object, address, &location);
	return put_function(sqlite, object,
			    location.function ? NTRACE_STACK_FUNCTION : NTRACE_STACK_OBJECT,
			    location.function);
}

static void put_branch(struct ntrace_export_sqlite *sqlite, const struct ntrace_profile_edge *edge)
{
	uint64_t from = function_at(sqlite, edge->from_object, edge->from);
	uint64_t to = function_at(sqlite, edge->object, edge->to);

	put_row(sqlite, PUT_BRANCH, "ninnintuu", put_object(sqlite, edge->from_object), edge->from,
		from, put_object(sqlite, edge->object), edge->to, to,
		ntrace_insn_class_name(edge->from_class), edge->taken, edge->executed);
}

int ntrace_export_sqlite_profile(struct ntrace_export_sqlite *sqlite,
				 struct ntrace_profile *profile)
{
	const struct ntrace_profile_function *functions;
	const struct ntrace_profile_edge *edges;
	size_t count, i;
	int error;

	end_trace(sqlite);
	functions = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_OBJECT, &count);
	for (i = 0; i < count && !sqlite->error; i++) {
		unsigned int kind = functions[i].name   ? NTRACE_STACK_FUNCTION :
				    functions[i].object ? NTRACE_STACK_OBJECT :
							  NTRACE_STACK_UNKNOWN;

		put_row(sqlite, PUT_SUMS, "iuuu",
			put_function(sqlite, functions[i].object, kind, functions[i].name),
			functions[i].instructions, functions[i].calls, functions[i].branches);
	}
	error = ntrace_profile_edges(profile, &edges, &count);
	if (error && !sqlite->error)
		sqlite->error = error;
	for (i = 0; i < count && !sqlite->error; i++)
		put_branch(sqlite, &edges[i]);
	return kept_error(sqlite);
}

int ntrace_export_sqlite_values(struct ntrace_export_sqlite *sqlite, struct ntrace_session *session)
{
	int result = 0, error;

	end_trace(sqlite);
	if (sqlite->error)
		return kept_error(sqlite);
	sqlite->valued = true;
	error = calls_add_values(sqlite->library, sqlite->db, session, &result);
	if (result)
		fail_db(sqlite, result);
	else
		sqlite->error = error;
	return kept_error(sqlite);
}

int ntrace_export_sqlite_calls(struct ntrace_export_sqlite *sqlite, FILE *file)
{
	int result;

	end_trace(sqlite);
	if (sqlite->error)
		return kept_error(sqlite);
	result = calls_print(sqlite->library, sqlite->db, sqlite->valued, file);
	if (ferror(file)) {
		sqlite->error = NTRACE_ERR_IO;
		sqlite->reason = errno;
	} else if (result) {
		fail_db(sqlite, result);
	}
	return kept_error(sqlite);
}

/* ---- the file ---- */

static const char *name_in_recording(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_streams(struct ntrace_export_sqlite *sqlite)
{
	const struct ntrace_stream *stream;

	for (unsigned int i = 0;
	     sqlite->session && (stream = ntrace_session_stream(sqlite->session, i)); i++)
		put_row(sqlite, PUT_STREAM, "iiituuiuu", (uint64_t)i, (uint64_t)stream->cpu,
			stream->hartid, name_in_recording(stream->file), stream->bytes,
			stream->lost, (uint64_t)stream->lost_exact, stream->gaps,
			stream->params->timestamp_hz);
}

static void prepare(struct ntrace_export_sqlite *sqlite)
{
	/* An empty name is a file that SQLite removes. */
	const char *name = sqlite->output ? ntrace_output_name(sqlite->output) : "";
	int result = sqlite->library->open_v2(
		name, &sqlite->db, SQLITE_OPEN_READWRITE | (*name ? 0 : SQLITE_OPEN_CREATE), NULL);

	if (result)
		fail_db(sqlite, result);
	run_sql(sqlite, schema);
	for (unsigned int i = 0; i < STATEMENTS && !sqlite->error; i++) {
		result = sqlite->library->prepare_v2(sqlite->db, statements[i], -1, &sqlite->put[i],
						     NULL);
		if (result)
			fail_db(sqlite, result);
	}
	put_row(sqlite, PUT_RECORDING, "ti", "version", (uint64_t)1);
	put_streams(sqlite);
}

int ntrace_export_sqlite_open(struct ntrace_export_sqlite **sqlite, const char *path,
			      const struct ntrace_session *session)
{
	const struct sqlite_library *library = sqlite_library();
	struct ntrace_export_sqlite *made;
	int error;

	if (!library)
		return NTRACE_ERR_UNSUPPORTED;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->library = library;
	made->session = session;
	if (path)
		made->error = ntrace_output_open(&made->output, path, true);
	made->reason = errno;
	/* SQLite opens a file by its name, locks it, and goes back in it. */
	if (path && !made->error && !strcmp(ntrace_output_name(made->output), path))
		made->error = NTRACE_ERR_INVALID;
	if (!made->error)
		prepare(made);
	if (made->error) {
		error = made->error;
		ntrace_export_sqlite_close(made, false, NULL);
		return error;
	}
	*sqlite = made;
	return 0;
}

static void free_tables(struct ntrace_export_sqlite *sqlite)
{
	for (size_t i = 0; i < sqlite->text_room; i++)
		free(sqlite->texts[i].text);
	for (size_t i = 0; i < sqlite->open_count; i++)
		free(sqlite->open[i].calls);
	free(sqlite->texts);
	free(sqlite->open);
	free(sqlite->function_of_name);
	pairs_free(&sqlite->objects);
	pairs_free(&sqlite->names);
	pairs_free(&sqlite->functions);
	pairs_free(&sqlite->threads);
}

/* How well times are known, which only the end of the trace tells. */
static void put_time_error(struct ntrace_export_sqlite *sqlite)
{
	uint64_t error = sqlite->time_error < UINT32_MAX ? sqlite->time_error : UINT64_MAX;
	char text[NTRACE_TIME_ERROR_SIZE];

	if (!sqlite->time_error)
		return;
	put_row(sqlite, PUT_RECORDING, "tt", "times",
		ntrace_time_error_text(sqlite->time_error, text));
	put_row(sqlite, PUT_RECORDING, "tn", "time_error", error);
}

int ntrace_export_sqlite_close(struct ntrace_export_sqlite *sqlite, bool keep,
			       struct ntrace_export_sqlite_counts *counts)
{
	int error, saved, closed;

	if (counts)
		*counts = (struct ntrace_export_sqlite_counts){ 0 };
	if (!sqlite)
		return 0;
	if (!sqlite->error && keep) {
		end_trace(sqlite);
		put_time_error(sqlite);
		run_sql(sqlite, indexes);
	}
	for (unsigned int i = 0; i < STATEMENTS; i++)
		sqlite->library->finalize(sqlite->put[i]);
	sqlite->library->close(sqlite->db);
	closed = ntrace_output_close(sqlite->output, keep && !sqlite->error);
	error = sqlite->error ? kept_error(sqlite) : closed;
	saved = errno;
	if (counts)
		*counts = (struct ntrace_export_sqlite_counts){ sqlite->calls, sqlite->intervals,
								sqlite->losses, sqlite->cut };
	free_tables(sqlite);
	free(sqlite);
	errno = saved;
	return error;
}
