// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages against the specification's examples, in both directions; streams cut anywhere, damaged
 * ones, and the reference tool's dump of a real stream.
 */
#include "test_wire.h"

/*
 * One message: its source in the specification, parameters, bytes, fields; and if the example has
 * an address, that address and its reference.
 */
struct vector {
	const char *what;
	const char *params;
	const char *bytes;
	const char *text;
	uint64_t reference;
	uint64_t address;
};

static const struct vector vectors[] = {
	{ "printed: TCODE 28, BTYPE 0, ICNT 0x7D, UADDR 7, HIST 0xFFE", "", "70 D0 1D 1D F8 FF",
	  "IndirectBranchHist BTYPE=0x0 ICNT=0x7d UADDR=0x7 HIST=0xffe", 0, 0 },
	{ "printed: ProgTraceSync SYNC=1 ICNT=0 FADDR 0x10008291 (PC 0x20010522)", "",
	  "24 05 44 28 20 00 43", "ProgTraceSync SYNC=0x1 ICNT=0x0 FADDR=0x10008291", 0,
	  0x20010522 },
	{ "printed: ResourceFull RCODE 1 RDATA 0xD5528000", "", "6C 04 00 00 28 54 D7",
	  "ResourceFull RCODE=0x1 HIST=0xd5528000", 0, 0 },
	{ "printed: RCODE 2 RDATA 0x80000000 HREPEAT 8 (31 x NT, 8 times)", "",
	  "6C 08 00 00 00 00 81 23", "ResourceFull RCODE=0x2 HIST=0x80000000 HREPEAT=0x8", 0, 0 },
	{ "printed: Correlation EVCODE 0 CDF 1 ICNT 0x45EEA HIST 0x2D", "", "84 40 A8 EC 14 05 B7",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x1 ICNT=0x45eea HIST=0x2d", 0, 0 },
	{ "printed: SrcBits=2: TCODE 29 SRC 1 SYNC 2 BTYPE 0 ICNT 4 FADDR 0x40001A0B (PC "
	  "0x80003416) HIST 3 TSTAMP 0x4FF3A2874F",
	  "srcbits=2", "74 24 41 2C A0 04 00 00 05 0D 3C 74 A0 A0 CC FC 13",
	  "IndirectBranchHistSync SRC=0x1 SYNC=0x2 BTYPE=0x0 ICNT=0x4 FADDR=0x40001a0b HIST=0x3 "
	  "TSTAMP=0x4ff3a2874f",
	  0, 0x80003416 },
	{ "Ownership PROCESS 0x3B2", "", "08 C8 3B", "Ownership PROCESS=0x3b2", 0, 0 },
	{ "Ownership PROCESS 0xC", "", "08 33", "Ownership PROCESS=0xc", 0, 0 },
	{ "DirectBranch ICNT 3", "", "0C 0F", "DirectBranch ICNT=0x3", 0, 0 },
	{ "DirectBranch ICNT 7", "", "0C 1F", "DirectBranch ICNT=0x7", 0, 0 },
	{ "DirectBranch ICNT 100", "", "0C 90 07", "DirectBranch ICNT=0x64", 0, 0 },
	{ "IndirectBranch BTYPE 0 ICNT 7 UADDR 0x7B6", "", "10 71 D8 7B",
	  "IndirectBranch BTYPE=0x0 ICNT=0x7 UADDR=0x7b6", 0x3fc04, 0x3f368 },
	{ "IndirectBranch BTYPE 2 ICNT 0 UADDR 0x934", "", "10 09 D0 93",
	  "IndirectBranch BTYPE=0x2 ICNT=0x0 UADDR=0x934", 0x3f368, 0x3e100 },
	{ "Error ETYPE 0 ECODE 0", "", "20 03", "Error ETYPE=0x0 ECODE=0x0", 0, 0 },
	{ "Error ECODE 4 TSTAMP 0x1234", "", "20 00 05 D0 20 07",
	  "Error ETYPE=0x0 ECODE=0x4 TSTAMP=0x1234", 0, 0 },
	{ "ProgTraceSync SYNC 3 ICNT 0 FADDR 0x80 (PC 0x100)", "", "24 0D 00 0B",
	  "ProgTraceSync SYNC=0x3 ICNT=0x0 FADDR=0x80", 0, 0x100 },
	{ "ProgTraceSync SYNC 3 FADDR 0x1FE02", "", "24 0D 08 E0 7F",
	  "ProgTraceSync SYNC=0x3 ICNT=0x0 FADDR=0x1fe02", 0, 0x3fc04 },
	{ "SrcBits=4: SRC 10 ProgTraceSync SYNC 5 ICNT 0 FADDR 0x80 TSTAMP 0x123456789",
	  "srcbits=4", "24 68 05 00 09 24 78 58 44 8C 13",
	  "ProgTraceSync SRC=0xa SYNC=0x5 ICNT=0x0 FADDR=0x80 TSTAMP=0x123456789", 0, 0x100 },
	{ "DirectBranchSync SYNC 2 ICNT 3 FADDR 0x100", "", "2C C9 00 13",
	  "DirectBranchSync SYNC=0x2 ICNT=0x3 FADDR=0x100", 0, 0 },
	{ "IndirectBranchSync SYNC 2 BTYPE 0 ICNT 5 FADDR 0x100", "", "30 08 15 00 13",
	  "IndirectBranchSync SYNC=0x2 BTYPE=0x0 ICNT=0x5 FADDR=0x100", 0, 0 },
	{ "IndirectBranchHistSync SYNC 4 BTYPE 0 ICNT 8 FADDR 0x88 HIST 2", "", "74 10 21 20 09 0B",
	  "IndirectBranchHistSync SYNC=0x4 BTYPE=0x0 ICNT=0x8 FADDR=0x88 HIST=0x2", 0, 0 },
	{ "ProgTraceSync SYNC 4 ICNT 9 FADDR 0x89", "", "24 50 09 24 0B",
	  "ProgTraceSync SYNC=0x4 ICNT=0x9 FADDR=0x89", 0, 0 },
	{ "ResourceFull RCODE 0 RDATA 9", "", "6C 40 0B", "ResourceFull RCODE=0x0 ICNT=0x9", 0, 0 },
	{ "ResourceFull RCODE 1 RDATA 0x55555555", "", "6C 44 54 54 54 54 57",
	  "ResourceFull RCODE=0x1 HIST=0x55555555", 0, 0 },
	{ "ResourceFull RCODE 2 RDATA 0x55555555 HREPEAT 10", "", "6C 48 54 54 54 54 55 2B",
	  "ResourceFull RCODE=0x2 HIST=0x55555555 HREPEAT=0xa", 0, 0 },
	{ "ResourceFull RCODE 2 RDATA 5 HREPEAT 150 (same 300 branches)", "", "6C 48 05 58 0B",
	  "ResourceFull RCODE=0x2 HIST=0x5 HREPEAT=0x96", 0, 0 },
	{ "IndirectBranchHist BTYPE 3 ICNT 4 UADDR 0x934 HIST 3 TSTAMP 5", "", "70 4D D0 91 0D 17",
	  "IndirectBranchHist BTYPE=0x3 ICNT=0x4 UADDR=0x934 HIST=0x3 TSTAMP=0x5", 0, 0 },
	{ "RepeatBranch BCNT 9", "", "78 27", "RepeatBranch BCNT=0x9", 0, 0 },
	{ "Correlation EVCODE 0 CDF 0 ICNT 1", "", "84 00 07",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x0 ICNT=0x1", 0, 0 },
	{ "Correlation EVCODE 0 CDF 0 ICNT 5", "", "84 00 17",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x0 ICNT=0x5", 0, 0 },
	{ "Correlation EVCODE 0 CDF 0 ICNT 10", "", "84 00 2B",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x0 ICNT=0xa", 0, 0 },
	{ "Correlation CDF 1 ICNT 4 HIST 3", "", "84 40 11 0F",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x1 ICNT=0x4 HIST=0x3", 0, 0 },
	{ "Correlation CDF 1 ICNT 9 HIST 5", "", "84 40 25 17",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x1 ICNT=0x9 HIST=0x5", 0, 0 },
	{ "Correlation CDF 1 ICNT 10 HIST 4", "", "84 40 29 13",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x1 ICNT=0xa HIST=0x4", 0, 0 },
	{ "Correlation CDF 1 ICNT 5 HIST 2", "", "84 40 15 0B",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x1 ICNT=0x5 HIST=0x2", 0, 0 },
	{ "Correlation CDF 1 ICNT 6 HIST 1", "", "84 40 19 07",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x1 ICNT=0x6 HIST=0x1", 0, 0 },
	{ "Correlation EVCODE 4 CDF 1 ICNT 0 HIST 1", "", "84 50 01 07",
	  "ProgTraceCorrelation EVCODE=0x4 CDF=0x1 ICNT=0x0 HIST=0x1", 0, 0 },
	{ "ProgTraceSync PC 0xFFFFFFFF800031F4, ext off", "",
	  "24 0D E8 8C 04 00 00 FC FC FC FC FC 1F",
	  "ProgTraceSync SYNC=0x3 ICNT=0x0 FADDR=0x7fffffffc00018fa", 0, 0xffffffff800031f4 },
	{ "same PC, ext on", "extaddr=1", "24 0D E8 8C 04 00 00 FF",
	  "ProgTraceSync SYNC=0x3 ICNT=0x0 FADDR=0xfc00018fa", 0, 0xffffffff800031f4 },
	{ "ext on, ref 0xFFFFFFFF800031F4: IndirectBranch ICNT 2 -> PC 0x10000", "extaddr=1",
	  "10 21 E8 8C 24 00 00 FF", "IndirectBranch BTYPE=0x0 ICNT=0x2 UADDR=0xfc00098fa",
	  0xffffffff800031f4, 0x10000 },
	{ "ext on, same ref: XOR 0x40 (field 0x20 needs a zero pad byte) -> 0xFFFFFFFF800031B4",
	  "extaddr=1", "10 21 80 03", "IndirectBranch BTYPE=0x0 ICNT=0x2 UADDR=0x20",
	  0xffffffff800031f4, 0xffffffff800031b4 },
	{ "RepeatBranch stream: Sync 5 F-ADDR 0x800", "", "24 15 00 83",
	  "ProgTraceSync SYNC=0x5 ICNT=0x0 FADDR=0x800", 0, 0x1000 },
	{ "RepeatBranch stream: IndirectBranch ICNT 2 to 0x2000", "", "10 21 00 80 07",
	  "IndirectBranch BTYPE=0x0 ICNT=0x2 UADDR=0x1800", 0x1000, 0x2000 },
	{ "RepeatBranch stream: RepeatBranch 2", "", "78 0B", "RepeatBranch BCNT=0x2", 0, 0 },
	{ "RepeatBranch stream: IndirectBranch ICNT 2 U-ADDR 0x800", "", "10 21 00 83",
	  "IndirectBranch BTYPE=0x0 ICNT=0x2 UADDR=0x800", 0x2000, 0x3000 },
	{ "RepeatBranch stream: Correlation ICNT 2", "", "84 00 0B",
	  "ProgTraceCorrelation EVCODE=0x0 CDF=0x0 ICNT=0x2", 0, 0 },
};

#define VECTORS (sizeof(vectors) / sizeof(vectors[0]))

/* The one message in @data, or other events. */
static const char *read_one(const struct ntrace_params *params, const uint8_t *data, size_t size,
			    struct ntrace_message *message)
{
	struct ntrace_message second;
	struct ntrace_reader reader;

	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, data, size);
	if (ntrace_reader_next(&reader, message) != NTRACE_WIRE_MESSAGE)
		return "no message";
	if (message->offset != 0 || message->length != size)
		return "wrong offset or length";
	if (ntrace_reader_next(&reader, &second) != NTRACE_ERR_AGAIN)
		return "more than one message";
	return message_text(message);
}

/* Checks that the bytes of @message are those of @data. */
static bool writes(const struct ntrace_message *message, const struct ntrace_params *params,
		   const uint8_t *data, size_t size)
{
	uint8_t back[NTRACE_MESSAGE_BYTES_MAX];

	return ntrace_message_write(message, params, back) == (int)size &&
	       !memcmp(data, back, size);
}

static void test_vectors(void)
{
	for (size_t i = 0; i < VECTORS; i++) {
		const struct vector *vector = &vectors[i];
		struct ntrace_params params = params_of(vector->params);
		uint8_t data[64];
		size_t size = from_hex(vector->bytes, data, sizeof(data));
		struct ntrace_message message;
		bool full;

		is_str(read_one(&params, data, size, &message), vector->text, "example: %s: %s",
		       vector->bytes, vector->what);
		ok(writes(&message, &params, data, size), "written again, the same bytes");
		/* From the address alone: the writer chooses the number of bytes. */
		full = ntrace_message_has(&message, NTRACE_FIELD_FADDR);
		if (vector->address) {
			is_hex(ntrace_message_address(&message, &params, vector->reference),
			       vector->address, "its address");
			message.field[full ? NTRACE_FIELD_FADDR : NTRACE_FIELD_UADDR] =
				(full ? vector->address : vector->address ^ vector->reference) >> 1;
		}
		message.address_bytes = 0;
		ok(writes(&message, &params, data, size), "written from its fields");
	}
}

/* Addresses: the bytes on the wire, and the address that they mean. */
static void test_addresses(void)
{
	static const struct {
		const char *params;
		const char *bytes;
		uint64_t address;
		bool shortest;
	} cases[] = {
		{ "extaddr=1", "FC FC FC FC FC 7D", 0xffffffffe, true },
		{ "extaddr=1", "FC FC FC FC 7C F1", 0xfffffffe3ffffffe, true },
		{ "extaddr=1", "FC x6 01", 0x1ffffffffe, true },
		{ "extaddr=1", "FC x10 15", 0xbffffffffffffffe, true },
		{ "extaddr=1", "FC x10 35", 0xbffffffffffffffe, false },
		{ "extaddr=1", "FC x10 FD", 0xfffffffffffffffe, false },
		{ "extaddr=1", "E8 8C 04 00 00 FD", 0xffffffff800031f4, true },
		{ "", "E8 8C 04 00 00 FC FC FC FC FC 1D", 0xffffffff800031f4, true },
		{ "", "E8 8C 04 00 00 FD", 0x1f800031f4, true },
		{ "extaddr=1", "81", 0xffffffffffffffc0, true },
		{ "extaddr=1", "80 01", 0x40, true },
		{ "extaddr=1,xlen=32", "81", 0xffffffc0, true },
		{ "extaddr=1,xlen=32", "FC FC FC FC 7C 05", 0xbffffffe, false },
		{ "xlen=32", "FC FC FC FC FC 05", 0xfffffffe, true },
		{ "", "01", 0, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_params params = params_of(cases[i].params);
		/* ProgTraceSync, SYNC 3, ICNT 0, and the address */
		uint8_t data[64] = { 0x24, 0x0d }, back[NTRACE_MESSAGE_BYTES_MAX];
		size_t size = 2 + from_hex(cases[i].bytes, data + 2, sizeof(data) - 2);
		struct ntrace_message message;
		int written;

		data[size - 1] |= 3;
		read_one(&params, data, size, &message);
		is_hex(ntrace_message_address(&message, &params, 0), cases[i].address,
		       "%s: address of %s", cases[i].params, cases[i].bytes);
		is_u64(message.flags, 0, "no flag");
		/* The 11th byte has bits above address bit 63, which have no meaning. */
		if (message.address_bytes == 11)
			is_hex(message.field[NTRACE_FIELD_FADDR], cases[i].address >> 1,
			       "and no bit above the address in its field");
		if (!cases[i].shortest)
			continue;
		message.address_bytes = 0;
		message.field[NTRACE_FIELD_FADDR] = cases[i].address >> 1;
		written = ntrace_message_write(&message, &params, back);
		ok(written == (int)size && !memcmp(data, back, size), "written the same");
	}
}

/* Logs all events, one line each. */
static void log_stream(const struct ntrace_params *params, bool aligned, const uint8_t *data,
		       size_t size, size_t chunk, char *log, size_t room)
{
	struct ntrace_reader reader;
	size_t at = 0;

	*log = '\0';
	ntrace_reader_init(&reader, params, aligned);
	for (size_t done = 0; done < size; done += chunk) {
		struct ntrace_message message;
		int event;

		ntrace_reader_feed(&reader, data + done, size - done < chunk ? size - done : chunk);
		while ((event = ntrace_reader_next(&reader, &message)) >= 0 && at + 600 < room) {
			at += (size_t)snprintf(log + at, room - at, "%" PRIu64 "+%" PRIu64 " %s;",
					       message.offset, message.length,
					       event == NTRACE_WIRE_ERROR ? "error" :
									    message_text(&message));
		}
	}
	snprintf(log + at, room - at, "idles %" PRIu64 " errors %" PRIu64 " pending %" PRIu64,
		 reader.idles, reader.errors, ntrace_reader_pending(&reader));
}

static void test_streams(void)
{
	static const struct {
		const char *what;
		bool aligned;
		const char *bytes;
		const char *log;
	} cases[] = {
		{ "idles around a message", true, "FF 0C 0F FF FF 03",
		  "1+2 DirectBranch ICNT=0x3;idles 4 errors 0 pending 0" },
		{ "wrapped buffer", false, "00 44 13 FF 0C 0F",
		  "4+2 DirectBranch ICNT=0x3;idles 1 errors 0 pending 0" },
		{ "wrapped buffer in front of a message", false, "0C 0F 0C 1F",
		  "2+2 DirectBranch ICNT=0x7;idles 0 errors 0 pending 0" },
		{ "reserved code in a message", true, "0C 0F 24 0A 00 83 0C 1F",
		  "0+2 DirectBranch ICNT=0x3;2+2 error;6+2 DirectBranch ICNT=0x7;"
		  "idles 0 errors 1 pending 0" },
		{ "reserved code between messages", true, "FF 02 00 02 83 0C 1F",
		  "1+1 error;5+2 DirectBranch ICNT=0x7;idles 1 errors 1 pending 0" },
		{ "end of field between messages", true, "01 FF 0C 1F",
		  "0+1 error;2+2 DirectBranch ICNT=0x7;idles 0 errors 1 pending 0" },
		{ "cut message", true, "0C 0F 24 15 00",
		  "0+2 DirectBranch ICNT=0x3;idles 0 errors 0 pending 3" },
		{ "unknown TCODE", true, "FC 00 FD 03",
		  "0+4 Reserved flags=17;idles 0 errors 0 pending 0" },
		{ "vendor TCODE", true, "E0 07", "0+2 Vendor flags=1;idles 0 errors 0 pending 0" },
		{ "missing last field", true, "24 0F",
		  "0+2 ProgTraceSync SYNC=0x3 ICNT=0x0 flags=2;idles 0 errors 0 pending 0" },
		{ "fixed fields cut", true, "74 03",
		  "0+2 IndirectBranchHistSync SYNC=0x0 BTYPE=0x0 ICNT=0x0 flags=2;"
		  "idles 0 errors 0 pending 0" },
		{ "no variable field at all", true, "74 0C 03 30 0F",
		  "0+3 IndirectBranchHistSync SYNC=0x3 BTYPE=0x0 ICNT=0x0 flags=2;"
		  "3+2 IndirectBranchSync SYNC=0x3 BTYPE=0x0 ICNT=0x0 flags=2;idles 0 errors 0 "
		  "pending 0" },
		{ "a single field without bits is 0", true, "84 03 84 00 03 6C 00 03",
		  "0+2 ProgTraceCorrelation EVCODE=0x0 CDF=0x0 ICNT=0x0;"
		  "2+3 ProgTraceCorrelation EVCODE=0x0 CDF=0x0 ICNT=0x0;"
		  "5+3 ResourceFull RCODE=0x0 ICNT=0x0;idles 0 errors 0 pending 0" },
		{ "a first field without bits is 0", true, "30 09 23",
		  "0+3 IndirectBranchSync SYNC=0x2 BTYPE=0x0 ICNT=0x0 FADDR=0x8;"
		  "idles 0 errors 0 pending 0" },
		{ "extra fields", true, "0C 0D 15 19 1D 21 23",
		  "0+7 DirectBranch ICNT=0x3 TSTAMP=0x5 flags=4;idles 0 errors 0 pending 0" },
		{ "long field without content", true, "0C 0C 00 x50 03",
		  "0+53 DirectBranch ICNT=0x3;idles 0 errors 0 pending 0" },
		{ "field of 64 bits", true, "0C FC x10 3F",
		  "0+12 DirectBranch ICNT=0xffffffffffffffff;idles 0 errors 0 pending 0" },
		{ "field of 65 bits", true, "0C FC x10 7F",
		  "0+12 DirectBranch ICNT=0xffffffffffffffff flags=8;idles 0 errors 0 pending 0" },
		{ "field of 300 bits", true, "0C FC x49 FF",
		  "0+51 DirectBranch ICNT=0xffffffffffffffff flags=8;idles 0 errors 0 pending 0" },
		{ "one bit far above the rest of a field", true, "0C 0C 00 x25 07",
		  "0+28 DirectBranch ICNT=0x3 flags=8;idles 0 errors 0 pending 0" },
		{ "framing: an address of 11 bytes", true, "24 0D FC x10 07",
		  "0+13 ProgTraceSync SYNC=0x3 ICNT=0x0 FADDR=0x1fffffffffffffff;"
		  "idles 0 errors 0 pending 0" },
		{ "framing: more than an address has room for", true, "24 0D FC x11 07",
		  "0+14 ProgTraceSync SYNC=0x3 ICNT=0x0 FADDR=0x7fffffffffffffff flags=8;"
		  "idles 0 errors 0 pending 0" },
		{ "dialects: SiFive's own messages are not taken for ratified ones", true,
		  "88 05 24 0D 00 0B 8C 00 03 88 07",
		  "0+6 Reserved flags=17;6+3 Reserved flags=1;9+2 Reserved flags=1;"
		  "idles 0 errors 0 pending 0" },
		{ "a field end that ends nothing resynchronizes at the next end", true,
		  "0C 0F 0D 24 0D 00 0B 0C 1F",
		  "0+2 DirectBranch ICNT=0x3;2+1 error;7+2 DirectBranch ICNT=0x7;"
		  "idles 0 errors 1 pending 0" },
		{ "framing: 0xFF that ends a message is data", true, "0C FF FF",
		  "0+2 DirectBranch ICNT=0x3f;idles 1 errors 0 pending 0" },
		{ "framing: zero needs a byte of its own on a byte end", true, "84 00 03",
		  "0+3 ProgTraceCorrelation EVCODE=0x0 CDF=0x0 ICNT=0x0;"
		  "idles 0 errors 0 pending 0" },
		{ "messages: ECODE 0 is there", true, "20 03",
		  "0+2 Error ETYPE=0x0 ECODE=0x0;idles 0 errors 0 pending 0" },
		{ "messages: reserved CDF has no HIST", true, "84 80 05 0F",
		  "0+4 ProgTraceCorrelation EVCODE=0x0 CDF=0x2 ICNT=0x1 TSTAMP=0x3;"
		  "idles 0 errors 0 pending 0" },
		{ "messages: HREPEAT is not the timestamp", true, "6C 48 05 09 17",
		  "0+5 ResourceFull RCODE=0x2 HIST=0x5 HREPEAT=0x2 TSTAMP=0x5;"
		  "idles 0 errors 0 pending 0" },
		{ "reserved RCODE", true, "6C F0 0F",
		  "0+3 ResourceFull RCODE=0xc RDATA=0xf;idles 0 errors 0 pending 0" },
	};
	static const size_t chunks[] = { 1, 2, 3, 7, 1000 };
	struct ntrace_params params = params_of("");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t data[256];
		size_t size = from_hex(cases[i].bytes, data, sizeof(data));

		for (size_t j = 0; j < sizeof(chunks) / sizeof(chunks[0]); j++) {
			char log[2048];

			log_stream(&params, cases[i].aligned, data, size, chunks[j], log,
				   sizeof(log));
			is_str(log, cases[i].log, "%s, chunks of %zu", cases[i].what, chunks[j]);
		}
		/* With more bytes after it, a short message is read from one word. */
		if (size + 8 <= sizeof(data)) {
			char words[2048], bytes[2048];

			memset(data + size, 0xff, 8);
			log_stream(&params, cases[i].aligned, data, size + 8, 1000, words,
				   sizeof(words));
			log_stream(&params, cases[i].aligned, data, size + 8, 1, bytes,
				   sizeof(bytes));
			is_str(words, bytes, "%s, followed by idle bytes", cases[i].what);
		}
	}
}

/* N-Trace 1.0, "framing": every cut of every example, between idle bytes, reads the same. */
static void test_cuts(void)
{
	unsigned int cuts = 0, wrong = 0;

	for (size_t i = 0; i < VECTORS; i++) {
		struct ntrace_params params = params_of(vectors[i].params);
		uint8_t data[80] = { 0xff };
		size_t size = 1 + from_hex(vectors[i].bytes, data + 1, 64);
		struct ntrace_message message;
		struct ntrace_reader reader;

		data[size] = 0xff;
		for (size_t cut = 0; cut <= size + 1; cut++, cuts++) {
			int first, second = NTRACE_ERR_AGAIN;

			ntrace_reader_init(&reader, &params, true);
			ntrace_reader_feed(&reader, data, cut);
			first = ntrace_reader_next(&reader, &message);
			if (first == NTRACE_ERR_AGAIN) {
				/* An unfinished message at the end is reported. */
				wrong += ntrace_reader_pending(&reader) != (cut > 1 ? cut - 1 : 0);
				ntrace_reader_feed(&reader, data + cut, size + 1 - cut);
				second = ntrace_reader_next(&reader, &message);
			}
			wrong += first != NTRACE_WIRE_MESSAGE && second != NTRACE_WIRE_MESSAGE;
			wrong += message.offset != 1 || message.length != size - 1;
			wrong += strcmp(message_text(&message), vectors[i].text) != 0;
		}
	}
	is_u64(wrong, 0, "framing: every cut of every vector (%u) reads the same", cuts);
}

/* FNV-1a over every message of a stream fed in chunks. */
static uint64_t stream_hash(const struct ntrace_params *params, const uint8_t *data, size_t size,
			    size_t chunk)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct ntrace_reader reader;

	ntrace_reader_init(&reader, params, true);
	for (size_t done = 0; done < size; done += chunk) {
		struct ntrace_message message;

		ntrace_reader_feed(&reader, data + done, size - done < chunk ? size - done : chunk);
		while (ntrace_reader_next(&reader, &message) >= 0) {
			const uint64_t words[] = { message.tcode,   message.flags,
						   message.present, message.offset,
						   message.length,  message.address_msb,
						   message.address_bytes };

			for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
				hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
			for (size_t i = 0; i < NTRACE_FIELD_COUNT; i++)
				hash = (hash ^ message.field[i]) * UINT64_C(0x100000001b3);
		}
	}
	return hash + reader.idles + reader.errors + ntrace_reader_pending(&reader);
}

/* A real stream, and damaged copies, in chunks of every size up to a large one. */
static void test_chunks(void)
{
	const char *stream = shared_file("xrle.nex");
	struct ntrace_params params = params_of("xlen=32");

	for (unsigned int damaged = 0; stream && damaged < 2; damaged++) {
		unsigned int wrong = 0;
		uint64_t whole;
		size_t size;
		uint8_t *data = read_file(stream, &size);

		for (size_t i = 0; damaged && i < size; i += 97)
			data[i] ^= (uint8_t)(1u << i % 8);
		whole = stream_hash(&params, data, size, size);
		for (size_t chunk = 1; chunk < 300; chunk++)
			wrong += stream_hash(&params, data, size, chunk) != whole;
		is_u64(wrong, 0, "framing: xrle.nex%s in chunks of 1 to 299 bytes",
		       damaged ? ", damaged," : "");
		free(data);
	}
}

static void test_names(void)
{
	const enum ntrace_dialect ratified = NTRACE_DIALECT_RATIFIED;
	const enum ntrace_dialect sifive = NTRACE_DIALECT_SIFIVE_V0;

	is_str(ntrace_value_name(NTRACE_FIELD_SYNC, 7, ratified), "FIFO overrun", "SYNC 7");
	is_str(ntrace_value_name(NTRACE_FIELD_SYNC, 8, ratified), "reserved", "SYNC 8");
	is_str(ntrace_value_name(NTRACE_FIELD_SYNC, 11, ratified), "reserved", "SYNC 11");
	is_str(ntrace_value_name(NTRACE_FIELD_SYNC, 11, sifive), "message contention",
	       "dialects: SYNC 11 of SiFive");
	is_str(ntrace_value_name(NTRACE_FIELD_SYNC, 15, ratified), "vendor", "SYNC 15");
	is_str(ntrace_value_name(NTRACE_FIELD_ETYPE, 0, ratified), "queue overrun", "ETYPE 0");
	is_str(ntrace_value_name(NTRACE_FIELD_ETYPE, 8, ratified), "vendor", "ETYPE 8");
	is_str(ntrace_value_name(NTRACE_FIELD_EVCODE, 4, ratified), "trace disable", "EVCODE 4");
	is_str(ntrace_value_name(NTRACE_FIELD_EVCODE, 2, ratified), "reserved", "EVCODE 2");
	is_str(ntrace_value_name(NTRACE_FIELD_EVCODE, 8, sifive), "reset entry",
	       "dialects: EVCODE 8 of SiFive");
	is_str(ntrace_value_name(NTRACE_FIELD_BTYPE, 3, sifive), "interrupt", "BTYPE 3");
	is_str(ntrace_value_name(NTRACE_FIELD_RCODE, 9, sifive), "taken", "RCODE 9 of SiFive");
	ok(!ntrace_value_name(NTRACE_FIELD_BTYPE, 4, ratified), "no BTYPE 4");
	ok(!ntrace_value_name(NTRACE_FIELD_ICNT, 0, ratified), "no names of counts");
	is_str(ntrace_tcode_dialect_name(34, sifive), "InCircuitTrace",
	       "dialects: TCODE 34 of SiFive");
	is_str(ntrace_tcode_dialect_name(35, sifive), "InCircuitTraceWS", "and 35");
	is_str(ntrace_tcode_dialect_name(34, ratified), "Reserved",
	       "which N-Trace 1.0 does not have");
	is_str(ntrace_tcode_dialect_name(3, sifive), "DirectBranch", "other names are unchanged");
}

static uint64_t random_state = 88172645463325252;

static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A legal value for a field: any number of significant bits that the writer accepts. */
static uint64_t random_field(unsigned int field, const struct ntrace_params *params)
{
	static const uint8_t bits[NTRACE_FIELD_COUNT] = {
		[NTRACE_FIELD_SYNC] = 4, [NTRACE_FIELD_BTYPE] = 2, [NTRACE_FIELD_ETYPE] = 4,
		[NTRACE_FIELD_EVCODE] = 4, [NTRACE_FIELD_CDF] = 2, [NTRACE_FIELD_RCODE] = 4,
	};
	unsigned int width = bits[field];

	if (field == NTRACE_FIELD_SRC)
		width = params->src_bits;
	else if (field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR)
		width = params->xlen - 1;
	else if (!width)
		width = (unsigned int)(random_number() % 65);
	return width ? random_number() >> (64 - width) : 0;
}

/* Writes, reads and compares; the read address equals the written one. */
static void test_round_trip(void)
{
	static const char *const settings[] = {
		"", "srcbits=1", "srcbits=6,extaddr=1", "srcbits=12,xlen=32,extaddr=1", "xlen=32",
	};
	unsigned int written = 0, wrong = 0;

	for (unsigned int round = 0; round < 50000; round++) {
		struct ntrace_params params = params_of(settings[round % 5]);
		uint8_t data[NTRACE_MESSAGE_BYTES_MAX + 1];
		struct ntrace_message message = { 0 }, back;
		uint64_t reference = random_number() & 0xfffffffe;
		int size;

		message.tcode = (uint8_t)(random_number() % 64);
		message.present = (1u << NTRACE_FIELD_COUNT) - 1;
		if (random_number() & 1)
			message.present &= ~(1u << NTRACE_FIELD_TSTAMP);
		for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++)
			message.field[i] = random_field(i, &params);
		data[NTRACE_MESSAGE_BYTES_MAX] = 0xaa;
		size = ntrace_message_write(&message, &params, data);
		if (size < 0)
			continue;
		written++;
		read_one(&params, data, (size_t)size, &back);
		for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++) {
			if (!ntrace_message_has(&back, (enum ntrace_field)i) ||
			    i == NTRACE_FIELD_FADDR || i == NTRACE_FIELD_UADDR)
				continue;
			wrong += back.field[i] != message.field[i];
		}
		wrong += back.flags || data[NTRACE_MESSAGE_BYTES_MAX] != 0xaa;
		if (ntrace_message_has(&back, NTRACE_FIELD_FADDR))
			wrong += ntrace_message_address(&back, &params, 0) !=
				 message.field[NTRACE_FIELD_FADDR] << 1;
		if (ntrace_message_has(&back, NTRACE_FIELD_UADDR))
			wrong += ntrace_message_address(&back, &params, reference) !=
				 (message.field[NTRACE_FIELD_UADDR] << 1 ^ reference);
	}
	ok(written > 5000, "%u random messages written", written);
	is_u64(wrong, 0, "all read back unchanged");
}

static void test_writer_refuses(void)
{
	struct ntrace_params params = params_of("srcbits=2");
	struct ntrace_message message = { .tcode = NTRACE_TCODE_DIRECT_BRANCH };
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];

	message.present = 1u << NTRACE_FIELD_ICNT;
	is_u64(ntrace_message_write(&message, &params, data), NTRACE_ERR_INVALID, "no SRC");
	message.present |= 1u << NTRACE_FIELD_SRC;
	ok(ntrace_message_write(&message, &params, data) == 2, "with SRC");
	message.field[NTRACE_FIELD_SRC] = 4;
	is_u64(ntrace_message_write(&message, &params, data), NTRACE_ERR_INVALID, "SRC too wide");
	message.field[NTRACE_FIELD_SRC] = 3;
	message.present &= ~(1u << NTRACE_FIELD_ICNT);
	is_u64(ntrace_message_write(&message, &params, data), NTRACE_ERR_INVALID, "no ICNT");
	message.tcode = 60;
	is_u64(ntrace_message_write(&message, &params, data), NTRACE_ERR_INVALID, "vendor TCODE");
}

static void test_reader_refuses(void)
{
	struct ntrace_params params = params_of("srcbits=12");
	struct ntrace_reader reader;

	is_u64(ntrace_reader_init(&reader, &params, true), 0, "SRC of 12 bits");
	params.src_bits = 13;
	is_u64(ntrace_reader_init(&reader, &params, true), NTRACE_ERR_INVALID, "SRC of 13 bits");
	params = params_of("");
	params.size = 0;
	is_u64(ntrace_reader_init(&reader, &params, true), NTRACE_ERR_INVALID,
	       "parameters without a size");
	is_u64(ntrace_reader_init(&reader, NULL, true), NTRACE_ERR_INVALID, "no parameters");
	is_u64(ntrace_reader_init(NULL, &params, true), NTRACE_ERR_INVALID, "no reader");
}

/* N-Trace 1.0, "addresses": an address has 63 bits in 11 bytes, of which only XLEN bits count. */
static void test_written_addresses(void)
{
	struct ntrace_params params = params_of("");
	struct ntrace_message message = { .tcode = NTRACE_TCODE_PROG_TRACE_SYNC };
	uint8_t data[NTRACE_MESSAGE_BYTES_MAX];

	message.present = 1u << NTRACE_FIELD_SYNC | 1u << NTRACE_FIELD_ICNT |
			  1u << NTRACE_FIELD_FADDR;
	message.field[NTRACE_FIELD_SYNC] = NTRACE_SYNC_DEBUG_EXIT;
	message.field[NTRACE_FIELD_FADDR] = 0x3f;
	message.address_bytes = 1;
	ok(ntrace_message_write(&message, &params, data) == 3 && !memcmp(data, "\x24\x0d\xff", 3),
	   "six bits in one byte");
	message.field[NTRACE_FIELD_FADDR] = 0x40;
	is_u64(ntrace_message_write(&message, &params, data), NTRACE_ERR_INVALID,
	       "seven bits in one byte");
	message.address_bytes = 11;
	is_u64(ntrace_message_write(&message, &params, data), 13, "11 bytes");
	message.address_bytes = 12;
	is_u64(ntrace_message_write(&message, &params, data), NTRACE_ERR_INVALID, "12 bytes");
	/* The address 0x80000000 of RV32, sign-extended to 64 bits. */
	message.address_bytes = 0;
	message.field[NTRACE_FIELD_FADDR] = UINT64_C(0xffffffff80000000) >> 1;
	for (unsigned int extend = 0; extend < 2; extend++) {
		params = params_of(extend ? "xlen=32,extaddr=1" : "xlen=32");
		ok(ntrace_message_write(&message, &params, data) == 8 &&
			   !memcmp(data, "\x24\x0d\0\0\0\0\0\x07", 8),
		   "an address of RV32 has 31 bits, extaddr=%u", extend);
	}
}

/* Bit addrbits of an address is its sign, independent of the bits above. */
static void test_address_bits(void)
{
	static const struct {
		const char *params;
		uint64_t sent, reference, address;	/* reference 0: F-ADDR */
	} cases[] = {
		{ "addrbits=48", 0x413fc, 0, 0x413fc },
		{ "addrbits=48", 0x1ffff80bb1884, 0, 0xffffffff80bb1884 },
		{ "addrbits=48", 0x1ffff80bb1884 ^ 0x413fc, 0x413fc, 0xffffffff80bb1884 },
		{ "addrbits=48", 0x1ffff80bb1884 ^ 0x413fc, 0xffffffff80bb1884, 0x413fc },
		{ "addrbits=48", 0x10, 0xffffffff80bb1884, 0xffffffff80bb1894 },
		/* For an encoder that sends more bits, the upper ones are ignored. */
		{ "addrbits=38", 0x1ffff80bb1884, 0, 0xffffffff80bb1884 },
		{ "addrbits=38", 0x1fffffffe, 0, 0x1fffffffe },
		{ "addrbits=64", 0x1ffff80bb1884, 0, 0x1ffff80bb1884 },
		{ "addrbits=63", 0x8000000000000000, 0, 0x8000000000000000 },
		{ "addrbits=31,xlen=32", 0x80000000, 0, 0x80000000 },
		{ "addrbits=20,xlen=32", 0x100000, 0, 0xfff00000 },
		{ "addrbits=1", 2, 0, 0xfffffffffffffffe },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_params params = params_of(cases[i].params);
		enum ntrace_field field = cases[i].reference ? NTRACE_FIELD_UADDR :
							       NTRACE_FIELD_FADDR;
		struct ntrace_message message = { .present = 1u << field };

		message.field[field] = cases[i].sent >> 1;
		is_hex(ntrace_message_address(&message, &params, cases[i].reference),
		       cases[i].address, "%s: 0x%" PRIx64 " is", cases[i].params, cases[i].sent);
	}
}

/* Random bytes and endless fields: no crash, and the same result for all chunk sizes. */
static void test_garbage(void)
{
	static uint8_t data[1 << 20];
	static char log[2][4 << 20];
	struct ntrace_params params;
	struct ntrace_message message;
	struct ntrace_reader reader;

	for (unsigned int round = 0; round < 20; round++) {
		/* Without SRC, fixed fields may end at a byte end. */
		params = params_of(round % 3 ? "srcbits=3" : "");
		for (size_t i = 0; i < 4096; i++)
			data[i] = (uint8_t)(random_number() >> 11) & (round & 1 ? 0xff : 0xfd);
		log_stream(&params, round & 2, data, 4096, 4096, log[0], sizeof(log[0]));
		log_stream(&params, round & 2, data, 4096, 1 + round % 11, log[1], sizeof(log[1]));
		ok(!strcmp(log[0], log[1]), "random bytes, round %u", round);
	}
	memset(data, 0, sizeof(data));
	ntrace_reader_init(&reader, &params, true);
	for (unsigned int round = 0; round < 16; round++) {
		ntrace_reader_feed(&reader, data, sizeof(data));
		if (ntrace_reader_next(&reader, &message) != NTRACE_ERR_AGAIN)
			break;
	}
	is_u64(ntrace_reader_pending(&reader), 16 << 20,
	       "16 MiB of zeros are one unfinished message");
	data[0] = 3;
	ntrace_reader_feed(&reader, data, 1);
	is_u64(ntrace_reader_next(&reader, &message), NTRACE_WIRE_MESSAGE, "which can end");
	is_u64(message.length, (16 << 20) + 1, "its length");
}

/* Next "NAME[bits]=value" of the reference tool's dump; "TCODE" begins a message. */
static bool next_dump_field(FILE *dump, char name[16], uint64_t *value)
{
	static char line[256];
	static char *rest;

	for (;;) {
		char *equal = rest ? strchr(rest, '=') : NULL;
		char *start = equal;

		if (!equal) {
			if (!fgets(line, sizeof(line), dump))
				return false;
			rest = strchr(line, ':');
			continue;
		}
		while (start > line && start[-1] != ' ')
			start--;
		sscanf(start, "%15[A-Z]", name);
		*value = strtoull(equal + 1, &rest, 0);
		return true;
	}
}

/* The dump uses the name RDATA for every payload of ResourceFull. */
static bool field_matches(const struct ntrace_message *message, const char *name, uint64_t value)
{
	for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++) {
		const char *ours = ntrace_field_name((enum ntrace_field)i);

		if (!ntrace_message_has(message, (enum ntrace_field)i))
			continue;
		if (message->tcode == NTRACE_TCODE_RESOURCE_FULL &&
		    (i == NTRACE_FIELD_HIST || i == NTRACE_FIELD_ICNT))
			ours = "RDATA";
		if (!strcmp(ours, name))
			return message->field[i] == value;
	}
	return false;
}

static void test_reference_dump(void)
{
	const char *stream = shared_file("xrle.nex"), *text = shared_file("xrle.dump.txt.gz");
	unsigned int messages = 0, fields = 0, ours = 0, wrong = 0;
	struct ntrace_params params = params_of("xlen=32");
	struct ntrace_message message = { 0 };
	struct ntrace_reader reader;
	uint64_t value;
	uint8_t *data;
	char name[16];
	size_t size;
	FILE *dump;

	if (!stream || !text)
		return;
	data = read_file(stream, &size);
	dump = open_gz(text);
	ntrace_reader_init(&reader, &params, true);
	ntrace_reader_feed(&reader, data, size);
	while (next_dump_field(dump, name, &value)) {
		if (!strcmp(name, "TCODE")) {
			messages++;
			if (ntrace_reader_next(&reader, &message) != NTRACE_WIRE_MESSAGE)
				wrong++;
			ours += (unsigned int)__builtin_popcount(message.present);
			wrong += message.tcode != value;
		} else {
			fields++;
			wrong += !field_matches(&message, name, value);
		}
	}
	is_u64(messages, 367, "messages in the reference tool's dump");
	is_u64(ours, fields, "as many fields as the dump has");
	is_u64(wrong, 0, "none differs");
	ok(ntrace_reader_next(&reader, &message) == NTRACE_ERR_AGAIN &&
		   !ntrace_reader_pending(&reader),
	   "nothing is left");
	pclose(dump);
	free(data);
}

int main(void)
{
	test_vectors();
	test_addresses();
	test_streams();
	test_cuts();
	test_chunks();
	test_names();
	test_round_trip();
	test_writer_refuses();
	test_reader_refuses();
	test_written_addresses();
	test_address_bits();
	test_garbage();
	test_reference_dump();
	return done_testing();
}
