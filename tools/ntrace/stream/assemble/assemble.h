/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts text to trace, line by line, in bounded memory. */
#ifndef NTRACE_TOOL_STREAM_ASSEMBLE_H
#define NTRACE_TOOL_STREAM_ASSEMBLE_H

#include "line.h"
#include "stream/message.h"

/* Size of the name of the file that a line comes from. */
#define ASSEMBLE_FILE_SIZE 4096

/**
 * struct assemble - the assembler
 * @params: readable: parameters in effect
 * @offset: readable: bytes written so far, including those of an unfinished message
 * @error: why a line was refused
 * @warning: readable after each line: a warning, or ""; each kind is reported once
 *
 * The rest is private. @follower reads the written bytes and so tracks the addresses; @piece
 * reads the message that comes in pieces, of which @piece_bytes were written.
 */
struct assemble {
	struct ntrace_params params;
	const char *override;
	int (*write)(void *data, const uint8_t *bytes, size_t size);
	void *data;
	uint64_t offset;
	struct address_tracker addresses;
	uint64_t address;		/* address of the last message, if address_known */
	bool address_known;
	struct ntrace_reader follower;
	struct ntrace_reader piece;
	uint64_t piece_bytes;
	bool any;
	bool begun;
	bool params_seen;
	bool cut;
	bool has_stream;
	uint64_t stream;
	bool has_file;
	char file[ASSEMBLE_FILE_SIZE];
	bool offset_told;
	bool address_told;
	struct assemble_line line;
	char warning[ASSEMBLE_ERROR_SIZE];
	char error[ASSEMBLE_ERROR_SIZE];
};

/**
 * assemble_init - start a trace
 * @override: --params of the command, valid text for ntrace_params_parse() or NULL; borrowed.
 *            They override those of the text
 * @write: receives the bytes; a result other than 0 stops
 *
 * Return: true, or false with error filled: the parameters contradict each other.
 */
bool assemble_init(struct assemble *assemble, const char *override,
		   int (*write)(void *data, const uint8_t *bytes, size_t size), void *data);

/**
 * assemble_text - convert a line
 * @text: @length bytes without the newline; overwritten
 *
 * Return: 0; -1 with error filled; or what the callback returned.
 */
int assemble_text(struct assemble *assemble, char *text, size_t length);

/**
 * assemble_end - finish after the last line
 *
 * Return: 0, or -1 with error filled: a message is not complete, or the text is empty.
 */
int assemble_end(struct assemble *assemble);

#endif /* NTRACE_TOOL_STREAM_ASSEMBLE_H */
