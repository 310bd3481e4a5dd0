// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Bit positions of the fields in the registers of 1.0 and of the draft (CTR 1.0, CSRs). */
#include <ntrace/ctr.h>

#define FIELD_ROW(name, ratified, draft) { #name, { (ratified), (draft) } },
static const struct {
	const char *name;
	uint8_t bit[2];	/* by enum ntrace_ctr_layout */
} fields[] = { NTRACE_CTR_FIELDS(FIELD_ROW) };

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* sctrstatus; WRPTR is bits 7:0 in both layouts. */
#define STATUS_WRPTR		0xffu
#define STATUS_FROZEN		(1u << 31)
#define STATUS_DRAFT_WRAP	(1u << 14)
#define STATUS_DRAFT_FROZEN	(1u << 15)

/* Moves every field that both layouts have from one layout to the other. */
static uint64_t translate(uint64_t value, enum ntrace_ctr_layout from, enum ntrace_ctr_layout to)
{
	uint64_t result = 0;

	for (size_t i = 0; i < FIELDS; i++)
		result |= (value >> fields[i].bit[from] & 1) << fields[i].bit[to];
	return result;
}

uint64_t ntrace_ctr_control_to_raw(enum ntrace_ctr_layout layout, uint64_t control)
{
	uint64_t raw = translate(control, NTRACE_CTR_RATIFIED, layout);

	return layout == NTRACE_CTR_DRAFT ? raw | (control & NTRACE_CTR_DRAFT_ETEN) : raw;
}

uint64_t ntrace_ctr_control_from_raw(enum ntrace_ctr_layout layout, uint64_t raw)
{
	uint64_t control = translate(raw, layout, NTRACE_CTR_RATIFIED);

	return layout == NTRACE_CTR_DRAFT ? control | (raw & NTRACE_CTR_DRAFT_ETEN) : control;
}

const char *ntrace_ctr_field_name(enum ntrace_ctr_layout layout, unsigned int bit)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].bit[layout] == bit)
			return fields[i].name;
	if (layout != NTRACE_CTR_DRAFT)
		return NULL;
	if (bit == 7)
		return "CLR";
	if (bit == 38)
		return "ETEN";
	return bit >= 16 && bit <= 19 ? "DEPTH" : NULL;
}

int ntrace_ctr_depth_to_raw(enum ntrace_ctr_layout layout, unsigned int entries)
{
	for (unsigned int code = 0; code < NTRACE_CTR_DEPTH_CODES; code++)
		if (entries == 16u << code)
			return layout == NTRACE_CTR_DRAFT ? (1 << code) - 1 : (int)code;
	return NTRACE_ERR_INVALID;
}

unsigned int ntrace_ctr_depth_from_raw(enum ntrace_ctr_layout layout, unsigned int raw)
{
	for (unsigned int code = 0; code < NTRACE_CTR_DEPTH_CODES; code++)
		if (raw == (layout == NTRACE_CTR_DRAFT ? (1u << code) - 1 : code))
			return 16u << code;
	return 0;
}

uint32_t ntrace_ctr_status_to_raw(enum ntrace_ctr_layout layout,
				  const struct ntrace_ctr_status *status)
{
	if (layout == NTRACE_CTR_DRAFT)
		return status->wrptr | (status->frozen ? STATUS_DRAFT_FROZEN : 0) |
		       (status->wrapped ? STATUS_DRAFT_WRAP : 0);
	return status->wrptr | (status->frozen ? STATUS_FROZEN : 0);
}

void ntrace_ctr_status_from_raw(enum ntrace_ctr_layout layout, uint32_t raw,
				struct ntrace_ctr_status *status)
{
	bool draft = layout == NTRACE_CTR_DRAFT;

	*status = (struct ntrace_ctr_status){
		.wrptr = raw & STATUS_WRPTR,
		.frozen = raw & (draft ? STATUS_DRAFT_FROZEN : STATUS_FROZEN),
		.wrapped = draft && raw & STATUS_DRAFT_WRAP,
	};
}
