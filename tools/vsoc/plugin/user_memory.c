// SPDX-License-Identifier: GPL-2.0-only
/* Memory of a program in user mode, see user_memory.h. */
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ntrace_user.h"
#include "user_memory.h"

#define PAGE 4096u
#define CHUNK 65536u

struct page {
	uint64_t address;	/* its key */
	uint64_t walk;		/* the last one that saw it */
	uint8_t bytes[PAGE];
};

static GHashTable *pages;	/* without those that are 0 */
static int self = -1;		/* the memory of this process */
static user_memory_fn report;
static uint64_t walk;
static bool read_only;		/* the walk compares memory that cannot be written, too */
static bool quiet;		/* which is not reported */

bool user_memory_works(void)
{
	int low = ntrace_user_walk ? open("/proc/self/mem", O_RDONLY | O_CLOEXEC) : -1;

	/* The program gets the descriptors that it would get without the plugin. */
	self = fcntl(low, F_DUPFD_CLOEXEC, 500);
	if (low >= 0)
		close(low);
	return self >= 0;
}

static struct page *find(uint64_t address, bool create)
{
	uint64_t key = address / PAGE * PAGE;
	struct page *page = g_hash_table_lookup(pages, &key);

	if (!page && create) {
		page = g_new0(struct page, 1);
		page->address = key;
		g_hash_table_add(pages, page);
	}
	return page;
}

static void compare(uint64_t address, const uint8_t *now, bool reports)
{
	static const uint8_t zeros[PAGE];
	struct page *page = find(address, false);

	if (page)
		page->walk = walk;
	if (!memcmp(page ? page->bytes : zeros, now, PAGE))
		return;
	if (!page) {
		page = find(address, true);
		page->walk = walk;
	}
	for (unsigned int i = 0; i < PAGE && reports; i += 8) {
		uint64_t value;

		memcpy(&value, now + i, 8);
		if (memcmp(page->bytes + i, now + i, 8))
			report(address + i, value);
	}
	memcpy(page->bytes, now, PAGE);
}

static void on_region(uint64_t start, uint64_t end, const void *host, bool readable, bool writable)
{
	static uint8_t bytes[CHUNK];

	if (!readable || !(writable || read_only))
		return;
	while (start < end) {
		/* A file may end before its mapping: memory there cannot be read, but that is no signal. */
		ssize_t got = pread(self, bytes, MIN(CHUNK, end - start), (off_t)(uintptr_t)host);
		uint64_t size = got < (ssize_t)PAGE ? PAGE : (uint64_t)got / PAGE * PAGE;

		for (uint64_t at = 0; at + PAGE <= (uint64_t)MAX(got, 0); at += PAGE)
			compare(start + at, bytes + at, writable || !quiet);
		start += size;
		host = (const uint8_t *)host + size;
	}
}

static gboolean is_gone(void *key, void *value, void *data)
{
	(void)value;
	(void)data;
	return ((struct page *)key)->walk != walk;
}

static void look(user_memory_fn changed, bool all)
{
	report = changed;
	read_only = all;
	walk++;
	ntrace_user_walk(on_region);
	if (all)
		g_hash_table_foreach_remove(pages, is_gone, NULL);
}

void user_memory_start(user_memory_fn changed)
{
	pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	quiet = true;
	look(changed, true);
	quiet = false;
}

void user_memory_store(uint64_t address, uint64_t value, unsigned int size)
{
	while (size) {
		unsigned int part = MIN(PAGE - address % PAGE, size);

		memcpy(find(address, true)->bytes + address % PAGE, &value, part);
		value = part < 8 ? value >> 8 * part : 0;
		address += part;
		size -= part;
	}
}

void user_memory_call(user_memory_fn changed, bool mapped, uint64_t start, uint64_t size)
{
	for (; mapped && size; start += PAGE, size -= MIN(size, PAGE))
		g_hash_table_remove(pages, &start);
	look(changed, mapped);
}
