// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Data accesses of the built-in model: the executor's, and the pairs of compare and swap that it does not know. */
#include "builtin.h"
#include "exec/integer.h"

/* Privileged Architecture 1.12, 3.1.6.3 and 4.1.11 */
bool tandem_is_translated(const struct ntrace_tandem_builtin *builtin)
{
	const uint64_t *reg = builtin->state.reg;
	uint64_t priv = reg[PRIV];

	if (builtin->linux_user || !ntrace_tandem_bit(builtin->state.known, PRIV))
		return false;
	if (priv == PRIV_M && (reg[MSTATUS] & MSTATUS_MPRV))
		priv = reg[MSTATUS] >> 11 & 3;
	return priv != PRIV_M && !tandem_is_bare(reg, builtin->state.known, builtin->params.xlen);
}

bool tandem_find_physical(const struct ntrace_tandem_builtin *builtin, uint64_t address,
			  unsigned int bytes, uint64_t *physical)
{
	const struct ntrace_tandem_state *group = builtin->group;
	unsigned int both = NTRACE_TANDEM_HAS_EADDR | NTRACE_TANDEM_HAS_PADDR;

	*physical = address;
	if (!tandem_is_translated(builtin))
		return true;
	if (!group || (group->has & both) != both || (address ^ group->eaddr) >> 12 ||
	    (address & 0xfff) + bytes > 0x1000)
		return false;
	*physical = (group->paddr & ~UINT64_C(0xfff)) | (address & 0xfff);
	return true;
}

/* The register that has the bytes of the load after it; 0: none, or several */
static unsigned int loaded_register(const struct ntrace_tandem_builtin *builtin)
{
	switch (builtin->insn.kind) {
	case EXEC_LOAD:
	case EXEC_LR:
	case EXEC_AMO:
	case EXEC_CAS:
		return builtin->insn.rd ? GPR + builtin->insn.rd : 0;
	case EXEC_LOAD_FLOAT:
		return FPR + builtin->insn.rd;
	default:
		return 0;
	}
}

int tandem_learn_memory(struct ntrace_tandem_builtin *builtin, uint64_t physical,
			unsigned int bytes, uint64_t traced, struct ntrace_exec_value *value)
{
	uint64_t all = exec_low_bits(bytes);
	int error;

	tandem_pages_read(&builtin->pages, physical, bytes, value);
	if (value->known == all)
		return 0;
	value->bits |= traced & all & ~value->known;
	value->known = all;
	error = tandem_pages_write(&builtin->pages, physical, bytes, value);
	return error ? error : 1;
}

int tandem_read_data(void *data, uint64_t address, unsigned int bytes,
		     struct ntrace_exec_value *value)
{
	struct ntrace_tandem_builtin *builtin = data;
	unsigned int id = loaded_register(builtin);
	uint64_t physical;
	int learned = 0;

	if (!tandem_find_physical(builtin, address, bytes, &physical))
		return 0;
	if (id && tandem_is_given(builtin, id))
		learned = tandem_learn_memory(builtin, physical, bytes, builtin->group->reg[id],
					      value);
	else
		tandem_pages_read(&builtin->pages, physical, bytes, value);
	builtin->stats.memory += learned > 0;
	return learned < 0 ? learned : 0;
}

int tandem_write_data(void *data, uint64_t address, unsigned int bytes,
		      const struct ntrace_exec_value *value)
{
	struct ntrace_tandem_builtin *builtin = data;
	uint64_t physical;

	if (tandem_find_physical(builtin, address, bytes, &physical))
		return tandem_pages_store(&builtin->pages, physical, bytes, value);
	tandem_pages_forget(&builtin->pages);
	return 0;
}

/* ---- amocas of two registers ---- */

/* The pair of x@number and the register after it; x0 is 0 in both. */
static struct ntrace_exec_value read_pair(const struct ntrace_tandem_builtin *builtin,
					  unsigned int number, unsigned int half)
{
	struct ntrace_exec_value value = { 0, UINT64_MAX };

	if (number)
		ntrace_exec_get(builtin->exec, GPR + number + half, &value);
	return value;
}

bool tandem_is_pair(const struct ntrace_tandem_builtin *builtin)
{
	uint32_t word = builtin->word;

	return (word & 0xf800007f) == 0x2800002f && !(word & 0x00100080) &&
	       (word >> 12 & 7) == (builtin->params.xlen == 32 ? 3 : 4);
}

int tandem_swap_pair(struct ntrace_tandem_builtin *builtin)
{
	const struct ntrace_tandem_state *group = builtin->group;
	unsigned int rd = builtin->word >> 7 & 31, from = builtin->word >> 20 & 31;
	unsigned int bytes = builtin->params.xlen / 8;
	struct ntrace_exec_value base, held[2], expected, stored;
	uint64_t all = exec_low_bits(bytes), physical[2];
	bool equal = true, differs = false;
	int error = 0;

	ntrace_exec_get(builtin->exec, GPR + (builtin->word >> 15 & 31), &base);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t address = (base.bits + i * bytes) & builtin->state.xlen_mask;

		if ((all & ~base.known) ||
		    !tandem_find_physical(builtin, address, bytes, &physical[i])) {
			tandem_pages_forget(&builtin->pages);
			return 0;
		}
		tandem_pages_read(&builtin->pages, physical[i], bytes, &held[i]);
		if (rd && tandem_is_given(builtin, GPR + rd + i) &&
		    tandem_learn_memory(builtin, physical[i], bytes, group->reg[GPR + rd + i],
					&held[i]) < 0)
			return NTRACE_ERR_NOMEM;
		expected = read_pair(builtin, rd, i);
		differs |= ((held[i].bits ^ expected.bits) & held[i].known & expected.known &
			    all) != 0;
		equal &= !(all & ~(held[i].known & expected.known));
	}
	builtin->stats.conditional += !equal && !differs;
	for (unsigned int i = 0; i < 2 && !error && !differs; i++) {
		stored = read_pair(builtin, from, i);
		/* Maybe it does not store. */
		if (!equal)
			stored.known = 0;
		error = tandem_pages_store(&builtin->pages, physical[i], bytes, &stored);
	}
	for (unsigned int i = 0; i < 2 && rd && !error; i++) {
		held[i].known |= ~all;
		ntrace_exec_set(builtin->exec, GPR + rd + i, &held[i]);
	}
	return error;
}
