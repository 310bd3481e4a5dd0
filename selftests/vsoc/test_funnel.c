// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Funnel of the virtual SoC (Trace Control Interface 1.0, trFunnel registers),
 * and the wirings of blocks.
 */
#include <ntrace/trace_control.h>

#include "funnel.h"
#include "tap.h"
#include "topology.h"

/* The component after the funnel. */
static struct {
	uint8_t bytes[4096];
	size_t size;
	uint8_t id;
	bool full;
	bool refuses;		/* refuses a message although it was ready */
} behind;

static bool behind_put(void *opaque, unsigned int input, uint8_t id, const uint8_t *data,
		       size_t size)
{
	(void)opaque;
	(void)input;
	if (behind.full || behind.refuses)
		return false;
	memcpy(behind.bytes + behind.size, data, size);
	behind.size += size;
	behind.id = id;
	return true;
}

static bool behind_ready(void *opaque, unsigned int input)
{
	(void)opaque;
	(void)input;
	return !behind.full;
}

static const struct trace_port behind_port = { behind_put, behind_ready, NULL, 0 };

static struct funnel funnel;

static void fresh(unsigned int inputs, unsigned int buffer)
{
	struct funnel_parameters parameters = { .inputs = inputs, .buffer = buffer };

	memset(&behind, 0, sizeof(behind));
	funnel_init(&funnel, &parameters, &behind_port);
	funnel_write(&funnel, TR_FUNNEL_CONTROL, TR_CONTROL_ACTIVE);
}

static void enabled(unsigned int inputs, unsigned int buffer)
{
	fresh(inputs, buffer);
	funnel_write(&funnel, TR_FUNNEL_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
}

static uint32_t attempt(uint32_t offset, uint32_t value)
{
	funnel_write(&funnel, offset, value);
	return funnel_read(&funnel, offset);
}

static bool put(unsigned int input, const char *message)
{
	return funnel_put(&funnel, input, 0, (const uint8_t *)message, strlen(message));
}

static bool got(const char *text)
{
	return behind.size == strlen(text) && !memcmp(behind.bytes, text, behind.size);
}

static void registers(void)
{
	struct funnel_parameters parameters = { .inputs = 3, .buffer = 0 };

	funnel_init(&funnel, &parameters, &behind_port);
	is_hex(funnel_read(&funnel, TR_FUNNEL_CONTROL), TR_CONTROL_EMPTY,
	       "power-up: Active and Enable are 0, Empty is 1");
	is_hex(funnel_read(&funnel, TR_FUNNEL_IMPL), 0, "Active 0: Impl reads 0");
	is_hex(attempt(TR_FUNNEL_DIS_INPUT, ~0u), 0, "a write while Active was 0 is lost");
	is_u64(funnel.software_errors, 1, "and is an error of the software");
	is_hex(attempt(TR_FUNNEL_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE),
	       TR_CONTROL_ACTIVE | TR_CONTROL_EMPTY,
	       "the write that sets Active sets nothing else");
	is_hex(attempt(TR_FUNNEL_IMPL, ~0u), 0x801, "Impl: version 1.0, type 8, read-only");
	is_hex(attempt(TR_FUNNEL_DIS_INPUT, 0xffff), 7, "DisInput has a bit for each input");
	is_hex(attempt(TR_FUNNEL_CONTROL, ~0u),
	       TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_CONTROL_EMPTY,
	       "Control has Active, Enable and Empty only");
	is_hex(attempt(TR_FUNNEL_DIS_INPUT, 2), 2, "DisInput can be changed while enabled");
	is_hex(attempt(TR_TS_CONTROL, ~0u), 0, "no timestamp unit");
	is_hex(attempt(TR_FUNNEL_CONTROL, 0), TR_CONTROL_EMPTY, "Active 0");
	funnel_write(&funnel, TR_FUNNEL_CONTROL, TR_CONTROL_ACTIVE);
	is_hex(funnel_read(&funnel, TR_FUNNEL_DIS_INPUT), 0, "resets everything");
	funnel.parameters.inputs = 16;
	is_hex(attempt(TR_FUNNEL_DIS_INPUT, ~0u), 0xffff, "16 inputs at most");
}

static void passing(void)
{
	fresh(2, 0);
	ok(put(0, "abc") && funnel_ready(&funnel, 0) && !behind.size,
	   "disabled: accepts and drops");
	enabled(2, 0);
	ok(put(0, "abc") && put(1, "de") && put(0, "f") && got("abcdef"),
	   "enabled: messages of all inputs get out, in order");
	funnel_write(&funnel, TR_FUNNEL_DIS_INPUT, 2);
	behind.full = true;
	ok(put(1, "gh") && funnel_ready(&funnel, 1) && !put(0, "i") && !funnel_ready(&funnel, 0),
	   "a disabled input accepts and drops, even if the way is blocked for the others");
	is_u64(funnel.dropped, 3, "dropped bytes are counted");
	behind.full = false;
	ok(put(0, "k") && funnel_ready(&funnel, 0) && got("abcdefk"), "the way is free again");
}

static void holding_back(void)
{
	enabled(2, 8);
	ok(put(0, "abc") && put(1, "def") && !behind.size, "with a buffer messages wait in it");
	ok(!(funnel_read(&funnel, TR_FUNNEL_CONTROL) & TR_CONTROL_EMPTY), "not Empty");
	ok(put(0, "ghi") && got("abcdef"), "whole messages get out, never a part of one");
	ok(put(1, "a longer one") && got("abcdefghia longer one"),
	   "one longer than the buffer follows all that wait");
	put(0, "xyz");
	funnel_write(&funnel, TR_FUNNEL_CONTROL, TR_CONTROL_ACTIVE);
	ok(got("abcdefghia longer onexyz"), "Enable 1 -> 0 flushes");
	is_hex(funnel_read(&funnel, TR_FUNNEL_CONTROL), TR_CONTROL_ACTIVE | TR_CONTROL_EMPTY,
	       "and is Empty then");

	enabled(2, 8);
	put(0, "abc");
	behind.full = true;
	put(1, "defg");
	ok(!put(0, "hij") && !put(1, "klm"),
	   "lost in the buffer: each input is refused once, also one that only waited");
	behind.full = false;
	ok(put(0, "nop") && put(1, "qrs") && !behind.size, "then all is taken again");
	funnel_write(&funnel, TR_FUNNEL_CONTROL, 0);
	ok(!behind.size && funnel_read(&funnel, TR_FUNNEL_CONTROL) == TR_CONTROL_EMPTY,
	   "Active 0 loses what waits");

	enabled(2, 8);
	funnel_advance(&funnel);
	put(0, "abc");
	put(1, "de");
	put(0, "f");
	funnel_advance(&funnel);
	ok(got("abc") && !(funnel_read(&funnel, TR_FUNNEL_CONTROL) & TR_CONTROL_EMPTY),
	   "with time, the oldest message gets out");
	behind.full = true;
	funnel_advance(&funnel);
	ok(got("abc"), "not while the way is blocked");
	behind.full = false;
	funnel_advance(&funnel);
	funnel_advance(&funnel);
	ok(got("abcdef") && funnel_read(&funnel, TR_FUNNEL_CONTROL) & TR_CONTROL_EMPTY,
	   "then all others, and it is Empty");
	is_u64(funnel.bytes, 6, "sent bytes are counted");
	put(1, "gh");
	put(0, "i");
	behind.refuses = true;
	funnel_advance(&funnel);
	behind.refuses = false;
	is_u64(funnel.dropped, 2, "refused after it: a message is lost");
	ok(!put(0, "j") && !put(1, "k") && put(0, "l"), "and each input is refused once");

	enabled(2, 8);
	put(0, "abc");
	behind.full = true;
	funnel_write(&funnel, TR_FUNNEL_CONTROL, TR_CONTROL_ACTIVE);
	behind.full = false;
	funnel_write(&funnel, TR_FUNNEL_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
	ok(put(0, "d") && put(1, "e"),
	   "the sink stopped before the funnel: lost, but the next capture begins clean");
}

/* After ATB bridges: each message keeps its ID. */
static void trace_ids(void)
{
	static const uint8_t data[16];

	enabled(2, 12);
	funnel_put(&funnel, 0, 1, data, 4);
	funnel_put(&funnel, 1, 3, data, 4);
	funnel_put(&funnel, 0, 5, data, 4);
	funnel_advance(&funnel);
	ok(behind.size == 4 && behind.id == 1, "the oldest message has its ID");
	funnel_advance(&funnel);
	ok(behind.size == 8 && behind.id == 3, "so has the next one");
	funnel_flush(&funnel);
	ok(behind.size == 12 && behind.id == 5, "and the last one, which a flush sends");
	is_hex(funnel_read(&funnel, TR_FUNNEL_CONTROL), 0xb, "the funnel is empty and enabled");
	funnel_put(&funnel, 0, 7, data, 16);
	ok(behind.size == 28 && behind.id == 7, "so has one longer than the buffer");
}

/* A K3's bridges are not the end of the path. */
static bool is_last(const struct topology *topology, enum topology_kind kind)
{
	if (topology->k3)
		return kind == TOPOLOGY_ETR;
	return kind == TOPOLOGY_RAM_SINK || kind == TOPOLOGY_PIB_SINK ||
	       kind == TOPOLOGY_ATB_BRIDGE;
}

/* Every node but the sinks has an output, and port numbers have no gaps. */
static bool sound(const struct topology *topology)
{
	unsigned int in[TOPOLOGY_NODES_MAX] = { 0 }, out[TOPOLOGY_NODES_MAX] = { 0 };

	for (unsigned int i = 0; i < topology->edges; i++) {
		const struct topology_edge *edge = &topology->edge[i];

		if (edge->from <= edge->to || edge->output != out[edge->from]++ ||
		    edge->input != in[edge->to]++)
			return false;
	}
	for (unsigned int i = 0; i < topology->nodes; i++) {
		const struct topology_node *node = &topology->node[i];

		if (node->inputs != in[i] || node->outputs != out[i] ||
		    !node->inputs != (node->kind == TOPOLOGY_ENCODER) ||
		    !node->outputs != is_last(topology, node->kind) ||
		    (node->kind == TOPOLOGY_FUNNEL && node->inputs > TOPOLOGY_INPUTS_MAX))
			return false;
	}
	return true;
}

static unsigned int count(const struct topology *topology, enum topology_kind kind)
{
	unsigned int nodes = 0;

	for (unsigned int i = 0; i < topology->nodes; i++)
		nodes += topology->node[i].kind == kind;
	return nodes;
}

static void wirings(void)
{
	static const struct {
		const char *name;
		unsigned int harts, encoders, funnels, sinks, edges;
	} rows[] = {
		{ "direct", 1, 1, 0, 1, 1 },   { "direct", 64, 64, 0, 64, 64 },
		{ "funnel", 1, 1, 1, 1, 2 },   { "funnel", 8, 8, 1, 1, 9 },
		{ "chain", 1, 1, 2, 1, 3 },    { "chain", 4, 4, 3, 1, 7 },
		{ "chain", 16, 16, 9, 1, 25 }, { "split", 2, 2, 2, 2, 6 },
		{ "split", 8, 8, 2, 2, 18 },   { "pib", 2, 2, 1, 0, 3 },
		{ "atb", 8, 8, 1, 0, 9 },	{ "k3", 1, 1, 1, 0, 5 },
		{ "k3", 5, 5, 2, 0, 14 },	{ "k3", 16, 16, 4, 0, 38 },
	};
	static struct topology topology;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *reason = topology_make(&topology, rows[i].name, rows[i].harts);

		ok(!reason && sound(&topology) &&
			   count(&topology, TOPOLOGY_ENCODER) == rows[i].encoders &&
			   count(&topology, TOPOLOGY_FUNNEL) == rows[i].funnels &&
			   count(&topology, TOPOLOGY_RAM_SINK) == rows[i].sinks &&
			   topology.edges == rows[i].edges,
		   "%s with %u harts", rows[i].name, rows[i].harts);
	}
	ok(topology_make(&topology, "funnel", 9) && topology_make(&topology, "chain", 17) &&
		   topology_make(&topology, "split", 9) && topology_make(&topology, "pib", 9) &&
		   topology_make(&topology, "direct", 65) && topology_make(&topology, "k3", 17) &&
		   topology_make(&topology, "none", 1),
	   "more harts than a wiring supports, and an unknown name");
}

int main(void)
{
	registers();
	passing();
	holding_back();
	trace_ids();
	wirings();
	return done_testing();
}
