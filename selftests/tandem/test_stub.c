// SPDX-License-Identifier: GPL-2.0-only
/* The client of GDB stubs, one request at a time. verify.sh has QEMU's. */
#include "stub_thread.h"

static void test_registers(void)
{
	const uint16_t ids[] = { GPR + 10, NTRACE_TANDEM_PRIV, NTRACE_TANDEM_PC };
	const uint16_t other[] = { GPR + 10, GPR + 11 };
	uint64_t values[3] = { 0 };

	if (!ok(!connects(NULL), "connected"))
		return;
	is_u64(model.flags, NTRACE_TANDEM_MODEL_WFI_BLOCKS, "wfi would block");
	ok(!model.reset && model.size == sizeof(model), "a stub has no reset");
	is_u64(model.read_registers(model.data, ids, values, 3), 0, "registers are read");
	is_hex(values[0], 0x1122334455667788, "a0");
	is_hex(values[1], 3, "the privilege, without QEMU's bit of V");
	is_hex(values[2], 0x80000000, "pc");
	values[0] = 0x99;
	values[2] = 0x80000004;
	refused = 1;
	is_u64(model.write_registers(model.data, ids, values, 3), 0, "registers are written");
	ok(reg[0] == 0x99 && reg[1] == 7 && reg[2] == 0x80000004,
	   "those that can be: %" PRIx64 " %" PRIx64 " %" PRIx64, reg[0], reg[1], reg[2]);
	is_u64(model.read_registers(model.data, other, values, 2), NTRACE_ERR_UNSUPPORTED,
	       "a register that the description lacks cannot be read");
	is_u64(model.write_registers(model.data, other, values, 2), NTRACE_ERR_UNSUPPORTED,
	       "nor written");
	disconnects();
	is_u64(acknowledged, 2, "packets are acknowledged up to that which ends acknowledging");
	ok(!strncmp(requests,
		    " qSupported:swbreak+;hwbreak+ QStartNoAckMode ? qXfer:features:read:"
		    "target.xml:0,1000 p0 p1 p2 P0=",
		    98),
	   "requests: %s", requests);
	ok(strstr(requests, " P0=9900000000000000 P1="), "little endian: %s", requests);
}

/* QEMU sign-extends the CSRs of a hart of RV32, which have 64 bits in its description. */
static void test_wide_csrs(void)
{
	static const char *const script[][2] = {
		{ XML("0"),
		  "l<reg name=\"mepc\" bitsize=\"64\"/><reg name=\"pc\" bitsize=\"32\"/>" },
		{ "p0", "04000080ffffffff" },
		{ 0 }
	};
	const uint16_t id = 0x341;
	uint64_t value = 0;

	is_u64(connects(script), 0, "a stub of 64 bits with a hart of RV32");
	is_u64(model.read_registers(model.data, &id, &value, 1), 0, "a CSR is read");
	is_hex(value, 0x80000004, "it has XLEN bits");
	disconnects();
}

/* A request that the stub rejects is repeated, but not for ever. */
static void test_rejections(void)
{
	for (unsigned int count = 1; count <= 4; count++) {
		naks = count;
		is_u64(connects(NULL), count < 4 ? 0 : NTRACE_ERR_FORMAT, "rejected %u times",
		       count);
		disconnects();
		naks = 0;
	}
}

/* A damaged answer is asked for again, but not for ever, and not if the stub does not wait for that. */
static void test_damage(void)
{
	const uint16_t id = NTRACE_TANDEM_PC;
	uint64_t value = 0;

	for (unsigned int count = 1; count <= 4; count++) {
		damaged = count;
		is_u64(connects(NULL), count < 4 ? 0 : NTRACE_ERR_FORMAT, "damaged %u times",
		       count);
		disconnects();
		damaged = 0;
	}
	is_u64(connects(NULL), 0, "connected without acknowledgements");
	damaged = 1;
	is_u64(model.read_registers(model.data, &id, &value, 1), NTRACE_ERR_FORMAT,
	       "a damaged value is none");
	disconnects();
	damaged = 0;
}

/* What is no answer has an end. */
static void test_floods(void)
{
	static char output[1024], acknowledgements[1024];
	const char *const floods[] = { acknowledgements, "%Stop:T05#00" };

	memset(acknowledgements, '+', sizeof(acknowledgements) - 1);
	for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
		flood = floods[i];
		is_u64(connects(NULL), NTRACE_ERR_FORMAT, "'%.12s' without end", flood);
		disconnects();
		flood = NULL;
	}
	for (size_t i = 0; i + 7 < sizeof(output); i += 7)
		memcpy(output + i, "$O41#c4", 7);
	is_u64(connects(NULL), 0, "connected");
	flood = output;
	is_u64(model.step(model.data), NTRACE_ERR_FORMAT, "console output without end");
	disconnects();
	flood = NULL;
}

/* ---- descriptions ---- */

static void test_descriptions(void)
{
	static const struct {
		const char *what;
		const char *const script[6][2];
		int error;
		const char *read; /* the request that reads pc */
	} cases[] = {
		{ "no description",
		  { { "qSupported", "PacketSize=1000" } },
		  NTRACE_ERR_UNSUPPORTED,
		  NULL },
		{ "a description that cannot be read",
		  { { XML("0"), "E01" } },
		  NTRACE_ERR_UNSUPPORTED,
		  NULL },
		{ "an empty answer", { { XML("0"), "" } }, NTRACE_ERR_UNSUPPORTED, NULL },
		{ "an answer of another kind",
		  { { XML("0"), "x" REG("pc", "") } },
		  NTRACE_ERR_UNSUPPORTED,
		  NULL },
		{ "a part without content, which is not the last",
		  { { XML("0"), "m" } },
		  NTRACE_ERR_FORMAT,
		  NULL },
		{ "a last part without content",
		  { { XML("0"), "m" REG("pc", "") }, { XML("1d"), "l" } },
		  0,
		  " p0 " },
		{ "no pc", { { XML("0"), "l" REG("a0", "") } }, NTRACE_ERR_UNSUPPORTED, NULL },
		{ "two parts",
		  { { XML("0"), "m<reg name=\"" }, { XML("b"), "lpc\" bitsize=\"64\"/>" } },
		  0,
		  " p0 " },
		{ "escaped characters",
		  { { XML("0"), "l<reg name=\"p}C\" bitsize=\"64\"/>" } },
		  0,
		  " p0 " },
		{ "numbers continue",
		  { { XML("0"), "l" REG("a0", " regnum=\"18\"") REG("pc", "") } },
		  0,
		  " p13 " },
		{ "numbers with base",
		  { { XML("0"), "l" REG("pc", " regnum=\"0x20\"") } },
		  0,
		  " p20 " },
		{ "unknown registers have numbers",
		  { { XML("0"), "l" REG("vendor", "") REG("pc", "") } },
		  0,
		  " p1 " },
		{ "registers that are wider than 64 bits",
		  { { XML("0"), "l<reg name=\"f0\" bitsize=\"128\"/>" REG("pc", "") } },
		  0,
		  " p1 " },
		{ "a register of no bits",
		  { { XML("0"), "l<reg name=\"mstatus\" bitsize=\"0\"/>" REG("pc", "") } },
		  NTRACE_ERR_FORMAT,
		  NULL },
		{ "pc of no bits",
		  { { XML("0"), "l<reg name=\"pc\" bitsize=\"0\"/>" } },
		  NTRACE_ERR_FORMAT,
		  NULL },
		{ "general registers that are narrower than pc",
		  { { XML("0"), "l<reg name=\"a0\" bitsize=\"32\"/>" REG("pc", "") } },
		  NTRACE_ERR_FORMAT,
		  NULL },
		{ "a size whose low bits are possible",
		  { { XML("0"), "l<reg name=\"v0\" bitsize=\"4294967295\"/>" REG("pc", "") } },
		  NTRACE_ERR_FORMAT,
		  NULL },
		{ "general registers and pc of 32 bits",
		  { { XML("0"), "l<reg name=\"a0\" bitsize=\"32\"/>"
				"<reg name=\"pc\" bitsize=\"32\"/>" } },
		  0,
		  " p1 " },
		{ "a name at another place",
		  { { XML("0"), "l<reg altname=\"a0\" name='pc' bitsize=\"64\"/>" } },
		  0,
		  " p0 " },
		{ "the name of another element",
		  { { XML("0"), "l<reg bitsize=\"64\"/><feature name=\"a0\"/>" REG("pc", "") } },
		  0,
		  " p0 " },
		{ "no size", { { XML("0"), "l<reg name=\"a1\"/>" REG("pc", "") } }, 0, " p0 " },
		{ "an attribute without a value",
		  { { XML("0"), "l<reg name name=\"pc\" bitsize=\"64\"/>" } },
		  0,
		  " p0 " },
		{ "the highest number",
		  { { XML("0"), "l" REG("pc", " regnum=\"8191\"") } },
		  0,
		  " p1fff " },
		{ "a number that is too high",
		  { { XML("0"), "l" REG("pc", " regnum=\"8192\"") } },
		  NTRACE_ERR_UNSUPPORTED,
		  NULL },
		{ "an included file",
		  { { XML("0"), "l<xi:include href=\"core.xml\"/>" REG("a0", "") },
		    { "qXfer:features:read:core.xml:0,", "l" REG("pc", "") } },
		  0,
		  " p1 " },
		{ "includes without a file",
		  { { XML("0"), "l<xi:include /><xi:include href=\"b.xml\"/>" },
		    { "qXfer:features:read:b.xml:0,", "l" REG("pc", "") } },
		  0,
		  " p0 " },
		{ "an included file that cannot be read",
		  { { XML("0"), "l" REG("pc", "") "<xi:include href=\"b.xml\"/>" } },
		  NTRACE_ERR_UNSUPPORTED,
		  NULL },
	};
	const uint16_t id = NTRACE_TANDEM_PC;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value;
		int error = connects(cases[i].script);

		is_u64(error, cases[i].error, "%s", cases[i].what);
		if (!error)
			is_u64(model.xlen, strstr(cases[i].what, "32 bits") ? 32 : 64, "its XLEN");
		if (!error)
			model.read_registers(model.data, &id, &value, 1);
		disconnects();
		if (!error)
			strcat(requests, " ");
		if (cases[i].read)
			ok(strstr(requests, cases[i].read), "%s:%s", cases[i].what, requests);
	}
}

/* An attribute must fit: names of registers have at most 63 characters. */
static void test_lengths(void)
{
	const char *script[][2] = { { XML("0"), NULL }, { XML("1"), NULL }, { 0 } };
	static char text[20000], part[17000];
	size_t length;

	for (length = 63; length <= 64; length++) {
		const uint16_t id = NTRACE_TANDEM_PC;
		uint64_t value;

		snprintf(text, sizeof(text), "l<reg name=\"%0*d\" bitsize=\"64\"/>" REG("pc", ""),
			 (int)length, 0);
		script[0][1] = text;
		is_u64(connects(script), 0, "a name of %zu characters", length);
		model.read_registers(model.data, &id, &value, 1);
		disconnects();
		ok(strstr(requests, length == 63 ? " p1" : " p0"), "has a number if it fits: %s",
		   requests);
	}
	/* The longest packet has 16384 bytes. */
	for (length = 16384; length <= 16385; length++) {
		memset(part, ' ', sizeof(part));
		memcpy(part, "l" REG("pc", ""), strlen("l" REG("pc", "")));
		part[length] = '\0';
		script[0][1] = part;
		is_u64(connects(script), length == 16384 ? 0 : NTRACE_ERR_FORMAT,
		       "a packet of %zu bytes", length);
		disconnects();
	}
	/* The same part again and again. */
	part[0] = 'm';
	part[16384] = '\0';
	script[0][0] = "qXfer:";
	is_u64(connects(script), NTRACE_ERR_NOSPACE, "a description without end");
	disconnects();
}

/* The stub ends the connection instead of an answer. */
static void test_ends(void)
{
	static const char *const at[] = { "qSupported", "QStart", "?", "qXfer" };
	static const char *const script[][2] = {
		{ XML("0"), "l" REG("pc", "") "<xi:include href=\"b.xml\"/>" }, { 0 }
	};
	const uint16_t ids[6] = { NTRACE_TANDEM_PC, GPR + 10, NTRACE_TANDEM_PRIV };
	uint64_t values[6] = { 0 };
	char bytes[4] = "";

	for (size_t i = 0; i < 4; i++) {
		hang_up = at[i];
		errno = 0;
		is_u64(connects(NULL), NTRACE_ERR_IO, "the connection ends at %s", at[i]);
		is_u64(errno, ECONNRESET, "errno says so");
		disconnects();
	}
	hang_up = "qXfer:features:read:b.xml";
	is_u64(connects(script), NTRACE_ERR_IO, "it ends at an included file");
	disconnects();
	for (unsigned int i = 0; i < 5; i++) {
		static const char *const kinds[] = { "p1", "P", "m", "M", "s" };
		int error;

		hang_up = kinds[i];
		is_u64(connects(NULL), 0, "connected");
		if (i == 0)
			error = model.read_registers(model.data, ids, values, 3);
		else if (i == 1)
			error = model.write_registers(model.data, ids, values, 3);
		else if (i == 2)
			error = model.read_memory(model.data, 0x1000, bytes, 4);
		else if (i == 3)
			error = model.write_memory(model.data, 0x1000, bytes, 4);
		else
			error = model.step(model.data);
		is_u64(error, NTRACE_ERR_IO, "the connection ends at %s", kinds[i]);
		disconnects();
	}
}

/* ---- values ---- */

/* A core with x0..x31, pc, a vector register and 32 bits of f0, f1. */
static void describe(char *text)
{
	unsigned int i;

	text += sprintf(text, "l");
	for (i = 0; i < 32; i++)
		text += sprintf(text, REG("x%u", ""), i);
	text += sprintf(text, REG("pc", "") "<reg name=\"v0\" bitsize=\"128\"/>");
	for (i = 0; i < 2; i++)
		text += sprintf(text, "<reg name=\"f%u\" bitsize=\"32\"/>", i);
}

/* More than four general registers are read in one request. */
static void test_all(void)
{
	const uint16_t ids[] = { NTRACE_TANDEM_PC,     GPR + 1, GPR + 2, GPR + 3, GPR + 4, GPR + 31,
				 NTRACE_TANDEM_FPR + 1 };
	const uint16_t few[] = { GPR + 1, GPR + 2, GPR + 3, GPR + 4, NTRACE_TANDEM_FPR + 1 };
	static char xml[4000], all[800];
	const char *script[][2] = { { XML("0"), xml },
				    { "g", all },
				    { "p23", "78563412" },
				    { "p24", "" },
				    { "p1", "0100000000000000" },
				    { "p", "2" },
				    { 0 } };
	uint64_t values[7] = { 0 };
	unsigned int i;

	describe(xml);
	for (i = 0; i <= 32; i++)
		sprintf(all + 16 * i, "%02xA0c0000000009F", i);
	is_u64(connects(script), 0, "a stub with all registers");
	is_u64(model.read_registers(model.data, ids, values, 7), 0, "seven registers are read");
	is_hex(values[0], UINT64_C(0x9f00000000c0a020), "pc follows x31");
	is_hex(values[1], UINT64_C(0x9f00000000c0a001), "x1");
	is_hex(values[5], UINT64_C(0x9f00000000c0a01f), "x31");
	is_hex(values[6], 0x12345678, "a float register, by itself");
	disconnects();
	ok(strstr(requests, ",1000 g p23"), "one request for all, one for f1: %s", requests);

	/* Vector registers have a place in the answer to "g", too. */
	strcpy(all + 16 * 33, "000102030405060708090a0b0c0d0e0f"
			      "00000000"
			      "efbeadde");
	is_u64(connects(script), 0, "a stub that sends vector and float registers, too");
	is_u64(model.read_registers(model.data, ids, values, 7), 0, "registers are read");
	is_hex(values[6], 0x12345678, "float registers are still asked for");
	is_u64(model.read_registers(model.data, few, values, 5), NTRACE_ERR_UNSUPPORTED,
	       "four general ones are read one by one, with unusable answers");
	values[0] = 0;
	is_u64(model.read_registers(model.data, few, values, 1), 0, "all answers were taken");
	is_hex(values[0], 1, "the next request has its own");
	disconnects();
	all[16 * 31] = '\0';
	is_u64(connects(script), 0, "a stub that leaves out x31");
	is_u64(model.read_registers(model.data, ids, values, 7), NTRACE_ERR_FORMAT,
	       "its answer is wrong");
	disconnects();
	strcpy(all, "E01");
	is_u64(connects(script), 0, "a stub that refuses to send all registers");
	is_u64(model.read_registers(model.data, ids, values, 7), NTRACE_ERR_FORMAT,
	       "the request is not repeated");
	disconnects();
	strcpy(all, "xxxxxxxxxxxxxxxx");
	is_u64(connects(script), 0, "a stub that does not know its registers");
	is_u64(model.read_registers(model.data, ids, values, 7), NTRACE_ERR_FORMAT, "says so");
	disconnects();
}

/* One register by itself: refused, unknown, narrow. */
static void test_one(void)
{
	static const char *const script[][2] = {
		{ XML("0"), "l" REG("pc", "") "<reg name=\"f0\" bitsize=\"32\"/>" REG("a1", "")
				    REG("a2", "") REG("a3", "") REG("a4", "") },
		{ "p1", "eFbEaDdE" },
		{ "p2", "E14" },
		{ "p3", "xxxxxxxxxxxxxxxx" },
		{ "p4", "E1000000000000f0" },
		{ "p5", "0g00000000000000" },
		{ "p0", "0400000000000000" },
		{ "P1=", "OK" },
		{ 0 }
	};
	const uint16_t ids[] = { NTRACE_TANDEM_FPR, GPR + 11, NTRACE_TANDEM_PC };
	uint64_t values[3] = { 0, 0, 0 };

	is_u64(connects(script), 0, "a stub that refuses a register");
	is_u64(model.read_registers(model.data, ids, values, 3), NTRACE_ERR_UNSUPPORTED,
	       "so it does");
	is_hex(values[0], 0xdeadbeef, "32 bits, with capital digits");
	is_hex(values[2], 4, "the answers after the refusal belong to their registers");
	for (uint16_t id = GPR + 12; id <= GPR + 14; id++)
		is_u64(model.read_registers(model.data, &id, values, 1),
		       id == GPR + 13 ? 0 : NTRACE_ERR_UNSUPPORTED, "answer %d", id - GPR - 12);
	is_hex(values[0], UINT64_C(0xf0000000000000e1), "a value that begins with E is no refusal");
	values[0] = 0x89abcdef;
	is_u64(model.write_registers(model.data, ids, values, 1), 0, "a register of 32 bits");
	disconnects();
	ok(strstr(requests, " P1=efcdab89") && !strstr(requests, " P1=efcdab890"),
	   "is written with 8 digits: %s", requests);
}

static void test_memory(void)
{
	static const char *const script[][2] = {
		{ "m1000,4", "78563412" }, { "m2000,4", "E01" }, { "m3000,4", "7856" },
		{ "m4000,2", "78563412" }, { "m5000,3", "E0f012" }, { "M5000", "E01" },
		{ "M6000", "E01" },	   { "M", "OK" },	  { 0 }
	};
	uint8_t bytes[150] = { 0 };
	unsigned int i;

	is_u64(connects(script), 0, "a stub with memory");
	is_u64(model.read_memory(model.data, 0x1000, bytes, 4), 0, "four bytes");
	ok(!memcmp(bytes, "\x78\x56\x34\x12", 4), "are read");
	is_u64(model.read_memory(model.data, 0x2000, bytes, 4), NTRACE_ERR_NOMAP, "no memory");
	is_u64(model.read_memory(model.data, 0x3000, bytes, 4), NTRACE_ERR_NOMAP,
	       "less memory than asked for");
	is_u64(model.read_memory(model.data, 0x4000, bytes + 4, 2), 0, "more than asked for");
	ok(!memcmp(bytes + 4, "\x78\x56\0", 3), "is left out");
	is_u64(model.read_memory(model.data, 0x5000, bytes, 3), 0, "bytes that begin with E");
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 0xa0);
	is_u64(model.write_memory(model.data, 0x7000, bytes, sizeof(bytes)), 0, "150 bytes");
	is_u64(model.write_memory(model.data, 0x4fc0, bytes, 128), NTRACE_ERR_NOMAP,
	       "memory that is missing from the middle on");
	is_u64(model.write_memory(model.data, 0x6000, bytes, 1), NTRACE_ERR_NOMAP, "no memory");
	disconnects();
	ok(strstr(requests, " M7000,40:a0a1a2") && strstr(requests, "dedf M7040,40:e0e1") &&
		   strstr(requests, "1e1f M7080,16:2021"),
	   "are written in parts: %s", requests);
}

static void test_steps(void)
{
	static const struct {
		const char *what;
		const char *script[2][2];
		int error;
	} cases[] = {
		{ "a signal", { { "s", "S05" } }, 0 },
		{ "a signal with registers", { { "s", "T05thread:01;" } }, 0 },
		{ "output comes first", { { "s", "O414\nO42\nT05" } }, 0 },
		{ "the program has exited", { { "s", "W00" } }, NTRACE_ERR_EOS },
		{ "output comes before the exit", { { "s", "O41\nW00" } }, NTRACE_ERR_EOS },
		{ "the program was killed", { { "s", "X09" } }, NTRACE_ERR_EOS },
		{ "the stub does not step", { { "s", "" } }, NTRACE_ERR_FORMAT },
		{ "the stub refuses to step", { { "s", "E01" } }, NTRACE_ERR_FORMAT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_u64(connects(cases[i].script), 0, "connected");
		is_u64(model.step(model.data), cases[i].error, "%s", cases[i].what);
		disconnects();
	}
}

/* ---- addresses ---- */

static void test_tcp(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	socklen_t size = sizeof(name);
	const uint16_t id = NTRACE_TANDEM_PC;
	uint64_t value = 0;
	char address[32];

	server = socket(AF_INET, SOCK_STREAM, 0);
	if (server < 0 || bind(server, (struct sockaddr *)&name, size) ||
	    getsockname(server, (struct sockaddr *)&name, &size)) {
		skip("TCP", "no network");
		return;
	}
	/* The port belongs to this test, and nobody listens yet. */
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(name.sin_port));
	is_u64(ntrace_tandem_gdb_open(&gdb, address, &model), NTRACE_ERR_IO, "nobody listens");
	is_u64((uint64_t)errno, ECONNREFUSED, "errno says so");
	listen(server, 1);
	pthread_create(&thread, NULL, serve, NULL);
	is_u64(ntrace_tandem_gdb_open(&gdb, address, &model), 0, "connected by TCP");
	is_u64(model.read_registers(model.data, &id, &value, 1), 0, "pc is read");
	is_hex(value, reg[2], "its value");
	ok(undelayed, "no request waits for the confirmation of an earlier segment");
	is_u64(delayed, 0, "no answer waits for the confirmation of an earlier one");
	disconnects();
}

int main(void)
{
	if (!scratch_make())
		return 1;
	alarm(120);
	/* The client may close the connection before it has read all. */
	signal(SIGPIPE, SIG_IGN);
	test_registers();
	test_wide_csrs();
	test_rejections();
	test_damage();
	test_floods();
	test_descriptions();
	test_lengths();
	test_ends();
	test_all();
	test_one();
	test_memory();
	test_steps();
	test_tcp();
	scratch_remove();
	return done_testing();
}
