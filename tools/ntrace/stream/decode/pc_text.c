// SPDX-License-Identifier: GPL-2.0-only
/* Executed PCs as text. */
#include <stdlib.h>
#include <string.h>

#include "pc_text.h"

/* Bytes of cached text. */
#define TEXT_SIZE (16u << 20)
/* Number of block ids in the cache; a larger id replaces the whole range. */
#define ENTRIES (1u << 18)
/* Text is copied in pieces of this size; the last piece includes bytes after the text. */
#define PIECE 64
/* Longer blocks are not cached, but written directly. */
#define LINES_KEPT 512
/* "0x", 16 digits, end of line */
#define LINE_MAX 19

/* Cached text of a block: @size bytes from @start; @start 0 = not cached. */
struct kept_text {
	uint32_t start;
	uint32_t size;
};

/**
 * struct pc_text - the cache
 * @first_id: block id of the first entry
 * @used: bytes of @kept
 */
struct pc_text {
	struct output *output;
	uint32_t first_id;
	uint32_t used;
	struct kept_text *entries;
	char *kept;
};

struct pc_text *pc_text_new(struct output *output)
{
	struct pc_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->output = output;
	text->used = 1;
	/* The kernel allocates pages of these only when they are used. */
	text->entries = calloc(ENTRIES, sizeof(*text->entries));
	text->kept = malloc(TEXT_SIZE + PIECE);
	if (text->entries && text->kept)
		return text;
	pc_text_free(text);
	return NULL;
}

void pc_text_free(struct pc_text *text)
{
	if (!text)
		return;
	free(text->entries);
	free(text->kept);
	free(text);
}

int pc_text_instruction(void *output, uint64_t address, const uint8_t *bytes,
			const struct ntrace_insn *insn)
{
	(void)bytes;
	(void)insn;
	output_bytes(output, "0x", 2);
	output_hex(output, address, 1);
	output_char(output, '\n');
	return 0;
}

static int keep_line(void *data, uint64_t address, const uint8_t *bytes,
		     const struct ntrace_insn *insn)
{
	unsigned int digits = address ? (unsigned int)(67 - __builtin_clzll(address)) / 4 : 1;
	struct pc_text *text = data;
	char *line = text->kept + text->used;

	(void)bytes;
	(void)insn;
	line[0] = '0';
	line[1] = 'x';
	for (unsigned int i = digits; i-- > 0; address >>= 4)
		line[2 + i] = "0123456789abcdef"[address & 15];
	line[2 + digits] = '\n';
	text->used += digits + 3;
	return 0;
}

/* Empties the cache; its first block id becomes @first_id. */
static void forget(struct pc_text *text, uint32_t first_id)
{
	memset(text->entries, 0, ENTRIES * sizeof(*text->entries));
	text->first_id = first_id;
	text->used = 1;
}

/* Makes the text of a block. Return: 0, NTRACE_ERR_..., or 1 if the text is not cached. */
static int make(struct pc_text *text, const struct ntrace_block_batch *batch,
		const struct ntrace_block *block, struct kept_text **entry)
{
	uint32_t index = block->id - text->first_id, start;
	int error;

	if (!block->id || block->id < text->first_id || block->instructions > LINES_KEPT)
		return 1;
	if (index >= ENTRIES || text->used + LINES_KEPT * LINE_MAX > TEXT_SIZE) {
		forget(text, index >= ENTRIES ? block->id : text->first_id);
		index = block->id - text->first_id;
	}
	start = text->used;
	error = ntrace_block_instructions(batch, block, keep_line, text);
	if (error)
		return error;
	*entry = &text->entries[index];
	(*entry)->start = start;
	(*entry)->size = text->used - start;
	return 0;
}

/* Copies whole pieces: the next text overwrites the bytes after this one. */
static inline void copy(struct output *output, const char *from, uint32_t size)
{
	char *to = output->buffer + output->used;

	for (uint32_t done = 0; done < size; done += PIECE)
		memcpy(to + done, from + done, PIECE);
	output->used += size;
}

int pc_text_blocks(struct pc_text *text, const struct ntrace_block_batch *batch)
{
	struct output *output = text->output;

	for (size_t i = 0; i < batch->count; i++) {
		const struct ntrace_block *block = &batch->blocks[i];
		uint32_t index = block->id - text->first_id;
		struct kept_text *entry = NULL;
		int error = 0;

		if (index < ENTRIES && text->entries[index].start)
			entry = &text->entries[index];
		else
			error = make(text, batch, block, &entry);
		if (error == 1)
			error = ntrace_block_instructions(batch, block, pc_text_instruction,
							  output);
		if (error)
			return error;
		if (!entry)
			continue;
		if (OUTPUT_SIZE - output->used < LINES_KEPT * LINE_MAX + PIECE)
			output_flush(output);
		copy(output, text->kept + entry->start, entry->size);
	}
	return 0;
}
