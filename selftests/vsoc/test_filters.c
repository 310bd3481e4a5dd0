// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Filters and comparators of the encoder (Trace Control Interface 1.0, trTeFilter and trTeComp
 * registers), and Ownership messages with scontext.
 */
#include <ntrace/trace_control.h>

#include "filters.h"
#include "kept.h"
#include "tap.h"

#define ENABLE TR_TE_FILTER_CONTROL_ENABLE
#define COMP(c, which) (TR_TE_FILTER_CONTROL_MATCH_COMP(c) | (uint32_t)(which) << TR_TE_FILTER_COMP_SHIFT(c))

static struct filters filters;

static void wr(uint32_t offset, uint32_t value)
{
	filters_write(&filters, offset, value);
}

static uint32_t attempt(uint32_t offset, uint32_t value)
{
	wr(offset, value);
	return filters_read(&filters, offset);
}

static void fresh(unsigned int count, unsigned int comparators, bool contexts)
{
	filters = (struct filters){
		.count = count,
		.comparators = comparators,
		.contexts = contexts,
	};
	filters_reset(&filters);
}

static void registers(void)
{
	fresh(2, 3, true);
	is_hex(attempt(TR_TE_INST_FILTERS, ~0u), 3, "two filters can be selected");
	/* Enable, privilege, ecause, interrupt; three comparators: match bit and number up to 2 */
	is_hex(attempt(TR_TE_FILTER_CONTROL(0), ~0u), 0x555f,
	       "a filter asks three of three comparators");
	is_hex(attempt(TR_TE_FILTER_MATCH_INST(1), ~0u), 0x16b, "privileges and interrupt");
	is_hex(attempt(TR_TE_FILTER_ECAUSE_LOW(1), 0x12345678), 0x12345678, "ecause, low half");
	is_hex(attempt(TR_TE_FILTER_ECAUSE_HIGH(1), 0x9abcdef0), 0x9abcdef0, "ecause, high half");
	is_hex(filters_read(&filters, TR_TE_FILTER_ECAUSE_LOW(1)), 0x12345678,
	       "the halves are apart");
	is_hex(attempt(TR_TE_FILTER_CONTROL(1) + 0x10, ~0u), 0, "no implementation-defined match");
	is_hex(attempt(TR_TE_FILTER_CONTROL(1) + 0x18, ~0u), 0, "no data match");
	is_hex(attempt(TR_TE_FILTER_CONTROL(2), ~0u), 0, "filter 2 does not exist");
	is_hex(attempt(TR_TE_COMP_CONTROL(0), ~0u), 0xf770,
	       "inputs that are not there land on iaddr");
	is_hex(attempt(TR_TE_COMP_CONTROL(0), 0x5), 0x5, "context exists");
	is_hex(attempt(TR_TE_COMP_P_MATCH_HIGH(2), 0xa5a5a5a5), 0xa5a5a5a5, "match values");
	is_hex(attempt(TR_TE_COMP_S_MATCH_LOW(2), 0x5a5a5a5a), 0x5a5a5a5a, "of P and S");
	is_hex(attempt(TR_TE_COMP_CONTROL(3), ~0u), 0, "comparator 3 does not exist");
	fresh(1, 0, false);
	is_hex(attempt(TR_TE_FILTER_CONTROL(0), ~0u), 0xf, "without comparators none can be asked");
	is_hex(attempt(TR_TE_COMP_CONTROL(0), ~0u), 0, "nor configured");
	fresh(1, 1, false);
	is_hex(attempt(TR_TE_COMP_CONTROL(0), 0x5), 0, "without context iaddr is all");
}

static unsigned int see(uint64_t iaddr, enum ntrace_itype itype, unsigned int priv, uint64_t cause,
			uint64_t context)
{
	struct ntrace_ingress block = {
		.iaddr = iaddr,
		.iretire = itype == NTRACE_ITYPE_EXCEPTION || itype == NTRACE_ITYPE_INTERRUPT ? 0 :
												2,
		.itype = itype,
		.priv = priv,
	};

	return filters_match(&filters, &block, cause, context);
}

static unsigned int at(uint64_t iaddr)
{
	return see(iaddr, NTRACE_ITYPE_NONE, TR_PRIV_U, 0, 0);
}

static void privileges(void)
{
	uint32_t mask;

	fresh(2, 1, false);
	ok(filters_privileges(&filters, &mask) && mask == ~0u, "nothing selected: all");
	wr(TR_TE_INST_FILTERS, 3);
	ok(filters_privileges(&filters, &mask) && !mask, "selected, not enabled: nothing");
	wr(TR_TE_FILTER_MATCH_INST(0), 1u << TR_PRIV_U);
	wr(TR_TE_FILTER_CONTROL(0), ENABLE | TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE);
	wr(TR_TE_FILTER_MATCH_INST(1), 1u << TR_PRIV_S);
	wr(TR_TE_FILTER_CONTROL(1), ENABLE | TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE);
	ok(filters_privileges(&filters, &mask) && mask == (1u << TR_PRIV_U | 1u << TR_PRIV_S),
	   "filters are ORed");
	ok(see(0, NTRACE_ITYPE_NONE, TR_PRIV_S, 0, 0) == 1 &&
		   see(0, NTRACE_ITYPE_NONE, TR_PRIV_M, 0, 0) == 0,
	   "block by block the same");
	wr(TR_TE_FILTER_CONTROL(1), ENABLE | TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE | COMP(0, 0));
	ok(!filters_privileges(&filters, &mask), "a comparator needs every block");
	/* iaddr == 0x1000 */
	wr(TR_TE_COMP_P_MATCH_LOW(0), 0x1000);
	ok(see(0x1000, NTRACE_ITYPE_NONE, TR_PRIV_S, 0, 0) == 1 &&
		   see(0x1002, NTRACE_ITYPE_NONE, TR_PRIV_S, 0, 0) == 0 &&
		   see(0x1000, NTRACE_ITYPE_NONE, TR_PRIV_M, 0, 0) == 0,
	   "conditions in a filter are ANDed");
}

static bool function_row(unsigned int function, bool below, bool equal, bool above)
{
	fresh(1, 1, false);
	wr(TR_TE_FILTER_CONTROL(0), ENABLE | COMP(0, 0));
	wr(TR_TE_INST_FILTERS, 1);
	wr(TR_TE_COMP_P_MATCH_LOW(0), 0x80000000);
	wr(TR_TE_COMP_P_MATCH_HIGH(0), 0xffffffff);
	wr(TR_TE_COMP_CONTROL(0), function << TR_TE_COMP_P_FUNCTION_SHIFT);
	/* The comparison is unsigned: 0x1000 is below the operand. */
	return at(0x1000) == below && at(0xffffffff80000000) == equal &&
	       at(0xffffffff80000002) == above;
}

static uint32_t comparator(unsigned int p, unsigned int s, unsigned int mode)
{
	return p << TR_TE_COMP_P_FUNCTION_SHIFT | s << TR_TE_COMP_S_FUNCTION_SHIFT |
	       mode << TR_TE_COMP_MODE_SHIFT;
}

static void with_range(uint32_t control, uint32_t p, uint32_t s)
{
	fresh(1, 1, true);
	wr(TR_TE_COMP_P_MATCH_LOW(0), p);
	wr(TR_TE_COMP_S_MATCH_LOW(0), s);
	wr(TR_TE_COMP_CONTROL(0), control);
	wr(TR_TE_FILTER_CONTROL(0), ENABLE | COMP(0, 0));
	wr(TR_TE_INST_FILTERS, 1);
}

static void comparators(void)
{
	ok(function_row(TR_TE_COMP_FUNCTION_EQ, 0, 1, 0) &&
		   function_row(TR_TE_COMP_FUNCTION_NE, 1, 0, 1) &&
		   function_row(TR_TE_COMP_FUNCTION_LT, 1, 0, 0) &&
		   function_row(TR_TE_COMP_FUNCTION_LE, 1, 1, 0) &&
		   function_row(TR_TE_COMP_FUNCTION_GT, 0, 0, 1) &&
		   function_row(TR_TE_COMP_FUNCTION_GE, 0, 1, 1) &&
		   function_row(TR_TE_COMP_FUNCTION_FALSE, 0, 0, 0) &&
		   function_row(TR_TE_COMP_FUNCTION_TRUE, 1, 1, 1),
	   "the eight functions, unsigned");
	with_range(comparator(TR_TE_COMP_FUNCTION_GE, TR_TE_COMP_FUNCTION_LT, TR_TE_COMP_MODE_AND),
		   0x1000, 0x2000);
	ok(!at(0xffe) && at(0x1000) && at(0x1ffe) && !at(0x2000), "mode 1: a range");
	with_range(comparator(TR_TE_COMP_FUNCTION_GE, TR_TE_COMP_FUNCTION_LT, TR_TE_COMP_MODE_NAND),
		   0x1000, 0x2000);
	ok(at(0xffe) && !at(0x1000) && !at(0x1ffe) && at(0x2000), "mode 2: all but a range");
	with_range(comparator(TR_TE_COMP_FUNCTION_EQ, TR_TE_COMP_FUNCTION_EQ,
			      TR_TE_COMP_MODE_LATCH),
		   0x1000, 0x2000);
	ok(!at(0x500) && at(0x1000) && at(0x3000) && at(0x500) && at(0x2000) && !at(0x2004) &&
		   !at(0x2000),
	   "mode 3: from P up to and with S");
	with_range(comparator(TR_TE_COMP_FUNCTION_FALSE, TR_TE_COMP_FUNCTION_EQ,
			      TR_TE_COMP_MODE_LATCH),
		   0, 0x2000);
	ok(at(0x500) && at(0x2000) && !at(0x500), "mode 3 primed: from the start up to S");
	with_range(comparator(TR_TE_COMP_FUNCTION_EQ, TR_TE_COMP_FUNCTION_FALSE, TR_TE_COMP_MODE_P),
		   0x1234, 0xff00);
	ok(at(0x1200) && at(0x12fe) && !at(0x1300), "S function 6: S is a mask for P");
	with_range(comparator(TR_TE_COMP_FUNCTION_EQ, TR_TE_COMP_FUNCTION_TRUE, TR_TE_COMP_MODE_P) |
			   TR_TE_COMP_INPUT_CONTEXT,
		   0x77, 0);
	ok(see(0x77, NTRACE_ITYPE_NONE, 0, 0, 0x77) && !see(0x77, NTRACE_ITYPE_NONE, 0, 0, 0x76),
	   "the context as input");
	with_range(comparator(TR_TE_COMP_FUNCTION_EQ, TR_TE_COMP_FUNCTION_EQ, TR_TE_COMP_MODE_P) |
			   TR_TE_COMP_S_NOTIFY,
		   0x1000, 0x2000);
	ok(at(0x2000) == FILTERS_NOTIFY && at(0x1000) == 1,
	   "S notify: a watchpoint, traced or not");
}

static void traps(void)
{
	const enum ntrace_itype exception = NTRACE_ITYPE_EXCEPTION;
	const enum ntrace_itype interrupt = NTRACE_ITYPE_INTERRUPT;
	const enum ntrace_itype leave = NTRACE_ITYPE_TRAP_RETURN;

	fresh(1, 0, false);
	wr(TR_TE_FILTER_ECAUSE_LOW(0), 1u << 8);
	wr(TR_TE_FILTER_CONTROL(0), ENABLE | TR_TE_FILTER_CONTROL_MATCH_ECAUSE);
	wr(TR_TE_INST_FILTERS, 1);
	ok(!at(0x100) && !see(0x102, exception, 0, 5, 0) && !at(0x200),
	   "another cause: not traced");
	ok(!see(0x204, leave, 1, 0, 0) && !see(0x102, exception, 0, 8, 0) && at(0x300),
	   "the cause: traced from the handler on");
	ok(see(0x302, interrupt, 1, 7, 0) && at(0x400) && see(0x404, leave, 3, 0, 0) && at(0x302),
	   "a trap within is traced, its return ends nothing");
	ok(see(0x304, leave, 1, 0, 0) && !at(0x104), "the return of the first one ends it");

	wr(TR_TE_FILTER_ECAUSE_LOW(0), 0);
	wr(TR_TE_FILTER_ECAUSE_HIGH(0), 1);
	see(0, exception, 0, 32, 0);
	ok(at(0x300), "cause 32 is in the high half");
	wr(TR_TE_FILTER_MATCH_INST(0), TR_TE_FILTER_MATCH_INST_INTERRUPT);
	wr(TR_TE_FILTER_CONTROL(0), ENABLE | TR_TE_FILTER_CONTROL_MATCH_INTERRUPT);
	see(0, exception, 0, 8, 0);
	ok(!at(0x300), "MatchInterrupt 1: not exceptions");
	see(0, leave, 0, 0, 0);
	see(0, interrupt, 0, 5, 0);
	ok(at(0x300), "but interrupts");
	wr(TR_TE_FILTER_MATCH_INST(0), 0);
	wr(TR_TE_FILTER_CONTROL(0), ENABLE | TR_TE_FILTER_CONTROL_MATCH_INTERRUPT);
	see(0, interrupt, 0, 5, 0);
	ok(!at(0x300), "MatchInterrupt 0: not interrupts");
	for (unsigned int i = 0; i < 1000; i++)
		see(0, exception, 0, 5, 0);
	for (unsigned int i = 0; i < 999 && at(0x300); i++)
		see(0, leave, 0, 0, 0);
	ok(!at(0x300), "deeply nested: the counter saturates, so it ends early");
}

/* The same filters in an encoder. */
static const struct trace_encoder_ops ops = { .deliver = apply_now, .write = keep_bytes };

static void encoder(uint32_t control)
{
	const struct trace_encoder_parameters parameters = {
		.src_bits_max = 4,
		.icnt_bits = 22,
		.hist_bits = 31,
		.xlen = 64,
		.filters = 1,
		.comparators = 1,
		.context_bits = 10,
	};
	const uint32_t on = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | 6u << 4 | control;

	kept.size = 0;
	trace_encoder_init(&te, &parameters, &ops, NULL);
	trace_encoder_context(&te, 0x1d);
	trace_encoder_write(&te, TR_TE_CONTROL, TR_CONTROL_ACTIVE);
	trace_encoder_write(&te, TR_TE_COMP_P_MATCH_LOW(0), 0x1000);
	trace_encoder_write(&te, TR_TE_COMP_CONTROL(0),
			    TR_TE_COMP_FUNCTION_GE << TR_TE_COMP_P_FUNCTION_SHIFT);
	trace_encoder_write(&te, TR_TE_FILTER_CONTROL(0), ENABLE | COMP(0, 0));
	if (!control)
		trace_encoder_write(&te, TR_TE_INST_FILTERS, 1);
	trace_encoder_write(&te, TR_TE_CONTROL, on);
	trace_encoder_write(&te, TR_TE_CONTROL, on | TR_TE_CONTROL_INST_TRACING);
}

static void retire(uint64_t iaddr, enum ntrace_itype itype)
{
	struct ntrace_ingress block = { .iaddr = iaddr, .iretire = 2, .itype = itype, .priv = 1 };

	trace_encoder_retire(&te, &block);
}

static void in_the_encoder(void)
{
	encoder(0);
	retire(0x100, NTRACE_ITYPE_RETURN);
	is_u64(kept.size, 0, "below the range: nothing");
	retire(0x1000, NTRACE_ITYPE_NONE);
	retire(0x1004, NTRACE_ITYPE_RETURN);
	retire(0x200, NTRACE_ITYPE_NONE);
	/*
	 * ProgTraceSync SYNC 5, ICNT 0, FADDR 0x800; Correlation EVCODE 4, CDF 1, ICNT 4, HIST 1:
	 * the trace does not report the target of the jump.
	 */
	ok(kept.size == 8 && !memcmp(kept.bytes, "\x24\x15\x00\x83\x84\x50\x11\x07", 8),
	   "in the range: from a sync to a Correlation");

	encoder(TR_TE_CONTROL_CONTEXT);
	retire(0x100, NTRACE_ITYPE_NONE);
	/* ProgTraceSync; Ownership FORMAT 2, PRV 1, V 0, CONTEXT 0x1d: 0x3a6 */
	ok(kept.size == 7 && !memcmp(kept.bytes, "\x24\x15\x00\x0b\x08\x98\x3b", 7),
	   "Context: Ownership with scontext follows the sync");
	kept.size = 0;
	trace_encoder_context(&te, 0xffff);
	retire(0x104, NTRACE_ITYPE_NONE);
	is_u64(kept.size, 0,
	       "scontext is written: the block that ends so is not of the new context");
	retire(0x108, NTRACE_ITYPE_NONE);
	/* FORMAT 2, PRV 1, CONTEXT 0x3ff: 0x7fe6 */
	ok(kept.size == 4 && !memcmp(kept.bytes, "\x08\x98\xfc\x1f", 4),
	   "the next one is, cut to the width of scontext");
	retire(0x10c, NTRACE_ITYPE_NONE);
	is_u64(kept.size, 4, "and once is enough");
}

int main(void)
{
	registers();
	privileges();
	comparators();
	traps();
	in_the_encoder();
	return done_testing();
}
