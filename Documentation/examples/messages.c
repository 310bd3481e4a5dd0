/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Messages: the fields of a trace. messages PARAMS TRACE */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/wire.h>

int main(int argc, char **argv)
{
	struct ntrace_params params;
	struct ntrace_reader reader;
	struct ntrace_message message;
	uint8_t chunk[4096];
	FILE *file = argc == 3 ? fopen(argv[2], "rb") : NULL;
	size_t size;
	int event;

	ntrace_params_init(&params);
	if (!file || ntrace_params_parse(&params, argv[1], NULL) ||
	    ntrace_reader_init(&reader, &params, true))
		return 2;
	while ((size = fread(chunk, 1, sizeof(chunk), file))) {
		ntrace_reader_feed(&reader, chunk, size);
		while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
			if (event == NTRACE_WIRE_ERROR) {
				printf("%" PRIu64 " reserved MSEO code\n", message.offset);
				continue;
			}
			printf("%" PRIu64 " %s", message.offset, ntrace_tcode_name(message.tcode));
			for (enum ntrace_field f = 0; f < NTRACE_FIELD_COUNT; f++) {
				if (ntrace_message_has(&message, f))
					printf(" %s=0x%" PRIx64, ntrace_field_name(f),
					       message.field[f]);
			}
			printf("\n");
		}
	}
	if (ntrace_reader_pending(&reader))
		printf("cut in the middle of a message\n");
	return fclose(file) ? 1 : 0;
}
