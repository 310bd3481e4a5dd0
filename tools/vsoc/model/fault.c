// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include <ntrace/trace_control.h>

#include "fault.h"

/* Fields that FAULT_READ_ONLY leaves writable; the latter two exist in encoders only. */
#define WRITABLE (TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING | \
		  TR_TE_CONTROL_INST_STALL_OR_OVERFLOW)

static const char *const names[] = {
	"no-empty",    "no-active", "no-enable",       "wrong-type",	"newer-major",
	"newer-minor", "read-only", "pointer-outside", "stuck-pointer", "drop",
	"sink-error",  "no-ready",  "no-flush",	       "memory-error",	"no-filter",
};

static bool parse_one(const char *text, size_t size, unsigned int index, uint32_t *mask)
{
	const char *at = memchr(text, '@', size);
	size_t length = at ? (size_t)(at - text) : size;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) != length || strncmp(names[i], text, length))
			continue;
		if (!at || strtoul(at + 1, NULL, 10) == index)
			*mask |= 1u << i;
		return true;
	}
	return false;
}

bool fault_parse(const char *text, unsigned int index, uint32_t *mask)
{
	*mask = 0;
	while (text) {
		size_t size = strcspn(text, "+");

		if (!parse_one(text, size, index, mask))
			return false;
		text = text[size] ? text + size + 1 : NULL;
	}
	return true;
}

static uint32_t read_control(const struct fault *fault, uint32_t value)
{
	uint32_t frozen = 0;

	if (fault->mask & FAULT_NO_ACTIVE)
		frozen |= TR_CONTROL_ACTIVE;
	if (fault->mask & FAULT_NO_ENABLE)
		frozen |= TR_CONTROL_ENABLE;
	value = (value & ~frozen) | (fault->control & frozen);
	return fault->mask & FAULT_NO_EMPTY ? value & ~TR_CONTROL_EMPTY : value;
}

static uint32_t read_impl(const struct fault *fault, uint32_t value)
{
	if (fault->mask & FAULT_WRONG_TYPE)
		value |= TR_IMPL_COMP_TYPE_MASK;
	if (fault->mask & FAULT_NEWER_MAJOR)
		value = (value & ~TR_IMPL_VER_MAJOR_MASK) | (TR_VER_MAJOR + 1);
	if (fault->mask & FAULT_NEWER_MINOR)
		value = (value & ~TR_IMPL_VER_MINOR_MASK) | (TR_VER_MINOR + 1)
								    << TR_IMPL_VER_MINOR_SHIFT;
	return value;
}

uint32_t fault_read(const struct fault *fault, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case TR_CONTROL:
		return read_control(fault, value);
	case TR_IMPL:
		/* The register reads 0 while Active is 0: there is nothing to falsify. */
		return value ? read_impl(fault, value) : 0;
	case FAULT_REGISTER:
		return fault->mask;
	default:
		return value;
	}
}

bool fault_write(const struct fault *fault, uint32_t offset, uint32_t old, uint32_t *value)
{
	if (!(fault->mask & FAULT_READ_ONLY))
		return true;
	if (offset == TR_CONTROL)
		*value = (*value & WRITABLE) | (old & ~WRITABLE);
	return offset == TR_CONTROL;
}
