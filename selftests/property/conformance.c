// SPDX-License-Identifier: GPL-2.0-only
/* The encoder's streams satisfy the library's checker of the specification. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ntrace/check.h>
#include <ntrace/encode.h>

#include "check.h"

struct violation {
	const struct ntrace_encoder_config *encoder;
	char text[256];
};

static int take_finding(void *data, const struct ntrace_check_finding *finding)
{
	struct violation *violation = data;

	if (violation->encoder->empty_fields && !strcmp(finding->rule->id, "field-empty"))
		return 0;
	snprintf(violation->text, sizeof(violation->text),
		 "%s at offset %" PRIu64 ", value 0x%" PRIx64 ": %s", finding->rule->id,
		 finding->offset, finding->value, finding->rule->text);
	return 1;
}

const char *stream_violation(const struct ntrace_encoder_config *encoder,
			     const struct ntrace_params *params, struct ntrace_space *space,
			     const uint8_t *stream, size_t size)
{
	static struct violation violation;
	struct ntrace_check_config config;
	struct ntrace_check *check;

	ntrace_check_config_init(&config);
	config.params = params;
	config.icnt_bits = encoder->icnt_bits;
	config.sources[encoder->src / 64] = UINT64_C(1) << encoder->src % 64;
	config.space = space;
	config.finding = take_finding;
	config.data = &violation;
	violation = (struct violation){ .encoder = encoder };
	if (ntrace_check_new(&check, &config))
		return "no checker for these parameters";
	if (!ntrace_check_feed(check, stream, size))
		ntrace_check_end(check);
	ntrace_check_free(check);
	return violation.text[0] ? violation.text : NULL;
}
