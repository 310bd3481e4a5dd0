/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The trace blocks of the virtual SoC, and how they are wired. QEMU builds both
 * the machine and its device tree from this table, so the two cannot differ.
 *
 *   direct   each encoder has a RAM sink of its own
 *   funnel   all encoders -> funnel 0 -> RAM sink 0
 *   chain    encoders 2n and 2n+1 -> funnel n+1 -> funnel 0 -> RAM sink 0
 *   pairs    encoders 2n and 2n+1 -> funnel n -> RAM sink n: as many machines in one
 *   forks    as pairs, and encoder 2n+1 as well -> funnel p+n -> RAM sink p+n, with p pairs
 *   split    each encoder -> funnel 0 -> RAM sink 0, and as well -> funnel 1 ->
 *            RAM sink 1; trFunnelDisInput chooses
 *   pib      all encoders -> funnel 0 -> PIB sink 0
 *   atb      all encoders -> funnel 0 -> ATB bridge 0
 *   p550     as funnel, with the pages of pre-ratification SiFive blocks, as in the EIC7700X of a
 *            HiFive Premier P550: the funnel's page has the RAM sink as well
 *   k3       encoder n -> ATB bridge n -> funnel n/4 -> Arm funnel 0 -> ETF 0 -> ETR 0, as in a
 *            SpacemiT K3: Arm CoreSight carries the trace to memory
 */
#ifndef VSOC_MODEL_TOPOLOGY_H
#define VSOC_MODEL_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_HARTS_MAX 64
/* Encoders of version 0 have two bits of SRC. */
#define TOPOLOGY_P550_MAX 4
/* The SpacemiT K3 has four clusters of four harts. */
#define TOPOLOGY_K3_MAX 16
#define TOPOLOGY_K3_CLUSTER 4
/* Inputs of a funnel: the maximum that the device tree binding allows. */
#define TOPOLOGY_INPUTS_MAX 8

enum topology_kind {
	TOPOLOGY_ENCODER,
	TOPOLOGY_FUNNEL,
	TOPOLOGY_RAM_SINK,
	TOPOLOGY_PIB_SINK,
	TOPOLOGY_ATB_BRIDGE,
	TOPOLOGY_ARM_FUNNEL,
	TOPOLOGY_ETF,
	TOPOLOGY_ETR,
};

struct topology_node {
	enum topology_kind kind;
	unsigned int index;	/* index within its kind; for an encoder: index of the hart */
	unsigned int inputs;
	unsigned int outputs;
	uint64_t base;		/* address of its page; 0: where the machine has it */
};

/* Output @output of @from to input @input of @to. */
struct topology_edge {
	unsigned int from;
	unsigned int output;
	unsigned int to;
	unsigned int input;
};

#define TOPOLOGY_NODES_MAX (2 * TOPOLOGY_HARTS_MAX)
#define TOPOLOGY_EDGES_MAX (2 * TOPOLOGY_HARTS_MAX)

/**
 * struct topology - a wiring
 * @v0: the blocks have pages of version 0, see v0_page.h
 * @k3: the blocks have the names that SpacemiT gives them in device trees
 * @node: sinks, then intermediate components, then encoders: each node comes after all nodes
 *        that it sends to
 */
struct topology {
	bool v0;
	bool k3;
	unsigned int nodes;
	unsigned int edges;
	struct topology_node node[TOPOLOGY_NODES_MAX];
	struct topology_edge edge[TOPOLOGY_EDGES_MAX];
};

/** topology_is_arm - tell whether a block is a component of Arm CoreSight */
static inline bool topology_is_arm(enum topology_kind kind)
{
	return kind >= TOPOLOGY_ARM_FUNNEL;
}

/**
 * topology_make - return the wiring called @name for @harts harts
 * Return: NULL, or a text that says why there is none.
 */
const char *topology_make(struct topology *topology, const char *name, unsigned int harts);

#define TOPOLOGY_NONE UINT32_MAX

/**
 * topology_add - add a component to a wiring that has no name
 * @base: address of its page
 * @next: node that it sends to, or TOPOLOGY_NONE
 * Return: false if there is no room
 */
bool topology_add(struct topology *topology, enum topology_kind kind, unsigned int index,
		  uint64_t base, unsigned int next);

#endif /* VSOC_MODEL_TOPOLOGY_H */
