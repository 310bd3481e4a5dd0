// SPDX-License-Identifier: GPL-2.0-only
/* The client of GDB stubs: requests that are sent together, and their acknowledgements. */
#include "stub_thread.h"

/* A stub that wants acknowledgements gets one after each packet, before the next request. */
static void test_acknowledgements(void)
{
	static const char *const script[][2] = { { "QStart", "" }, { 0 } };
	const uint16_t ids[] = { GPR + 10, NTRACE_TANDEM_PRIV, NTRACE_TANDEM_PC };
	uint64_t values[3] = { 0 };

	reg[0] = 0x5566;
	sent = 0;
	is_u64(connects(script), 0, "a stub that insists on acknowledgements");
	is_u64(model.read_registers(model.data, ids, values, 3), 0, "registers are read");
	is_hex(values[0], 0x5566, "the first one");
	is_hex(values[2], reg[2], "and the last one");
	is_u64(model.write_registers(model.data, ids, values, 3), 0, "and written");
	disconnects();
	is_u64(acknowledged, 4 + 3 + 3, "each packet is acknowledged");
	ok(!hurried, "before the next request");
	is_u64(sent, 4 + 1 + 1 + 1, "in the segment of its batch; the last one alone");
}

/* Of a batch, nothing is taken if a request or an answer is damaged. It is sent again, one by one. */
static void test_damaged_batches(void)
{
	static const char *const script[][2] = { { "QStart", "" }, { 0 } };
	const uint16_t ids[] = { GPR + 10, NTRACE_TANDEM_PRIV, NTRACE_TANDEM_PC };

	refused = 3;
	for (unsigned int count = 1; count <= 5; count++)
		for (unsigned int reject = 0; reject < 2; reject++) {
			unsigned int *const damage = reject ? &naks : &damaged;
			uint64_t values[3] = { 0 }, others[3] = { count, count + 1, count + 2 };

			reg[0] = 0x1000 + count;
			is_u64(connects(script), 0, "a stub that insists on acknowledgements");
			*damage = count;
			is_u64(model.read_registers(model.data, ids, values, 3), 0,
			       "%u of a batch %s", count, reject ? "rejected" : "damaged");
			ok(values[0] == reg[0] && values[1] == (reg[1] & 3) && values[2] == reg[2],
			   "each register has its value");
			*damage = count;
			is_u64(model.write_registers(model.data, ids, others, 3), 0, "written");
			ok(reg[0] == others[0] && reg[1] == others[1] && reg[2] == others[2],
			   "each register has its new value");
			disconnects();
		}
}

/* More registers than go into a batch. */
static void test_batches(void)
{
	static char xml[8000];
	const char *script[][2] = {
		{ XML("0"), xml }, { "p", "2a00000000000000" }, { "P", "OK" }, { 0 }
	};
	uint16_t ids[130];
	uint64_t values[130] = { 0 };
	unsigned int i, right = 0;
	char *at = xml;

	at += sprintf(at, "l" REG("pc", ""));
	for (i = 0; i < 130; i++) {
		ids[i] = (uint16_t)(0x7c0 + i);
		at += sprintf(at, REG("csr0x%x", ""), 0x7c0 + i);
	}
	is_u64(connects(script), 0, "a stub with many registers");
	is_u64(model.read_registers(model.data, ids, values, 130), 0, "130 are read");
	for (i = 0; i < 130; i++)
		right += values[i] == 42;
	is_u64(right, 130, "each has its value");
	is_u64(model.write_registers(model.data, ids, values, 130), 0, "130 are written");
	disconnects();
	ok(strstr(requests, " p82 P1=2a00000000000000 "), "up to the last one");
	ok(strstr(requests, " P82=2a00000000000000"), "in both directions");
}

int main(void)
{
	if (!scratch_make())
		return 1;
	alarm(120);
	signal(SIGPIPE, SIG_IGN);
	test_acknowledgements();
	test_damaged_batches();
	test_batches();
	scratch_remove();
	return done_testing();
}
