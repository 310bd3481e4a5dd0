// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Converts blocks of the ingress port (E-Trace, chapter 4) to transfers of the model. */
#include <ntrace/ctr.h>

int ntrace_ctr_ingress_init(struct ntrace_ctr_ingress *feed, struct ntrace_ctr_model *model,
			    const struct ntrace_ingress_port *port)
{
	if (port->itype_bits != 4)
		return NTRACE_ERR_UNSUPPORTED;
	*feed = (struct ntrace_ctr_ingress){ .model = model, .port = *port };
	return 0;
}

int ntrace_ctr_ingress_target(struct ntrace_ctr_ingress *feed, uint64_t address, unsigned int priv)
{
	int result;

	if (!feed->has_waiting)
		return 0;
	feed->has_waiting = false;
	feed->has_next = true;
	feed->next = address;
	feed->waiting.target = address;
	feed->waiting.to = (uint8_t)priv;
	result = ntrace_ctr_model_transfer(feed->model, &feed->waiting);
	if (result < 0)
		return result;
	feed->effects[result]++;
	return 0;
}

static bool is_trap(unsigned int itype)
{
	return itype == NTRACE_ITYPE_EXCEPTION || itype == NTRACE_ITYPE_INTERRUPT;
}

/* Addresses have XLEN bits. */
static uint64_t address_of(const struct ntrace_ctr_ingress *feed, uint64_t address)
{
	return feed->port.xlen == 32 ? (uint32_t)address : address;
}

int ntrace_ctr_ingress_block(struct ntrace_ctr_ingress *feed, const struct ntrace_ingress *block,
			     uint64_t cause, uint64_t cycles)
{
	uint64_t next = address_of(feed, block->iaddr + UINT64_C(2) * block->iretire);
	uint64_t last = address_of(feed, next - (UINT64_C(2) << (block->ilastsize & 3)));
	int error;

	if (!block->iretire && !block->itype)
		return 0;
	if (block->itype && !ntrace_ctr_type_from_itype(block->itype))
		return NTRACE_ERR_INVALID;
	if (!block->iretire && !is_trap(block->itype))
		return NTRACE_ERR_INVALID;
	/* The port guarantees iaddr without retirement only for itype 1. */
	if (!block->iretire && block->itype == NTRACE_ITYPE_INTERRUPT && feed->has_next &&
	    !feed->has_waiting)
		next = feed->next;
	error = ntrace_ctr_ingress_target(feed, block->iaddr, block->priv);
	if (error)
		return error;
	feed->has_next = true;
	feed->next = next;
	if (!block->itype) {
		ntrace_ctr_model_cycles(feed->model, block->priv, cycles);
		return 0;
	}
	feed->has_waiting = true;
	feed->waiting = (struct ntrace_ctr_transfer){
		/* A trap follows the instructions that retired. */
		.source = is_trap(block->itype) ? next : last,
		.cycles = cycles,
		.cause = cause,
		.itype = block->itype,
		.from = block->priv,
	};
	if (block->itype == NTRACE_ITYPE_BRANCH_NOT_TAKEN)
		return ntrace_ctr_ingress_target(feed, next, block->priv);
	return 0;
}

/* The target of the waiting transfer will never be known. */
static void drop(struct ntrace_ctr_ingress *feed)
{
	feed->dropped += feed->has_waiting;
	feed->has_waiting = false;
	feed->has_next = false;
}

int ntrace_ctr_ingress_cycle(struct ntrace_ctr_ingress *feed,
			     const struct ntrace_ingress_cycle *cycle)
{
	if (ntrace_ingress_check(&feed->port, cycle))
		return NTRACE_ERR_INVALID;
	if (cycle->reset)
		drop(feed);
	if (cycle->halted || cycle->reset || cycle->priv == NTRACE_PRIV_D) {
		feed->cycles = 0;
		feed->has_next = false;
		return 0;
	}
	feed->cycles += UINT64_C(1) + cycle->idle;
	for (unsigned int i = 0; i < cycle->groups; i++) {
		const struct ntrace_ingress_group *group = &cycle->group[i];
		struct ntrace_ingress block = {
			.iaddr = group->iaddr,
			.iretire = group->iretire,
			.itype = group->itype,
			.ilastsize = group->ilastsize,
			.priv = cycle->priv,
		};
		int error;

		if (feed->port.single && block.iretire)
			block.iretire = 1u << block.ilastsize;
		error = ntrace_ctr_ingress_block(feed, &block, cycle->cause, feed->cycles);
		if (error)
			return error;
		feed->cycles = 0;
	}
	return 0;
}

int ntrace_ctr_ingress_play(struct ntrace_ctr_ingress *feed,
			    const struct ntrace_ingress_record *record)
{
	switch (record->type) {
	case NTRACE_INGRESS_CYCLE:
		return ntrace_ctr_ingress_cycle(feed, &record->cycle);
	case NTRACE_INGRESS_START:
	case NTRACE_INGRESS_STOP:
		return 0;
	case NTRACE_INGRESS_OVERRUN:
		drop(feed);
		return 0;
	default:
		return NTRACE_ERR_INVALID;
	}
}
