/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Definitions about stream parameters shared by the folders of the library. */
#ifndef NTRACE_WIRE_PARAMS_H
#define NTRACE_WIRE_PARAMS_H

#include <stddef.h>
#include <string.h>

#include <ntrace/params.h>

/* The ISA string, which ends at a 0 or a comma; NULL: not given. */
static inline const char *params_isa(const struct ntrace_params *params)
{
	return params->isa && params->isa[0] && params->isa[0] != ',' ? params->isa : NULL;
}

/* Whether the stream decides what PROCESS of Ownership is. */
static inline bool params_owner_open(const struct ntrace_params *params)
{
	return params->owner == NTRACE_OWNER_ANY && params->dialect == NTRACE_DIALECT_SIFIVE_V0;
}

/* Whether PROCESS has FORMAT, PRV, V and CONTEXT for certain. */
static inline bool params_owner_is_context(const struct ntrace_params *params)
{
	return params->owner != NTRACE_OWNER_STORED && !params_owner_open(params);
}

/* Whether the bits of PROCESS are no FORMAT, PRV, V and CONTEXT of N-Trace 1.0. */
static inline bool params_owner_is_odd(uint64_t process)
{
	unsigned int prv = process >> 2 & 3;

	return (process & 3) == 1 || prv == 2 || (prv == 3 && process >> 4 & 1) ||
	       (!(process & 3) && process >> 5);
}

/*
 * Copies @from, and its ISA string to @isa, which the caller frees; NULL: no ISA string.
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
static inline int params_copy(struct ntrace_params *params, char **isa,
			      const struct ntrace_params *from)
{
	const char *text = params_isa(from);

	*params = *from;
	*isa = text ? strndup(text, strcspn(text, ",")) : NULL;
	params->isa = *isa;
	return text && !*isa ? NTRACE_ERR_NOMEM : NTRACE_OK;
}

#endif /* NTRACE_WIRE_PARAMS_H */
