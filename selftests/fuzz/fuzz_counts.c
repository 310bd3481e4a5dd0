// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads any bytes as a counts file, also with the right checksum. What is read to its end is
 * written again as the same bytes, a file of an earlier version as the same records in one of this version;
 * what is refused has a reason and an offset within the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <ntrace/counts_file.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void copy(struct ntrace_counts_writer *writer, const struct ntrace_counts_group *group,
		 const struct ntrace_counts_entry *entry)
{
	if (ntrace_counts_put(writer, group, entry))
		abort();
}

/* @count: number of sources, which are 8 bytes shorter in version 3 */
static void compare(FILE *written, char **bytes, size_t *written_size, const uint8_t *data,
		    size_t size, size_t count)
{
	/* A losses record and the end record, with their headers. */
	const size_t losses = 40, end = 40;

	if (fflush(written))
		abort();
	if (data[8] == 1) {
		if (*written_size != size + losses || memcmp(*bytes, data, 8) ||
		    memcmp(*bytes + 10, data + 10, size - end - 10) ||
		    memcmp(*bytes + size - end + losses, data + size - end, end - 8))
			abort();
		return;
	}
	if (data[8] == 2 || (data[8] == 3 && !count)) {
		/* The version, and with it the checksum, are others. */
		if (*written_size != size || memcmp(*bytes, data, 8) ||
		    memcmp(*bytes + 10, data + 10, size - 8 - 10))
			abort();
		return;
	}
	if (data[8] == 3 && count) {
		if (*written_size != size + 8 * count)
			abort();
		return;
	}
	if (*written_size != size || memcmp(*bytes, data, size))
		abort();
}

static void try(const uint8_t *data, size_t size)
{
	const struct ntrace_counts_group *group;
	const struct ntrace_counts_entry *entry;
	struct ntrace_counts_reader *reader;
	struct ntrace_counts_writer *writer;
	const struct ntrace_counts_source *sources;
	size_t written_size = 0, count;
	char *bytes = NULL;
	FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
	FILE *written = open_memstream(&bytes, &written_size);
	uint64_t offset;
	int result;

	if (!file || !written || ntrace_counts_reader_new(&reader, file) ||
	    ntrace_counts_writer_new(&writer, written))
		abort();
	while ((result = ntrace_counts_next(reader, &group, &entry)) > 0)
		copy(writer, group, entry);
	if (!result) {
		ntrace_counts_put_losses(writer, ntrace_counts_reader_losses(reader));
		sources = ntrace_counts_reader_sources(reader, &count);
		for (size_t i = 0; i < count; i++)
			if (ntrace_counts_put_source(writer, &sources[i]))
				abort();
		if (ntrace_counts_writer_end(writer, NULL))
			abort();
		compare(written, &bytes, &written_size, data, size, count);
	} else if (!ntrace_counts_reader_problem(reader, &offset) || offset > size) {
		abort();
	}
	ntrace_counts_writer_free(writer);
	ntrace_counts_reader_free(reader);
	fclose(written);
	fclose(file);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *right;
	uint32_t crc;

	if (!size)
		return 0;
	try(data, size);
	if (size < 8)
		return 0;
	right = malloc(size);
	if (!right)
		return 0;
	memcpy(right, data, size);
	crc = (uint32_t)crc32(0, right, (unsigned int)size - 8);
	for (unsigned int i = 0; i < 4; i++)
		right[size - 8 + i] = (uint8_t)(crc >> (8 * i));
	try(right, size);
	free(right);
	return 0;
}
