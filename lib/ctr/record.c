// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Ring entries as records, cycles and call stacks (CTR 1.0, records). */
#include <ntrace/ctr.h>

static unsigned int space_of(uint64_t address)
{
	if (!address)
		return NTRACE_CTR_SPACE_UNKNOWN;
	return address >> 63 ? NTRACE_CTR_SPACE_KERNEL : NTRACE_CTR_SPACE_USER;
}

void ntrace_ctr_record_decode(const struct ntrace_ctr_entry *entry, unsigned int features,
			      struct ntrace_ctr_record *record)
{
	uint16_t cc = (uint16_t)(entry->data >> NTRACE_CTR_DATA_CC_SHIFT);

	*record = (struct ntrace_ctr_record){ .valid = entry->source & NTRACE_CTR_SOURCE_VALID };
	if (!record->valid)
		return;
	record->from = entry->source & ~NTRACE_CTR_SOURCE_VALID;
	record->to = entry->target & ~NTRACE_CTR_TARGET_MISP;
	record->from_space = (uint8_t)space_of(record->from);
	record->to_space = (uint8_t)space_of(record->to);
	record->from_hidden = !record->from;
	record->to_hidden = !record->to;
	if (features & NTRACE_CTR_HAS_TYPE)
		record->type = entry->data & NTRACE_CTR_DATA_TYPE;
	if (features & NTRACE_CTR_HAS_MISPREDICT) {
		record->mispredict_known = true;
		record->mispredicted = entry->target & NTRACE_CTR_TARGET_MISP;
	}
	if (features & NTRACE_CTR_HAS_CYCLES && entry->data & NTRACE_CTR_DATA_CCV) {
		record->cycles_known = true;
		record->cycles = ntrace_ctr_cycles_decode(cc);
		record->cycles_saturated = cc == 0xffff;
	}
}

uint32_t ntrace_ctr_cycles_decode(uint16_t cc)
{
	unsigned int exponent = cc >> 12;
	uint32_t mantissa = cc & 0xfff;

	return exponent ? (4096 + mantissa) << (exponent - 1) : mantissa;
}

uint16_t ntrace_ctr_cycles_encode(uint64_t cycles, unsigned int cce_bits)
{
	unsigned int last = (1u << (cce_bits > 4 ? 4 : cce_bits)) - 1;
	unsigned int exponent = 0;

	/* The mantissa has 12 bits, and an implicit leading 1 if the exponent is not 0. */
	while (cycles >> (exponent > 1 ? exponent - 1 : 0) >= (exponent ? 8192 : 4096)) {
		if (exponent == last)
			return (uint16_t)(last << 12 | 0xfff);
		exponent++;
	}
	if (!exponent)
		return (uint16_t)cycles;
	return (uint16_t)(exponent << 12 | (cycles >> (exponent - 1) & 0xfff));
}

static const char *const type_names[16] = {
	[NTRACE_CTR_TYPE_NONE] = "none",
	[NTRACE_CTR_TYPE_EXCEPTION] = "exception",
	[NTRACE_CTR_TYPE_INTERRUPT] = "interrupt",
	[NTRACE_CTR_TYPE_TRAP_RETURN] = "trap return",
	[NTRACE_CTR_TYPE_BRANCH_NOT_TAKEN] = "not-taken branch",
	[NTRACE_CTR_TYPE_BRANCH_TAKEN] = "taken branch",
	[NTRACE_CTR_TYPE_INDIRECT_CALL] = "indirect call",
	[NTRACE_CTR_TYPE_DIRECT_CALL] = "direct call",
	[NTRACE_CTR_TYPE_INDIRECT_JUMP] = "indirect jump",
	[NTRACE_CTR_TYPE_DIRECT_JUMP] = "direct jump",
	[NTRACE_CTR_TYPE_COROUTINE_SWAP] = "co-routine swap",
	[NTRACE_CTR_TYPE_RETURN] = "return",
	[NTRACE_CTR_TYPE_OTHER_INDIRECT_JUMP] = "other indirect jump",
	[NTRACE_CTR_TYPE_OTHER_DIRECT_JUMP] = "other direct jump",
};

const char *ntrace_ctr_type_name(unsigned int type)
{
	return type < 16 && type_names[type] ? type_names[type] : "reserved";
}

unsigned int ntrace_ctr_type_from_itype(unsigned int itype)
{
	/* The types equal those of the 4-bit itype; 6 is any indirect jump of a 3-bit port. */
	return itype < 16 && type_names[itype] ? itype : NTRACE_CTR_TYPE_NONE;
}

int ntrace_ctr_call_stack(const struct ntrace_ctr_entry *entries, unsigned int count,
			  unsigned int features, struct ntrace_ctr_frame *frames, bool *partial)
{
	const uint32_t calls = 1u << NTRACE_CTR_TYPE_NONE | 1u << NTRACE_CTR_TYPE_INDIRECT_CALL |
			       1u << NTRACE_CTR_TYPE_DIRECT_CALL |
			       1u << NTRACE_CTR_TYPE_COROUTINE_SWAP;
	struct ntrace_ctr_record record;
	unsigned int used;

	for (used = 0; used < count; used++) {
		ntrace_ctr_record_decode(&entries[used], features, &record);
		if (!record.valid)
			break;
		if (!(calls >> record.type & 1))
			return NTRACE_ERR_FORMAT;
		frames[used] = (struct ntrace_ctr_frame){ record.to, record.from };
	}
	*partial = used == count;
	return (int)used;
}
