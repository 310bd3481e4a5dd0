// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cursors over raw streams: random walks equal the plain decode. The streams come from another
 * encoder, also damaged, and from small programs for what that one lacks: code that changes, long
 * messages, timestamps, no sync.
 */
#include <errno.h>
#include <unistd.h>

#include "cursor_walk.h"
#include "stream_text.h"
#include "test_flow.h"

#define WALKS 125	/* for each of 8 combinations of steps and windows */

static void decode_all(struct expected_list *list, const struct ntrace_params *params,
		       const uint8_t *data, size_t size, struct ntrace_space *space)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config), .params = params, .event = expect_event, .data = list
	};
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	int got, stop = 0;

	list->count = 0;
	/* The time of a space only moves forwards: each decode has its own copy. */
	if (space && ntrace_space_clone(&config.space, "decode", space))
		abort();
	if (ntrace_flow_new(&flow, &config))
		abort();
	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, data, size);
	while (!stop && (got = ntrace_reader_next(&reader, &message)) != NTRACE_ERR_AGAIN)
		stop = got == NTRACE_WIRE_MESSAGE ? ntrace_flow_message(flow, &message) :
						    ntrace_flow_wire_error(flow, message.offset);
	if (!stop)
		ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
}

static struct ntrace_cursor *cursor_over(const struct ntrace_params *params, const uint8_t *data,
					 size_t size, struct ntrace_space *space, unsigned int step,
					 uint32_t window)
{
	struct ntrace_cursor *cursor = NULL;
	struct ntrace_cursor_config config;

	ntrace_cursor_config_init(&config);
	config.step = step;
	config.params = params;
	config.data = data;
	config.data_size = size;
	config.space = space;
	config.window = window;
	if (ntrace_cursor_new(&cursor, &config))
		ok(false, "a cursor");
	return cursor;
}

/* @walks random walks over a stream with each kind of step and some windows. */
static bool check_walks(const char *what, const struct ntrace_params *params, const uint8_t *data,
			size_t size, struct ntrace_space *space, unsigned int walks)
{
	static const uint32_t windows[] = { 16, 100, 3000, 0 };
	struct expected_list list = { 0 };
	char text[200] = "no walk";
	bool good = true;

	for (unsigned int step = 0; step < 2 && good; step++) {
		list.by_instruction = step == NTRACE_CURSOR_INSTRUCTIONS;
		decode_all(&list, params, data, size, space);
		if (!list.count)
			return ok(false, "%s: has no place", what);
		for (unsigned int i = 0; i < 4 && good; i++) {
			struct ntrace_cursor *cursor =
				cursor_over(params, data, size, space, step, windows[i]);

			for (unsigned int walk = 0; walk < walks && good; walk++)
				good = cursor_walk(cursor, &list, 1000 * i + walk, 12, text);
			ntrace_cursor_free(cursor);
		}
	}
	free(list.places);
	return ok(good, "%s: %u walks equal the plain decode: %s", what, 8 * walks, text);
}

/* A stream of another encoder: 1,000 walks; damaged copies: some each. */
static void test_xrle(void)
{
	const char *stream = shared_file("xrle.nex"), *elf = shared_file("xrle.elf");
	struct ntrace_params params = params_of("xlen=32");
	struct ntrace_space *space;
	struct ntrace_object *object;
	unsigned int round, random = 1;
	uint8_t *data;
	size_t size;

	if (!stream || !elf)
		return;
	data = read_file(stream, &size);
	space = new_space("xrle");
	is_u64(ntrace_object_open_elf(&object, elf), 0, "open xrle.elf");
	ntrace_space_map_linked(space, object, 0);
	check_walks("xrle.nex", &params, data, size, space, WALKS);
	for (round = 0; round < 12; round++) {
		size_t at = (random = random * 1103515245 + 12345) % size;
		uint8_t before = data[at];
		char what[40];

		data[at] ^= (uint8_t)(1u << (random >> 20) % 8);
		params.implicit_return = round % 4;
		snprintf(what, sizeof(what), "xrle.nex with byte %zu damaged", at);
		if (!check_walks(what, &params, data, size, space, 4))
			break;
		data[at] = before;
	}
	ntrace_object_put(object);
	ntrace_space_put(space);
	free(data);
}

/* 1000: c.add; a branch to itself at 1002; then a jump back to 1000. */
static struct ntrace_space *loop(void)
{
	struct ntrace_space *space = new_space("loop");
	struct code code = { .start = 0x1000 };

	put(&code, C_ADD);
	put_branch(&code, 0x1002);
	put_jal(&code, 0, 0x1000);
	add_code(space, &code);
	return space;
}

#define SYNC(fields) "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1000>>1" fields ";"

static void check_text(const char *what, const char *params_text, const char *text,
		       struct ntrace_space *space, unsigned int walks)
{
	struct ntrace_params params = params_of(params_text);
	static uint8_t data[1 << 16];
	size_t size = stream_of(text, &params, data, sizeof(data));

	check_walks(what, &params, data, size, space, walks);
	ntrace_space_put(space);
}

static void test_small(void)
{
	check_text("one message", "", SYNC(""), loop(), 8);
	check_text("no sync", "", "x300 IndirectBranch BTYPE=0 ICNT=3 UADDR=4;", loop(), 8);
	check_text("no code", "", SYNC("") "x20 DirectBranch ICNT=3;", NULL, 8);
	check_text("history", "",
		   SYNC("") "x400 ResourceFull RCODE=1 HIST=0x5b;"
			    "x50 IndirectBranchHist BTYPE=0 ICNT=4 UADDR=0 HIST=1;"
			    "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0;" SYNC(
				    "") "x300 ResourceFull RCODE=1 HIST=0x7fff;",
		   loop(), 16);
	/* One message of 40,000 branches, far more than some of the windows. */
	check_text("a long message", "",
		   SYNC("") "ResourceFull RCODE=2 HIST=0x1ff HREPEAT=5000; "
			    "x20 ResourceFull RCODE=1 HIST=0x5b;",
		   loop(), 4);
	check_text("timestamps", "tsbits=64",
		   SYNC(" TSTAMP=1000") "x50 ResourceFull RCODE=1 HIST=0x5b TSTAMP=7;"
					"x50 ResourceFull RCODE=1 HIST=0x5b;"
					"x50 ResourceFull RCODE=1 HIST=0x5b TSTAMP=1;" SYNC(
						" TSTAMP=500") "x30 ResourceFull RCODE=1 HIST=0x3 "
							       "TSTAMP=300;",
		   loop(), 16);
	check_text("owners", "",
		   SYNC("") "Ownership PROCESS=0x26; x50 ResourceFull RCODE=1 HIST=0x5b;"
			    "Ownership PROCESS=0x46; x50 ResourceFull RCODE=1 HIST=0x5b;"
			    "Ownership PROCESS=0x4e; x50 ResourceFull RCODE=1 HIST=0x5b;",
		   loop(), 16);
}

static void test_refusals(void)
{
	struct ntrace_cursor *cursor = NULL;
	struct ntrace_cursor_extent extent = { .size = sizeof(extent) };
	struct ntrace_cursor_mark mark = { 0 };
	struct ntrace_cursor_config config;
	uint8_t nothing = 0;

	ntrace_cursor_config_init(&config);
	is_u64(ntrace_cursor_new(&cursor, &config), NTRACE_ERR_INVALID, "no stream");
	config.data = &nothing;
	config.window = 15;
	is_u64(ntrace_cursor_new(&cursor, &config), NTRACE_ERR_INVALID, "a window of 15");
	config.window = 16;
	config.tid = 1;
	is_u64(ntrace_cursor_new(&cursor, &config), NTRACE_ERR_INVALID, "threads of a raw stream");
	config.tid = NTRACE_CURSOR_ANY;
	config.step = 2;
	is_u64(ntrace_cursor_new(&cursor, &config), NTRACE_ERR_INVALID, "an unknown step");
	config.step = NTRACE_CURSOR_BLOCKS;
	is_u64(ntrace_cursor_new(&cursor, &config), 0, "an empty stream");
	is_u64(ntrace_cursor_next(cursor), 1, "empty: no next place");
	is_u64(ntrace_cursor_prev(cursor), 1, "empty: no place before");
	is_u64(ntrace_cursor_first(cursor), 1, "empty: no first place");
	is_u64(ntrace_cursor_last(cursor), 1, "empty: no last place");
	is_u64(ntrace_cursor_seek_time(cursor, 0), 1, "empty: no time");
	is_u64(ntrace_cursor_seek_function(cursor, "main", false), 1, "empty: no function");
	ok(!ntrace_cursor_place(cursor), "empty: no place");
	mark.run = 1;
	is_u64(ntrace_cursor_restore(cursor, &mark), NTRACE_ERR_INVALID, "a foreign position");
	ntrace_cursor_extent(cursor, &extent);
	ok(extent.complete && !extent.items && !extent.bytes, "empty: the extent is complete");
	ntrace_cursor_free(cursor);
	ntrace_cursor_free(NULL);
}

/* An errno from before, such as EINTR, does not matter at the end of a file. */
static void test_file(void)
{
	struct ntrace_params params = params_of("");
	struct ntrace_space *space = loop();
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;
	FILE *file = tmpfile();
	uint8_t data[64];

	fwrite(data, 1, stream_of(SYNC("") "x5 DirectBranch ICNT=2;", &params, data, sizeof(data)),
	       file);
	fflush(file);
	ntrace_cursor_config_init(&config);
	config.params = &params;
	config.fd = fileno(file);
	config.space = space;
	is_u64(ntrace_cursor_new(&cursor, &config), 0, "a cursor of a file");
	alarm(60);
	errno = EINTR;
	is_u64(ntrace_cursor_last(cursor), 0, "its last place");
	is_u64(ntrace_cursor_next(cursor), 1, "and nothing after it");
	alarm(0);
	ntrace_cursor_free(cursor);
	ntrace_space_put(space);
	fclose(file);
}

/* The answers of a caller that is asked whether to stop. */
struct stopping {
	unsigned int asked;
	unsigned int stop_at;	/* the question that is answered with yes; 0 = none */
	uint64_t position;
};

static bool stop(void *data, unsigned int stream, uint64_t position)
{
	struct stopping *stopping = data;

	stopping->position = position;
	return ++stopping->asked == stopping->stop_at && !stream;
}

/* A stream of 160 KiB: moves can be stopped, and continue where they were. */
static void test_stop(void)
{
	static uint8_t data[160 << 10], part[1 << 10];
	struct ntrace_params params = params_of("");
	struct ntrace_space *space = loop();
	struct ntrace_cursor_extent extent = { .size = sizeof(extent) };
	struct stopping stopping = { .stop_at = 1 };
	struct ntrace_cursor_mark mark;
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;
	size_t size = 0, one;

	one = stream_of(SYNC("") "x50 ResourceFull RCODE=1 HIST=0x5b;", &params, part,
			sizeof(part));
	for (; size + one <= sizeof(data); size += one)
		memcpy(data + size, part, one);
	ntrace_cursor_config_init(&config);
	config.params = &params;
	config.data = data;
	config.data_size = size;
	config.space = space;
	config.stop = stop;
	config.stop_data = &stopping;
	is_u64(ntrace_cursor_new(&cursor, &config), 0, "a cursor that can be stopped");
	is_u64((uint64_t)ntrace_cursor_first(cursor), (uint64_t)NTRACE_CURSOR_STOPPED,
	       "stopped at the start");
	ok(!ntrace_cursor_place(cursor), "the cursor has not moved");
	is_u64(ntrace_cursor_first(cursor), 0, "the next try moves");
	ntrace_cursor_save(cursor, &mark);
	stopping.asked = 0;
	stopping.stop_at = 2;
	is_u64((uint64_t)ntrace_cursor_last(cursor), (uint64_t)NTRACE_CURSOR_STOPPED,
	       "stopped on the way");
	ntrace_cursor_extent(cursor, &extent);
	ok(!extent.complete && extent.bytes >= 65536 && extent.bytes < size &&
		   stopping.position >= 65536 && stopping.position < size,
	   "in the middle");
	ok(ntrace_cursor_place(cursor) && ntrace_cursor_place(cursor)->offset == 0,
	   "the cursor has not moved");
	stopping.stop_at = 0;
	is_u64(ntrace_cursor_last(cursor), 0, "the next try gets to the end");
	is_u64(ntrace_cursor_restore(cursor, &mark), 0, "and back");
	stopping.asked = 0;
	stopping.stop_at = 1;
	is_u64((uint64_t)ntrace_cursor_seek_type(cursor, NTRACE_FLOW_TRAP, false),
	       (uint64_t)NTRACE_CURSOR_STOPPED, "a search is stopped");
	is_u64(ntrace_cursor_seek_type(cursor, NTRACE_FLOW_TRAP, false), 1, "and done then");
	ntrace_cursor_free(cursor);
	ntrace_space_put(space);
}

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

/* Marks of all places: their order, and values that no cursor has saved. */
static void test_marks(unsigned int step)
{
	enum { PLACES = 400 };
	static struct ntrace_cursor_mark marks[PLACES];
	static uint64_t address[PLACES], offset[PLACES];
	struct ntrace_params params = params_of("tsbits=64");
	struct ntrace_space *space = loop();
	struct ntrace_cursor_extent extent = { .size = sizeof(extent) };
	struct ntrace_cursor_mark before, after, mark;
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;
	uint64_t instructions = 0, items = 0;
	uint8_t data[256];
	size_t count = 0, wrong = 0, i, k;

	ntrace_cursor_config_init(&config);
	config.params = &params;
	config.data = data;
	config.data_size = stream_of(SYNC(" TSTAMP=100") "x9 ResourceFull RCODE=1 HIST=0x5b; " SYNC(
					     " TSTAMP=900") "x9 ResourceFull RCODE=1 HIST=0x5b;",
				     &params, data, sizeof(data));
	config.space = space;
	config.step = step;
	is_u64(ntrace_cursor_new(&cursor, &config), 0, "a cursor");
	ntrace_cursor_save(cursor, &before);
	while (!ntrace_cursor_next(cursor) && count < PLACES) {
		const struct ntrace_cursor_place *place = ntrace_cursor_place(cursor);

		ntrace_cursor_save(cursor, &marks[count]);
		address[count] = place->address;
		offset[count++] = place->offset;
		if (!place->index) {
			items++;
			if (place->type == NTRACE_FLOW_BLOCK)
				instructions += place->instructions;
		}
	}
	ntrace_cursor_save(cursor, &after);
	ok(count > 30 && count < PLACES, "%zu places", count);
	ntrace_cursor_extent(cursor, &extent);
	ok(extent.complete && extent.items == items && extent.instructions == instructions &&
		   extent.bytes == config.data_size,
	   "the extent: items, instructions and bytes");
	ok(extent.time_known && extent.first_time == 100 && extent.last_time == 900, "and times");
	for (i = 0; i < count; i++) {
		for (k = 0; k < count; k++)
			wrong += sign(ntrace_cursor_compare(&marks[i], &marks[k])) !=
				 (i > k) - (i < k);
		wrong += ntrace_cursor_compare(&before, &marks[i]) >= 0 ||
			 ntrace_cursor_compare(&after, &marks[i]) <= 0;
		wrong += ntrace_cursor_restore(cursor, &marks[count - 1 - i]) ||
			 ntrace_cursor_place(cursor)->address != address[count - 1 - i] ||
			 ntrace_cursor_place(cursor)->offset != offset[count - 1 - i];
	}
	is_u64(wrong, 0, "marks have the order of their places, and lead back to them");
	is_u64(ntrace_cursor_restore(cursor, &before), 1, "before the first place");
	ok(!ntrace_cursor_place(cursor) && ntrace_cursor_prev(cursor) == 1 &&
		   !ntrace_cursor_next(cursor) && ntrace_cursor_place(cursor)->offset == offset[0],
	   "the first place is next");
	is_u64(ntrace_cursor_restore(cursor, &after), 1, "after the last place");
	ok(!ntrace_cursor_place(cursor) && ntrace_cursor_next(cursor) == 1 &&
		   !ntrace_cursor_prev(cursor) &&
		   ntrace_cursor_place(cursor)->address == address[count - 1],
	   "the last place is before it");
	for (i = 0; i < 6; i++) {
		mark = marks[count - 1];
		if (i == 0)
			mark.item++;
		else if (i == 1)
			mark.run++;
		else if (i == 2)
			mark.index = step == NTRACE_CURSOR_BLOCKS ? 4096 : mark.index + 1;
		else if (i == 3)
			mark.run = 0;
		else if (i == 4)
			mark.run = UINT64_MAX;
		else
			mark = (struct ntrace_cursor_mark){ .index = 1 };
		is_u64((uint64_t)ntrace_cursor_restore(cursor, &mark), (uint64_t)NTRACE_ERR_INVALID,
		       "a mark of another cursor, case %zu", i);
	}
	ok(ntrace_cursor_place(cursor)->address == address[count - 1], "does not move the cursor");
	ntrace_cursor_free(cursor);
	ntrace_space_put(space);
}

int main(void)
{
	test_refusals();
	test_file();
	test_stop();
	test_marks(NTRACE_CURSOR_BLOCKS);
	test_marks(NTRACE_CURSOR_INSTRUCTIONS);
	test_small();
	test_xrle();
	return done_testing();
}
