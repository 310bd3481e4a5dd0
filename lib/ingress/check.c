// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the ingress port can carry in a cycle (E-Trace, chapter 4). An encoder runs the checks of
 * instructions for every cycle, so each returns at the first rule that is broken.
 */
#include "rules.h"

/* 3-bit port: itypes 0..6; 4-bit port: all itypes except 6 and 7. */
#define ITYPES_3BIT 0x007fu
#define ITYPES_4BIT 0xff3fu
/* All values of enum ntrace_priv. */
#define PRIVS 0x7bu
/* Itypes of instructions that access no data. */
#define TRANSFERS 0xff78u

static const char *const texts[] = {
#define RULE(name, id, severity, section, text) [INGRESS_##name] = text,
	INGRESS_RULES(RULE)
#undef RULE
};

const char *ntrace_ingress_port_refusal(const struct ntrace_ingress_port *port)
{
	if ((port->xlen != 32 && port->xlen != 64) ||
	    (port->itype_bits != 3 && port->itype_bits != 4) || port->groups < 1 ||
	    port->groups > NTRACE_INGRESS_GROUPS_MAX)
		return "xlen must be 32 or 64, itype 3 or 4, groups 1 to 8";
	if (port->priv_bits == 1 || port->priv_bits > 3 || port->ctype_bits > 2)
		return "priv must be 2 or 3, ctype 1 or 2";
	if (port->iaddr_bits && (port->iaddr_bits < 8 || port->iaddr_bits > port->xlen))
		return "iaddr must be 8 to xlen";
	if (port->cause_bits > 64 || port->scontext_bits > 64 || port->hcontext_bits > 64 ||
	    port->impdef_bits > 64)
		return "cause, scontext, hcontext and impdef must be at most 64";
	if (port->data == NTRACE_INGRESS_DATA_NONE)
		return port->accesses || port->dtype_bits || port->iaddr_lsbs_bits ||
				       port->lrid_bits ?
			       "a port without a data interface has none of its properties" :
			       NULL;
	if (port->data > NTRACE_INGRESS_DATA_SPLIT)
		return "data must be unified or split";
	if (!port->retires || port->accesses < 1 || port->accesses > NTRACE_INGRESS_ACCESSES_MAX)
		return "retires must be 1 to 65535, accesses 1 to 8";
	if (port->dtype_bits != 1 && port->dtype_bits != 3 && port->dtype_bits != 4)
		return "dtype must be 1, 3 or 4";
	if (port->iaddr_lsbs_bits > 16 || port->iaddr_lsbs_bits == 1)
		return "lsbs must be 0 or 2 to 16";
	if (port->retires > 1 && !port->iaddr_lsbs_bits)
		return "a port that retires several instructions in a cycle needs lsbs";
	if (port->data == NTRACE_INGRESS_DATA_SPLIT ?
		    port->lrid_bits < 1 || port->lrid_bits > NTRACE_INGRESS_LRID_BITS_MAX :
		    port->lrid_bits)
		return "lrid must be 1 to 8 for data=split, and is not for data=unified";
	return NULL;
}

/* @bits: 0 = not stated */
static bool is_above(uint64_t value, unsigned int bits)
{
	return bits && bits < 64 && value >> bits;
}

enum ingress_rule ingress_check_signals(const struct ntrace_ingress_port *port,
					const struct ntrace_ingress_cycle *cycle)
{
	if (cycle->groups > NTRACE_INGRESS_GROUPS_MAX || cycle->groups > port->groups)
		return INGRESS_GROUPS;
	if (cycle->notify >> cycle->groups)
		return INGRESS_NOTIFY;
	if (cycle->ctype > NTRACE_CTYPE_DISCONTINUITY)
		return INGRESS_CTYPE;
	if (cycle->priv > 7 || !(PRIVS >> cycle->priv & 1))
		return INGRESS_PRIV;
	if (is_above(cycle->priv, port->priv_bits))
		return INGRESS_PRIV_WIDTH;
	if (is_above(cycle->ctype, port->ctype_bits))
		return INGRESS_CTYPE_WIDTH;
	if (is_above(cycle->cause, port->cause_bits))
		return INGRESS_CAUSE_WIDTH;
	if (is_above(cycle->scontext, port->scontext_bits) ||
	    is_above(cycle->hcontext, port->hcontext_bits))
		return INGRESS_CONTEXT_WIDTH;
	if (port->impdef_bits ? is_above(cycle->impdef, port->impdef_bits) : cycle->impdef != 0)
		return INGRESS_IMPDEF_WIDTH;
	if (cycle->groups && (cycle->halted || cycle->reset))
		return INGRESS_STOPPED;
	return INGRESS_NO_RULE;
}

enum ingress_rule ingress_check_group(const struct ntrace_ingress_port *port,
				      const struct ntrace_ingress_cycle *cycle, unsigned int i)
{
	const struct ntrace_ingress_group *group = &cycle->group[i];
	uint32_t itypes = port->itype_bits == 3 ? ITYPES_3BIT : ITYPES_4BIT;
	bool trap = ingress_is_trap(group->itype);

	if (group->itype > 15 || !(itypes >> group->itype & 1))
		return INGRESS_ITYPE;
	if (group->ilastsize > 2)
		return INGRESS_LASTSIZE;
	if (group->iaddr & 1)
		return INGRESS_IADDR_ODD;
	if (group->iaddr & ~ingress_iaddr_mask(port))
		return INGRESS_IADDR_WIDTH;
	if (group->sijump > 1)
		return INGRESS_SIJUMP;
	if (trap && i + 1 != cycle->groups)
		return INGRESS_TRAP_ORDER;
	if (!group->iretire)
		return trap ? INGRESS_NO_RULE : INGRESS_EMPTY;
	if (port->single)
		return group->iretire == 1 ? INGRESS_NO_RULE : INGRESS_SINGLE;
	if (group->iretire > NTRACE_IRETIRE_MAX)
		return INGRESS_LONG;
	return group->iretire >= 1u << group->ilastsize ? INGRESS_NO_RULE : INGRESS_SHORT;
}

enum ingress_rule ingress_check_counts(const struct ntrace_ingress_port *port,
				       const struct ntrace_ingress_cycle *cycle)
{
	bool split = port->data == NTRACE_INGRESS_DATA_SPLIT;

	if (cycle->accesses > (port->data ? port->accesses : 0) ||
	    cycle->accesses > NTRACE_INGRESS_ACCESSES_MAX)
		return INGRESS_ACCESSES;
	if (cycle->responses > (split ? port->accesses : 0) ||
	    cycle->responses > NTRACE_INGRESS_ACCESSES_MAX)
		return INGRESS_RESPONSES;
	return INGRESS_NO_RULE;
}

static uint32_t dtypes_of(const struct ntrace_ingress_port *port)
{
	if (port->dtype_bits == 1)
		return NTRACE_DTYPES_LOADS | NTRACE_DTYPES_STORES;
	if (port->dtype_bits == 3)
		return NTRACE_DTYPES_LOADS | NTRACE_DTYPES_STORES | NTRACE_DTYPES_CSRS;
	return NTRACE_DTYPES_ALL;
}

/* Whether a value needs more than 2^dsize bytes. */
static bool is_wider(const uint64_t *value, unsigned int dsize)
{
	if (dsize >= 4)
		return false;
	return value[1] || (dsize < 3 && value[0] >> (8u << dsize));
}

static enum ingress_rule check_data(const struct ntrace_ingress_port *port,
				    const struct ntrace_ingress_access *access)
{
	bool split = port->data == NTRACE_INGRESS_DATA_SPLIT;
	bool stores = access->dtype != NTRACE_DTYPE_LOAD &&
		      access->dtype != NTRACE_DTYPE_STORE_FAILURE;
	bool loads = access->dtype != NTRACE_DTYPE_STORE &&
		     access->dtype != NTRACE_DTYPE_STORE_FAILURE;
	bool csr = NTRACE_DTYPES_CSRS >> access->dtype & 1;

	if ((!stores && (access->store[0] || access->store[1])) ||
	    ((split || !loads) && (access->load[0] || access->load[1])))
		return INGRESS_DATA_KIND;
	if (is_wider(access->store, access->dsize) || is_wider(access->load, access->dsize))
		return INGRESS_DATA_WIDTH;
	/* A CSR access may end in the cycle in which it retires. */
	if (split && loads && !csr && !access->request)
		return INGRESS_LRID_MISSING;
	if ((!split || !loads) && access->request)
		return INGRESS_LRID_EXTRA;
	if (access->lrid && (!access->request || access->lrid >> port->lrid_bits))
		return access->request ? INGRESS_LRID_WIDTH : INGRESS_LRID_EXTRA;
	return INGRESS_NO_RULE;
}

static const struct ntrace_ingress_group *group_of(const struct ntrace_ingress_cycle *cycle,
						   const struct ntrace_ingress_access *access)
{
	if (access->dblock >= cycle->groups || !cycle->group[access->dblock].iretire)
		return NULL;
	return &cycle->group[access->dblock];
}

bool ntrace_ingress_access_iaddr(const struct ntrace_ingress_port *port,
				 const struct ntrace_ingress_cycle *cycle, unsigned int access,
				 uint64_t *first, uint64_t *last)
{
	const struct ntrace_ingress_access *data = &cycle->access[access];
	const struct ntrace_ingress_group *group = group_of(cycle, data);
	uint64_t mask = (UINT64_C(1) << port->iaddr_lsbs_bits) - 1;
	uint32_t parcels, last_parcels;
	uint64_t span, skipped;

	if (!group)
		return false;
	parcels = ingress_parcels(port, group);
	last_parcels = 1u << (group->ilastsize & 3);
	/* From the first instruction to the last one. */
	span = parcels > last_parcels ? UINT64_C(2) * (parcels - last_parcels) : 0;
	*first = group->iaddr;
	*last = group->iaddr + span;
	if (!port->iaddr_lsbs_bits)
		return true;
	skipped = (data->iaddr_lsbs - group->iaddr) & mask;
	if (data->iaddr_lsbs > mask || skipped & 1 || skipped > span)
		return false;
	*first = group->iaddr + skipped;
	*last = *first + ((span - skipped) & ~mask);
	return true;
}

static enum ingress_rule check_place(const struct ntrace_ingress_port *port,
				     const struct ntrace_ingress_cycle *cycle, unsigned int i)
{
	const struct ntrace_ingress_access *access = &cycle->access[i];
	const struct ntrace_ingress_group *group = group_of(cycle, access);
	uint64_t first, last, end;

	if (!group)
		return INGRESS_DBLOCK;
	if (!ntrace_ingress_access_iaddr(port, cycle, i, &first, &last))
		return INGRESS_LSBS;
	end = group->iaddr + UINT64_C(2) * ingress_parcels(port, group);
	if (group->itype > 15 || !(TRANSFERS >> group->itype & 1) ||
	    first != end - (UINT64_C(2) << (group->ilastsize & 3)))
		return INGRESS_NO_RULE;
	/* cm.popret and cm.popretz have 16 bits. */
	if ((group->itype == NTRACE_ITYPE_RETURN ||
	     group->itype == NTRACE_ITYPE_INDIRECT_JUMP_3BIT) &&
	    access->dtype == NTRACE_DTYPE_LOAD && !group->ilastsize)
		return INGRESS_NO_RULE;
	return INGRESS_TRANSFER;
}

enum ingress_rule ingress_check_access(const struct ntrace_ingress_port *port,
				       const struct ntrace_ingress_cycle *cycle, unsigned int i)
{
	const struct ntrace_ingress_access *access = &cycle->access[i];
	enum ingress_rule rule;

	if (access->dtype > 15 || !(dtypes_of(port) >> access->dtype & 1))
		return INGRESS_DTYPE;
	if (access->dsize > 4)
		return INGRESS_DSIZE;
	if (port->xlen == 32 && access->daddr > UINT32_MAX)
		return INGRESS_DADDR_WIDTH;
	if (NTRACE_DTYPES_CSRS >> access->dtype & 1 && access->daddr > 0xfff)
		return INGRESS_CSR_NUMBER;
	rule = check_data(port, access);
	return rule ? rule : check_place(port, cycle, i);
}

enum ingress_rule ingress_check_response(const struct ntrace_ingress_port *port,
					 const struct ntrace_ingress_cycle *cycle, unsigned int i)
{
	const struct ntrace_ingress_response *response = &cycle->response[i];

	if (response->lresp != NTRACE_LRESP_OKAY && response->lresp != NTRACE_LRESP_ERROR)
		return INGRESS_LRESP;
	if (response->lid >> port->lrid_bits)
		return INGRESS_LRID_WIDTH;
	if (response->lresp == NTRACE_LRESP_ERROR && (response->load[0] || response->load[1]))
		return INGRESS_LRESP_DATA;
	return INGRESS_NO_RULE;
}

const char *ntrace_ingress_check_instructions(const struct ntrace_ingress_port *port,
					      const struct ntrace_ingress_cycle *cycle)
{
	enum ingress_rule rule = ingress_check_signals(port, cycle);

	for (unsigned int i = 0; !rule && i < cycle->groups; i++)
		rule = ingress_check_group(port, cycle, i);
	return texts[rule];
}

const char *ntrace_ingress_check(const struct ntrace_ingress_port *port,
				 const struct ntrace_ingress_cycle *cycle)
{
	const char *text = ntrace_ingress_check_instructions(port, cycle);
	enum ingress_rule rule;

	if (text)
		return text;
	rule = ingress_check_counts(port, cycle);
	for (unsigned int i = 0; !rule && i < cycle->accesses; i++)
		rule = ingress_check_access(port, cycle, i);
	for (unsigned int i = 0; !rule && i < cycle->responses; i++)
		rule = ingress_check_response(port, cycle, i);
	return texts[rule];
}
