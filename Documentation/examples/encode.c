/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Encoder: what a hart tells at its ingress port, here for demo.S, to a trace. encode TRACE */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/encode.h>

static void write_message(void *data, const uint8_t *bytes, size_t size)
{
	fwrite(bytes, 1, size, data);
}

int main(int argc, char **argv)
{
	/* A block: address, 16-bit parcels, how it ends, log2 of the last instruction's parcels. */
	static const struct ntrace_ingress run[] = {
		{ 0x10000, 3, NTRACE_ITYPE_BRANCH_TAKEN, 0, NTRACE_PRIV_U, 0 },
		{ 0x10002, 2, NTRACE_ITYPE_BRANCH_TAKEN, 0, NTRACE_PRIV_U, 0 },
		{ 0x10002, 2, NTRACE_ITYPE_BRANCH_NOT_TAKEN, 0, NTRACE_PRIV_U, 0 },
		{ 0x10006, 2, NTRACE_ITYPE_DIRECT_CALL, 1, NTRACE_PRIV_U, 0 },
		{ 0x1000c, 1, NTRACE_ITYPE_RETURN, 0, NTRACE_PRIV_U, 0 },
		{ 0x1000a, 1, NTRACE_ITYPE_DIRECT_JUMP, 0, NTRACE_PRIV_U, 0 },
	};
	struct ntrace_encoder_config config;
	struct ntrace_encoder encoder;
	FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;

	if (!file)
		return 2;
	ntrace_encoder_config_init(&config);
	config.write = write_message;
	config.write_data = file;
	if (ntrace_encoder_init(&encoder, &config)) {
		fprintf(stderr, "refused: %s\n", ntrace_encoder_refusal(&config));
		return 1;
	}
	ntrace_encoder_start(&encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++)
		ntrace_encoder_retire(&encoder, &run[i]);
	ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	printf("%" PRIu64 " messages, %" PRIu64 " bytes\n", encoder.messages, encoder.bytes);
	return fclose(file) ? 1 : 0;
}
