// SPDX-License-Identifier: GPL-2.0-only
/* ntrace check: checks a trace against the specification. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/check.h>

#include "common/command.h"
#include "common/output.h"
#include "common/ui.h"
#include "check_kinds.h"
#include "source.h"
#include "trace.h"

/* Exit status if the trace could not be checked; 1 means findings. */
#define EXIT_UNCHECKED EXIT_USAGE
#define EXIT_FINDINGS 1
/* At most one in this many messages may have a field with a reserved value. */
#define CODED_PART 2

enum {
	OPTION_SOURCES = OPTION_LONG,
	OPTION_ICNT_BITS,
	OPTION_WRAPPED,
	OPTION_LIST,
	OPTION_ALL,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	SOURCE_OPTIONS,
	{ OPTION_SOURCES, "sources", "LIST", "valid SRC values, e.g. 0-3,8; others are findings" },
	{ OPTION_ICNT_BITS, "icnt-bits", "N", "width of I-CNT in bits (default 22)" },
	{ OPTION_WRAPPED, "wrapped", NULL,
	  "the trace starts at any point: ignore everything before a sync" },
	{ OPTION_ALL, "all", NULL, "each finding, not only the first of its kind" },
	{ OPTION_LIST, "list", NULL, "show the table of rules" },
	{ OPTION_JSON, "json", NULL, "one JSON object a line" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct check - options and results
 * @all: show each finding, also if others of its kind were shown
 * @stream: stream of a recording, or -1
 * @lossy: bytes of the trace are missing
 * @counts: findings by severity
 * @kinds: what was shown
 * @sanity: whether the parameters make sense
 */
struct check {
	struct source source;
	struct output *output;
	struct ntrace_check_config config;
	bool json;
	bool all;
	bool list;
	bool lossy;
	int stream;
	uint64_t counts[3];
	struct check_kinds kinds;
	uint64_t messages;
	struct sanity sanity;
	struct trace trace;
	struct progress progress;
};

/* Findings about code have an address; findings about messages have an offset. */
static bool has_address(const struct ntrace_check_finding *finding)
{
	return finding->rule->flow && finding->tcode < 0;
}

static const char *finding_name(const struct check *check,
				const struct ntrace_check_finding *finding)
{
	return ntrace_tcode_dialect_name((unsigned int)finding->tcode,
					 check->config.params->dialect);
}

/* "ProgTraceSync SRC=1", or less. */
static void put_subject(const struct check *check, const struct ntrace_check_finding *finding)
{
	if (finding->tcode >= 0)
		output_text(check->output, finding_name(check, finding));
	if (finding->src >= 0)
		output_printf(check->output, "%sSRC=%d", finding->tcode >= 0 ? " " : "",
			      finding->src);
}

static void put_place(const struct check *check, const struct ntrace_check_finding *finding)
{
	if (has_address(finding))
		output_printf(check->output, "%sat 0x%" PRIx64, finding->src >= 0 ? " " : "",
			      finding->address);
}

static void finding_text(const struct check *check, const struct ntrace_check_finding *finding)
{
	struct output *output = check->output;

	output_text(output, "0x");
	output_hex(output, finding->offset, 8);
	output_char(output, ' ');
	output_padded(output, ntrace_check_severity_name(finding->rule->severity), 8);
	output_padded(output, finding->rule->id, 23);
	put_subject(check, finding);
	if (finding->field >= 0)
		output_printf(output, " %s=0x%" PRIx64,
			      ntrace_field_name((enum ntrace_field)finding->field), finding->value);
	put_place(check, finding);
	if (finding->tcode >= 0 || finding->src >= 0 || has_address(finding))
		output_text(output, ": ");
	output_printf(output, "%s (%s)\n", finding->rule->text, finding->rule->section);
}

/* The later findings of a kind. */
static void more_text(const struct check *check, const struct check_kind *kind)
{
	const struct ntrace_check_finding *first = &kind->first;

	if (!first->rule || !kind->more)
		return;
	output_printf(check->output, "%" PRIu64 " more: %s ", kind->more, first->rule->id);
	put_subject(check, first);
	put_place(check, first);
	output_printf(check->output, "%sthe last at 0x",
		      first->tcode >= 0 || first->src >= 0 || has_address(first) ? ", " : "");
	output_hex(check->output, kind->last, 8);
	output_char(check->output, '\n');
}

/* Ends the findings of a file or a stream. */
static void end_kinds(struct check *check)
{
	struct check_kind kind;

	while (check_kinds_next(&check->kinds, &kind))
		more_text(check, &kind);
}

static void json_rule(struct output *output, const struct ntrace_check_rule *rule)
{
	output_printf(output,
		      "\"rule\":\"%s\",\"severity\":\"%s\",\"section\":\"%s\",\"text\":", rule->id,
		      ntrace_check_severity_name(rule->severity), rule->section);
	output_json(output, rule->text);
}

static void finding_json(const struct check *check, const struct ntrace_check_finding *finding)
{
	struct output *output = check->output;

	output_text(output, "{\"type\":\"finding\",");
	if (check->stream >= 0)
		output_printf(output, "\"stream\":%d,", check->stream);
	output_printf(output, "\"offset\":%" PRIu64 ",\"length\":%" PRIu64 ",", finding->offset,
		      finding->length);
	json_rule(output, finding->rule);
	if (finding->tcode >= 0)
		output_printf(output, ",\"tcode\":%d,\"name\":\"%s\"", finding->tcode,
			      finding_name(check, finding));
	if (finding->src >= 0)
		output_printf(output, ",\"src\":%d", finding->src);
	if (finding->field >= 0)
		output_printf(output, ",\"field\":\"%s\",\"value\":\"0x%" PRIx64 "\"",
			      ntrace_field_name((enum ntrace_field)finding->field), finding->value);
	if (has_address(finding))
		output_printf(output, ",\"address\":\"0x%" PRIx64 "\"", finding->address);
	output_text(output, "}\n");
}

/* Findings that suggest wrong parameters rather than a wrong encoder. */
static void count_sanity(struct sanity *sanity, const char *rule)
{
	static const char *const wrong[] = { "mseo-reserved", "mseo-idle", "tcode-reserved",
					     "field-missing", "field-extra" };
	static const char *const reserved[] = { "sync-reserved", "rcode-reserved",
						"evcode-reserved", "cdf-reserved" };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		sanity->wrong += !strcmp(rule, wrong[i]);
	for (i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		sanity->reserved += !strcmp(rule, reserved[i]);
}

static int take_finding(void *data, const struct ntrace_check_finding *finding)
{
	struct check *check = data;
	struct check_kind replaced;

	count_sanity(&check->sanity, finding->rule->id);

	check->counts[finding->rule->severity]++;
	if (check->json) {
		finding_json(check, finding);
	} else if (check->all) {
		finding_text(check, finding);
	} else if (check_kinds_take(&check->kinds, finding, &replaced)) {
		more_text(check, &replaced);
		finding_text(check, finding);
	}
	return check->output->error;
}

static void show_progress(void *data, uint64_t offset)
{
	struct check *check = data;

	progress_update(&check->progress, offset);
}

static int list_rules(const struct check *check)
{
	struct output *output = check->output;
	const struct ntrace_check_rule *rules;
	size_t count, i;

	rules = ntrace_check_rules(&count);
	for (i = 0; i < count; i++) {
		if (check->json) {
			output_char(output, '{');
			json_rule(output, &rules[i]);
			output_printf(output, ",\"needs_program\":%s}\n",
				      rules[i].flow ? "true" : "false");
			continue;
		}
		output_padded(output, rules[i].id, 24);
		output_padded(output, rules[i].section, 33);
		output_padded(output, ntrace_check_severity_name(rules[i].severity), 9);
		output_text(output, rules[i].text);
		output_text(output, rules[i].flow ? " [program]\n" : "\n");
	}
	return output_finish(output, EXIT_OK);
}

/* Passes all bytes of an open trace to a checker. */
static int feed(struct check *check, struct ntrace_check *checker)
{
	const uint8_t *data;
	uint64_t offset = 0;
	size_t size;
	int error;

	do {
		error = trace_read(&check->trace, &data, &size);
		if (error)
			return error;
		if (check->trace.lost)
			error = ntrace_check_break(checker);
		show_progress(check, offset);
		offset += size;
		if (!error)
			error = ntrace_check_feed(checker, data, size);
		if (error)
			return error < 0 ? fail("%s", ntrace_strerror(error)) : EXIT_OK;
	} while (size);
	ntrace_check_end(checker);
	return EXIT_OK;
}

/* Checks the open trace, and closes it. */
static int check_trace(struct check *check, struct ntrace_check **checker)
{
	int error = EXIT_OK;

	check->config.finding = take_finding;
	check->config.progress = show_progress;
	check->config.data = check;
	if (ntrace_check_new(checker, &check->config))
		error = fail("the stream parameters contradict each other");
	progress_begin(&check->progress, "check", check->trace.size);
	if (!error)
		error = feed(check, *checker);
	progress_end(&check->progress);
	if (*checker)
		check->messages += ntrace_check_messages(*checker);
	check->lossy |= check->trace.places;
	trace_close(&check->trace);
	return error;
}

static int check_file(struct check *check, const char *path)
{
	struct ntrace_check *checker = NULL;
	struct ntrace_space *space = NULL;
	int error = source_is_raw(&check->source);

	if (!error && check->source.recording.programs.count)
		error = source_map(&check->source, &space);
	check->config.params = &check->source.params;
	check->config.space = space;
	if (!error)
		error = trace_open(&check->trace, path, &check->source.format);
	if (!error)
		error = check_trace(check, &checker);
	ntrace_check_free(checker);
	end_kinds(check);
	if (space)
		ntrace_space_put(space);
	check->sanity.messages = check->messages + check->sanity.wrong;
	/* The checker does not report the number of fields. */
	check->sanity.coded = check->messages / CODED_PART;
	if (!error)
		sanity_warn(&check->sanity, check->trace.name);
	return error;
}

/* The checker, and the SRC of the stream that a session decodes. */
struct session_check {
	struct check *check;
	struct ntrace_check *checker;
	int src;
	unsigned int events;
};

static int session_event(void *data, const struct ntrace_session_event *event)
{
	struct session_check *session = data;

	if (!(++session->events & 0x3fff))
		progress_update(&session->check->progress, event->flow->offset);
	return ntrace_check_flow_event(session->checker, session->src, event->flow);
}

/* Checks the messages first, then the code, whose address spaces only the session knows. */
static int check_stream(struct check *check, struct recording *recording, unsigned int index)
{
	const struct ntrace_stream *stream = ntrace_session_stream(recording->session, index);
	struct session_check session = {
		.check = check,
		.src = stream->params->src_bits && stream->src != NTRACE_SRC_ANY ?
			       (int)stream->src :
			       -1,
	};
	int error, reason;

	check->stream = (int)index;
	check->config.params = stream->params;
	if (!check->json)
		output_printf(check->output, "# stream %u: %s, CPU %u\n", index,
			      recording_stream_name(recording, index), stream->cpu);
	error = trace_open_stream(&check->trace, recording->session, stream);
	if (!error)
		error = check_trace(check, &session.checker);
	progress_begin(&check->progress, "check", stream->bytes);
	recording->progress = &check->progress;
	if (!error && !check->output->error)
		error = recording_decode(recording, NULL,
					 &(struct ntrace_decode_options){ .stream = index,
									  .event = session_event,
									  .data = &session },
					 NULL);
	reason = errno;
	recording->progress = NULL;
	progress_end(&check->progress);
	ntrace_check_free(session.checker);
	end_kinds(check);
	errno = reason;
	if (error < 0)
		return path_failed(recording_stream_name(recording, index), error);
	return check->output->error ? EXIT_OK : error;
}

static int check_recording(struct check *check, const char *path)
{
	struct recording recording;
	unsigned int i;
	int error = source_open_recording(&check->source, &recording, path);

	if (error)
		return error;
	for (i = 0; i < ntrace_session_streams(recording.session) && !error; i++)
		if (source_wants(&check->source, i))
			error = check_stream(check, &recording, i);
	recording_close(&recording);
	return error;
}

/* Parses "3" or "0-3" at *@text and advances it. Return: false if there is none. */
static bool take_range(struct check *check, const char **text)
{
	uint64_t first, last;
	const char *end;

	if (!number_parse(*text, &end, 10, &first))
		return false;
	last = first;
	if (*end == '-' && !number_parse(end + 1, &end, 10, &last))
		return false;
	if (first > last || last >> NTRACE_SRC_BITS_MAX)
		return false;
	for (; first <= last; first++)
		check->config.sources[first / 64] |= UINT64_C(1) << first % 64;
	*text = end;
	return true;
}

/* "0-3,8" */
static int take_sources(struct check *check, const char *text)
{
	const char *at = text;

	while (take_range(check, &at)) {
		if (!*at)
			return EXIT_OK;
		if (*at++ != ',')
			break;
	}
	return usage_error(check->source.command, "option --sources: '%s' is not a list like 0-3,8",
			   text);
}

static int take_option(struct check *check, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_SOURCES:
		return take_sources(check, options->value);
	case OPTION_ICNT_BITS:
		if (!option_number(options, "icnt-bits", 1, 64, &number))
			return EXIT_USAGE;
		check->config.icnt_bits = (unsigned int)number;
		return EXIT_OK;
	case OPTION_WRAPPED:
		check->config.wrapped = true;
		return EXIT_OK;
	case OPTION_ALL:
		check->all = true;
		return EXIT_OK;
	case OPTION_LIST:
		check->list = true;
		return EXIT_OK;
	case OPTION_JSON:
		check->json = true;
		return EXIT_OK;
	default:
		return source_option(&check->source, options, option);
	}
}

static void put_summary(const struct check *check)
{
	const char *format = check->json ? "{\"type\":\"summary\",\"messages\":%" PRIu64
					   ",\"errors\":%" PRIu64 ",\"warnings\":%" PRIu64
					   ",\"infos\":%" PRIu64 "}\n" :
					   "%" PRIu64 " messages: %" PRIu64 " errors, %" PRIu64
					   " warnings, %" PRIu64 " infos\n";

	output_printf(check->output, format, check->messages, check->counts[NTRACE_CHECK_ERROR],
		      check->counts[NTRACE_CHECK_WARNING], check->counts[NTRACE_CHECK_INFO]);
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct check check;
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	check.output = &output;
	check.stream = -1;
	source_init(&check.source, command);
	ntrace_check_config_init(&check.config);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&check, &options, option);
		if (error)
			return error == EXIT_SHOWN ? error : EXIT_UNCHECKED;
	}
	if (check.list && argc == options.index)
		return list_rules(&check) ? EXIT_UNCHECKED : EXIT_OK;
	if (check.list)
		return usage_error(command, "--list takes no trace");
	if (argc - options.index != 1)
		return inputs_error(command, "trace file or recording", argv + options.index,
				    argc - options.index);
	error = is_recording(argv[options.index]) ? check_recording(&check, argv[options.index]) :
						    check_file(&check, argv[options.index]);
	if (!error)
		put_summary(&check);
	if (!error && !check.messages && !check.lossy && !check.counts[NTRACE_CHECK_ERROR] &&
	    !check.counts[NTRACE_CHECK_WARNING])
		error = fail_without_messages(argv[options.index]);
	if (output_finish(&output, error))
		return EXIT_UNCHECKED;
	if (check.counts[NTRACE_CHECK_ERROR] || check.counts[NTRACE_CHECK_WARNING])
		return EXIT_FINDINGS;
	return check.lossy ? EXIT_GAPS : EXIT_OK;
}

const struct command command_check = {
	.name = "check",
	.summary = "check a trace against the specification",
	.usage = "[OPTIONS] TRACE | RECORDING\n"
		 "       ntrace check --list",
	.details = "Prints a line for each violation: offset, severity, rule, message, text of the "
		   "rule and\n"
		   "its section; then the totals. Violations of one rule by one kind of message "
		   "are one\n"
		   "line, and the number of the others follows. With --elf the program flow is "
		   "checked as well.\n"
		   "TRACE may be - for standard input.\n"
		   "\n"
		   "exit status: 0 no finding (infos do not count), 1 findings, 2 could not be "
		   "checked,\n"
		   "3 no finding, but bytes are missing (--framing).\n"
		   "\n"
		   "examples:\n"
		   "  ntrace check a.nex                            # messages only\n"
		   "  ntrace check --elf prog.elf a.nex             # also check the program flow\n"
		   "  ntrace check --framing coresight:0x10 etr.bin\n"
		   "  ntrace check --params srcbits=2 --sources 0,1 soc.nex\n"
		   "  ntrace check --json a.nex | jq -r .rule | sort | uniq -c\n"
		   "  ntrace check --list                           # the rules\n",
	.options = options_table,
	.run = run,
};
