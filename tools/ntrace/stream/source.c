// SPDX-License-Identifier: GPL-2.0-only
/* Options that describe the input. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/ui.h"
#include "source.h"

void source_init(struct source *source, const struct command *command)
{
	*source = (struct source){ .command = command, .stream = -1, .recording.traces = true };
	ntrace_params_init(&source->params);
}

int source_option(struct source *source, const struct options *options, int option)
{
	uint64_t number;
	int error;

	switch (option) {
	case OPTION_INPUT_PARAMS:
		source->params_given = true;
		error = add_params(source->command, &source->recording.params, options->value);
		if (error)
			return error;
		source->xlen_given |= strstr(options->value, "xlen=") != NULL;
		error = input_params(source->command, &source->params, options->value);
		source->format.atid = source->params.atid;
		return error;
	case OPTION_WORDS16:
		source->format.words16 = true;
		return framing_conflict(source->command, &source->format.framing, true);
	case OPTION_FRAMING:
		return framing_option(source->command, &source->format.framing, options->value) ?
			       EXIT_USAGE :
			       framing_conflict(source->command, &source->format.framing,
						source->format.words16);
	case OPTION_STREAM:
		if (!option_number(options, "stream", 0, UINT16_MAX, &number))
			return EXIT_USAGE;
		source->stream = (int64_t)number;
		return EXIT_OK;
	default:
		return recording_option(&source->recording, options, option);
	}
}

int source_is_raw(const struct source *source)
{
	if (source->recording.range.given || source->recording.range.around ||
	    source->recording.range.no_index)
		return usage_error(source->command, "--offset, --time, --around and --no-index "
						    "apply to recordings only");
	if (source->stream >= 0 || source->recording.sysroot || source->recording.firmware)
		return usage_error(source->command,
				   "--stream, --sysroot and --firmware apply to recordings only");
	return EXIT_OK;
}

int source_map(struct source *source, struct ntrace_space **space)
{
	struct ntrace_params *params = &source->params;
	struct program_facts facts;
	int error = programs_map(&source->recording.programs, source->command, space, &facts);

	/* The program determines XLEN; an explicit xlen overrides it. */
	if (!error && facts.elf && !source->xlen_given)
		params->xlen = facts.isa.xlen;
	/* Memory images do not determine XLEN: RV64 is assumed. */
	if (!error && facts.raw && params->xlen == 32 && !params->isa)
		params->isa = "rv32gc";
	return error;
}

int source_open_recording(const struct source *source, struct recording *recording,
			  const char *path)
{
	struct recording_options options = source->recording;
	unsigned int streams;
	int error;

	if (source->stream >= 0)
		options.range.only = (unsigned int)source->stream + 1;
	if (source->format.framing.given)
		return usage_error(source->command, "--framing applies to raw traces only");
	if (source->recording.programs.count || source->format.words16 ||
	    (source->params_given && is_directory(path)))
		return usage_error(source->command, "--params, --elf, --raw and --words16 apply to "
						    "raw traces only: a recording contains them");
	error = recording_open(recording, source->command, path, &options);
	if (error)
		return error;
	streams = ntrace_session_streams(recording->session);
	if (source->stream < streams)
		return EXIT_OK;
	recording_close(recording);
	return fail("%s: there is no stream %" PRId64 ": it has %u", path, source->stream, streams);
}
