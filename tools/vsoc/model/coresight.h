/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Registers that all Arm CoreSight components have (ARM IHI 0029): lock, claim tags, identification.
 * This file depends on no emulator and is not thread safe.
 */
#ifndef VSOC_MODEL_CORESIGHT_H
#define VSOC_MODEL_CORESIGHT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct coresight_identity - values of read-only registers
 * @part: part number in PIDR, of JEP106 code 0x23b (Arm)
 * @revision: PIDR2 bits 7:4
 */
struct coresight_identity {
	uint32_t part;
	uint32_t revision;
	uint32_t device_type;
	uint32_t device_id;
	uint32_t authentication;
};

/**
 * struct coresight - the registers
 * @unlocked: LAR has been written with its key: until then, and after a write of another value,
 *            all other registers ignore writes
 */
struct coresight {
	struct coresight_identity identity;
	bool unlocked;
	uint32_t claim;
};

void coresight_init(struct coresight *coresight, const struct coresight_identity *identity);

/** coresight_read - read a register from 0xfa0 on; others read 0 */
uint32_t coresight_read(const struct coresight *coresight, uint32_t offset);

/**
 * coresight_write - write LAR or claim tags
 * Return: whether @offset is a register of this file.
 */
bool coresight_write(struct coresight *coresight, uint32_t offset, uint32_t value);

#endif /* VSOC_MODEL_CORESIGHT_H */
