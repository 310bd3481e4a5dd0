/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of which only some bytes are known: pages in a hash table, each with its bytes and a bit for
 * each byte that is known. Reading and writing allocate only for a page that is new.
 *
 * A hart may fetch what memory had before a store until it executes fence.i, so a page that is stored to
 * keeps the bytes that it had before.
 */
#ifndef NTRACE_TANDEM_PAGES_H
#define NTRACE_TANDEM_PAGES_H

#include <stddef.h>

#include <ntrace/exec.h>

/* Small, because a trace may give a few bytes of many pages. */
#define TANDEM_PAGE 256u

/**
 * struct tandem_page_past - the bytes of a page at the last fence.i
 * @round: number of that fence.i; after a later one, all is out of date
 * @stored: bytes that were known and stored since then
 * @known: those of @stored that were @bytes only, and had no further value
 */
struct tandem_page_past {
	uint64_t round;
	uint8_t bytes[TANDEM_PAGE];
	uint8_t known[TANDEM_PAGE / 8];
	uint8_t stored[TANDEM_PAGE / 8];
};

struct tandem_page {
	uint64_t number;
	struct tandem_page_past *past;	/* NULL: no known byte was stored */
	uint8_t bytes[TANDEM_PAGE];
	uint8_t known[TANDEM_PAGE / 8];
};

/* All 0: no memory is known. */
struct tandem_pages {
	struct tandem_page **table;	/* open addressing, @room is 0 or a power of 2 */
	size_t count, room;
	uint64_t round;			/* fence.i executed */
};

/** tandem_pages_read - read at most 8 bytes; what is not known is 0, of all bits of a byte */
void tandem_pages_read(const struct tandem_pages *pages, uint64_t address, unsigned int bytes,
		       struct ntrace_exec_value *value);

/** tandem_pages_write - write at most 8 bytes. Return: 0, or NTRACE_ERR_NOMEM */
int tandem_pages_write(struct tandem_pages *pages, uint64_t address, unsigned int bytes,
		       const struct ntrace_exec_value *value);

/** tandem_pages_store - the same for a store, whose old bytes may be fetched until tandem_pages_synchronize() */
int tandem_pages_store(struct tandem_pages *pages, uint64_t address, unsigned int bytes,
		       const struct ntrace_exec_value *value);

/** tandem_pages_synchronize - fetches see all stores from now on */
void tandem_pages_synchronize(struct tandem_pages *pages);

/**
 * tandem_pages_had - whether a fetch may see @insn, of which memory has another value
 * @bytes: 2 or 4; each half has one value
 */
bool tandem_pages_had(const struct tandem_pages *pages, uint64_t address, unsigned int bytes,
		      uint32_t insn);

/** tandem_pages_forget - no byte is known from now on */
void tandem_pages_forget(struct tandem_pages *pages);

void tandem_pages_free(struct tandem_pages *pages);

#endif /* NTRACE_TANDEM_PAGES_H */
