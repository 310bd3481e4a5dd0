// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers that are views of others (Privileged Architecture, "Supervisor CSRs", and "F" extension):
 * a change of one is seen in the others.
 */
#include <ntrace/tandem.h>

#include "tap.h"

enum {
	FFLAGS = 0x001,
	FRM = 0x002,
	FCSR = 0x003,
	SSTATUS = 0x100,
	SIE = 0x104,
	SIP = 0x144,
	MSTATUS = 0x300,
	MIDELEG = 0x303,
	MIE = 0x304,
	MIP = 0x344,
};

/* Writes are made in order; then @seen has the value. */
static const struct {
	const char *what;
	struct {
		unsigned int id;
		uint64_t value;
	} writes[3];
	unsigned int seen;
	uint64_t value;
} views[] = {
	{ "fcsr shows fflags", { { FCSR, 0xe0 }, { FFLAGS, 0x15 } }, FCSR, 0xf5 },
	{ "fcsr shows frm", { { FCSR, 0x1f }, { FRM, 3 } }, FCSR, 0x7f },
	{ "fflags are in fcsr", { { FCSR, 0xf5 } }, FFLAGS, 0x15 },
	{ "frm is in fcsr", { { FCSR, 0xf5 } }, FRM, 7 },
	{ "mstatus shows sstatus", { { MSTATUS, 0x1808 }, { SSTATUS, 0x122 } }, MSTATUS, 0x192a },
	{ "sstatus has no MIE, MPP", { { MSTATUS, 0x192a } }, SSTATUS, 0x122 },
	{ "sie has what is delegated", { { MIDELEG, 0x222 }, { MIE, 0xaaa } }, SIE, 0x222 },
	{ "mie shows sie", { { MIDELEG, 0x222 }, { MIE, 0xa88 }, { SIE, 0x22 } }, MIE, 0x8aa },
	{ "sip has what is delegated", { { MIDELEG, 0x222 }, { MIP, 0xaaa } }, SIP, 0x222 },
	{ "mip shows sip", { { MIDELEG, 0x222 }, { MIP, 0xa88 }, { SIP, 0x2 } }, MIP, 0x88a },
	{ "sie, delegated later", { { MIE, 0xaaa }, { MIDELEG, 0x20 } }, SIE, 0x20 },
	{ "sip, delegated later", { { MIP, 0xaaa }, { MIDELEG, 0x20 } }, SIP, 0x20 },
};

int main(void)
{
	const struct ntrace_tandem_params params = { .size = sizeof(params), .xlen = 64 };
	static struct ntrace_tandem_state state;
	size_t i, k;

	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		ntrace_tandem_state_init(&state, &params);
		for (k = 0; k < 3 && views[i].writes[k].id; k++) {
			const struct ntrace_tandem_field field = {
				.type = NTRACE_TANDEM_REGISTER,
				.id = (uint16_t)views[i].writes[k].id,
				.value = views[i].writes[k].value,
			};

			ntrace_tandem_state_apply(&state, &field);
		}
		is_hex(state.reg[views[i].seen], views[i].value, views[i].what);
	}
	return done_testing();
}
