// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include "topology.h"

static unsigned int add(struct topology *topology, enum topology_kind kind, unsigned int index)
{
	topology->node[topology->nodes] = (struct topology_node){ .kind = kind, .index = index };
	return topology->nodes++;
}

static void wire(struct topology *topology, unsigned int from, unsigned int to)
{
	topology->edge[topology->edges++] = (struct topology_edge){
		.from = from,
		.output = topology->node[from].outputs++,
		.to = to,
		.input = topology->node[to].inputs++,
	};
}

static void make_direct(struct topology *topology, unsigned int harts)
{
	for (unsigned int i = 0; i < harts; i++)
		add(topology, TOPOLOGY_RAM_SINK, i);
	for (unsigned int i = 0; i < harts; i++)
		wire(topology, add(topology, TOPOLOGY_ENCODER, i), i);
}

static void funnel_to(struct topology *topology, enum topology_kind kind, unsigned int harts)
{
	unsigned int sink = add(topology, kind, 0);
	unsigned int funnel = add(topology, TOPOLOGY_FUNNEL, 0);

	wire(topology, funnel, sink);
	for (unsigned int i = 0; i < harts; i++)
		wire(topology, add(topology, TOPOLOGY_ENCODER, i), funnel);
}

static void make_funnel(struct topology *topology, unsigned int harts)
{
	funnel_to(topology, TOPOLOGY_RAM_SINK, harts);
}

static void make_pib(struct topology *topology, unsigned int harts)
{
	funnel_to(topology, TOPOLOGY_PIB_SINK, harts);
}

static void make_atb(struct topology *topology, unsigned int harts)
{
	funnel_to(topology, TOPOLOGY_ATB_BRIDGE, harts);
}

static void make_chain(struct topology *topology, unsigned int harts)
{
	unsigned int sink = add(topology, TOPOLOGY_RAM_SINK, 0);
	unsigned int top = add(topology, TOPOLOGY_FUNNEL, 0);
	unsigned int leaf = topology->nodes;

	wire(topology, top, sink);
	for (unsigned int i = 0; i < (harts + 1) / 2; i++)
		wire(topology, add(topology, TOPOLOGY_FUNNEL, i + 1), top);
	for (unsigned int i = 0; i < harts; i++)
		wire(topology, add(topology, TOPOLOGY_ENCODER, i), leaf + i / 2);
}

static void make_pairs(struct topology *topology, unsigned int harts)
{
	unsigned int pairs = (harts + 1) / 2;

	for (unsigned int i = 0; i < pairs; i++)
		add(topology, TOPOLOGY_RAM_SINK, i);
	for (unsigned int i = 0; i < pairs; i++)
		wire(topology, add(topology, TOPOLOGY_FUNNEL, i), i);
	for (unsigned int i = 0; i < harts; i++)
		wire(topology, add(topology, TOPOLOGY_ENCODER, i), pairs + i / 2);
}

static void make_forks(struct topology *topology, unsigned int harts)
{
	unsigned int pairs = (harts + 1) / 2;

	for (unsigned int i = 0; i < 2 * pairs; i++)
		add(topology, TOPOLOGY_RAM_SINK, i);
	for (unsigned int i = 0; i < 2 * pairs; i++)
		wire(topology, add(topology, TOPOLOGY_FUNNEL, i), i);
	for (unsigned int i = 0; i < harts; i++) {
		unsigned int encoder = add(topology, TOPOLOGY_ENCODER, i);

		wire(topology, encoder, 2 * pairs + i / 2);
		if (i % 2)
			wire(topology, encoder, 3 * pairs + i / 2);
	}
}

static void make_split(struct topology *topology, unsigned int harts)
{
	for (unsigned int i = 0; i < 2; i++)
		add(topology, TOPOLOGY_RAM_SINK, i);
	for (unsigned int i = 0; i < 2; i++)
		wire(topology, add(topology, TOPOLOGY_FUNNEL, i), i);
	for (unsigned int i = 0; i < harts; i++) {
		unsigned int encoder = add(topology, TOPOLOGY_ENCODER, i);

		wire(topology, encoder, 2);
		wire(topology, encoder, 3);
	}
}

static void make_p550(struct topology *topology, unsigned int harts)
{
	topology->v0 = true;
	funnel_to(topology, TOPOLOGY_RAM_SINK, harts);
}

static void make_k3(struct topology *topology, unsigned int harts)
{
	unsigned int clusters = (harts + TOPOLOGY_K3_CLUSTER - 1) / TOPOLOGY_K3_CLUSTER;
	unsigned int etr = add(topology, TOPOLOGY_ETR, 0);
	unsigned int etf = add(topology, TOPOLOGY_ETF, 0);
	unsigned int main_funnel = add(topology, TOPOLOGY_ARM_FUNNEL, 0);
	unsigned int cluster_funnel = topology->nodes;
	unsigned int bridge = cluster_funnel + clusters;

	topology->k3 = true;
	wire(topology, etf, etr);
	wire(topology, main_funnel, etf);
	for (unsigned int i = 0; i < clusters; i++)
		wire(topology, add(topology, TOPOLOGY_FUNNEL, i), main_funnel);
	for (unsigned int i = 0; i < harts; i++)
		wire(topology, add(topology, TOPOLOGY_ATB_BRIDGE, i),
		     cluster_funnel + i / TOPOLOGY_K3_CLUSTER);
	for (unsigned int i = 0; i < harts; i++)
		wire(topology, add(topology, TOPOLOGY_ENCODER, i), bridge + i);
}

static const struct {
	const char *name;
	unsigned int harts_max;
	void (*make)(struct topology *topology, unsigned int harts);
} kinds[] = {
	{ "direct", TOPOLOGY_HARTS_MAX, make_direct },
	{ "funnel", TOPOLOGY_INPUTS_MAX, make_funnel },
	{ "chain", 2 * TOPOLOGY_INPUTS_MAX, make_chain },
	{ "pairs", TOPOLOGY_NODES_MAX / 2, make_pairs },
	{ "forks", TOPOLOGY_NODES_MAX / 4, make_forks },
	{ "split", TOPOLOGY_INPUTS_MAX, make_split },
	{ "pib", TOPOLOGY_INPUTS_MAX, make_pib },
	{ "atb", TOPOLOGY_INPUTS_MAX, make_atb },
	{ "p550", TOPOLOGY_P550_MAX, make_p550 },
	{ "k3", TOPOLOGY_K3_MAX, make_k3 },
};

const char *topology_make(struct topology *topology, const char *name, unsigned int harts)
{
	memset(topology, 0, sizeof(*topology));
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name))
			continue;
		if (harts > kinds[i].harts_max)
			return "too many harts for it";
		kinds[i].make(topology, harts);
		return NULL;
	}
	return "there are direct, funnel, chain, pairs, forks, split, pib, atb, p550 and k3";
}

bool topology_add(struct topology *topology, enum topology_kind kind, unsigned int index,
		  uint64_t base, unsigned int next)
{
	unsigned int node;

	if (topology->nodes == TOPOLOGY_NODES_MAX)
		return false;
	node = add(topology, kind, index);
	topology->node[node].base = base;
	if (next != TOPOLOGY_NONE)
		wire(topology, node, next);
	return true;
}
