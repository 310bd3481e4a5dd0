/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Control Transfer Records: a call and a return into the model of a hart, and its ring. */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/ctr.h>

int main(void)
{
	static const struct ntrace_ctr_transfer transfers[] = {
		{ .itype = NTRACE_ITYPE_DIRECT_CALL, .source = 0x1000, .target = 0x2000 },
		{ .itype = NTRACE_ITYPE_BRANCH_NOT_TAKEN, .source = 0x2004, .target = 0x2008 },
		{ .itype = NTRACE_ITYPE_RETURN, .source = 0x200c, .target = 0x1004, .cycles = 9 },
	};
	static struct ntrace_ctr_model model;
	struct ntrace_ctr_config config;

	ntrace_ctr_config_init(&config, NTRACE_CTR_RATIFIED);
	if (ntrace_ctr_model_init(&model, &config))
		return 1;
	/* Software of M-mode lets user mode be recorded. */
	ntrace_ctr_model_write(&model, NTRACE_PRIV_M, NTRACE_CTR_CSR_MCTRCTL, NTRACE_CTR_CTL(U));
	for (unsigned int i = 0; i < 3; i++)
		ntrace_ctr_model_transfer(&model, &transfers[i]);
	for (unsigned int i = 0; i < model.depth; i++) {
		struct ntrace_ctr_entry entry = ntrace_ctr_model_entry(&model, i);
		struct ntrace_ctr_record record;

		ntrace_ctr_record_decode(&entry, config.features, &record);
		if (!record.valid)
			break;
		printf("%u: 0x%" PRIx64 " to 0x%" PRIx64 ", %s", i, record.from, record.to,
		       ntrace_ctr_type_name(record.type));
		if (record.cycles_known)
			printf(", %" PRIu32 " cycles later", record.cycles);
		printf("\n");
	}
	return 0;
}
