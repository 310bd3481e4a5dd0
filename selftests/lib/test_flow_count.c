// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counted messages: the sums of effects and batches are those of a walk, for each block and each
 * successor, and in runs the order is that of a walk. Streams come from the encoder. (The random
 * programs of selftests/property compare profiles.)
 */
#include <ntrace/encode.h>
#include <ntrace/runs.h>

#include "flow/flow.h"
#include "test_flow.h"

#define CODE 0x10000
#define WORDS 24
#define LAPS 800

/* Executions of each word's block, and the sums of what followed. */
struct sums {
	uint64_t executed[WORDS], taken[WORDS], next[WORDS];
	uint64_t batches, effects, leads, events;
	uint64_t in_batches;	/* blocks that were walked */
	uint64_t bad;		/* effects with a wrong lead, or with a watched block */
	uint64_t handlers;	/* effects that a trap led to */
	uint64_t trap_returns;	/* in effects */
	uint64_t last;		/* the next block's address by batches and leads */
	uint64_t watched;
	uint64_t order; /* hash of the addresses of all blocks, in order */
	uint64_t runs, steps;
	uint64_t border; /* no run may cross it; 0: none */
	bool ordered; /* by runs; effects are not in order */
	int stop;
	int refuses; /* result of the callback for blocks */
	bool told; /* a callback has returned a request to stop */
};

struct stream {
	uint8_t data[1 << 17];
	size_t size;
};

/*
 * 0 call 6; 1 branch to 3; 2 call 6; 3 call 10; 4 nop; 5 jump to 0
 * 6 nop; 7 branch to 9; 8 nop; 9 return
 * 10 branch to 12; 11 nop; 12 call 6; 13 jump through a0; 14 return; 15 nop; 16 nop; 17 mret
 */
static struct ntrace_space *make_program(void)
{
	struct ntrace_space *space = new_space("count");
	struct code code = { .start = CODE };
	static const uint32_t call = 1;

	put_jal(&code, call, CODE + 4 * 6);
	put_branch(&code, CODE + 4 * 3);
	put_jal(&code, call, CODE + 4 * 6);
	put_jal(&code, call, CODE + 4 * 10);
	put(&code, ADD);
	put_jal(&code, 0, CODE);
	put(&code, ADD);
	put_branch(&code, CODE + 4 * 9);
	put(&code, ADD);
	put(&code, 0x00008067);
	put_branch(&code, CODE + 4 * 12);
	put(&code, ADD);
	put_jal(&code, call, CODE + 4 * 6);
	put(&code, JR_A0);
	put(&code, 0x00008067);
	put(&code, ADD);
	put(&code, ADD);
	put(&code, 0x30200073);
	add_code(space, &code);
	return space;
}

/* Where handlers begin. */
static bool is_handler(uint64_t address)
{
	return address == CODE + 4 * 14 || address == CODE + 4 * 16;
}

static void take_bytes(void *data, const uint8_t *bytes, size_t size)
{
	struct stream *stream = data;

	if (stream->size + size <= sizeof(stream->data))
		memcpy(stream->data + stream->size, bytes, size);
	stream->size += size;
}

static void retire(struct ntrace_encoder *encoder, unsigned int first, unsigned int last,
		   enum ntrace_itype itype)
{
	struct ntrace_ingress block = {
		.iaddr = CODE + 4 * first,
		.iretire = 2 * (last - first + 1),
		.itype = (uint8_t)itype,
		.ilastsize = 1,
	};

	ntrace_encoder_retire(encoder, &block);
}

static bool toss(unsigned int one_in)
{
	static uint32_t state = 7;

	state = state * 1664525 + 1013904223;
	return !((state >> 20) % one_in);
}

static unsigned int branch_at(struct ntrace_encoder *encoder, unsigned int first, unsigned int at,
			      unsigned int target)
{
	bool taken = toss(3);

	retire(encoder, first, at,
	       taken ? NTRACE_ITYPE_BRANCH_TAKEN : NTRACE_ITYPE_BRANCH_NOT_TAKEN);
	return taken ? target : at + 1;
}

/* The function at 6. */
static void callee(struct ntrace_encoder *encoder)
{
	retire(encoder, branch_at(encoder, 6, 7, 9), 9, NTRACE_ITYPE_RETURN);
}

static void lap(struct ntrace_encoder *encoder)
{
	unsigned int at;

	retire(encoder, 0, 0, NTRACE_ITYPE_DIRECT_CALL);
	callee(encoder);
	at = branch_at(encoder, 1, 1, 3);
	if (at == 2) {
		retire(encoder, 2, 2, NTRACE_ITYPE_DIRECT_CALL);
		callee(encoder);
	}
	retire(encoder, 3, 3, NTRACE_ITYPE_DIRECT_CALL);
	retire(encoder, branch_at(encoder, 10, 10, 12), 12, NTRACE_ITYPE_DIRECT_CALL);
	callee(encoder);
	at = toss(5) ? 15 : 14;
	retire(encoder, 13, 13, NTRACE_ITYPE_INDIRECT_JUMP);
	if (at == 15) {
		/* An interrupt after 15, with its handler at 14 or 16. */
		retire(encoder, 15, 15, NTRACE_ITYPE_INTERRUPT);
		if (toss(2))
			retire(encoder, 14, 14, NTRACE_ITYPE_RETURN);
		else
			retire(encoder, 16, 17, NTRACE_ITYPE_TRAP_RETURN);
	} else {
		retire(encoder, 14, 14, NTRACE_ITYPE_RETURN);
	}
	retire(encoder, 4, 5, NTRACE_ITYPE_DIRECT_JUMP);
}

/* What all streams have in common: they go to @stream, which is empty then. */
static struct ntrace_encoder_config config_for(const struct ntrace_params *params,
					       struct stream *stream)
{
	struct ntrace_encoder_config config;

	ntrace_encoder_config_init(&config);
	config.params = params;
	config.write = take_bytes;
	config.write_data = stream;
	stream->size = 0;
	return config;
}

static void encode_laps(struct ntrace_encoder *encoder, unsigned int laps)
{
	ntrace_encoder_start(encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int i = 0; i < laps; i++)
		lap(encoder);
	ntrace_encoder_stop(encoder, NTRACE_EVCODE_TRACE_DISABLE);
}

static void add(struct sums *sums, const struct ntrace_block *block, uint64_t times)
{
	unsigned int at = (unsigned int)(block->address - CODE) / 4 % WORDS;

	sums->executed[at] += times;
	sums->taken[at] += times * (block->flags & NTRACE_BLOCK_TAKEN);
	sums->next[at] += times * (block->next - CODE);
}

static void follow(struct sums *sums, const struct ntrace_block *block)
{
	sums->order = (sums->order ^ block->address) * UINT64_C(0x100000001b3);
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct sums *sums = data;

	sums->events += event->type == NTRACE_FLOW_TRAP || event->type == NTRACE_FLOW_SYNC ||
			event->type == NTRACE_FLOW_TRACE_OFF;
	sums->bad += event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_GAP;
	/* After a trap the flow is elsewhere. */
	sums->last = 0;
	return 0;
}

static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct sums *sums = data;

	/* What follows counted messages was announced by a lead. */
	sums->bad += sums->last && batch->blocks[0].address != sums->last;
	for (size_t i = 0; i < batch->count; i++) {
		add(sums, &batch->blocks[i], 1);
		follow(sums, &batch->blocks[i]);
	}
	sums->last = batch->blocks[batch->count - 1].next;
	sums->in_batches += batch->count;
	sums->batches++;
	sums->told = sums->refuses;
	return sums->refuses;
}

static int take_effect(void *data, const struct ntrace_flow_effect *effect)
{
	const struct ntrace_block *blocks = effect->batch->blocks;
	struct sums *sums = data;

	sums->handlers += effect->lead ? 0 : effect->times;
	for (size_t i = effect->lead; i < effect->batch->count; i++)
		sums->trap_returns +=
			effect->times * (blocks[i].insn_class == NTRACE_INSN_TRAP_RETURN);
	sums->bad += effect->lead ? !(blocks[0].flags & NTRACE_BLOCK_TAKEN) :
				    !effect->times || !is_handler(blocks[0].address);
	for (size_t i = 1; i < effect->batch->count; i++)
		sums->bad += blocks[i].address != blocks[i - 1].next;
	for (size_t i = effect->lead; i < effect->batch->count; i++) {
		add(sums, &blocks[i], effect->times);
		sums->bad += blocks[i].address == sums->watched;
	}
	if (effect->times) {
		sums->effects++;
	} else {
		sums->leads++;
		sums->last = blocks[effect->lead - 1].next;
	}
	sums->told = sums->stop;
	return sums->stop;
}

static int take_run(void *data, const struct ntrace_flow_run *run)
{
	struct sums *sums = data;
	const struct ntrace_block *last = NULL;
	uint64_t instructions = 0, below = 0, blocks = 0;
	struct ntrace_block_batch batch;
	size_t lead;

	sums->runs++;
	sums->steps += run->count;
	for (size_t i = 0; i < run->count; i++) {
		ntrace_flow_run_step(run, i, &batch, &lead);
		sums->bad += !run->steps[i].id || (!lead && !is_handler(batch.blocks[0].address));
		for (size_t k = lead; k < batch.count; k++) {
			last = &batch.blocks[k];
			follow(sums, last);
			instructions += last->instructions;
			below += last->address < sums->border;
			blocks++;
		}
	}
	/* The batch of the last step is still there. */
	sums->bad += instructions != run->instructions || !last ||
		     memcmp(last, run->last, sizeof(*last)) || run->space != batch.space ||
		     run->isa != batch.isa || (below && below != blocks);
	sums->last = run->last->next;
	sums->told = sums->ordered && sums->stop;
	return sums->ordered ? sums->stop : 0;
}

/* Return: messages that were walked. */
static uint64_t decode(struct ntrace_flow_config *config, const struct stream *stream, size_t chunk,
		       struct sums *sums, int *result)
{
	struct ntrace_flow_stats stats = { 0 };
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	uint64_t walked = 0, instructions = 0;
	int got;

	config->event = take_event;
	config->blocks = take_blocks;
	config->data = sums;
	is_u64(ntrace_flow_new(&flow, config), 0, "a flow");
	ntrace_reader_init(&reader, config->params, true);
	for (size_t at = 0; at < stream->size && !*result; at += chunk) {
		ntrace_reader_feed(&reader, stream->data + at,
				   stream->size - at < chunk ? stream->size - at : chunk);
		while (!*result) {
			if (config->effect || config->run || config->remember)
				*result = ntrace_flow_count(flow, &reader);
			sums->bad += sums->told && !*result;
			if (*result)
				break;
			got = ntrace_reader_next(&reader, &message);
			if (got < 0)
				break;
			walked++;
			*result = ntrace_flow_message(flow, &message);
		}
	}
	if (!*result)
		*result = ntrace_flow_end(flow, 0);
	ntrace_flow_get_stats(flow, &stats);
	for (unsigned int i = 0; i < WORDS; i++)
		instructions += sums->executed[i];
	if (!*result && (config->effect || !config->run))
		is_u64(stats.blocks, instructions, "all blocks are passed once");
	ntrace_flow_free(flow);
	return walked;
}

static bool same(const struct sums *one, const struct sums *other)
{
	return !memcmp(one->executed, other->executed, sizeof(one->executed)) &&
	       !memcmp(one->taken, other->taken, sizeof(one->taken)) &&
	       !memcmp(one->next, other->next, sizeof(one->next)) && one->events == other->events;
}

static void test_way(const char *name, const char *settings, unsigned int depth, bool repeat)
{
	struct ntrace_params params = params_of(settings);
	struct ntrace_encoder_config config;
	static struct ntrace_encoder encoder;
	static struct stream stream;
	static const uint64_t watch = CODE + 4 * 4;
	struct ntrace_flow_config flow = { .size = sizeof(flow), .params = &params };
	static const uint64_t border = CODE + 4 * 10;
	struct sums plain = { 0 }, counted = { 0 }, split = { 0 }, stopped = { .stop = 5 };
	struct sums ordered = { 0 }, limited = { 0 }, halted = { .stop = 6, .ordered = true };
	struct sums again = { 0 }, refused = { .refuses = 7 };
	uint64_t walked, messages;
	int result = 0;

	config = config_for(&params, &stream);
	if (depth)
		config.implicit_return_depth = depth;
	config.repeat_branch = repeat;
	config.repeated_history = repeat && params.mode == NTRACE_MODE_HISTORY;
	is_u64(ntrace_encoder_init(&encoder, &config), 0, "%s: an encoder", name);
	encode_laps(&encoder, LAPS);
	ok(stream.size <= sizeof(stream.data), "%s: room for %zu bytes", name, stream.size);

	flow.space = make_program();
	messages = decode(&flow, &stream, stream.size, &plain, &result);
	flow.effect = take_effect;
	walked = decode(&flow, &stream, stream.size, &counted, &result);
	is_u64(result, 0, "%s: decoded", name);
	ok(same(&plain, &counted), "%s: the sums are those of a walk", name);
	ok(walked < messages / 2, "%s: %u of %u messages were walked", name, (unsigned int)walked,
	   (unsigned int)messages);
	ok(counted.effects && counted.leads, "%s: %u effects, %u leads", name,
	   (unsigned int)counted.effects, (unsigned int)counted.leads);
	is_u64(plain.bad + counted.bad, 0, "%s: each lead is where the flow was", name);
	ok(counted.handlers && counted.trap_returns,
	   "%s: %u handlers and %u returns from traps in effects", name,
	   (unsigned int)counted.handlers, (unsigned int)counted.trap_returns);

	flow.watch = &watch;
	flow.watch_count = 1;
	split.watched = watch;
	decode(&flow, &stream, 7, &split, &result);
	ok(same(&plain, &split), "%s: likewise in chunks of 7 bytes, with a watched block", name);
	is_u64(split.bad, 0, "%s: the watched block is never counted", name);

	flow.watch_count = 0;
	flow.run = take_run;
	decode(&flow, &stream, stream.size, &ordered, &result);
	ok(same(&plain, &ordered) && ordered.order == plain.order,
	   "%s: runs have the order of a walk", name);
	ok(ordered.bad == 0 && ordered.steps > ordered.runs, "%s: %u steps in %u runs, %u bad",
	   name, (unsigned int)ordered.steps, (unsigned int)ordered.runs,
	   (unsigned int)ordered.bad);
	flow.borders = &border;
	flow.border_count = 1;
	limited.border = border;
	flow.effect = NULL;
	decode(&flow, &stream, 11, &limited, &result);
	/* With implicit returns each message has code on both sides. */
	ok(limited.order == plain.order && limited.bad == 0 && (limited.runs || depth),
	   "%s: no run crosses a border, and effects are not needed", name);
	flow.border_count = 0;
	decode(&flow, &stream, stream.size, &halted, &result);
	is_u64(result, 6, "%s: the result of the callback for runs stops", name);
	ok(halted.runs == 1 && !halted.bad, "%s: after one run", name);
	result = 0;
	flow.run = NULL;
	flow.remember = true;
	walked = decode(&flow, &stream, stream.size, &again, &result);
	ok(same(&plain, &again) && again.order == plain.order,
	   "%s: remembered blocks are those of a walk, in order", name);
	ok(walked < messages / 2, "%s: with %u walked messages", name, (unsigned int)walked);
	ok(again.batches && again.in_batches == plain.in_batches, "%s: all are in batches", name);
	decode(&flow, &stream, stream.size, &refused, &result);
	is_u64(result, 7, "%s: the result of the callback for blocks stops", name);
	ok(refused.batches == 1 && !refused.bad, "%s: after one batch", name);
	result = 0;
	flow.remember = false;
	flow.effect = take_effect;
	decode(&flow, &stream, stream.size, &stopped, &result);
	is_u64(result, 5, "%s: the result of the callback stops", name);
	ok(stopped.effects + stopped.leads == 1 && !stopped.bad, "%s: after one effect", name);
	ntrace_space_put(flow.space);
}

/* Return: how often the caller got effects of a stream with these timestamps. */
static uint64_t effects_with(enum ntrace_timestamps timestamps)
{
	struct ntrace_params params = params_of("mode=htm,tsbits=40");
	struct ntrace_flow_config flow = { .size = sizeof(flow), .params = &params };
	struct sums plain = { 0 }, counted = { 0 }, ordered = { 0 };
	struct ntrace_encoder_config config;
	static struct ntrace_encoder encoder;
	static struct stream stream;
	uint64_t messages, walked;
	int result = 0;

	config = config_for(&params, &stream);
	config.timestamps = timestamps;
	config.sync_mode = 1;
	config.sync_max = 1;
	is_u64(ntrace_encoder_init(&encoder, &config), 0, "timestamps %u: an encoder", timestamps);
	encode_laps(&encoder, LAPS);
	flow.space = make_program();
	messages = decode(&flow, &stream, stream.size, &plain, &result);
	flow.effect = take_effect;
	walked = decode(&flow, &stream, stream.size, &counted, &result);
	ok(!result && same(&plain, &counted) && !counted.bad,
	   "timestamps %u: the sums are those of a walk", timestamps);
	ok(walked < messages * 3 / 4 || timestamps > NTRACE_TIMESTAMPS_SYNC,
	   "timestamps %u: %u of %u messages were walked", timestamps, (unsigned int)walked,
	   (unsigned int)messages);
	flow.run = take_run;
	decode(&flow, &stream, stream.size, &ordered, &result);
	ok(!result && ordered.order == plain.order && !ordered.bad,
	   "timestamps %u: runs have the order of a walk", timestamps);
	ntrace_space_put(flow.space);
	return counted.effects;
}

/* A timestamp concerns its own message: the effects of the others are added up. */
static void test_timestamps(void)
{
	uint64_t without = effects_with(NTRACE_TIMESTAMPS_NONE);
	uint64_t with = effects_with(NTRACE_TIMESTAMPS_SYNC);

	ok(with <= without, "%u effects with timestamps, %u without", (unsigned int)with,
	   (unsigned int)without);
	ok(!effects_with(NTRACE_TIMESTAMPS_ALL), "none where all messages have one");
}

/*
 * 0 branch to 2; 1 nop; 2 call 6; 3 branch to 0; 4 jump through a0; 5 nop; 6 return
 */
static struct ntrace_space *make_loop(void)
{
	struct ntrace_space *space = new_space("loop");
	struct code code = { .start = CODE };

	put_branch(&code, CODE + 4 * 2);
	put(&code, ADD);
	put_jal(&code, 1, CODE + 4 * 6);
	put_branch(&code, CODE);
	put(&code, JR_A0);
	put(&code, ADD);
	put(&code, 0x00008067);
	add_code(space, &code);
	return space;
}

/* The loop runs a different number of times in each lap; both branches are taken. */
static void encode_loops(struct ntrace_encoder *encoder)
{
	uint32_t rounds = 2000;

	ntrace_encoder_start(encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int lap = 0; lap < 100; lap++) {
		rounds = (rounds * 1664525 + 1013904223) % 5000;
		for (uint32_t i = 0; i <= rounds; i++) {
			retire(encoder, 0, 0, NTRACE_ITYPE_BRANCH_TAKEN);
			retire(encoder, 2, 2, NTRACE_ITYPE_DIRECT_CALL);
			retire(encoder, 6, 6, NTRACE_ITYPE_RETURN);
			retire(encoder, 3, 3,
			       i < rounds ? NTRACE_ITYPE_BRANCH_TAKEN :
					    NTRACE_ITYPE_BRANCH_NOT_TAKEN);
		}
		retire(encoder, 4, 4, NTRACE_ITYPE_INDIRECT_JUMP);
	}
	ntrace_encoder_stop(encoder, NTRACE_EVCODE_TRACE_DISABLE);
}

/* Messages that report many rounds of a loop, each time another number. */
static void test_loops(void)
{
	struct ntrace_params params = params_of("mode=htm,impret=3");
	struct ntrace_encoder_config config;
	static struct ntrace_encoder encoder;
	static struct stream stream;
	struct ntrace_flow_config flow = { .size = sizeof(flow), .params = &params };
	struct sums plain = { 0 }, counted = { 0 }, ordered = { 0 };
	int result = 0;

	config = config_for(&params, &stream);
	config.implicit_return_depth = 8;
	config.repeated_history = true;
	is_u64(ntrace_encoder_init(&encoder, &config), 0, "loops: an encoder");
	encode_loops(&encoder);

	flow.space = make_loop();
	decode(&flow, &stream, stream.size, &plain, &result);
	flow.effect = take_effect;
	decode(&flow, &stream, 7, &counted, &result);
	is_u64(result, 0, "loops: decoded");
	ok(same(&plain, &counted) && !counted.bad, "loops: the sums are those of a walk");
	flow.run = take_run;
	decode(&flow, &stream, stream.size, &ordered, &result);
	ok(same(&plain, &ordered) && ordered.order == plain.order && !ordered.bad,
	   "loops: runs have the order of a walk");
	ntrace_space_put(flow.space);
}

/* 0, 2, 4, ... 20 branch over the next word; 22 jump through a0 to 0 */
static struct ntrace_space *make_row(void)
{
	struct ntrace_space *space = new_space("row");
	struct code code = { .start = CODE };

	for (unsigned int at = 0; at < 22; at += 2) {
		put_branch(&code, CODE + 4 * (at + 2));
		put(&code, ADD);
	}
	put(&code, JR_A0);
	add_code(space, &code);
	return space;
}

static void encode_rows(struct ntrace_encoder *encoder)
{
	ntrace_encoder_start(encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int lap = 0; lap < 12000; lap++) {
		unsigned int at = 0, target;

		for (unsigned int first = 0; at < 22; first = target, at += 2) {
			target = branch_at(encoder, first, at, at + 2);
			if (at == 20)
				retire(encoder, target, 22, NTRACE_ITYPE_INDIRECT_JUMP);
		}
	}
	ntrace_encoder_stop(encoder, NTRACE_EVCODE_TRACE_DISABLE);
}

/* Each row of branches is a message of its own: new effects replace others, which were counted. */
static void test_many(void)
{
	struct ntrace_params params = params_of("mode=htm");
	struct ntrace_flow_config flow = { .size = sizeof(flow), .params = &params };
	struct sums plain = { 0 }, counted = { 0 }, ordered = { 0 };
	struct ntrace_encoder_config config;
	static struct ntrace_encoder encoder;
	static struct stream stream;
	int result = 0;

	config = config_for(&params, &stream);
	is_u64(ntrace_encoder_init(&encoder, &config), 0, "many: an encoder");
	encode_rows(&encoder);
	ok(stream.size <= sizeof(stream.data), "many: room for %zu bytes", stream.size);

	flow.space = make_row();
	decode(&flow, &stream, stream.size, &plain, &result);
	flow.effect = take_effect;
	decode(&flow, &stream, stream.size, &counted, &result);
	is_u64(result, 0, "many: decoded");
	ok(same(&plain, &counted) && !counted.bad, "many: the sums are those of a walk");
	ok(counted.effects > 1000 && counted.in_batches < plain.in_batches / 2,
	   "many: %u effects, %u of %u blocks were walked", (unsigned int)counted.effects,
	   (unsigned int)counted.in_batches, (unsigned int)plain.in_batches);
	flow.run = take_run;
	decode(&flow, &stream, stream.size, &ordered, &result);
	ok(same(&plain, &ordered) && ordered.order == plain.order && !ordered.bad,
	   "many: runs have the order of a walk");
	ntrace_space_put(flow.space);
}

/* Changes the SRC of the @number-th message, whose first part also ends within it. */
static void end_in_source(struct stream *stream, const struct ntrace_params *params,
			  unsigned int number)
{
	struct ntrace_message message = { .tcode = 0 };
	struct ntrace_reader reader;

	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, stream->data, stream->size);
	while (number-- > 0 && ntrace_reader_next(&reader, &message) >= 0)
		;
	stream->data[message.offset + 1] |= 1;
	stream->data[message.offset + 2] ^= 4;
}

/* A message without a whole SRC is damaged: it is not one of another hart, and breaks the trace. */
static void test_source(void)
{
	struct ntrace_params params = params_of("mode=htm,srcbits=12");
	struct ntrace_flow_config flow = { .size = sizeof(flow), .params = &params, .src = 0xaaa };
	struct sums plain = { 0 }, counted = { 0 };
	struct ntrace_encoder_config config;
	static struct ntrace_encoder encoder;
	static struct stream stream;
	int result = 0;

	config = config_for(&params, &stream);
	config.src = flow.src;
	is_u64(ntrace_encoder_init(&encoder, &config), 0, "source: an encoder");
	encode_laps(&encoder, LAPS);
	end_in_source(&stream, &params, 2000);

	flow.space = make_program();
	decode(&flow, &stream, stream.size, &plain, &result);
	flow.effect = take_effect;
	decode(&flow, &stream, stream.size, &counted, &result);
	is_u64(result, 0, "source: decoded");
	ok(plain.bad == 2, "source: an error and a gap");
	ok(same(&plain, &counted) && counted.bad == plain.bad, "source: the same if it is counted");
	ok(counted.in_batches < plain.in_batches / 2, "source: %u of %u blocks were walked",
	   (unsigned int)counted.in_batches, (unsigned int)plain.in_batches);
	ntrace_space_put(flow.space);
}

/* Two spaces with the same program; the second piece of the trace is that of the second one. */
struct two_spaces {
	struct ntrace_space *spaces[2];
	uint64_t times[2];
	unsigned int pieces;
};

static int nothing(void *data, const struct ntrace_flow_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

static int no_blocks(void *data, const struct ntrace_block_batch *batch)
{
	(void)data;
	(void)batch;
	return 0;
}

static int add_times(void *data, const struct ntrace_flow_effect *effect)
{
	struct two_spaces *two = data;

	two->times[effect->batch->space == two->spaces[1]] += effect->times;
	return 0;
}

static int take_turns(void *data, unsigned int reason, uint64_t address,
		      struct ntrace_space **space)
{
	struct two_spaces *two = data;

	(void)address;
	two->pieces += reason == NTRACE_FLOW_SYNC;
	*space = two->spaces[two->pieces > 1];
	return 0;
}

static void encode_pieces(struct stream *stream, const struct ntrace_params *params)
{
	struct ntrace_encoder_config config;
	static struct ntrace_encoder encoder;

	config = config_for(params, stream);
	is_u64(ntrace_encoder_init(&encoder, &config), 0, "spaces: an encoder");
	for (unsigned int piece = 0; piece < 2; piece++)
		encode_laps(&encoder, LAPS / 4);
}

/* Before the code of a space changes, the flow passes on what it counted there, and nothing else. */
static void test_spaces(void)
{
	struct ntrace_params params = params_of("mode=htm");
	struct two_spaces two = { .spaces = { make_program(), make_program() } };
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = &params,
					     .event = nothing,
					     .blocks = no_blocks,
					     .effect = add_times,
					     .select = take_turns,
					     .space = two.spaces[0],
					     .data = &two };
	static struct stream stream;
	struct ntrace_message message;
	struct ntrace_reader reader;
	struct ntrace_flow *flow;
	uint64_t first;

	encode_pieces(&stream, &params);
	is_u64(ntrace_flow_new(&flow, &config), 0, "spaces: a flow");
	ntrace_reader_init(&reader, &params, true);
	ntrace_reader_feed(&reader, stream.data, stream.size);
	do
		ntrace_flow_count(flow, &reader);
	while (ntrace_reader_next(&reader, &message) >= 0 && !ntrace_flow_message(flow, &message));
	is_u64(two.times[0] + two.times[1], 0, "spaces: nothing is passed on before");
	is_u64(flow_flush_space(flow, two.spaces[0]), 0, "spaces: flushed");
	first = two.times[0];
	ok(first && !two.times[1], "spaces: the first one is passed on, and not the second one");
	is_u64(ntrace_flow_end(flow, 0), 0, "spaces: decoded");
	ok(two.times[0] == first && two.times[1], "spaces: the second one comes at the end");
	ntrace_flow_free(flow);
	ntrace_space_put(two.spaces[0]);
	ntrace_space_put(two.spaces[1]);
}

static void test_config(void)
{
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .event = take_event,
					     .effect = take_effect };
	struct ntrace_flow *flow;

	is_u64(ntrace_flow_new(&flow, &config), (uint64_t)NTRACE_ERR_INVALID,
	       "effects need batches");
}

int main(void)
{
	test_way("BTM", "mode=btm", 0, false);
	test_way("BTM with RepeatBranch", "mode=btm", 0, true);
	test_way("HTM", "mode=htm", 0, false);
	test_way("HTM with SRC", "mode=htm,srcbits=3", 0, false);
	test_way("HTM with implicit returns", "mode=htm,impret=3", 8, false);
	test_way("HTM with all compression", "mode=htm,impret=3", 8, true);
	test_timestamps();
	test_loops();
	test_many();
	test_source();
	test_spaces();
	test_config();
	return done_testing();
}
