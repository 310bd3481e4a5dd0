// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file params of a recording: traced tasks or CPUs, configuration, and
 * losses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/command.h"
#include "common/ui.h"
#include "device.h"
#include "features.h"
#include "options.h"
#include "params.h"
#include "stream_params.h"
#include "tasks.h"

static void describe_stream(struct ntrace_stream *stream, struct ntrace_params *params,
			    const struct device *device)
{
	ntrace_params_init(params);
	params->src_bits = device->info.src_bits;
	params->atid = device->info.framing == NTRACE_FRAMING_CORESIGHT ? device->info.atid : 0;
	stream_params_version(params, device->info.encoder_impl & 0xf);
	record_features_describe(params, &device->config, device->info.inst_features);
	params->xlen = device->info.xlen;
	params->mode = device->config.mode == NTRACE_MODE_BTM ? NTRACE_MODE_BRANCH :
								NTRACE_MODE_HISTORY;
	stream_params_timestamps(
		params, &device->config, device->info.timestamp_bits,
		device->info.timestamp_hz[device->config.timestamps % NTRACE_TIMESTAMPS_MAX]);
	stream->params = params;
	stream->file = device->output.name;
	stream->cpu = device->info.cpu;
	stream->hartid = device->info.hartid;
	stream->src = device->info.src;
	stream->bytes = device->saved;
	stream->lost = device->lost;
	stream->lost_exact = !(device->loss & NTRACE_LOSS_LAPPED);
	stream->gaps = device->gaps;
	stream->loss = device->loss;
	stream->start_ns = device->start_ns;
	stream->stop_ns = device->stop_ns;
}

/* The command's words, separated by blanks; control characters are replaced. */
static char *command_line(const struct record_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	const char *byte;
	int i;

	if (!file)
		return NULL;
	for (i = 0; i < options->argc; i++) {
		if (i)
			putc(' ', file);
		for (byte = options->argv[i]; *byte; byte++)
			putc((unsigned char)*byte < ' ' ? '?' : *byte, file);
	}
	fclose(file);
	return text;
}

static bool say_losses(const struct ntrace_stream *stream)
{
	char text[NTRACE_STREAM_LOSSES_SIZE];

	if (!ntrace_stream_losses(stream, text, sizeof(text)))
		return false;
	warn("%s", text);
	return true;
}

bool record_params_losses(const struct device_list *list, const struct tasks *tasks)
{
	struct ntrace_stream stream;
	struct ntrace_params params;
	unsigned int i;
	bool any = false;

	for (i = 0; i < list->count; i++) {
		stream = (struct ntrace_stream){ 0 };
		describe_stream(&stream, &params, &list->devices[i]);
		any |= say_losses(&stream);
	}
	for (i = 0; i < tasks->file_count; i++) {
		stream = (struct ntrace_stream){ 0 };
		tasks_describe(tasks, i, &stream, &params);
		any |= say_losses(&stream);
	}
	return any;
}

int record_params_write(const struct record_options *options, const struct device_list *list,
			const struct tasks *tasks, bool unfinished)
{
	unsigned int count = list->count + tasks->file_count, i;
	struct ntrace_recording recording = {
		.size = sizeof(recording),
		.tool = "ntrace " NTRACE_TOOL_VERSION,
		.clock = "monotonic",
		.stream_count = count,
		.unfinished = unfinished,
	};
	struct ntrace_stream *streams = calloc(count ? count : 1, sizeof(*streams));
	struct ntrace_params *params = calloc(count ? count : 1, sizeof(*params));
	char *command = command_line(options);
	struct utsname names;
	int error;

	if (!streams || !params || !command) {
		free(streams);
		free(params);
		free(command);
		return fail("out of memory");
	}
	for (i = 0; i < list->count; i++)
		describe_stream(&streams[i], &params[i], &list->devices[i]);
	for (i = 0; i < tasks->file_count; i++)
		tasks_describe(tasks, i, &streams[list->count + i], &params[list->count + i]);
	recording.module = list->count ? list->devices[0].info.module_version :
					 tasks->module_version;
	recording.privilege = tasks->config.privilege;
	for (i = 0; i < list->count; i++)
		recording.privilege |= list->devices[i].config.privilege;
	if (!uname(&names)) {
		recording.release = names.release;
		recording.machine = names.machine;
	}
	recording.command = command;
	recording.streams = streams;
	error = ntrace_recording_write(options->directory, &recording);
	if (error)
		error = fail("%s/params: %s", options->directory, error_text(error));
	free(streams);
	free(params);
	free(command);
	return error;
}
