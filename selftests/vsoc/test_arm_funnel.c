// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* CoreSight funnel of the virtual SoC (ARM 100536), and the registers that CoreSight shares. */
#include "arm_funnel.h"
#include "tap.h"

/* The component after the funnel: "ID:bytes " for each transfer. */
static struct {
	char text[512];
	size_t size;
	bool full;
	bool refuses;	/* refuses a transfer although it was ready */
} behind;

static bool behind_put(void *opaque, unsigned int input, uint8_t id, const uint8_t *data,
		       size_t size)
{
	(void)opaque;
	(void)input;
	if (behind.full || behind.refuses)
		return false;
	behind.size += (size_t)snprintf(behind.text + behind.size,
					sizeof(behind.text) - behind.size, "%x:%.*s ", id,
					(int)size, (const char *)data);
	return true;
}

static bool behind_ready(void *opaque, unsigned int input)
{
	(void)opaque;
	(void)input;
	return !behind.full;
}

static const struct trace_port behind_port = { behind_put, behind_ready, NULL, 0 };

static struct arm_funnel funnel;

static void power_up(unsigned int inputs)
{
	const struct arm_funnel_parameters parameters = { .inputs = inputs };

	memset(&behind, 0, sizeof(behind));
	arm_funnel_init(&funnel, &parameters, &behind_port);
}

static void enabled(unsigned int inputs)
{
	power_up(inputs);
	arm_funnel_write(&funnel, CS_LAR, CS_LAR_UNLOCK);
	arm_funnel_write(&funnel, CS_FUNNEL_CONTROL, 0x7ff);
}

static uint32_t rd(uint32_t offset)
{
	return arm_funnel_read(&funnel, offset);
}

static uint32_t attempt(uint32_t offset, uint32_t value)
{
	arm_funnel_write(&funnel, offset, value);
	return rd(offset);
}

static bool put(unsigned int input, uint8_t id, const char *bytes)
{
	return arm_funnel_put(&funnel, input, id, (const uint8_t *)bytes, strlen(bytes));
}

static void identity(void)
{
	static const uint8_t expected[] = { 0x08, 0xb9, 0x2b, 0x00, 0x04, 0x00, 0x00, 0x00 };

	power_up(4);
	is_hex(rd(0xfcc), 0x12, "DEVTYPE: a funnel");
	is_hex(rd(0xfc8), 4, "DEVID: its inputs");
	is_hex(rd(0xfb8), 0, "AUTHSTATUS: no authentication");
	for (unsigned int i = 0; i < 8; i++)
		is_hex(rd(i < 4 ? 0xfe0 + 4 * i : 0xfd0 + 4 * (i - 4)), expected[i],
		       "PIDR%u: Arm, part 0x908", i);
	ok(rd(0xff0) == 0x0d && rd(0xff4) == 0x90 && rd(0xff8) == 0x05 && rd(0xffc) == 0xb1,
	   "CIDR: a CoreSight component");
	is_hex(rd(0xfc0), 0, "others read 0");
}

static void lock(void)
{
	power_up(4);
	is_hex(rd(0xfb4), 3, "LSR: locked after reset");
	is_hex(attempt(0x000, 0x30f), 0x300, "then Control ignores writes");
	is_hex(attempt(0x004, 0), 0xfac688, "so does the priority");
	is_hex((arm_funnel_write(&funnel, 0xfa0, 2), rd(0xfa4)), 0, "so do claim tags");
	is_u64(funnel.software_errors, 3, "each is an error of the software");
	is_hex((arm_funnel_write(&funnel, 0xfb0, 0xc5acce54), rd(0xfb4)), 3, "a wrong key");
	is_hex((arm_funnel_write(&funnel, 0xfb0, 0xc5acce55), rd(0xfb4)), 1, "the key unlocks");
	is_hex(attempt(0x000, ~0u), 0xf0f, "Control: a bit for each input, and the hold time");
	is_hex(attempt(0x004, ~0u), 0xffffff, "eight priorities");
	is_hex(rd(0xfa0), 0xf, "CLAIMSET reads the tags that there are");
	arm_funnel_write(&funnel, 0xfa0, 0x12);
	arm_funnel_write(&funnel, 0xfa0, 0x1);
	is_hex(rd(0xfa4), 3, "writes set tags");
	is_hex(attempt(0xfa4, 2), 1, "and CLAIMCLR clears them");
	arm_funnel_write(&funnel, 0xfb0, 0);
	is_hex(attempt(0x000, 0), 0xf0f, "any other value locks again");
	arm_funnel_power_up(&funnel);
	ok(rd(0x000) == 0x300 && rd(0x004) == 0xfac688 && rd(0xfb4) == 3 && !rd(0xfa4),
	   "power-up resets everything");
}

static void ports(void)
{
	power_up(2);
	ok(!arm_funnel_ready(&funnel, 0) && !put(0, 1, "abcd"), "a disabled input takes nothing");
	is_u64(funnel.dropped, 4, "which is counted");
	arm_funnel_write(&funnel, CS_LAR, CS_LAR_UNLOCK);
	arm_funnel_write(&funnel, CS_FUNNEL_CONTROL, 0x702);
	ok(!arm_funnel_ready(&funnel, 0) && arm_funnel_ready(&funnel, 1) && put(1, 3, "ef"),
	   "each input has its bit");
	arm_funnel_write(&funnel, CS_FUNNEL_CONTROL, 0x700);
	arm_funnel_write(&funnel, CS_FUNNEL_CONTROL, 0x703);
	arm_funnel_flush(&funnel);
	ok(!behind.size && funnel.dropped == 6, "bytes that wait when it is disabled are lost");
	behind.full = true;
	ok(!arm_funnel_ready(&funnel, 0) && !put(0, 1, "abcd"), "a way that is blocked");
	behind.full = false;
	put(0, 1, "ghi");
	behind.refuses = true;
	arm_funnel_flush(&funnel);
	is_u64(funnel.dropped, 13, "refused after all: lost");
}

static void arbitration(void)
{
	enabled(2);
	ok(put(0, 1, "abcdefghijklmnop") && !behind.size, "transfers wait at the input");
	put(0, 1, "q");
	is_str(behind.text, "1:abcd ", "until there is no room: the oldest one gets out");
	put(1, 3, "ABCDE");
	put(0, 1, "rstuvwxyz");
	is_str(behind.text, "1:abcd 3:ABCD 1:efgh 3:E 1:ijkl 1:mnop ",
	       "inputs take turns, also inside a message");
	arm_funnel_flush(&funnel);
	is_str(behind.text, "1:abcd 3:ABCD 1:efgh 3:E 1:ijkl 1:mnop 1:q 1:rstu 1:vwxy 1:z ",
	       "a flush empties all inputs");
	is_u64(funnel.bytes, 31, "sent bytes are counted");
	behind.size = 0;
	put(0, 1, "abcde");
	put(0, 5, "fg");
	put(1, 3, "hi");
	put(0, 1, "j");
	arm_funnel_flush(&funnel);
	is_str(behind.text, "3:hi 1:abcd 1:e 5:fg 1:j ",
	       "an input may have several IDs; a transfer has one");
}

int main(void)
{
	identity();
	lock();
	ports();
	arbitration();
	return done_testing();
}
