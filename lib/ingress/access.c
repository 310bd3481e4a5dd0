// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Kinds of data accesses, and filters on them (Trace Control Interface 1.0, filters). */
#include <ntrace/ingress.h>

#include "struct_size.h"

const char *ntrace_dtype_name(unsigned int dtype)
{
	static const char *const names[] = {
		[NTRACE_DTYPE_LOAD] = "load",
		[NTRACE_DTYPE_STORE] = "store",
		[NTRACE_DTYPE_CSR_WRITE] = "csr-write",
		[NTRACE_DTYPE_CSR_SET] = "csr-set",
		[NTRACE_DTYPE_CSR_CLEAR] = "csr-clear",
		[NTRACE_DTYPE_SWAP] = "swap",
		[NTRACE_DTYPE_ADD] = "add",
		[NTRACE_DTYPE_AND] = "and",
		[NTRACE_DTYPE_OR] = "or",
		[NTRACE_DTYPE_XOR] = "xor",
		[NTRACE_DTYPE_MAX] = "max",
		[NTRACE_DTYPE_MIN] = "min",
		[NTRACE_DTYPE_STORE_FAILURE] = "store-failure",
	};

	return dtype < sizeof(names) / sizeof(names[0]) && names[dtype] ? names[dtype] : "?";
}

void ntrace_data_filter_init(struct ntrace_data_filter *filter)
{
	*filter = (struct ntrace_data_filter){
		.size = sizeof(*filter),
		.dtypes = UINT32_MAX,
		.dsizes = UINT32_MAX,
		.privs = UINT32_MAX,
		.iaddr_last = UINT64_MAX,
		.daddr_last = UINT64_MAX,
	};
}

bool ntrace_data_filter_match(const struct ntrace_data_filter *filter,
			      const struct ntrace_ingress_port *port,
			      const struct ntrace_ingress_cycle *cycle, unsigned int access)
{
	const struct ntrace_ingress_access *data = &cycle->access[access];
	struct ntrace_data_filter own;
	uint64_t first, last;

	ntrace_data_filter_init(&own);
	if (access >= cycle->accesses || access >= NTRACE_INGRESS_ACCESSES_MAX ||
	    STRUCT_TAKE(&own, filter))
		return false;
	if (!(own.dtypes >> (data->dtype & 31) & 1) || !(own.dsizes >> (data->dsize & 31) & 1) ||
	    !(own.privs >> (cycle->priv & 31) & 1))
		return false;
	if (data->daddr < own.daddr_first || data->daddr > own.daddr_last)
		return false;
	if (!own.iaddr_first && own.iaddr_last == UINT64_MAX)
		return true;
	return ntrace_ingress_access_iaddr(port, cycle, access, &first, &last) &&
	       last >= own.iaddr_first && first <= own.iaddr_last;
}
