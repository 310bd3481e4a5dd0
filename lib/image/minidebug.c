// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * MiniDebugInfo (GDB manual, "MiniDebugInfo"): the section .gnu_debugdata of a stripped file is an ELF
 * file, compressed by xz, whose .symtab has the functions that .dynsym lacks.
 */
#include <lzma.h>
#include <stdlib.h>

#include "object.h"

/* The section comes from any file: what it unpacks to is limited, and the decoder's memory, too. */
#define UNPACKED_MAX (UINT64_C(256) << 20)
#define DECODER_MAX (UINT64_C(128) << 20)

static int make_room(uint8_t **bytes, size_t *room)
{
	size_t more = *room ? 2 * *room : 1 << 16;
	uint8_t *longer;

	if (more > UNPACKED_MAX)
		return NTRACE_ERR_FORMAT;
	longer = realloc(*bytes, more);
	if (!longer)
		return NTRACE_ERR_NOMEM;
	*bytes = longer;
	*room = more;
	return 0;
}

/* Return: 0, NTRACE_ERR_FORMAT, NTRACE_ERR_NOMEM. @bytes is to be freed in any case. */
static int unpack(const uint8_t *packed, uint64_t packed_size, uint8_t **bytes, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&stream, DECODER_MAX, 0);
	size_t room = 0;
	int error = 0;

	stream.next_in = packed;
	stream.avail_in = packed_size;
	while (result == LZMA_OK && !error) {
		if (!stream.avail_out) {
			error = make_room(bytes, &room);
			stream.next_out = error ? NULL : *bytes + stream.total_out;
			stream.avail_out = error ? 0 : room - stream.total_out;
		}
		if (!error)
			result = lzma_code(&stream, LZMA_FINISH);
	}
	*size = stream.total_out;
	lzma_end(&stream);
	if (error)
		return error;
	if (result == LZMA_MEM_ERROR)
		return NTRACE_ERR_NOMEM;
	return result == LZMA_STREAM_END && *size ? 0 : NTRACE_ERR_FORMAT;
}

int object_read_minidebug(struct ntrace_object *object, const uint8_t *bytes, uint64_t size)
{
	struct ntrace_object *mini;
	uint8_t *unpacked = NULL;
	int error = object_new(&mini, object->name);

	if (error)
		return error;
	error = unpack(bytes, size, &unpacked, &mini->size);
	mini->bytes = unpacked;
	if (!error)
		error = object_read_debug_elf(object, mini, false);
	if (error)
		ntrace_object_put(mini);
	else
		object->mini = mini;
	return error;
}
