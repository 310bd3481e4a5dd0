// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <ntrace/coresight.h>

#include "coresight.h"

/* Four claim tags, as Arm's components have. */
#define CLAIM_TAGS 0xfu

void coresight_init(struct coresight *coresight, const struct coresight_identity *identity)
{
	*coresight = (struct coresight){ .identity = *identity };
}

static uint32_t peripheral_id(const struct coresight_identity *identity, unsigned int index)
{
	switch (index) {
	case 0:
		return identity->part & 0xff;
	case 1:
		return 0xb0 | (identity->part >> 8 & 0xf);
	case 2:
		return identity->revision << 4 | 0xb;
	case 4:
		return 0x04;
	default:
		return 0;
	}
}

uint32_t coresight_read(const struct coresight *coresight, uint32_t offset)
{
	static const uint8_t component_id[] = { 0x0d, 0x90, 0x05, 0xb1 };

	switch (offset) {
	case CS_CLAIMSET:
		return CLAIM_TAGS;
	case CS_CLAIMCLR:
		return coresight->claim;
	case CS_LSR:
		return CS_LSR_IMPLEMENTED | (coresight->unlocked ? 0 : CS_LSR_LOCKED);
	case CS_AUTHSTATUS:
		return coresight->identity.authentication;
	case CS_DEVID:
		return coresight->identity.device_id;
	case CS_DEVTYPE:
		return coresight->identity.device_type;
	default:
		break;
	}
	if (offset % 4 || offset < CS_PIDR(4) || offset > CS_CIDR(3))
		return 0;
	if (offset >= CS_CIDR(0))
		return component_id[(offset - CS_CIDR(0)) / 4];
	if (offset >= CS_PIDR(0))
		return peripheral_id(&coresight->identity, (offset - CS_PIDR(0)) / 4);
	return peripheral_id(&coresight->identity, 4 + (offset - CS_PIDR(4)) / 4);
}

bool coresight_write(struct coresight *coresight, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case CS_LAR:
		coresight->unlocked = value == CS_LAR_UNLOCK;
		return true;
	case CS_CLAIMSET:
		if (coresight->unlocked)
			coresight->claim |= value & CLAIM_TAGS;
		return true;
	case CS_CLAIMCLR:
		if (coresight->unlocked)
			coresight->claim &= ~value;
		return true;
	default:
		return offset >= CS_CLAIMSET;
	}
}
