// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Memory of the model without a simulator, see pages.h. */
#include <stdlib.h>
#include <string.h>

#include "pages.h"

static size_t slot_of(const struct tandem_pages *pages, uint64_t number)
{
	size_t slot = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (pages->room - 1);

	while (pages->table[slot] && pages->table[slot]->number != number)
		slot = (slot + 1) & (pages->room - 1);
	return slot;
}

static struct tandem_page *find(const struct tandem_pages *pages, uint64_t number)
{
	return pages->room ? pages->table[slot_of(pages, number)] : NULL;
}

static int enlarge(struct tandem_pages *pages)
{
	struct tandem_pages larger = { .room = pages->room ? 2 * pages->room : 64,
				       .count = pages->count };

	larger.table = calloc(larger.room, sizeof(struct tandem_page *));
	if (!larger.table)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < pages->room; i++)
		if (pages->table[i])
			larger.table[slot_of(&larger, pages->table[i]->number)] = pages->table[i];
	free(pages->table);
	*pages = larger;
	return 0;
}

/* Return: the page, made if it is new; NULL without memory */
static struct tandem_page *demand(struct tandem_pages *pages, uint64_t number)
{
	struct tandem_page *page = find(pages, number);

	if (page)
		return page;
	if (2 * pages->count >= pages->room && enlarge(pages))
		return NULL;
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->number = number;
	pages->table[slot_of(pages, number)] = page;
	pages->count++;
	return page;
}

static bool has_bit(const uint8_t *bits, unsigned int at)
{
	return bits[at / 8] >> at % 8 & 1;
}

void tandem_pages_read(const struct tandem_pages *pages, uint64_t address, unsigned int bytes,
		       struct ntrace_exec_value *value)
{
	const struct tandem_page *page = find(pages, address / TANDEM_PAGE);

	*value = (struct ntrace_exec_value){ 0, 0 };
	for (unsigned int i = 0; i < bytes; i++, address++) {
		unsigned int at = address % TANDEM_PAGE;

		if (i && !at)
			page = find(pages, address / TANDEM_PAGE);
		if (!page || !has_bit(page->known, at))
			continue;
		value->bits |= (uint64_t)page->bytes[at] << 8 * i;
		value->known |= UINT64_C(0xff) << 8 * i;
	}
}

static void set_bit(uint8_t *bits, unsigned int at, bool set)
{
	bits[at / 8] = (uint8_t)((bits[at / 8] & ~(1u << at % 8)) | (unsigned int)set << at % 8);
}

/* Keeps a byte that is stored to. Return: 0, or NTRACE_ERR_NOMEM */
static int keep_past(const struct tandem_pages *pages, struct tandem_page *page, unsigned int at)
{
	struct tandem_page_past *past = page->past;
	bool known = has_bit(page->known, at);

	if (!past && known)
		past = page->past = calloc(1, sizeof(*past));
	if (!past)
		return known ? NTRACE_ERR_NOMEM : 0;
	if (past->round != pages->round)
		memset(past->stored, 0, sizeof(past->stored));
	past->round = pages->round;
	if (has_bit(past->stored, at)) {
		/* Maybe more than one value. */
		set_bit(past->known, at, known && past->bytes[at] == page->bytes[at]);
	} else if (known) {
		past->bytes[at] = page->bytes[at];
		set_bit(past->known, at, true);
		set_bit(past->stored, at, true);
	}
	return 0;
}

int tandem_pages_store(struct tandem_pages *pages, uint64_t address, unsigned int bytes,
		       const struct ntrace_exec_value *value)
{
	for (unsigned int i = 0; i < bytes; i++) {
		struct tandem_page *page = demand(pages, (address + i) / TANDEM_PAGE);

		if (!page || keep_past(pages, page, (address + i) % TANDEM_PAGE))
			return NTRACE_ERR_NOMEM;
	}
	return tandem_pages_write(pages, address, bytes, value);
}

void tandem_pages_synchronize(struct tandem_pages *pages)
{
	pages->round++;
}

bool tandem_pages_had(const struct tandem_pages *pages, uint64_t address, unsigned int bytes,
		      uint32_t insn)
{
	bool other = false;

	for (unsigned int half = 0; half < bytes; half += 2) {
		const struct tandem_page *page = find(pages, (address + half) / TANDEM_PAGE);
		const struct tandem_page_past *past = page ? page->past : NULL;
		bool now = true, before = past && past->round == pages->round;

		for (unsigned int i = half; i < half + 2 && page; i++) {
			unsigned int at = (address + i) % TANDEM_PAGE;
			uint8_t byte = (uint8_t)(insn >> 8 * i);
			bool same = !has_bit(page->known, at) || page->bytes[at] == byte;

			now &= same;
			if (before && has_bit(past->stored, at))
				same |= !has_bit(past->known, at) || past->bytes[at] == byte;
			before &= same;
		}
		if (!now && !before)
			return false;
		other |= !now;
	}
	return other;
}

int tandem_pages_write(struct tandem_pages *pages, uint64_t address, unsigned int bytes,
		       const struct ntrace_exec_value *value)
{
	struct tandem_page *page = demand(pages, address / TANDEM_PAGE);

	for (unsigned int i = 0; i < bytes; i++, address++) {
		unsigned int at = address % TANDEM_PAGE;

		if (i && !at)
			page = demand(pages, address / TANDEM_PAGE);
		if (!page)
			return NTRACE_ERR_NOMEM;
		page->bytes[at] = (uint8_t)(value->bits >> 8 * i);
		set_bit(page->known, at, (value->known >> 8 * i & 0xff) == 0xff);
	}
	return 0;
}

void tandem_pages_forget(struct tandem_pages *pages)
{
	for (size_t i = 0; i < pages->room; i++)
		if (pages->table[i])
			memset(pages->table[i]->known, 0, sizeof(pages->table[i]->known));
}

void tandem_pages_free(struct tandem_pages *pages)
{
	for (size_t i = 0; i < pages->room; i++) {
		if (pages->table[i])
			free(pages->table[i]->past);
		free(pages->table[i]);
	}
	free(pages->table);
	*pages = (struct tandem_pages){ 0 };
}
