// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * PIB sink and ATB bridge of the virtual SoC (Trace Control Interface 1.0, trPib and trAtbBridge
 * registers).
 */
#include <ntrace/trace_control.h>

#include "port_sink.h"
#include "tap.h"

#define ACTIVE TR_CONTROL_ACTIVE
#define ENABLE TR_CONTROL_ENABLE
#define EMPTY TR_CONTROL_EMPTY

static struct {
	uint8_t bytes[512];
	size_t size;
	uint8_t id;
	bool full;
	bool refuses;	/* refuses bytes although it was ready */
} far;

static bool far_send(void *opaque, uint8_t id, const uint8_t *data, size_t size)
{
	(void)opaque;
	if (far.refuses)
		return false;
	far.id = id;
	memcpy(far.bytes + far.size, data, size);
	far.size += size;
	return true;
}

static bool far_ready(void *opaque)
{
	(void)opaque;
	return !far.full;
}

static const struct port_sink_ops far_ops = { far_send, far_ready };

static struct port_sink sink;

static void fresh(const struct port_sink_parameters *parameters)
{
	memset(&far, 0, sizeof(far));
	port_sink_init(&sink, parameters, &far_ops, NULL);
	port_sink_write(&sink, TR_CONTROL, ACTIVE);
}

static void fresh_pib(void)
{
	const struct port_sink_parameters parameters = {
		.type = TR_COMP_TYPE_PIB_SINK,
		.modes = 1 << 5 | 1 << 10 | 1 << 12,
		.divider_max = 0xff,
	};

	fresh(&parameters);
}

static void fresh_atb(uint32_t id)
{
	const struct port_sink_parameters parameters = { .type = TR_COMP_TYPE_ATB_BRIDGE,
							 .id = id };

	fresh(&parameters);
}

static uint32_t attempt(uint32_t value)
{
	port_sink_write(&sink, TR_CONTROL, value);
	return port_sink_read(&sink, TR_CONTROL);
}

static bool put(const char *text)
{
	return port_sink_put(&sink, (const uint8_t *)text, strlen(text));
}

static bool got(const void *bytes, size_t size)
{
	return far.size == size && !memcmp(far.bytes, bytes, size);
}

static void pib_registers(void)
{
	fresh_pib();
	is_hex(port_sink_read(&sink, TR_IMPL), 0xa01, "PIB: version 1.0, type 0xa");
	is_hex(attempt(ACTIVE | 0x50), ACTIVE | EMPTY | 0x50, "mode 5 exists");
	is_hex(attempt(ACTIVE | 0x80), ACTIVE | EMPTY, "mode 8 is not, and lands on 0");
	is_hex(attempt(ACTIVE | 0x350), ACTIVE | EMPTY | 0x250,
	       "calibration in serial mode, no centred clock");
	is_hex(attempt(ACTIVE | 0x3a0), ACTIVE | EMPTY | 0x3a0, "both in parallel mode");
	is_hex(attempt(ACTIVE | 0xffff7000), ACTIVE | EMPTY | 0xff0000,
	       "the divider lands on its maximum; no AsyncFreq");
	is_hex(attempt(0), EMPTY, "Active 0");
	is_hex(attempt(ACTIVE), ACTIVE | EMPTY, "resets everything");
}

static void pib_passing(void)
{
	fresh_pib();
	ok(!put("abcd") && sink.dropped == 4, "disabled: takes nothing");
	attempt(ACTIVE | ENABLE);
	ok(!port_sink_ready(&sink) && !put("abcd"), "enabled and off: refuses bytes");
	fresh_pib();
	attempt(ACTIVE | 0xa0);
	attempt(ACTIVE | 0xa0 | ENABLE);
	ok(put("abc") && far.size == 0, "fewer than four bytes wait");
	is_hex(attempt(ACTIVE | 0x50 | ENABLE), ACTIVE | ENABLE | 0xa0,
	       "not Empty; the mode stays while it is enabled");
	is_u64(sink.software_errors, 1, "which was an error of the software");
	ok(put("defgh") && got("abcdefgh", 8), "all get out in order");
	put("xy");
	is_hex(attempt(ACTIVE | 0xa0), ACTIVE | EMPTY | 0xa0, "Enable 1 -> 0 flushes");
	ok(got("abcdefghxy", 10), "to the last byte");
}

static void pib_calibration(void)
{
	static const uint8_t bits_16[] = { 0xaa, 0xaa, 0x55, 0x55, 0x00, 0x00, 0xff, 0xff };

	fresh_pib();
	attempt(ACTIVE | 0x2c0);
	attempt(ACTIVE | 0x2c0 | ENABLE);
	ok(got(bits_16, 8), "calibration: the pattern of 16 bits");
	ok(put("abcd") && got(bits_16, 8) && sink.dropped == 4, "trace is taken and dropped");
	fresh_pib();
	attempt(ACTIVE | 0x2a0);
	attempt(ACTIVE | 0x2a0 | ENABLE);
	ok(got("\x5a\x5a\xf0\x0f", 4), "that of 4 bits");
	fresh_pib();
	attempt(ACTIVE | 0x250);
	attempt(ACTIVE | 0x250 | ENABLE);
	ok(got("\xaa\x55\x00\xff", 4), "that of UART");
}

static void atb(void)
{
	fresh_atb(0);
	is_hex(port_sink_read(&sink, TR_IMPL), 0xe01, "ATB: version 1.0, type 0xe");
	is_hex(attempt(ACTIVE | 0xffffff00), ACTIVE | EMPTY | 0x7f00, "seven bits of ID");
	is_hex(attempt(ACTIVE | 0x2100), ACTIVE | EMPTY | 0x2100, "an ID");
	attempt(ACTIVE | 0x2100 | ENABLE);
	ok(put("abcde") && got("abcd", 4), "trace passes");
	attempt(ACTIVE | 0x2100);
	ok(got("abcde", 5), "Enable 1 -> 0 flushes");
	fresh_atb(0x31);
	is_hex(attempt(ACTIVE | 0x2100), ACTIVE | EMPTY | 0x3100, "an ID that is hard-wired");
}

/* A bridge with components after it, in a K3 */
static void atb_on_the_way(void)
{
	char longer[301] = "";

	fresh_atb(0);
	attempt(ACTIVE | 0x2100);
	attempt(ACTIVE | 0x2100 | ENABLE);
	ok(put("abcdef") && got("abcd", 4) && far.id == 0x21, "bytes go on with the bridge's ID");
	far.full = true;
	ok(!port_sink_ready(&sink) && !put("ghijkl") && got("abcd", 4) && sink.dropped == 6,
	   "a blocked way: the whole message is refused");
	far.full = false;
	port_sink_flush(&sink);
	ok(got("abcdef", 6), "a flush of the ATB sends what waits, of the message before it");
	is_hex(port_sink_read(&sink, TR_CONTROL), ACTIVE | EMPTY | ENABLE | 0x2100,
	       "and the bridge stays enabled");
	put("xyz");
	port_sink_write(&sink, FAULT_REGISTER, FAULT_NO_FLUSH);
	port_sink_flush(&sink);
	ok(got("abcdef", 6), "no-flush: it keeps its bytes");
	port_sink_write(&sink, FAULT_REGISTER, FAULT_NO_ENABLE);
	is_hex(attempt(ACTIVE | 0x2100), ACTIVE | EMPTY | ENABLE | 0x2100,
	       "no-enable: Enable is stuck");
	port_sink_write(&sink, FAULT_REGISTER, 0);
	attempt(ACTIVE | 0x2100 | ENABLE);
	far.size = 0;
	memset(longer, 'm', sizeof(longer) - 1);
	ok(put(longer) && far.size == 300, "messages of any length");
	put("h");
	far.refuses = true;
	ok(!put("abcd") && sink.dropped == 10, "refused after all: the message is lost");
	far.refuses = false;
	port_sink_flush(&sink);
	ok(far.size == 301 && far.bytes[300] == 'h', "the end of the one before it is not");
	put("ij");
	attempt(ACTIVE);
	is_hex(attempt(0), EMPTY, "a reset empties it");
}

int main(void)
{
	pib_registers();
	pib_passing();
	pib_calibration();
	atb();
	atb_on_the_way();
	return done_testing();
}
