/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Growing arrays, for the whole library. */
#ifndef NTRACE_GROW_H
#define NTRACE_GROW_H

#include <stddef.h>
#include <stdlib.h>

#include <ntrace/error.h>

/* Makes room for one more item of @size; 0 or NTRACE_ERR_NOMEM. */
static inline int grow(void **items, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 256;
	void *grown;

	if (*items && count < *room)
		return 0;
	grown = realloc(*items, more * size);
	if (!grown)
		return NTRACE_ERR_NOMEM;
	*items = grown;
	*room = more;
	return 0;
}

#endif
