// SPDX-License-Identifier: GPL-2.0-only
/* Several harts in one stream (N-Trace 1.0, SRC). */
#include "test_flow.h"

static int log_src(void *data, const struct ntrace_flow_event *event)
{
	log_add(data, "%u:", event->src);
	return log_event(data, event);
}

/* 1000 c.add x 4; 2000 add, add */
static struct ntrace_space *program(void)
{
	struct ntrace_space *space = new_space("program");
	struct code first = { .start = 0x1000 }, second = { .start = 0x2000 };

	for (unsigned int i = 0; i < 4; i++)
		put(&first, C_ADD);
	for (unsigned int i = 0; i < 2; i++)
		put(&second, ADD);
	add_code(space, &first);
	add_code(space, &second);
	return space;
}

static void walk(struct ntrace_demux *demux, struct ntrace_reader *reader, const char *hex)
{
	struct ntrace_message message;
	uint8_t data[256];
	int event;

	ntrace_reader_feed(reader, data, from_hex(hex, data, sizeof(data)));
	while ((event = ntrace_reader_next(reader, &message)) >= 0) {
		if (event == NTRACE_WIRE_ERROR)
			ntrace_demux_wire_error(demux, message.offset);
		else
			ntrace_demux_message(demux, &message);
	}
}

/* @after: more of the stream, after missing bytes; may be NULL */
static const char *decode_both(struct ntrace_space *space, const char *settings, unsigned int limit,
			       const char *hex, const char *after)
{
	static struct flow_log log;
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = params_at(settings) };
	struct ntrace_reader reader;
	struct ntrace_demux *demux;

	memset(&log, 0, sizeof(log));
	config.event = log_src;
	config.data = &log;
	config.space = space;
	if (ntrace_demux_new(&demux, &config, limit))
		return "no demux";
	ntrace_reader_init(&reader, config.params, true);
	walk(demux, &reader, hex);
	if (after) {
		ntrace_reader_break(&reader);
		ntrace_demux_break(demux, reader.offset);
		walk(demux, &reader, after);
	}
	ntrace_demux_end(demux, ntrace_reader_pending(&reader));
	ntrace_demux_free(demux);
	return log.text;
}

static const char *decode(struct ntrace_space *space, const char *settings, unsigned int limit,
			  const char *hex)
{
	return decode_both(space, settings, limit, hex, NULL);
}

/* ProgTraceSync SYNC 5 of SRC 1 at 0x1000, of SRC 2 at 0x2000; Correlation ICNT 2 of each. */
#define SYNC_1 "24 54 01 00 83 "
#define SYNC_2 "24 58 01 00 00 07 "
#define SYNC_3 "24 5C 01 00 83 "
#define OFF_1 "84 04 23 "
#define OFF_2 "84 08 23 "

int main(void)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .event = log_src };
	struct ntrace_space *space = program();
	struct ntrace_demux *demux;

	is_str(decode(space, "srcbits=2", 4, SYNC_1 SYNC_2 OFF_1 OFF_2),
	       "1:sync5@1000 2:sync5@2000 1:1000 1002 ! 1:off0@1004 2:2000 ! 2:off0@2004 ",
	       "messages: state is kept for each SRC");
	is_str(decode(space, "", 1, "24 15 00 83 84 00 0B"),
	       "0:sync5@1000 0:1000 1002 ! 0:off0@1004 ", "without SRC there is one hart");
	is_str(decode(space, "srcbits=2", 1, SYNC_1 SYNC_2 OFF_2 OFF_1),
	       "1:sync5@1000 2:W19@0 1:1000 1002 ! 1:off0@1004 ",
	       "a SRC beyond the limit is reported once and ignored");
	is_str(decode(space, "srcbits=2", 1, SYNC_1 SYNC_2 SYNC_3 OFF_2 SYNC_3 OFF_1),
	       "1:sync5@1000 2:W19@0 3:W19@0 1:1000 1002 ! 1:off0@1004 ",
	       "each SRC beyond the limit is reported");
	is_str(decode(space, "srcbits=2", 4, SYNC_1 SYNC_2 "02 03 " OFF_1 SYNC_2 OFF_2),
	       "1:sync5@1000 2:sync5@2000 1:E1@1000 1:gap 2:E1@2000 2:gap 1:off0@? "
	       "2:sync5@2000 2:2000 ! 2:off0@2004 ",
	       "framing: after a reserved code every hart is lost up to its own sync");
	is_str(decode_both(space, "srcbits=2", 4, SYNC_1 SYNC_2 "84 04", "23 " OFF_1 SYNC_2 OFF_2),
	       "1:sync5@1000 2:sync5@2000 1:E22@1000 1:gap 2:E22@2000 2:gap 1:off0@? "
	       "2:sync5@2000 2:2000 ! 2:off0@2004 ",
	       "missing bytes: every hart is lost up to its own sync, and no message is made up");
	is_str(decode(space, "srcbits=12", 4, "24 14 54 01 00 83 24 03"),
	       "1349:sync0@1000 1349:E2@1000 1349:gap ",
	       "messages: a SRC of 12 bits; a message too short for one is an error of all");
	config.params = params_at("srcbits=2");
	is_u64(ntrace_demux_new(&demux, &config, 2), 0, "two harts");
	is_u64(ntrace_demux_add(demux, 4, NULL), NTRACE_ERR_INVALID, "no SRC 4 in 2 bits");
	is_u64(ntrace_demux_add(demux, 3, NULL), 0, "SRC 3");
	is_u64(ntrace_demux_add(demux, 3, NULL), NTRACE_ERR_INVALID, "once");
	ok(ntrace_demux_flow(demux, 3) && !ntrace_demux_flow(demux, 2), "its flow");
	is_u64(ntrace_demux_add(demux, 2, &config), 0, "SRC 2 with its own configuration");
	is_u64(ntrace_demux_add(demux, 1, NULL), NTRACE_ERR_NOSPACE, "no third");
	ntrace_demux_free(demux);
	is_u64(ntrace_demux_new(&demux, &config, 0), NTRACE_ERR_INVALID, "no hart at all");
	ntrace_space_put(space);
	return done_testing();
}
