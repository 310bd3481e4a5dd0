/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Flow: the blocks that a bare-metal program executed. blocks ELF TRACE */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/flow.h>

static int print(void *data, const struct ntrace_flow_event *event)
{
	(void)data;
	if (event->type == NTRACE_FLOW_BLOCK)
		printf("0x%" PRIx64 ": %u instructions, %s%s\n", event->address,
		       event->instructions, ntrace_insn_class_name(event->insn_class),
		       event->taken ? ", taken" : "");
	else
		printf("%s at 0x%" PRIx64 "\n", ntrace_flow_type_name(event->type), event->address);
	return 0;
}

int main(int argc, char **argv)
{
	struct ntrace_params params;
	struct ntrace_flow_config config = { .size = sizeof(config),
					     .params = &params,
					     .event = print };
	struct ntrace_object *object;
	struct ntrace_reader reader;
	struct ntrace_message message;
	struct ntrace_flow *flow;
	static uint8_t trace[1 << 20];
	FILE *file = argc == 3 ? fopen(argv[2], "rb") : NULL;

	ntrace_params_init(&params);
	if (!file || ntrace_object_open_elf(&object, argv[1]) ||
	    ntrace_space_new(&config.space, argv[1], NULL) ||
	    ntrace_space_map_linked(config.space, object, 0))
		return 2;
	if (ntrace_flow_new(&flow, &config) || ntrace_reader_init(&reader, &params, true))
		return 1;
	ntrace_reader_feed(&reader, trace, fread(trace, 1, sizeof(trace), file));
	for (int event; (event = ntrace_reader_next(&reader, &message)) >= 0;) {
		if (event == NTRACE_WIRE_ERROR)
			ntrace_flow_wire_error(flow, message.offset);
		else
			ntrace_flow_message(flow, &message);
	}
	ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
	ntrace_space_put(config.space);
	ntrace_object_put(object);
	return fclose(file) ? 1 : 0;
}
