/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Check: does a stream obey N-Trace 1.0? For authors of encoders.
 *
 * The table has one rule for each obligation of an encoder that shows in the stream. The checker
 * reads bytes and reports each violation with its rule and its place. Given the traced programs,
 * the checker also compares the stream with the code.
 *
 * Code outside those programs is reported once for each of its pages.
 *
 * After a violation the checker assumes the state that it cannot know, so that one mistake of an
 * encoder gives one finding.
 */
#ifndef NTRACE_CHECK_H
#define NTRACE_CHECK_H

#include <ntrace/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ntrace_check_severity {
	NTRACE_CHECK_INFO,	/* legal, perhaps not intended; or impossible to judge */
	NTRACE_CHECK_WARNING,	/* legal in some cases: a wrapped buffer, a custom instruction */
	NTRACE_CHECK_ERROR,	/* no encoder may send it */
};

/**
 * struct ntrace_check_rule - one rule
 * @id: short name, stable: "hist-stop-bit"
 * @section: specification and topic: "N-Trace 1.0, history"
 * @severity: enum ntrace_check_severity
 * @flow: only programs can show a violation
 * @text: the rule in a sentence
 */
struct ntrace_check_rule {
	const char *id;
	const char *section;
	uint8_t severity;
	bool flow;
	const char *text;
};

/**
 * ntrace_check_rules - the table of rules
 * @count: set to the number of rules
 *
 * Return: the rules; a static array in the order of the table.
 */
NTRACE_API const struct ntrace_check_rule *ntrace_check_rules(size_t *count);

/**
 * ntrace_check_severity_name - name of a severity
 * @severity: enum ntrace_check_severity
 *
 * Return: "info", "warning" or "error", "?" for any other value; a static string.
 */
NTRACE_API const char *ntrace_check_severity_name(unsigned int severity);

/**
 * struct ntrace_check_finding - one violation
 * @rule: the rule
 * @offset: first byte of the message, of the idle byte or of the bytes outside any message
 * @length: number of bytes at @offset, as far as known
 * @tcode: TCODE of the message, -1 for bytes outside any message
 * @src: SRC of the message, -1 if it has none
 * @field: enum ntrace_field with the wrong value, -1 if the rule concerns no single field
 * @value: value of @field
 * @address: rules with @flow: place in the code; else 0
 */
struct ntrace_check_finding {
	const struct ntrace_check_rule *rule;
	uint64_t offset;
	uint64_t length;
	int tcode;
	int src;
	int field;
	uint64_t value;
	uint64_t address;
};

/**
 * struct ntrace_check_config - known facts about the encoder and its stream
 * @size: sizeof(struct ntrace_check_config) of the caller
 * @params: stream parameters; mode and timestamp_bits are checked if they are set. Copied by
 *          ntrace_check_new(); NULL: those of ntrace_params_init()
 * @icnt_bits: width of I-CNT; 22 in N-Trace 1.0, some encoders have more
 * @wrapped: the stream may begin anywhere, as in a buffer that wrapped: bytes before the first
 *           message end and messages before the first sync of a SRC are not judged
 * @sources: bit n of element n / 64: SRC n may occur; all 0 = any
 * @space: the traced programs; the checker takes a reference; NULL = rules with @flow are not
 *         checked
 * @finding: called for every violation, in the order of the stream; a nonzero result stops the
 *           checker
 * @data: for @finding and @progress
 * @progress: called from time to time with the offset of the current message, also while one
 *            message covers a lot of code; may be NULL
 */
struct ntrace_check_config {
	size_t size;
	const struct ntrace_params *params;
	unsigned int icnt_bits;
	bool wrapped;
	uint64_t sources[(1u << NTRACE_SRC_BITS_MAX) / 64];
	struct ntrace_space *space;
	int (*finding)(void *data, const struct ntrace_check_finding *finding);
	void *data;
	void (*progress)(void *data, uint64_t offset);
};

/**
 * ntrace_check_config_init - defaults: @params NULL, 22 bits, any SRC, no space
 * @config: memory owned by the caller; every field is set
 */
NTRACE_API void ntrace_check_config_init(struct ntrace_check_config *config);

struct ntrace_check;

/**
 * ntrace_check_new - a checker for one stream with any number of SRC
 * @check: the new checker, to be freed with ntrace_check_free()
 * @config: copied
 *
 * Memory is bounded on any input: some KiB for each SRC. The checker follows the code of the first
 * 64 SRC and reports "flow-source-limit" for each further one.
 *
 * Return: 0, NTRACE_ERR_INVALID (no @finding, parameters out of range) or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_check_new(struct ntrace_check **check,
				const struct ntrace_check_config *config);

/**
 * ntrace_check_free - free a checker and release its space
 * @check: checker made by ntrace_check_new(); NULL is allowed
 */
NTRACE_API void ntrace_check_free(struct ntrace_check *check);

/**
 * ntrace_check_feed - check the next chunk of the stream
 * @check: checker made by ntrace_check_new()
 * @data: the next bytes of the stream; borrowed during the call
 * @size: number of bytes at @data, any number; 0 is allowed
 *
 * Chunk boundaries do not change the findings. After a nonzero result every later call returns the
 * same result.
 *
 * Return: 0, the nonzero result of @finding, or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_check_feed(struct ntrace_check *check, const uint8_t *data, size_t size);

/**
 * ntrace_check_break - bytes of the stream are missing before the next chunk
 * @check: checker made by ntrace_check_new(); all chunks before the missing bytes have been fed
 *
 * Not a violation. The message in progress is dropped, bytes up to and including the next message
 * end are skipped, and messages of a SRC before its next sync are judged as in a stream with
 * @wrapped.
 *
 * Return: as ntrace_check_feed().
 */
NTRACE_API int ntrace_check_break(struct ntrace_check *check);

/**
 * ntrace_check_end - end the input: reports a cut message
 * @check: a checker that gets no more input
 *
 * Return: as ntrace_check_feed().
 */
NTRACE_API int ntrace_check_end(struct ntrace_check *check);

/**
 * ntrace_check_flow_event - judge an event of a flow that the caller runs
 * @check: checker made by ntrace_check_new()
 * @src: SRC of the flow, -1 = none
 * @event: an event; all types except errors and warnings are ignored
 *
 * For streams whose address spaces only a session knows; @space of the configuration is NULL then.
 *
 * Return: as ntrace_check_feed().
 */
NTRACE_API int ntrace_check_flow_event(struct ntrace_check *check, int src,
				       const struct ntrace_flow_event *event);

/**
 * ntrace_check_messages - number of messages checked so far
 * @check: checker made by ntrace_check_new()
 *
 * Return: number of complete messages.
 */
NTRACE_API uint64_t ntrace_check_messages(const struct ntrace_check *check);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_CHECK_H */
