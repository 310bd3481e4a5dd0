/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Injects hardware faults. Each block reads and writes its registers through these functions. A
 * mask of bits selects the faults: a test writes it to a vendor register at run time, and a
 * property sets it at power-up.
 */
#ifndef VSOC_MODEL_FAULT_H
#define VSOC_MODEL_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Vendor register of every block, of enum fault_bits, accessible even while Active is 0. In an Arm
 * TMC, no register is there, and the lock does not protect this one.
 */
#define FAULT_REGISTER 0xe00

enum fault_bits {
	FAULT_NO_EMPTY = 1 << 0,	/* Empty reads 0 */
	FAULT_NO_ACTIVE = 1 << 1,	/* Active keeps the value it had when the fault was set */
	FAULT_NO_ENABLE = 1 << 2,	/* Enable keeps the value it had when the fault was set */
	FAULT_WRONG_TYPE = 1 << 3,	/* component type is a reserved value */
	FAULT_NEWER_MAJOR = 1 << 4,	/* version 2.0 */
	FAULT_NEWER_MINOR = 1 << 5,	/* version 1.1 */
	FAULT_READ_ONLY = 1 << 6,	/* only the fields Active, Enable and InstTracing are
					 * writable */
	FAULT_POINTER_OUTSIDE = 1 << 7,	/* RAM sink, TMC: the write pointer reads an address
					 * outside the buffer */
	FAULT_STUCK_POINTER = 1 << 8,	/* RAM sink: WP reads a constant, or the value last
					 * written */
	FAULT_DROP = 1 << 9,		/* encoder: loses a message every fault_drop bytes */
	FAULT_SINK_ERROR = 1 << 10,	/* v0 encoder: its writes to memory fail, once, while it is
					 * enabled */
	FAULT_NO_READY = 1 << 11,	/* TMC: Ready reads 0 */
	FAULT_NO_FLUSH = 1 << 12,	/* TMC: a flush does not end; ATB bridge: keeps its bytes
					 * when the ATB is flushed */
	FAULT_MEMORY_ERROR = 1 << 13,	/* TMC: its next write to memory fails */
	FAULT_NO_FILTER = 1 << 14,	/* encoder: stores its filters, and traces all instructions */
	FAULT_ALL = (1 << 15) - 1,
};

/**
 * struct fault - the faults of a block
 * @mask: enum fault_bits
 * @control: tr??Control when @mask was set
 */
struct fault {
	uint32_t mask;
	uint32_t control;
};

/**
 * fault_parse - convert the text of a property to a mask
 * @text: NAME, or NAME@INDEX for one block only; several joined by +. Names are those of enum
 *        fault_bits, as in "no-empty". NULL selects no fault
 * @index: index of the block
 *
 * Return: false if a name is unknown.
 */
bool fault_parse(const char *text, unsigned int index, uint32_t *mask);

/** fault_read - the value that a read of @offset returns instead of @value */
uint32_t fault_read(const struct fault *fault, uint32_t offset, uint32_t value);

/**
 * fault_write - change *@value to what a write stores
 * @old: value that the register reads
 * Return: false if the register ignores the write.
 */
bool fault_write(const struct fault *fault, uint32_t offset, uint32_t old, uint32_t *value);

#endif /* VSOC_MODEL_FAULT_H */
