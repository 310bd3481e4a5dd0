// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Registers of the model: WARL rules and access checks (CTR 1.0). */
#include <string.h>

#include "model.h"
#include "struct_size.h"

/* Meaning of a CSR number. */
enum meaning {
	MEANING_NONE,
	MEANING_MCTRCTL,
	MEANING_SCTRCTL,
	MEANING_VSCTRCTL,
	MEANING_DEPTH,
	MEANING_STATUS,
	MEANING_SELECT,
	MEANING_ENTRY,	/* xireg */
};

/* Single registers of the two layouts; the registers of Sscsrind are ranges. */
static const struct {
	uint16_t csr;
	uint8_t layout;
	uint8_t meaning;
} registers[] = {
	{ NTRACE_CTR_CSR_MCTRCTL, NTRACE_CTR_RATIFIED, MEANING_MCTRCTL },
	{ NTRACE_CTR_CSR_SCTRCTL, NTRACE_CTR_RATIFIED, MEANING_SCTRCTL },
	{ NTRACE_CTR_CSR_VSCTRCTL, NTRACE_CTR_RATIFIED, MEANING_VSCTRCTL },
	{ NTRACE_CTR_CSR_SCTRSTATUS, NTRACE_CTR_RATIFIED, MEANING_STATUS },
	{ NTRACE_CTR_CSR_SCTRDEPTH, NTRACE_CTR_RATIFIED, MEANING_DEPTH },
	{ NTRACE_CTR_CSR_DRAFT_MCTRCONTROL, NTRACE_CTR_DRAFT, MEANING_MCTRCTL },
	{ NTRACE_CTR_CSR_DRAFT_SCTRCONTROL, NTRACE_CTR_DRAFT, MEANING_SCTRCTL },
	{ NTRACE_CTR_CSR_DRAFT_VSCTRCONTROL, NTRACE_CTR_DRAFT, MEANING_VSCTRCTL },
	{ NTRACE_CTR_CSR_DRAFT_SCTRSTATUS, NTRACE_CTR_DRAFT, MEANING_STATUS },
	{ NTRACE_CTR_CSR_DRAFT_MCTRSTATUS, NTRACE_CTR_DRAFT, MEANING_STATUS },
};

/* Bits 9:8 of a CSR number: the lowest privilege with access. */
#define CSR_LEVEL(csr)		((csr) >> 8 & 3)
#define LEVEL_SUPERVISOR	1u
#define LEVEL_HYPERVISOR	2u
#define LEVEL_MACHINE		3u

/**
 * struct csr_target - the register that an instruction accesses
 * @meaning: enum meaning
 * @level: privilege of the register: LEVEL_HYPERVISOR for the guest's registers
 * @part: part of an entry, for MEANING_ENTRY: 0 ctrsource, 1 ctrtarget, 2 ctrdata, others read-only
 *        0
 * @high: bits 63:32 of a control register of RV32
 */
struct csr_target {
	unsigned int meaning;
	unsigned int level;
	unsigned int part;
	bool high;
};

/* Logical entry selected by the select register; a value of the depth or more selects none. */
#define SELECTED(model, place) ((model)->select[(place)->level - 1] - NTRACE_CTR_SELECT)

/*
 * siselect, sireg to sireg3, a hole, sireg4 to sireg6; likewise for the guest and, in the draft,
 * for M.
 */
static struct csr_target find_indirect(unsigned int csr)
{
	unsigned int offset = csr & 0xff;
	struct csr_target place = { .level = CSR_LEVEL(csr) };

	if (offset == 0x50)
		place.meaning = MEANING_SELECT;
	else if (offset >= 0x51 && offset <= 0x57 && offset != 0x54)
		place.meaning = MEANING_ENTRY;
	place.part = offset - 0x51;
	return place;
}

static struct csr_target find(const struct ntrace_ctr_model *model, unsigned int csr)
{
	unsigned int first = csr & ~0xffu;

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		bool control = registers[i].meaning <= MEANING_VSCTRCTL;
		bool high = control && model->config.xlen == 32 && registers[i].csr + 1u == csr;

		if ((registers[i].csr == csr || high) &&
		    registers[i].layout == model->config.layout)
			return (struct csr_target){ registers[i].meaning, CSR_LEVEL(csr), 0, high };
	}
	if (first == 0x100 || first == 0x200 ||
	    (first == 0x300 && model->config.layout == NTRACE_CTR_DRAFT))
		return find_indirect(csr);
	return (struct csr_target){ MEANING_NONE, 0, 0, false };
}

static uint64_t stateen_bit(const struct ntrace_ctr_model *model)
{
	return model->config.layout == NTRACE_CTR_DRAFT ? NTRACE_CTR_STATEEN_DRAFT :
							  NTRACE_CTR_STATEEN;
}

/*
 * CTR 1.0, access control. @needed are the bits of mstateen0 and hstateen0. An access is illegal if
 * only M-mode may do it or if mstateen0 forbids it below M; it is virtual if the guest may not do
 * it but its hypervisor may.
 */
static int may_access(const struct ntrace_ctr_model *model, unsigned int priv, unsigned int level,
		      uint64_t needed, bool always_traps)
{
	bool guest = priv == NTRACE_PRIV_VS || priv == NTRACE_PRIV_VU;

	if (level == LEVEL_HYPERVISOR && !model->config.hypervisor)
		return NTRACE_CTR_ILLEGAL;
	if (priv == NTRACE_PRIV_M || priv == NTRACE_PRIV_D)
		return 0;
	if (level == LEVEL_MACHINE || priv == NTRACE_PRIV_U || (needed & ~model->mstateen0))
		return NTRACE_CTR_ILLEGAL;
	if (!guest)
		return 0;
	if (priv == NTRACE_PRIV_VU || level == LEVEL_HYPERVISOR || always_traps ||
	    (needed & ~model->hstateen0))
		return NTRACE_CTR_VIRTUAL;
	return 0;
}

/* Finds the register and checks access. Return: 0 with @place, errors as the public functions. */
static int reach(const struct ntrace_ctr_model *model, unsigned int priv, unsigned int csr,
		 struct csr_target *place)
{
	uint64_t needed = stateen_bit(model);
	int result;

	*place = find(model, csr);
	if (place->meaning == MEANING_NONE)
		return NTRACE_ERR_UNSUPPORTED;
	if (place->meaning == MEANING_SELECT)
		needed = NTRACE_CTR_STATEEN_CSRIND;
	else if (place->meaning == MEANING_ENTRY)
		needed |= NTRACE_CTR_STATEEN_CSRIND;
	result = may_access(model, priv, place->level, needed, place->meaning == MEANING_DEPTH);
	if (result)
		return result;
	if (priv == NTRACE_PRIV_VS) {
		place->level = LEVEL_HYPERVISOR;
		if (place->meaning == MEANING_SCTRCTL)
			place->meaning = MEANING_VSCTRCTL;
	}
	if (place->meaning == MEANING_ENTRY && SELECTED(model, place) >= NTRACE_CTR_ENTRIES_MAX)
		return NTRACE_ERR_UNSUPPORTED;
	return 0;
}

/* sctrctl and vsctrctl do not have M and MTE. */
#define MACHINE_FIELDS (NTRACE_CTR_CTL(M) | NTRACE_CTR_CTL(MTE))

static uint64_t control_value(const struct ntrace_ctr_model *model, uint64_t control)
{
	uint64_t raw = ntrace_ctr_control_to_raw(model->config.layout, control);

	if (model->config.layout == NTRACE_CTR_DRAFT)
		raw |= (uint64_t)ntrace_ctr_depth_to_raw(NTRACE_CTR_DRAFT, model->depth)
		       << NTRACE_CTR_DRAFT_DEPTH_SHIFT;
	return raw;
}

static uint64_t control_of(const struct ntrace_ctr_model *model, const struct csr_target *place)
{
	if (place->meaning == MEANING_VSCTRCTL)
		return control_value(model, model->vsctrctl);
	if (place->meaning == MEANING_SCTRCTL)
		return control_value(model, model->mctrctl & ~MACHINE_FIELDS);
	return control_value(model, model->mctrctl);
}

/* What an instruction reads: RV32 has a register for each half. */
static uint64_t control_half(const struct ntrace_ctr_model *model, const struct csr_target *place)
{
	uint64_t value = control_of(model, place);

	if (place->high)
		return value >> 32;
	return model->config.xlen == 32 ? (uint32_t)value : value;
}

int ntrace_ctr_model_read(const struct ntrace_ctr_model *model, unsigned int priv, unsigned int csr,
			  uint64_t *value)
{
	struct ntrace_ctr_entry entry;
	struct csr_target place;
	int result = reach(model, priv, csr, &place);

	if (result)
		return result;
	switch (place.meaning) {
	case MEANING_MCTRCTL:
	case MEANING_SCTRCTL:
	case MEANING_VSCTRCTL:
		*value = control_half(model, &place);
		break;
	case MEANING_DEPTH:
		*value = (uint64_t)ntrace_ctr_depth_to_raw(NTRACE_CTR_RATIFIED, model->depth);
		break;
	case MEANING_STATUS:
		*value = ntrace_ctr_status_to_raw(model->config.layout, &model->status);
		break;
	case MEANING_SELECT:
		*value = model->select[place.level - 1];
		break;
	default:
		entry = ntrace_ctr_model_entry(model, (unsigned int)SELECTED(model, &place));
		*value = place.part == 0 ? entry.source :
			 place.part == 1 ? entry.target :
			 place.part == 2 ? entry.data :
					   0;
		break;
	}
	return 0;
}

static void clear_ring(struct ntrace_ctr_model *model)
{
	memset(model->ring, 0, sizeof(model->ring));
	forget_cycles(model);
}

/* WARL: the greatest implemented depth of at most @entries, else the smallest one. */
static void set_depth(struct ntrace_ctr_model *model, unsigned int entries)
{
	unsigned int depth = 0;

	for (unsigned int code = 0; code < NTRACE_CTR_DEPTH_CODES; code++)
		if (model->config.depths >> code & 1 && (!depth || 16u << code <= entries))
			depth = 16u << code;
	model->depth = depth;
	model->status.wrptr &= (uint8_t)(depth - 1);
}

/*
 * DEPTH of the draft: valid codes are runs of ones from bit 0; any other code counts as the next
 * lower valid one.
 */
static unsigned int draft_entries(uint64_t raw)
{
	unsigned int code = raw >> NTRACE_CTR_DRAFT_DEPTH_SHIFT & 0xf;
	unsigned int entries;

	while (!(entries = ntrace_ctr_depth_from_raw(NTRACE_CTR_DRAFT, code)))
		code--;
	return entries;
}

/* The register after the write of one half of it; the other one keeps its value. */
static uint64_t join_halves(const struct ntrace_ctr_model *model, const struct csr_target *place,
			    uint64_t value)
{
	uint64_t now = control_of(model, place);

	if (model->config.xlen == 64)
		return value;
	return place->high ? value << 32 | (uint32_t)now :
			     (now & ~(uint64_t)UINT32_MAX) | (uint32_t)value;
}

static void write_control(struct ntrace_ctr_model *model, unsigned int priv,
			  const struct csr_target *place, uint64_t half)
{
	uint64_t value = join_halves(model, place, half);
	uint64_t control = ntrace_ctr_control_from_raw(model->config.layout, value) &
			   model->config.implemented;
	bool guest = place->meaning == MEANING_VSCTRCTL;

	if (model->config.layout == NTRACE_CTR_DRAFT) {
		/* vsctrcontrol.CLR of a hypervisor, with V=0, clears nothing. */
		if (value & NTRACE_CTR_DRAFT_CLR && (!guest || priv == NTRACE_PRIV_VS)) {
			clear_ring(model);
			memset(&model->status, 0, sizeof(model->status));
		}
		if (!guest)
			set_depth(model, draft_entries(value));
	}
	if (guest)
		model->vsctrctl = control & ~MACHINE_FIELDS;
	else if (place->meaning == MEANING_SCTRCTL)
		model->mctrctl = (model->mctrctl & MACHINE_FIELDS) | (control & ~MACHINE_FIELDS);
	else
		model->mctrctl = control;
	forget_cycles(model);
}

static void write_entry(struct ntrace_ctr_model *model, const struct csr_target *place,
			uint64_t value)
{
	const struct ntrace_ctr_config *config = &model->config;
	unsigned int logical = (unsigned int)SELECTED(model, place);
	struct ntrace_ctr_entry *entry;
	uint64_t data = 0;

	if (logical >= model->depth)
		return;
	entry = &model->ring[ntrace_ctr_physical(model->status.wrptr, logical, model->depth)];
	if (config->features & NTRACE_CTR_HAS_TYPE)
		data |= NTRACE_CTR_DATA_TYPE;
	if (config->features & NTRACE_CTR_HAS_CYCLES)
		data |= NTRACE_CTR_DATA_CCV | ((UINT64_C(0x1000) << config->cce_bits) - 1)
						      << NTRACE_CTR_DATA_CC_SHIFT;
	if (place->part == 0)
		entry->source = value;
	else if (place->part == 1)
		entry->target = config->features & NTRACE_CTR_HAS_MISPREDICT ?
					value :
					value & ~NTRACE_CTR_TARGET_MISP;
	else if (place->part == 2)
		entry->data = value & data;
}

int ntrace_ctr_model_write(struct ntrace_ctr_model *model, unsigned int priv, unsigned int csr,
			   uint64_t value)
{
	struct csr_target place;
	int result = reach(model, priv, csr, &place);

	if (result)
		return result;
	switch (place.meaning) {
	case MEANING_MCTRCTL:
	case MEANING_SCTRCTL:
	case MEANING_VSCTRCTL:
		write_control(model, priv, &place, value);
		break;
	case MEANING_DEPTH:
		/* Reserved codes are greater than all valid ones. */
		set_depth(model, 16u << (value & 7));
		break;
	case MEANING_STATUS:
		ntrace_ctr_status_from_raw(model->config.layout, (uint32_t)value, &model->status);
		model->status.wrptr &= (uint8_t)(model->depth - 1);
		break;
	case MEANING_SELECT:
		model->select[place.level - 1] = value;
		break;
	default:
		write_entry(model, &place, value);
		break;
	}
	return 0;
}

int ntrace_ctr_model_clear(struct ntrace_ctr_model *model, unsigned int priv)
{
	int result;

	if (model->config.layout == NTRACE_CTR_DRAFT)
		return NTRACE_CTR_ILLEGAL;
	result = may_access(model, priv, LEVEL_SUPERVISOR, stateen_bit(model), false);
	if (!result)
		clear_ring(model);
	return result;
}

void ntrace_ctr_model_stateen(struct ntrace_ctr_model *model, uint64_t mstateen0,
			      uint64_t hstateen0)
{
	model->mstateen0 = mstateen0;
	/* Bits that are 0 in mstateen0 are also 0 here: may_access() checks mstateen0 first. */
	model->hstateen0 = hstateen0;
}

void ntrace_ctr_config_init(struct ntrace_ctr_config *config, enum ntrace_ctr_layout layout)
{
	*config = (struct ntrace_ctr_config){
		.size = sizeof(*config),
		.layout = layout,
		.implemented = NTRACE_CTR_CTL_ALL,
		.depths = (1u << NTRACE_CTR_DEPTH_CODES) - 1,
		.features = NTRACE_CTR_HAS_TYPE | NTRACE_CTR_HAS_MISPREDICT | NTRACE_CTR_HAS_CYCLES,
		.cce_bits = 4,
		.hypervisor = true,
		.xlen = 64,
	};
	if (layout == NTRACE_CTR_DRAFT)
		config->implemented |= NTRACE_CTR_DRAFT_ETEN;
}

/* The layout determines the defaults of the fields after it. */
static bool complete(struct ntrace_ctr_config *full, const struct ntrace_ctr_config *config)
{
	bool told = config->size >= offsetof(struct ntrace_ctr_config, implemented);

	ntrace_ctr_config_init(full, told ? config->layout : NTRACE_CTR_RATIFIED);
	return !STRUCT_TAKE(full, config);
}

static const char *refuse(const struct ntrace_ctr_config *config)
{
	bool draft = config->layout == NTRACE_CTR_DRAFT;
	unsigned int depths = config->depths;

	if (config->layout != NTRACE_CTR_RATIFIED && !draft)
		return "layout is neither ratified nor draft";
	/* The draft has S and U as the hart has these modes, and everything else is optional. */
	if (draft && !(config->implemented & NTRACE_CTR_CTL(M)))
		return "M must be implemented";
	if (!draft && NTRACE_CTR_CTL_REQUIRED & ~config->implemented)
		return "M, S, U and BPFRZ must be implemented";
	if (config->xlen != 64 && (config->xlen != 32 || !draft))
		return "xlen must be 64, or 32 in the draft";
	if (config->implemented & ~(NTRACE_CTR_CTL_ALL | (draft ? NTRACE_CTR_DRAFT_ETEN : 0)))
		return "implemented has a bit that is not a field of xctrctl";
	if (!depths || depths >> NTRACE_CTR_DEPTH_CODES)
		return "depths must have at least one of the bits 0 to 4, and no other";
	/* Shifted down to bit 0, a run of ones plus 1 is a power of two. */
	while (!(depths & 1))
		depths >>= 1;
	if (draft && depths & (depths + 1))
		return "the depths of the draft must be contiguous";
	if (config->cce_bits > 4)
		return "CCE has at most 4 bits";
	return NULL;
}

const char *ntrace_ctr_config_refusal(const struct ntrace_ctr_config *config)
{
	struct ntrace_ctr_config full;

	return complete(&full, config) ? refuse(&full) :
					 "size: a field that this version does not know is not 0";
}

int ntrace_ctr_model_init(struct ntrace_ctr_model *model, const struct ntrace_ctr_config *config)
{
	struct ntrace_ctr_config full;

	if (!complete(&full, config) || refuse(&full))
		return NTRACE_ERR_INVALID;
	memset(model, 0, sizeof(*model));
	model->config = full;
	ntrace_ctr_model_stateen(model, UINT64_MAX, UINT64_MAX);
	set_depth(model, 0);
	return 0;
}
