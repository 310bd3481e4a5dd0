// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The parts of profile.proto that call stacks and counts have in common. */
#include <string.h>

#include "pprof.h"

int pprof_begin(struct pprof_file *pprof, FILE *file)
{
	memset(pprof, 0, sizeof(*pprof));
	pprof->file = file;
	/*
	 * 16: with a gzip header, whose time is empty, so that the same counts give the same bytes.
	 */
	return deflateInit2(&pprof->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			    Z_DEFAULT_STRATEGY) == Z_OK ?
		       0 :
		       NTRACE_ERR_NOMEM;
}

/* Compresses the profile so far and writes it to the file; @last: no more data follows. */
static void compress_whole(struct pprof_file *pprof, bool last)
{
	uint8_t out[16384];
	int result;

	pprof->gzip.next_in = pprof->whole.data;
	pprof->gzip.avail_in = (unsigned int)pprof->whole.size;
	do {
		pprof->gzip.next_out = out;
		pprof->gzip.avail_out = sizeof(out);
		result = deflate(&pprof->gzip, last ? Z_FINISH : Z_NO_FLUSH);
		/* cppcheck-suppress uninitvar ; written by deflate() */
		fwrite(out, 1, sizeof(out) - pprof->gzip.avail_out, pprof->file);
	} while (!pprof->gzip.avail_out && result == Z_OK);
	pprof->whole.size = 0;
}

void pprof_put(struct pprof_file *pprof, unsigned int field)
{
	protobuf_message(&pprof->whole, field, &pprof->part);
	if (pprof->whole.failed || pprof->part.failed || pprof->inner.failed)
		pprof->error = NTRACE_ERR_NOMEM;
	else if (pprof->whole.size > 65536)
		compress_whole(pprof, false);
}

void pprof_put_text(struct pprof_file *pprof, const char *text)
{
	/* The first string is empty, and is written. */
	if (*text)
		protobuf_text(&pprof->whole, PROFILE_STRING, text);
	else
		protobuf_bytes(&pprof->whole, PROFILE_STRING, text, 0);
}

void pprof_put_mapping(struct pprof_file *pprof, uint32_t number,
		       const struct ntrace_object *object, uint64_t text)
{
	uint64_t address, size, start = UINT64_MAX, last = 0, limit;
	bool executable;
	size_t i;

	for (i = 0; !ntrace_object_segment(object, i, &address, &size, &executable); i++) {
		if (executable && address < start)
			start = address;
		if (executable && address + (size - 1) > last)
			last = address + (size - 1);
	}
	/* The limit of the last addresses is not a number of 64 bits. */
	limit = last && last < UINT64_MAX ? last + 1 : last;
	protobuf_number(&pprof->part, MAPPING_ID, number);
	protobuf_number(&pprof->part, MAPPING_START, limit ? start : 0);
	protobuf_number(&pprof->part, MAPPING_LIMIT, limit);
	protobuf_number(&pprof->part, MAPPING_FILE, text);
	protobuf_number(&pprof->part, MAPPING_BUILD_ID, text + 1);
	protobuf_number(&pprof->part, MAPPING_HAS_FUNCTIONS, 1);
	pprof_put(pprof, PROFILE_MAPPING);
}

void pprof_put_object_texts(struct pprof_file *pprof, const struct ntrace_object *object)
{
	char id[2 * NTRACE_BUILD_ID_MAX + 1];
	size_t size, i;
	const uint8_t *build_id = ntrace_object_build_id(object, &size);

	for (i = 0; i < size && i < NTRACE_BUILD_ID_MAX; i++)
		snprintf(id + 2 * i, 3, "%02x", build_id[i]);
	id[2 * i] = '\0';
	pprof_put_text(pprof, ntrace_object_name(object));
	pprof_put_text(pprof, id);
}

int pprof_end(struct pprof_file *pprof)
{
	if (pprof->whole.failed)
		pprof->error = NTRACE_ERR_NOMEM;
	if (!pprof->error)
		compress_whole(pprof, true);
	deflateEnd(&pprof->gzip);
	protobuf_free(&pprof->whole);
	protobuf_free(&pprof->part);
	protobuf_free(&pprof->inner);
	return pprof->error;
}
