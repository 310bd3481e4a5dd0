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
