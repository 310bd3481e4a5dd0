// SPDX-License-Identifier: GPL-2.0-only
/* lib/cursor inside: how many positions a cursor keeps to continue from. */
#include "cursor/cursor.h"

#include "stream_text.h"
#include "tap.h"

/* 1000 c.add; 1002 beq a0, zero, 1002; 1006 j 1000 */
static const uint16_t loop[] = { 0x952e, 0x0063, 0x0005, 0xf06f, 0xffbf };

/* They are as far apart as windows, so that there are never many. */
static void test_checkpoints(void)
{
	struct ntrace_cursor_extent extent = { .size = sizeof(extent) };
	const struct ntrace_params params = params_of("");
	struct ntrace_cursor_config config;
	static uint8_t data[1 << 14];
	struct ntrace_cursor *cursor;
	struct ntrace_object *object;
	size_t count;

	ntrace_cursor_config_init(&config);
	config.params = &params;
	config.data = data;
	config.data_size = stream_of("ProgTraceSync SYNC=5 ICNT=0 FADDR=0x1000>>1;"
				     "x2000 ResourceFull RCODE=1 HIST=0x5b;",
				     &params, data, sizeof(data));
	config.window = 1000;
	ntrace_object_from_bytes(&object, "loop", loop, sizeof(loop), 0x1000);
	ntrace_space_new(&config.space, "loop", NULL);
	ntrace_space_map_linked(config.space, object, 0);
	is_u64(ntrace_cursor_new(&cursor, &config), 0, "a cursor");
	is_u64(ntrace_cursor_last(cursor), 0, "the last of many places");
	ntrace_cursor_extent(cursor, &extent);
	count = cursor->parts[0].lane->checkpoint_count;
	ok(extent.items > 10000 && count >= extent.items / 1100 && count <= extent.items / 1000 + 2,
	   "%zu checkpoints for %" PRIu64 " places", count, extent.items);
	ntrace_cursor_free(cursor);
	ntrace_space_put(config.space);
	ntrace_object_put(object);
}

int main(void)
{
	test_checkpoints();
	return done_testing();
}
