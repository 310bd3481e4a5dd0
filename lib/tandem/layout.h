/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Lengths in a tandem stream that reader and writer share. */
#ifndef NTRACE_TANDEM_LAYOUT_H
#define NTRACE_TANDEM_LAYOUT_H

#include <ntrace/tandem.h>

/* The first sizes of the public structs, see lib/struct_size.h. */
#define TANDEM_PARAMS_SIZE_0 sizeof(struct ntrace_tandem_params)

static inline uint64_t tandem_mask(unsigned int bytes)
{
	return bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
}

static inline unsigned int tandem_mlen_bytes(const struct ntrace_tandem_params *params)
{
	return (params->mlen + 7) / 8;
}

/* Section "memory request": loads, lr and instruction fetches carry no data. */
static inline bool tandem_request_has_data(unsigned int op)
{
	return op != NTRACE_TANDEM_LOAD && op != NTRACE_TANDEM_LR && op != NTRACE_TANDEM_IFETCH;
}

/* What the specification leaves open is a parameter: the response to an sc, and failures. */
static inline bool tandem_response_has_data(unsigned int op, bool failed, unsigned int flags)
{
	if (op == NTRACE_TANDEM_STORE ||
	    (op == NTRACE_TANDEM_SC && !(flags & NTRACE_TANDEM_SC_DATA)))
		return false;
	return !failed || !(flags & NTRACE_TANDEM_FAILED_NO_DATA);
}

/* Bytes of the additional state @id; 0 for an unknown one. */
static inline unsigned int tandem_state_bytes(unsigned int id, unsigned int xlen_bytes,
					      unsigned int mlen_bytes)
{
	switch (id) {
	case NTRACE_TANDEM_STATE_PRIV:
	case NTRACE_TANDEM_STATE_STORE8:
		return 1;
	case NTRACE_TANDEM_STATE_PADDR:
	case NTRACE_TANDEM_STATE_EADDR:
	case NTRACE_TANDEM_STATE_PC_PADDR:
		return mlen_bytes;
	case NTRACE_TANDEM_STATE_STORE16:
		return 2;
	case NTRACE_TANDEM_STATE_STORE32:
		return 4;
	case NTRACE_TANDEM_STATE_STORE64:
	case NTRACE_TANDEM_STATE_MTIME:
		return 8;
	case NTRACE_TANDEM_STATE_PC:
		return xlen_bytes;
	default:
		return 0;
	}
}

#endif /* NTRACE_TANDEM_LAYOUT_H */
