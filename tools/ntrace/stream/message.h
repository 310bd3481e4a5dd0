/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages as text and as JSON. */
#ifndef NTRACE_TOOL_STREAM_MESSAGE_H
#define NTRACE_TOOL_STREAM_MESSAGE_H

#include <ntrace/wire.h>

#include "common/output.h"

/**
 * struct address_tracker - addresses that messages encode, per SRC
 *
 * U-ADDR, and CKDATA0 of InCircuitTrace, are relative to the last address of their SRC, which is
 * unknown after a loss.
 */
struct address_tracker {
	struct ntrace_params params;
	uint64_t references[1u << NTRACE_SRC_BITS_MAX];
	uint8_t known[1u << NTRACE_SRC_BITS_MAX];
};

void address_tracker_init(struct address_tracker *tracker, const struct ntrace_params *params);

/** address_tracker_message - Return: true if @message reports an address that is known */
bool address_tracker_message(struct address_tracker *tracker, const struct ntrace_message *message,
			     uint64_t *address);

/** address_tracker_lost - bytes were not messages: forget all addresses */
void address_tracker_lost(struct address_tracker *tracker);

/** message_text - "0xOFFSET LENGTH TCODE NAME FIELD=VALUE... [-> 0xADDRESS] [flags]", no newline */
void message_text(struct output *output, const struct ntrace_message *message,
		  enum ntrace_dialect dialect, bool has_address, uint64_t address);

/** message_json - members of a JSON object from "tcode" to "flags" with a comma before each */
void message_json(struct output *output, const struct ntrace_message *message,
		  enum ntrace_dialect dialect, bool has_address, uint64_t address);

/** message_bytes - two hexadecimal digits for each byte */
void message_bytes(struct output *output, const uint8_t *bytes, size_t count,
		   const char *separator);

#endif /* NTRACE_TOOL_STREAM_MESSAGE_H */
