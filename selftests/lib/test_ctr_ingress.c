// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The model fed from the ingress port (E-Trace, chapter 4): the transfer of each block, its source,
 * target and cycles (CTR 1.0).
 */
#include <ntrace/ctr.h>
#include <ntrace/encode.h>
#include <tap.h>

enum { S = NTRACE_PRIV_S, M = NTRACE_PRIV_M, U = NTRACE_PRIV_U, D = NTRACE_PRIV_D };

static struct ntrace_ctr_model model;
static struct ntrace_ctr_ingress feed;
static struct ntrace_encoder encoder;
static struct ntrace_ingress_port port;

static void write_message(void *data, const uint8_t *bytes, size_t size)
{
	(void)data;
	(void)bytes;
	(void)size;
}

/* Records everything, also branches not taken. */
static void fresh(bool single)
{
	struct ntrace_encoder_config encoder_config;
	struct ntrace_ctr_config config;

	port = (struct ntrace_ingress_port){
		.xlen = 64, .itype_bits = 4, .groups = 8, .single = single
	};
	ntrace_ctr_config_init(&config, NTRACE_CTR_RATIFIED);
	ntrace_encoder_config_init(&encoder_config);
	encoder_config.single_retire = single;
	encoder_config.write = write_message;
	if (ntrace_ctr_model_init(&model, &config) ||
	    ntrace_ctr_ingress_init(&feed, &model, &port) ||
	    ntrace_encoder_init(&encoder, &encoder_config))
		ok(false, "init");
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	ntrace_ctr_model_write(&model, M, NTRACE_CTR_CSR_MCTRCTL, UINT64_C(0x1000000007));
}

/* Passes one cycle to model and encoder. */
static int give(struct ntrace_ingress_cycle cycle)
{
	struct ntrace_ingress_record record = { .type = NTRACE_INGRESS_CYCLE, .cycle = cycle };
	int result = ntrace_ctr_ingress_play(&feed, &record);

	if (result >= 0 && ntrace_encoder_play(&encoder, &record) < 0)
		ok(false, "the encoder accepts the same input as the model");
	return result;
}

static struct ntrace_ingress_cycle one(unsigned int priv, uint64_t iaddr, uint32_t iretire,
				       unsigned int itype, unsigned int ilastsize)
{
	struct ntrace_ingress_cycle cycle = { .priv = (uint8_t)priv, .groups = 1 };

	cycle.group[0].iaddr = iaddr;
	cycle.group[0].iretire = iretire;
	cycle.group[0].itype = (uint8_t)itype;
	cycle.group[0].ilastsize = (uint8_t)ilastsize;
	return cycle;
}

/* The entry at @logical as "type from>to", with "+cycles" if known. */
static const char *entry(unsigned int logical)
{
	static char text[80];
	struct ntrace_ctr_entry raw = ntrace_ctr_model_entry(&model, logical);
	struct ntrace_ctr_record record;
	int length;

	ntrace_ctr_record_decode(&raw, NTRACE_CTR_HAS_TYPE | NTRACE_CTR_HAS_CYCLES, &record);
	if (!record.valid)
		return "none";
	length = snprintf(text, sizeof(text), "%u %" PRIx64 ">%" PRIx64, record.type, record.from,
			  record.to);
	if (record.cycles_known)
		snprintf(text + length, sizeof(text) - (size_t)length, "+%u", record.cycles);
	return text;
}

static void example(void)
{
	struct ntrace_ingress_cycle all = {
		.priv = M,
		.groups = 4,
		.group = { { 0x1000, 7, 8, 0, 0, 0 },
			   { 0x940, 3, 4, 0, 0, 0 },
			   { 0x946, 1, 5, 0, 0, 0 },
			   { 0x988, 4, 0, 1, 0, 0 } },
	};
	struct ntrace_ingress_cycle idle = { .priv = M, .idle = 9 };

	fresh(false);
	give(one(M, 0x1000, 7, 8, 0));
	is_str(entry(0), "none", "a call waits for its target");
	give(one(M, 0x940, 3, 4, 0));
	is_str(entry(1), "8 100c>940", "ingress example 1: c.jalr");
	is_str(entry(0), "4 944>946+1",
	       "ingress example 1: c.beqz, not taken: to the next instruction, at once");
	give(idle);
	give(one(M, 0x946, 1, 5, 0));
	give(one(M, 0x988, 4, 0, 1));
	is_str(entry(0), "5 946>988+11", "ingress example 1: c.bnez, taken, after ten idle cycles");
	give(one(M, 0x990, 2, 11, 1));
	ok(!ntrace_ctr_ingress_target(&feed, 0x100, M), "a target supplied early");
	is_str(entry(0), "11 990>100+2",
	       "cycles of a block without a transfer are added to the next");
	give(one(M, 0x100, 1, 0, 0));
	is_str(entry(1), "5 946>988+11", "they count only once");

	fresh(false);
	give(all);
	is_str(entry(0), "5 946>988+0", "ingress example 1: four groups in one cycle");
	is_str(entry(2), "8 100c>940", "the oldest first");

	fresh(true);
	give(one(M, 0x100c, 1, 8, 0));
	give(one(M, 0x940, 1, 0, 1));
	give(one(M, 0x944, 1, 5, 1));
	give(one(M, 0x200, 1, 0, 0));
	is_str(entry(1), "8 100c>940", "ingress port: single-instruction port");
	is_str(entry(0), "5 944>200+2", "with its sizes");
}

static void traps(void)
{
	struct ntrace_ingress_cycle cycle;

	fresh(false);
	give(one(U, 0x1000, 4, 1, 1));
	give(one(S, 0x8000, 2, 0, 1));
	is_str(entry(0), "1 1008>8000",
	       "a trap after retired instructions: epc is the next instruction");
	give(one(S, 0x8004, 2, 3, 1));
	give(one(U, 0x1008, 2, 13, 1));
	is_str(entry(0), "3 8004>1008+2", "trap return");
	give(one(U, 0x2000, 0, 1, 0));
	is_str(entry(0), "13 1008>2000+1", "a return to a page that is not present");
	give(one(S, 0x8000, 0, 1, 0));
	is_str(entry(0), "1 2000>8000+1", "iretire 0: epc is iaddr");
	give(one(M, 0x9000, 2, 0, 1));
	is_str(entry(0), "1 8000>9000+1", "a trap at the first instruction of the handler");
	give(one(M, 0, 0, 2, 0));
	give(one(M, 0x9100, 2, 0, 1));
	is_str(entry(0), "2 9004>9100+2",
	       "interrupt alone: after the last block, iaddr need not be valid");
	give(one(M, 0x9104, 2, 11, 1));
	give(one(M, 0x9200, 0, 2, 0));
	give(one(M, 0x9100, 2, 0, 1));
	is_str(entry(1), "11 9104>9200+2", "interrupt after a jump: iaddr is its target");
	is_str(entry(0), "2 9200>9100+1", "and also the place of the interrupt");
	give(one(M, 0x9104, 2, 11, 1));
	ok(!ntrace_ctr_ingress_target(&feed, 0x9300, M), "the same with the target supplied early");
	give(one(M, 0, 0, 2, 0));
	give(one(M, 0x9100, 2, 0, 1));
	is_str(entry(0), "2 9300>9100+1", "iaddr need not be valid then");
	is_u64(feed.effects[NTRACE_CTR_RECORDED], 10, "ten transfers have been recorded");
	is_u64(feed.effects[NTRACE_CTR_IGNORED] + feed.effects[NTRACE_CTR_FROZE], 0, "all");

	/* The cause decides whether the ring freezes. */
	ntrace_ctr_model_write(&model, M, NTRACE_CTR_CSR_MCTRCTL, UINT64_C(0x1807));
	cycle = one(U, 0x1000, 2, 1, 1);
	cycle.cause = 2;
	give(cycle);
	cycle = one(S, 0x8000, 2, 2, 1);
	cycle.cause = 13;
	give(cycle);
	ok(!model.status.frozen, "not yet");
	give(one(S, 0x8000, 2, 0, 1));
	ok(model.status.frozen, "recording: LCOFI freezes when its handler is reached");
	is_u64(feed.effects[NTRACE_CTR_FROZE], 1, "which is counted");
}

static void interruptions(void)
{
	struct ntrace_ingress_record overrun = { .type = NTRACE_INGRESS_OVERRUN };
	struct ntrace_ingress_cycle halted = { .priv = M, .halted = true, .idle = 500 };
	struct ntrace_ingress_cycle reset = { .priv = M, .reset = true };

	fresh(false);
	give(one(M, 0x100, 2, 11, 1));
	give(halted);
	give(one(D, 0x800, 4, 9, 1));
	give(one(M, 0x200, 2, 11, 1));
	is_str(entry(0), "11 100>200",
	       "recording: Debug Mode is not recorded, the jump before it is complete");
	give(one(M, 0x300, 2, 0, 1));
	is_str(entry(0), "11 200>300+1", "records: cycles of Debug Mode do not count");
	give(one(M, 0x304, 2, 13, 1));
	give(reset);
	give(one(M, 0, 2, 0, 1));
	is_str(entry(0), "11 200>300+1", "a transfer that a reset cut off");
	give(one(M, 4, 2, 13, 1));
	ok(encoder.messages > 0, "one stream for the encoder and for CTR");
	ntrace_ctr_ingress_play(&feed, &overrun);
	give(one(M, 0x100, 2, 0, 1));
	is_str(entry(0), "11 200>300+1", "or an overrun");
	is_u64(feed.dropped, 2, "both are counted");
	overrun.type = NTRACE_INGRESS_STOP;
	ok(!ntrace_ctr_ingress_play(&feed, &overrun), "CTR ignores the end of the trace");
	overrun.type = 99;
	is_u64(ntrace_ctr_ingress_play(&feed, &overrun), NTRACE_ERR_INVALID, "no such record");
}

/* The cycle counter stops while the hart is halted, in reset or in Debug Mode. */
static void stopped(void)
{
	static const char *const names[] = { "halted", "reset", "Debug Mode" };
	const struct ntrace_ingress_cycle idle = { .priv = M, .idle = 9 };

	for (unsigned int i = 0; i < 3; i++) {
		struct ntrace_ingress_cycle stop = { .priv = i == 2 ? D : M, .idle = 500 };

		stop.halted = i == 0;
		stop.reset = i == 1;
		fresh(false);
		give(one(M, 0x100, 2, 0, 1));
		give(one(M, 0x104, 2, 11, 1));
		give(one(M, 0x200, 2, 11, 1));
		give(one(M, 0x300, 2, 0, 1));
		give(stop);
		give(one(M, 0x304, 2, 11, 1));
		give(one(M, 0x400, 2, 0, 1));
		is_str(entry(0), "11 304>400+2", "records: no cycle passes: %s", names[i]);
		give(idle);
		give(stop);
		give(one(M, 0x404, 2, 11, 1));
		give(one(M, 0x500, 2, 0, 1));
		is_str(entry(0), "11 404>500+2",
		       "idle cycles just before the hart stops are not counted: %s", names[i]);
	}
}

static void refused(void)
{
	struct ntrace_ingress block = { .iaddr = 0x100, .iretire = 2, .itype = 6, .priv = M };

	fresh(false);
	is_u64(give(one(2, 0x100, 2, 0, 1)), NTRACE_ERR_INVALID, "reserved priv");
	is_u64(give(one(M, 0x100, 2, 7, 1)), NTRACE_ERR_INVALID, "reserved itype");
	is_u64(give(one(M, 0x100, 0, 9, 1)), NTRACE_ERR_INVALID, "a call that did not retire");
	is_u64(ntrace_ctr_ingress_block(&feed, &block, 0, 0), NTRACE_ERR_INVALID,
	       "a 4-bit port has no itype 6");
	give(one(M, 0x100, 2, 1, 1));
	is_u64(give(one(U, 0x100, 2, 0, 1)), NTRACE_ERR_INVALID, "a trap to a lower privilege");
	port.itype_bits = 3;
	is_u64(ntrace_ctr_ingress_init(&feed, &model, &port), NTRACE_ERR_UNSUPPORTED,
	       "a port with 3 bits of itype does not distinguish calls");
	port = (struct ntrace_ingress_port){ .xlen = 32, .itype_bits = 4, .groups = 1 };
	ok(!ntrace_ctr_ingress_init(&feed, &model, &port), "RV32");
	give(one(M, 0xfffffffc, 2, 4, 1));
	is_str(entry(0), "4 fffffffc>0", "RV32: addresses have 32 bits");
}

int main(void)
{
	example();
	traps();
	interruptions();
	stopped();
	refused();
	return done_testing();
}
