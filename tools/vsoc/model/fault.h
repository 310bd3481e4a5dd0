/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Broken hardware on demand. Each block reads and writes its registers through
 * here; what is broken is a mask of bits in a register of the vendor area,
 * which a test writes while everything runs, and a property that says what is
 * broken from power-up on.
 */
#ifndef VSOC_MODEL_FAULT_H
#define VSOC_MODEL_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Vendor register of every block: enum fault_bits. It works while Active is 0, too. */
#define FAULT_REGISTER 0xe00

enum fault_bits {
	FAULT_NO_EMPTY = 1 << 0,	/* Empty reads 0 */
	FAULT_NO_ACTIVE = 1 << 1,	/* Active reads what it was when the fault came */
	FAULT_NO_ENABLE = 1 << 2,	/* so does Enable */
	FAULT_WRONG_TYPE = 1 << 3,	/* a component type that is none */
	FAULT_NEWER_MAJOR = 1 << 4,	/* version 2.0 */
	FAULT_NEWER_MINOR = 1 << 5,	/* version 1.1 */
	FAULT_READ_ONLY = 1 << 6,	/* of fields, Active, Enable and InstTracing alone change */
	FAULT_POINTER_OUTSIDE = 1 << 7,	/* RAM sink: WP reads an address behind Limit */
	FAULT_STUCK_POINTER = 1 << 8,	/* RAM sink: WP reads what it was, or what is written */
	FAULT_DROP = 1 << 9,		/* encoder: a message is lost every so many bytes */
	FAULT_SINK_ERROR = 1 << 10,	/* v0 encoder: its way to memory fails; once, while it runs */
	FAULT_ALL = (1 << 11) - 1,
};

/**
 * struct fault - what is broken in a block
 * @mask: enum fault_bits
 * @control: tr??Control when @mask was set
 */
struct fault {
	uint32_t mask;
	uint32_t control;
};

/**
 * fault_parse - a property to a mask
 * @text: NAME, or NAME@INDEX for one block only; several with + between them.
 *        Names are those of enum fault_bits, as in "no-empty"; NULL is none
 * @index: of the block
 *
 * Return: false for a name that is none.
 */
bool fault_parse(const char *text, unsigned int index, uint32_t *mask);

/** fault_read - how @value, read at @offset, comes out */
uint32_t fault_read(const struct fault *fault, uint32_t offset, uint32_t value);

/**
 * fault_write - how @value gets in
 * @old: what the register reads
 * Return: false if it does not at all.
 */
bool fault_write(const struct fault *fault, uint32_t offset, uint32_t old, uint32_t *value);

#endif /* VSOC_MODEL_FAULT_H */
