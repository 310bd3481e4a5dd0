// SPDX-License-Identifier: GPL-2.0-only
/*
 * The message layout that the library returns, compared with the table of the specification;
 * variable fields that are longer than necessary; addresses with fewer bits than the hart's.
 */
#include "test_wire.h"

/* "SRC:2 SYNC:4 ICNT FADDR": fixed fields with their width. */
static const char *layout_text(unsigned int tcode, const uint64_t *field,
			       const struct ntrace_params *params)
{
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	int count = ntrace_message_layout(tcode, field, params, layout);
	static char text[200];
	int at = snprintf(text, sizeof(text), "%s", count < 0 ? ntrace_strerror(count) : "");

	for (int i = 0; i < count; i++) {
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%s", i ? " " : "",
			       ntrace_field_name((enum ntrace_field)layout[i].field));
		if (layout[i].bits)
			at += snprintf(text + at, sizeof(text) - (size_t)at, ":%u", layout[i].bits);
	}
	return text;
}

static void test_layouts(void)
{
	static const struct {
		unsigned int tcode;
		unsigned int selected;	/* RCODE and CDF */
		const char *text;
	} cases[] = {
		{ 2, 0, "PROCESS" },
		{ 3, 0, "ICNT" },
		{ 4, 0, "BTYPE:2 ICNT UADDR" },
		{ 8, 0, "ETYPE:4 ECODE" },
		{ 9, 0, "SYNC:4 ICNT FADDR" },
		{ 11, 0, "SYNC:4 ICNT FADDR" },
		{ 12, 0, "SYNC:4 BTYPE:2 ICNT FADDR" },
		{ 27, 0, "RCODE:4 ICNT" },
		{ 27, 1, "RCODE:4 HIST" },
		{ 27, 2, "RCODE:4 HIST HREPEAT" },
		{ 27, 3, "RCODE:4 RDATA" },
		{ 27, 15, "RCODE:4 RDATA" },
		{ 28, 0, "BTYPE:2 ICNT UADDR HIST" },
		{ 29, 0, "SYNC:4 BTYPE:2 ICNT FADDR HIST" },
		{ 30, 0, "BCNT" },
		{ 33, 0, "EVCODE:4 CDF:2 ICNT" },
		{ 33, 1, "EVCODE:4 CDF:2 ICNT HIST" },
		{ 33, 2, "EVCODE:4 CDF:2 ICNT" },
		{ 5, 0, "DSZ:3 DADDR DATA" },
		{ 6, 0, "DSZ:3 DADDR DATA" },
		{ 7, 0, "IDTAG DQDATA" },
		{ 13, 0, "DSZ:3 DADDR DATA" },
		{ 14, 0, "DSZ:3 DADDR DATA" },
	};
	struct ntrace_params params = params_of("");
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	uint64_t field[NTRACE_FIELD_COUNT] = { 0 };
	unsigned int unknown = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		field[NTRACE_FIELD_RCODE] = field[NTRACE_FIELD_CDF] = 0;
		field[cases[i].tcode == 33 ? NTRACE_FIELD_CDF : NTRACE_FIELD_RCODE] =
			cases[i].selected;
		is_str(layout_text(cases[i].tcode, field, &params), cases[i].text,
		       "messages: fields of TCODE %u (%u)", cases[i].tcode, cases[i].selected);
	}
	for (unsigned int tcode = 0; tcode < 64; tcode++)
		unknown += ntrace_message_layout(tcode, field, &params, layout) ==
			   NTRACE_ERR_UNSUPPORTED;
	is_u64(unknown, 64 - 12 - 5, "messages: the other TCODEs have no layout");
	is_u64(ntrace_message_layout(64, field, &params, layout), NTRACE_ERR_INVALID,
	       "a TCODE of 7 bits");
	field[NTRACE_FIELD_RCODE] = 0;
	field[NTRACE_FIELD_CDF] = 4;
	is_u64(ntrace_message_layout(33, field, &params, layout), NTRACE_ERR_INVALID,
	       "a CDF of 3 bits");
	field[NTRACE_FIELD_CDF] = 1;
	params.src_bits = 12;
	is_str(layout_text(33, field, &params), "SRC:12 EVCODE:4 CDF:2 ICNT HIST",
	       "messages: SRC comes first");
	is_u64(ntrace_message_layout(29, field, &params, layout), 6, "as many as there can be");
	params.src_bits = 13;
	is_u64(ntrace_message_layout(3, field, &params, layout), NTRACE_ERR_INVALID,
	       "a SRC of 13 bits");
}

/* The one message in @bytes, with sizes "ICNT=3 TSTAMP=2". */
static int sized(const char *params_text, const char *bytes, const char *sizes_text, uint8_t *data)
{
	struct ntrace_params params = params_of(params_text);
	uint8_t sizes[NTRACE_FIELD_COUNT] = { 0 }, from[64];
	struct ntrace_message message;
	struct ntrace_reader reader;

	for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++) {
		const char *name = ntrace_field_name((enum ntrace_field)i);
		const char *at = strstr(sizes_text, name);

		if (at)
			sizes[i] = (uint8_t)strtoul(at + strlen(name) + 1, NULL, 10);
	}
	ntrace_reader_init(&reader, &params, true);
	ntrace_reader_feed(&reader, from, from_hex(bytes, from, sizeof(from)));
	if (ntrace_reader_next(&reader, &message) != NTRACE_WIRE_MESSAGE)
		return 0;
	return ntrace_message_write_sized(&message, &params, sizes, data);
}

static void test_sizes(void)
{
	static const struct {
		const char *what;
		const char *params;
		const char *from;
		const char *sizes;
		const char *bytes;
	} cases[] = {
		{ "no size: the fewest bytes", "", "0C 0C 00 03", "", "0C 0F" },
		{ "a size of the fewest", "", "0C 0F", "ICNT=1", "0C 0F" },
		{ "one byte more", "", "0C 0F", "ICNT=2", "0C 0C 03" },
		{ "the byte shared with fixed fields counts", "", "10 71 D8 7B", "ICNT=2 UADDR=4",
		  "10 70 01 D8 78 00 03" },
		{ "a timestamp", "", "20 00 05 D0 20 07", "TSTAMP=5", "20 00 05 D0 20 04 00 03" },
		{ "more than 64 bits of zeros", "", "78 27", "BCNT=13", "78 24 00 x11 03" },
		{ "an extended address is sent as given", "extaddr=1", "24 0D E8 8C 04 00 00 FF",
		  "FADDR=6", "24 0D E8 8C 04 00 00 FF" },
		{ "an address beyond 11 bytes", "", "24 0D 00 0B", "FADDR=12",
		  "24 0D 00 08 00 x9 03" },
		{ "the maximum length of a message", "", "0C 0F", "ICNT=63", "0C 0C 00 x61 03" },
	};
	static const struct {
		const char *what;
		const char *from;
		const char *sizes;
	} refused[] = {
		{ "too few bytes for a value", "0C 90 07", "ICNT=1" },
		{ "too few for an address", "24 0D 08 E0 7F", "FADDR=2" },
		{ "a size of a fixed field", "24 0D 08 E0 7F", "SYNC=1" },
		{ "a size of a field of other messages", "0C 0F", "HIST=1" },
		{ "a size of an absent timestamp", "0C 0F", "TSTAMP=1" },
		{ "longer than the maximum of a message", "0C 0F", "ICNT=64" },
		{ "two fields, longer together", "10 71 D8 7B", "ICNT=60 UADDR=4" },
	};
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX], expected[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int size = sized(cases[i].params, cases[i].from, cases[i].sizes, data);
		size_t wanted = from_hex(cases[i].bytes, expected, sizeof(expected));

		ok(size == (int)wanted && !memcmp(data, expected, wanted), "framing: %s",
		   cases[i].what);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		is_u64(sized("", refused[i].from, refused[i].sizes, data), NTRACE_ERR_INVALID, "%s",
		       refused[i].what);
}

/* Values that the sent bits cannot express are refused. */
static void test_written_narrow_addresses(void)
{
	static const struct {
		const char *params;
		uint64_t address;
		bool fits;
	} cases[] = {
		{ "addrbits=8", 0x16, true },
		{ "addrbits=8", 0xffffffffffffff16, true },
		{ "addrbits=8", 0x216, false },
		{ "addrbits=8", 0x80003416, false },
		{ "addrbits=8", 0xfffffffffffffc16, false },
		{ "addrbits=8,xlen=32", 0xffffff16, true },
		{ "addrbits=8,xlen=32", 0x80003416, false },
		{ "addrbits=62", 0xc000000000000000, true },
		{ "addrbits=62", 0x8000000000000000, false },
	};
	struct ntrace_message message = { .tcode = NTRACE_TCODE_PROG_TRACE_SYNC }, read;
	struct ntrace_reader reader;
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];

	message.present = 1u << NTRACE_FIELD_SYNC | 1u << NTRACE_FIELD_ICNT |
			  1u << NTRACE_FIELD_FADDR;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_params params = params_of(cases[i / 2].params);
		int size;

		params.extend_address = i & 1;
		message.field[NTRACE_FIELD_FADDR] = cases[i / 2].address >> 1;
		size = ntrace_message_write(&message, &params, data);
		is_u64(size > 0, cases[i / 2].fits, "%s,extaddr=%u: 0x%" PRIx64 " can be written",
		       cases[i / 2].params, params.extend_address, cases[i / 2].address);
		if (size <= 0)
			continue;
		ntrace_reader_init(&reader, &params, true);
		ntrace_reader_feed(&reader, data, (size_t)size);
		ntrace_reader_next(&reader, &read);
		is_hex(ntrace_message_address(&read, &params, 0), cases[i / 2].address, "read");
	}
}

int main(void)
{
	test_layouts();
	test_sizes();
	test_written_narrow_addresses();
	return done_testing();
}
