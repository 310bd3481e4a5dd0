// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes blocks from PCs. A table by address caches classified instructions. The next PC shows
 * how an instruction ended. Every listed PC counts as retired, also ECALL and EBREAK, since
 * the list contains executed instructions.
 */
#include <stdlib.h>

#include "pc_blocks.h"

/* Cached instructions; a power of two. */
#define CACHE_SIZE (1u << 16)

struct pc_instruction {
	uint64_t pc;
	struct ntrace_insn insn;	/* size 0: empty */
};

int pc_blocks_init(struct pc_blocks *blocks)
{
	blocks->cache = calloc(CACHE_SIZE + 2, sizeof(*blocks->cache));
	if (!blocks->cache)
		return NTRACE_ERR_NOMEM;
	blocks->last = &blocks->cache[CACHE_SIZE];
	blocks->previous = &blocks->cache[CACHE_SIZE + 1];
	blocks->last_known = false;
	blocks->mask = blocks->isa.xlen == 32 ? UINT32_MAX : UINT64_MAX;
	return 0;
}

void pc_blocks_free(struct pc_blocks *blocks)
{
	free(blocks->cache);
	blocks->cache = NULL;
}

/* Instructions may span two mappings. */
static int read_across(const struct ntrace_space *space, uint64_t pc, uint8_t *bytes, size_t *size)
{
	size_t have = 0;

	while (have < 8) {
		const uint8_t *data;
		size_t available;

		if (ntrace_space_read(space, pc + have, &data, &available))
			break;
		for (size_t i = 0; i < available && have < 8; i++)
			bytes[have++] = data[i];
	}
	*size = have;
	return have ? 0 : NTRACE_ERR_NOMAP;
}

static int classify(struct pc_blocks *blocks, uint64_t pc, struct ntrace_insn *insn)
{
	uint8_t bytes[8];
	size_t size;
	int error = read_across(blocks->space, pc, bytes, &size);

	if (!error)
		error = ntrace_insn_decode(&blocks->isa, bytes, size, pc, insn);
	return error;
}

static int find(struct pc_blocks *blocks, uint64_t pc, const struct pc_instruction **found)
{
	struct pc_instruction *entry = &blocks->cache[pc >> 1 & (CACHE_SIZE - 1)];

	int error;

	*found = entry;
	if (entry->pc == pc && entry->insn.size)
		return 0;
	entry->pc = pc;
	error = pc & 1 ? NTRACE_ERR_BADINSN : classify(blocks, pc, &entry->insn);
	if (error)
		entry->insn.size = 0;
	return error;
}

static int give(struct pc_blocks *blocks, unsigned int itype, bool sijump)
{
	struct ntrace_ingress block = {
		.iaddr = blocks->start,
		.iretire = blocks->parcels,
		.itype = (uint8_t)itype,
		.ilastsize = blocks->last->insn.size == 2 ? 0 :
			     blocks->last->insn.size == 8 ? 2 :
							    1,
		.priv = NTRACE_PRIV_M,
		.sijump = sijump,
	};

	blocks->parcels = 0;
	return blocks->take(blocks->data, &block);
}

/* A trap at @address, after a block that ended with a control transfer. */
static int give_trap(struct pc_blocks *blocks, uint64_t address)
{
	struct ntrace_ingress block = {
		.iaddr = address,
		.itype = NTRACE_ITYPE_INTERRUPT,
		.priv = NTRACE_PRIV_M,
	};

	blocks->traps++;
	return blocks->take(blocks->data, &block);
}

/* The block ends with a transfer whose possible targets are known. */
static int end_direct(struct pc_blocks *blocks, uint64_t sequel, uint64_t next)
{
	const struct ntrace_insn *insn = &blocks->last->insn;
	bool branch = insn->insn_class == NTRACE_INSN_BRANCH;
	/* CM.JT and CM.JALT take the target from memory that may be unknown: use the list. */
	uint64_t target = insn->table_jump ? next : insn->target;
	bool taken = branch && next == target && next != sequel;
	uint64_t there = branch && !taken ? sequel : target;
	int error = give(blocks, (unsigned int)ntrace_insn_itype(insn, taken, 4), false);

	if (error || next == there)
		return error;
	blocks->unclear += branch;
	return give_trap(blocks, there);
}

/* Ends the last instruction: the hart continued at @next. */
static int resolve(struct pc_blocks *blocks, uint64_t next)
{
	const struct ntrace_insn *insn = &blocks->last->insn;
	uint64_t sequel = (blocks->last->pc + insn->size) & blocks->mask;
	uint64_t target;
	bool sijump;

	switch (insn->insn_class) {
	case NTRACE_INSN_PLAIN:
		if (next == sequel)
			return 0;
		blocks->traps++;
		return give(blocks, NTRACE_ITYPE_INTERRUPT, false);
	case NTRACE_INSN_TRAP:
		return next == sequel ? 0 : give(blocks, NTRACE_ITYPE_EXCEPTION, false);
	case NTRACE_INSN_BRANCH:
	case NTRACE_INSN_JUMP:
	case NTRACE_INSN_CALL:
	case NTRACE_INSN_OTHER_JUMP:
		return end_direct(blocks, sequel, next);
	default:
		sijump = ntrace_insn_sequential_target(&blocks->previous->insn, insn, &target) &&
			 target == next;
		return give(blocks, (unsigned int)ntrace_insn_itype(insn, false, 4), sijump);
	}
}

int pc_blocks_add(struct pc_blocks *blocks, uint64_t pc)
{
	const struct pc_instruction *entry;
	int error = find(blocks, pc, &entry);

	if (!error && blocks->last_known)
		error = resolve(blocks, pc);
	/* A block without a transfer continues in the next one. */
	if (!error && blocks->parcels + entry->insn.size / 2u > NTRACE_IRETIRE_MAX)
		error = give(blocks, NTRACE_ITYPE_NONE, false);
	if (error)
		return error;
	if (!blocks->parcels)
		blocks->start = pc;
	/* An upper immediate counts for the next instruction only. */
	*blocks->previous = *blocks->last;
	*blocks->last = *entry;
	blocks->last_known = true;
	blocks->parcels += entry->insn.size / 2u;
	blocks->instructions++;
	return 0;
}

int pc_blocks_end(struct pc_blocks *blocks)
{
	const struct ntrace_insn *insn = &blocks->last->insn;
	bool plain;

	if (!blocks->last_known)
		return 0;
	plain = insn->insn_class == NTRACE_INSN_PLAIN || insn->insn_class == NTRACE_INSN_TRAP;
	blocks->last_known = false;
	return give(blocks,
		    plain ? NTRACE_ITYPE_NONE : (unsigned int)ntrace_insn_itype(insn, false, 4),
		    false);
}
