// SPDX-License-Identifier: GPL-2.0-only
/* Opens the inputs of commands and explains why an input cannot be used. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/counts_file.h>

#include "input.h"
#include "nearest.h"
#include "process_limits.h"
#include "trace_id.h"
#include "ui.h"

/* Bounded: a damaged recording must not fill memory with notes. */
#define NOTES_MAX 1000

#define PERF_MAGIC "PERFILE2"
#define PERF_MAGIC_SIZE 8

#define STANDARD_INPUT "standard input"

bool is_directory(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

int check_directory(const char *option, const char *path)
{
	if (is_directory(path))
		return EXIT_OK;
	return fail("%s: %s (option --%s)", path,
		    access(path, F_OK) ? strerror(errno) : strerror(ENOTDIR), option);
}

/* Whether a regular file begins with these @size bytes, 8 at most. */
static bool begins_with(const char *path, const char *wanted, size_t size)
{
	struct stat status;
	char magic[8] = "";
	int fd;

	/* Not pipes: the writer would lose its reader. */
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (pread(fd, magic, size, 0) != (ssize_t)size)
		magic[0] = '\0';
	close(fd);
	return !memcmp(magic, wanted, size);
}

bool is_recording(const char *path)
{
	return is_directory(path) || begins_with(path, PERF_MAGIC, PERF_MAGIC_SIZE);
}

bool is_counts_file(const char *path)
{
	return begins_with(path, NTRACE_COUNTS_MAGIC, 8);
}

bool is_elf_file(const char *path)
{
	return begins_with(path, ELFMAG, SELFMAG);
}

int inputs_error(const struct command *command, const char *what, char **inputs, int count)
{
	for (int i = 0; i < count; i++)
		if (is_elf_file(inputs[i]))
			return usage_error(command, "one %s is needed: %s is a program: --elf %s",
					   what, inputs[i], inputs[i]);
	return usage_error(command, "one %s is needed", what);
}

const char *other_format(const uint8_t *data, size_t size)
{
	static const struct {
		const char *magic;
		size_t size;
		const char *what;
	} formats[] = {
		{ ELFMAG, SELFMAG, "an ELF file" },
		{ PERF_MAGIC, PERF_MAGIC_SIZE, "a perf.data file" },
		{ "2ELIFREP", 8, "a perf.data file" },
		{ NTRACE_COUNTS_MAGIC, 8, "a counts file, for ntrace report, export and merge" },
		{ "\037\213", 2, "compressed by gzip" },
		{ "\375"
		  "7zXZ",
		  5, "compressed by xz" },
	};
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (size >= formats[i].size && !memcmp(data, formats[i].magic, formats[i].size))
			return formats[i].what;
	return NULL;
}

/* The same of a file; NULL also if it cannot be read, which is reported elsewhere. */
static const char *other_format_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t magic[FORMAT_MAGIC_SIZE];
	ssize_t got;

	if (fd < 0)
		return NULL;
	got = pread(fd, magic, sizeof(magic), 0);
	close(fd);
	return got > 0 ? other_format(magic, (size_t)got) : NULL;
}

static int params_help(void)
{
	const struct ntrace_params_key *keys;
	size_t count, i;

	keys = ntrace_params_keys(&count);
	printf("--params KEY=VALUE,...: parameters that are not in the trace\n"
	       "\n"
	       "  %-9s  %-26s  %-11s  %s\n",
	       "key", "value", "default", "meaning");
	for (i = 0; i < count; i++)
		printf("  %-9s  %-26s  %-11s  %s\n", keys[i].name, keys[i].values, keys[i].without,
		       keys[i].meaning);
	return EXIT_SHOWN;
}

/* Reports the setting that cannot be used, and the allowed values. */
static int bad_params(const struct command *command, const char *bad)
{
	int length = (int)strcspn(bad, ","), name = (int)strcspn(bad, "=,");
	struct nearest nearest = nearest_to(bad, (size_t)name);
	const struct ntrace_params_key *keys;
	size_t count, i;

	keys = ntrace_params_keys(&count);
	for (i = 0; i < count; i++) {
		if (!strncmp(keys[i].name, bad, (size_t)name) && !keys[i].name[name])
			return usage_error(command, "option --params: cannot use '%.*s': %s is %s",
					   length, bad, keys[i].name, keys[i].values);
		nearest_offer(&nearest, keys[i].name);
	}
	if (nearest.name)
		return usage_error(command,
				   "option --params: cannot use '%.*s': no such key: did you mean "
				   "%s? --params help lists them",
				   length, bad, nearest.name);
	return usage_error(command,
			   "option --params: cannot use '%.*s': no such key; --params help lists "
			   "them",
			   length, bad);
}

int input_params(const struct command *command, struct ntrace_params *params, const char *text)
{
	const char *bad = text;

	if (!strcmp(text, "help"))
		return params_help();
	return ntrace_params_parse(params, text, &bad) ? bad_params(command, bad) : EXIT_OK;
}

int add_params(const struct command *command, const char **params, const char *text)
{
	struct ntrace_params checked;
	char *both;
	int error;

	ntrace_params_init(&checked);
	error = input_params(command, &checked, text);
	if (error)
		return error;
	if (asprintf(&both, "%s%s%s", *params ? *params : "", *params ? "," : "", text) < 0)
		return fail("out of memory");
	*params = both;
	return EXIT_OK;
}

int recording_option(struct recording_options *recording, const struct options *options, int option)
{
	switch (option) {
	case OPTION_INPUT_ELF:
		return programs_add(&recording->programs, options->value, PROGRAM_ELF);
	case OPTION_INPUT_RAW:
		return programs_add(&recording->programs, options->value, PROGRAM_RAW);
	case OPTION_INPUT_IMAGES:
		return programs_add(&recording->programs, options->value, PROGRAM_IMAGES);
	case OPTION_INPUT_PARAMS:
		return add_params(options->command, &recording->params, options->value);
	case OPTION_INPUT_SYSROOT:
		recording->sysroot = options->value;
		return EXIT_OK;
	case OPTION_INPUT_FIRMWARE:
		recording->firmware = options->value;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

static int compare_notes(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void leave_note(void *note)
{
	(void)note;
}

void recording_note(struct recording *recording, const char *text)
{
	char **notes, *note;

	if (tfind(text, &recording->note_tree, compare_notes))
		return;
	if (recording->note_count == NOTES_MAX) {
		recording->notes_dropped++;
		return;
	}
	/* While a recording is being opened, a note may explain the error that follows. */
	if (!recording->quiet && recording->session)
		warn("%s", text);
	notes = realloc(recording->notes, (recording->note_count + 2) * sizeof(*notes));
	if (!notes)
		return;
	recording->notes = notes;
	note = strdup(text);
	if (note && tsearch(note, &recording->note_tree, compare_notes)) {
		notes[recording->note_count++] = note;
		notes[recording->note_count] = NULL;
	} else {
		free(note);
	}
}

static void take_note(void *data, const char *text)
{
	char *note = strdup(text);

	if (!note)
		return;
	ui_replace_path(note);
	recording_note(data, note);
	free(note);
}

/* The trace may be long and have no event. */
static int take_bytes(void *data, unsigned int stream, uint64_t bytes)
{
	const struct recording *recording = data;
	uint64_t sum = 0;

	if (!recording->progress)
		return 0;
	recording->decoded[stream] = bytes;
	for (unsigned int i = 0; i < ntrace_session_streams(recording->session); i++)
		sum += recording->decoded[i];
	progress_update(recording->progress, sum);
	return 0;
}

/* Shows how much of the streams that @options select is decoded; NULL: of all. */
static void begin_progress(struct recording *recording, struct progress *progress, const char *what,
			   const struct ntrace_decode_options *options)
{
	unsigned int streams = ntrace_session_streams(recording->session), i;
	uint64_t bytes = 0;

	for (i = 0; i < streams; i++) {
		recording->decoded[i] = 0;
		if (options && options->stream != NTRACE_ALL_STREAMS && options->stream != i)
			continue;
		if (!options || !options->wants || options->wants(options->data, i))
			bytes += ntrace_session_bytes(recording->session, i);
	}
	progress_begin(progress, what, bytes);
	recording->progress = progress;
}

int recording_index(struct recording *recording, const char *path,
		    struct ntrace_index_counts *counts)
{
	struct progress progress;
	int error, reason;

	begin_progress(recording, &progress, "index", NULL);
	error = ntrace_session_index(recording->session, 0, counts);
	reason = errno;
	recording->progress = NULL;
	progress_end(&progress);
	errno = reason;
	return error ? recording_error(path, error, "") : EXIT_OK;
}

/* Makes the part ready to be decoded. Return: EXIT_OK, or EXIT_FAILED after an error message. */
static int open_range(struct recording *recording, const char *path)
{
	const struct ntrace_session *session = recording->session;
	unsigned int i;

	if (!recording->range.given && !recording->range.around)
		return EXIT_OK;
	if (ntrace_session_has_samples(session))
		return fail("%s: contains samples but no trace: --offset, --time and --around "
			    "apply to trace only",
			    path);
	/* Otherwise the caller reports that there is no such stream. */
	if (recording->range.around && recording->range.only <= ntrace_session_streams(session)) {
		int error = recording_around(recording, path);

		if (error)
			return error;
	}
	for (i = 0; recording->range.range.by_time; i++) {
		if (i == ntrace_session_streams(session))
			return fail("%s: no timestamps for --time: the parameter tsbits is 0, and "
				    "must be 1 to 64 if the trace has them: use --offset",
				    path);
		if (ntrace_session_stream(session, i)->params->timestamp_bits)
			break;
	}
	return recording->range.no_index ? EXIT_OK : recording_index(recording, path, NULL);
}

/* Reads the program headers up to the first loadable segment. */
int program_first_address(const char *path, uint64_t *address)
{
	unsigned char header[sizeof(Elf64_Ehdr)];
	const Elf64_Ehdr *elf64 = (const void *)header;
	const Elf32_Ehdr *elf32 = (const void *)header;
	bool wide, found = false;
	unsigned int i, count;
	int fd, error;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail("%s: %s", path, strerror(errno));
	if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header, ELFMAG, SELFMAG) || header[EI_DATA] != ELFDATA2LSB) {
		close(fd);
		return fail("%s: not an ELF file", path);
	}
	wide = header[EI_CLASS] == ELFCLASS64;
	count = wide ? elf64->e_phnum : elf32->e_phnum;
	for (i = 0; i < count; i++) {
		Elf64_Phdr phdr64;
		Elf32_Phdr phdr32;
		uint64_t start;
		ssize_t got;

		got = wide ? pread(fd, &phdr64, sizeof(phdr64),
				   (off_t)(elf64->e_phoff + i * sizeof(phdr64))) :
			     pread(fd, &phdr32, sizeof(phdr32),
				   (off_t)(elf32->e_phoff + i * sizeof(phdr32)));
		if (got != (ssize_t)(wide ? sizeof(phdr64) : sizeof(phdr32)))
			break;
		if ((wide ? phdr64.p_type : phdr32.p_type) != PT_LOAD)
			continue;
		start = wide ? phdr64.p_vaddr : phdr32.p_vaddr;
		if (!found || start < *address)
			*address = start;
		found = true;
	}
	error = found ? EXIT_OK : fail("%s: the ELF file has no loadable segment", path);
	close(fd);
	return error;
}

int elf_argument(const struct command *command, const char *option, const char *text, char **path,
		 uint64_t *bias)
{
	const char *at = strrchr(text, '@');
	uint64_t load = 0, linked = 0;
	const char *end;
	int error;

	*bias = 0;
	if (at && at[1] && access(text, F_OK)) {
		if (!number_parse(at + 1, &end, 0, &load) || *end || at == text)
			return usage_error(command, "option --%s: '%s' is not an address", option,
					   at + 1);
	} else {
		at = NULL;
	}
	*path = at ? strndup(text, (size_t)(at - text)) : strdup(text);
	if (!*path)
		return fail("out of memory");
	if (!at)
		return EXIT_OK;
	error = program_first_address(*path, &linked);
	if (error) {
		free(*path);
		return error;
	}
	*bias = load - linked;
	return EXIT_OK;
}

int recording_error(const char *path, int error, const char *reason)
{
	/* A note of the library may be a whole sentence. */
	if (error == NTRACE_ERR_FORMAT && strstr(reason, " is not a recording"))
		return fail("%s", reason);
	if (error == NTRACE_ERR_FORMAT)
		return fail("%s: not a recording%s%s", path, *reason ? ": " : "", reason);
	if (error == NTRACE_ERR_UNSUPPORTED && *reason)
		return fail("%s: %s", path, reason);
	if (error == NTRACE_ERR_IO && *reason && !is_directory(path))
		return fail("%s", reason);
	if (error == NTRACE_ERR_IO && errno == ENOENT)
		return fail("%s: not a recording: a file is missing", path);
	return fail("%s: %s", path, error_text(error));
}

/*
 * Saves standard input in a file without a name, because perf.data files and raw traces are read in any order.
 * @raw: it may be a raw trace
 * *@path: leads to it; owned by the caller
 */
static int save_input(FILE **copy, char **path, bool raw)
{
	static char bytes[1 << 16];
	size_t size = 0;
	ssize_t got = 0;

	if (isatty(STDIN_FILENO))
		return fail(
			"standard input is a terminal: a perf.data file or a trace is expected");
	/* What cannot be read need not fit into the file system. */
	while (size < PERF_MAGIC_SIZE &&
	       (got = read(STDIN_FILENO, bytes + size, sizeof(bytes) - size)) > 0)
		size += (size_t)got;
	if (got < 0)
		return fail("standard input: %s", strerror(errno));
	if (!raw && (size < PERF_MAGIC_SIZE || memcmp(bytes, PERF_MAGIC, PERF_MAGIC_SIZE)))
		return fail("standard input is not a perf.data file");
	*copy = tmpfile();
	if (!*copy || fwrite(bytes, 1, size, *copy) != size)
		return fail("temporary file for standard input: %s", strerror(errno));
	while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0 &&
	       fwrite(bytes, 1, (size_t)got, *copy) == (size_t)got)
		;
	if (got < 0)
		return fail("standard input: %s", strerror(errno));
	if (got || fflush(*copy))
		return fail("temporary file for standard input: %s", strerror(errno));
	if (asprintf(path, "/proc/self/fd/%d", fileno(*copy)) < 0)
		return fail("out of memory");
	ui_rename(*path, STANDARD_INPUT);
	return EXIT_OK;
}

static bool is_pipe(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISFIFO(status.st_mode);
}

/*
 * Parameters of a raw trace: those given come last and count. The program determines XLEN; memory images do
 * not: RV64 is assumed.
 */
static char *raw_params(const struct program_facts *facts, const char *given)
{
	struct ntrace_params params;
	char *text;

	ntrace_params_init(&params);
	if (facts->elf)
		params.xlen = facts->isa.xlen;
	ntrace_params_parse(&params, given, NULL);
	if (asprintf(&text, "xlen=%u%s%s%s", params.xlen,
		     facts->raw && params.xlen == 32 && !params.isa ? ",isa=rv32gc" : "",
		     *given ? "," : "", given) < 0)
		return NULL;
	return text;
}

/* Reads the programs of a raw trace. @text: its parameters, to be freed; @session: gets both */
static int open_programs(const struct command *command, const char *path,
			 const struct recording_options *options,
			 struct ntrace_session_options *session, char **text)
{
	struct program_facts facts;
	const char *other;
	int error;

	if (is_recording(path))
		return usage_error(command,
				   "--elf, --raw and --images apply to raw traces only, not "
				   "to directories: a recording contains its programs");
	if (options->sysroot || options->firmware)
		return usage_error(command, "--sysroot and --firmware apply to recordings only");
	other = other_format_of(path);
	if (other)
		return fail("%s: not a trace: the file is %s", path, other);
	error = programs_map(&options->programs, command, &session->code, &facts);
	if (error)
		return error;
	*text = raw_params(&facts, options->params ? options->params : "");
	session->params = *text;
	return *text ? EXIT_OK : fail("out of memory");
}

/* A stream that is another one's copy counts twice. Without timestamps, harts may have executed the same code. */
static void check_copies(struct recording *recording)
{
	unsigned int first, second;
	char *text;

	if (!trace_find_copy(recording->session, &first, &second))
		return;
	recording->doubled =
		ntrace_session_stream(recording->session, first)->params->timestamp_bits;
	if (asprintf(&text, "streams %u and %u have the same trace, %s and %s: %s", first, second,
		     ntrace_session_stream(recording->session, first)->file,
		     ntrace_session_stream(recording->session, second)->file,
		     recording->doubled ? "one is a copy, and what it executed appears twice" :
					  "two harts that did the same, or one is a copy") < 0)
		return;
	recording_note(recording, text);
	free(text);
}

static int open_path(struct recording *recording, const struct command *command, const char *path,
		     const struct recording_options *options)
{
	struct ntrace_session_options session = {
		.size = sizeof(session),
		.sysroot = options->sysroot,
		.note = take_note,
		.note_data = recording,
		.progress = take_bytes,
		.progress_data = recording,
		.params = options->params,
		.live = options->live,
	};
	char *firmware = NULL, *params = NULL;
	const char *other;
	size_t i;
	int error;

	*recording = (struct recording){ .quiet = options->quiet,
					 .range = options->range,
					 .raw = options->programs.count > 0,
					 .file = is_directory(path) ? NULL : path };
	if (options->range.around && options->range.given)
		return usage_error(command, "--around excludes --offset and --time");
	if (access(path, F_OK))
		return fail("%s: %s", path, strerror(errno));
	if (is_pipe(path))
		return fail("%s is a pipe: give what it carries on standard input, as '-', or save "
			    "it in a file",
			    path);
	if (!is_directory(path) && !options->samples && !options->traces)
		return fail("%s: not a recording: not a directory", path);
	other = is_recording(path) || options->programs.count ? NULL : other_format_of(path);
	if (other)
		return fail("%s: not a recording: the file is %s", path, other);
	if (!is_recording(path) && !options->programs.count)
		return fail("%s: neither a recording nor a perf.data file: a raw trace needs its "
			    "program: --elf FILE",
			    path);
	if (is_directory(path) && options->params)
		return usage_error(command, "--params: a recording has its own parameters");
	error = options->sysroot ? check_directory("sysroot", options->sysroot) : EXIT_OK;
	if (error)
		return error;
	if (options->firmware) {
		error = elf_argument(command, "firmware", options->firmware, &firmware,
				     &session.firmware_bias);
		if (error)
			return error;
		session.firmware = firmware;
	}
	if (options->programs.count) {
		error = open_programs(command, path, options, &session, &params);
		if (error) {
			ntrace_space_put(session.code);
			free(firmware);
			return error;
		}
	}
	errno = 0;
	error = ntrace_session_open(&recording->session, path, &session);
	free(firmware);
	free(params);
	ntrace_space_put(session.code);
	if (!error) {
		recording->decoded = calloc(ntrace_session_streams(recording->session) + 1u,
					    sizeof(*recording->decoded));
		if (!recording->decoded) {
			recording_close(recording);
			return fail("out of memory");
		}
	}
	if (!error && ntrace_session_has_samples(recording->session) &&
	    (!options->samples || options->params)) {
		recording_close(recording);
		return fail(
			options->samples ?
				"%s: contains samples but no trace: --params applies to trace "
				"only" :
				"%s: contains samples but no trace: use ntrace report or export",
			path);
	}
	if (!error) {
		for (i = 0; !options->quiet && i < recording->note_count; i++)
			warn("%s", recording->notes[i]);
		/* The streams may be open at once. */
		error = limits_check(ntrace_session_streams(recording->session));
		if (!error && !options->live)
			check_copies(recording);
		if (!error)
			error = open_range(recording, path);
		if (error)
			recording_close(recording);
		return error;
	}
	recording->session = NULL;
	recording_error(path, error,
			recording->note_count ? recording->notes[recording->note_count - 1] : "");
	recording_close(recording);
	return EXIT_FAILED;
}

int recording_open_core(struct recording *recording, const char *path)
{
	char text[600];
	const char *reason;
	int error = ntrace_core_open(&recording->core, path, &reason);

	if (error)
		return fail("%s: %s", path,
			    reason		   ? reason :
			    error == NTRACE_ERR_IO ? strerror(errno) :
						     ntrace_strerror(error));
	error = ntrace_core_check(recording->core, recording->session, text, sizeof(text));
	if (error)
		return fail("%s: %s", path, error > 0 ? text : ntrace_strerror(error));
	return EXIT_OK;
}

int recording_open(struct recording *recording, const struct command *command, const char *path,
		   const struct recording_options *options)
{
	FILE *copy = NULL;
	char *saved = NULL;
	int error;

	if (strcmp(path, "-") || !(options->samples || options->traces))
		return open_path(recording, command, path, options);
	*recording = (struct recording){ 0 };
	error = save_input(&copy, &saved, options->programs.count);
	if (!error && saved)
		error = open_path(recording, command, saved, options);
	/* The caller does not close what was not opened. */
	if (error) {
		if (copy)
			fclose(copy);
		free(saved);
		return error;
	}
	recording->file = STANDARD_INPUT;
	recording->copy = copy;
	recording->copy_path = saved;
	return EXIT_OK;
}

void recording_close(struct recording *recording)
{
	ntrace_core_free(recording->core);
	size_t i;

	if (recording->session)
		ntrace_session_close(recording->session);
	tdestroy(recording->note_tree, leave_note);
	for (i = 0; i < recording->note_count; i++)
		free(recording->notes[i]);
	free(recording->notes);
	free(recording->decoded);
	if (recording->copy)
		fclose(recording->copy);
	free(recording->copy_path);
	*recording = (struct recording){ 0 };
}

const char *recording_stream_name(const struct recording *recording, unsigned int stream)
{
	return recording->file ? recording->file :
				 ntrace_session_stream(recording->session, stream)->file;
}

bool recording_shares_file(const struct ntrace_session *session, unsigned int stream)
{
	const char *file = ntrace_session_stream(session, stream)->file;
	unsigned int i;

	for (i = 0; i < stream; i++)
		if (!strcmp(ntrace_session_stream(session, i)->file, file))
			return true;
	return false;
}

void recording_sums(const struct recording *recording, struct recording_totals *totals)
{
	const struct ntrace_session *session = recording->session;
	unsigned int i;

	*totals = (struct recording_totals){
		.losses = { .cpu = NTRACE_STREAM_NO_CPU, .lost_exact = true },
	};
	for (i = 0; i < ntrace_session_streams(session); i++) {
		const struct ntrace_stream *stream = ntrace_session_stream(session, i);
		uint64_t bytes;

		if (recording_shares_file(session, i))
			continue;
		bytes = ntrace_session_bytes(session, i);
		totals->bytes += bytes;
		/* What an unfinished recording states is the size of its files, which may be packed. */
		totals->recorded += ntrace_session_recording(session)->unfinished ? bytes :
										    stream->bytes;
		ntrace_stream_add_losses(&totals->losses, stream);
	}
}

bool recording_is_whole(const struct recording_totals *totals)
{
	return !totals->gaps && !ntrace_stream_losses(&totals->losses, NULL, 0);
}

void recording_say_losses(const struct recording_totals *totals, const char *effect)
{
	char number[UI_NUMBER_SIZE], text[NTRACE_STREAM_LOSSES_SIZE];

	if (recording_is_whole(totals))
		return;
	if (totals->gaps)
		snprintf(text, sizeof(text), "the trace has %s gaps and errors",
			 ui_number(number, totals->gaps));
	else
		ntrace_stream_losses(&totals->losses, text, sizeof(text));
	warn("%s: %s", text, effect);
}

int recording_decode(struct recording *recording, const char *what,
		     const struct ntrace_decode_options *options, struct recording_totals *totals)
{
	struct ntrace_decode_options full = *options;
	struct ntrace_flow_stats stats = { 0 };
	struct progress progress;
	int error;

	full.size = sizeof(full);
	full.stats = &stats;
	if (full.stream == NTRACE_ALL_STREAMS && recording->range.only)
		full.stream = recording->range.only - 1;
	if (recording->range.given && !full.range)
		full.range = &recording->range.range;
	if (what)
		begin_progress(recording, &progress, what, &full);
	error = ntrace_session_decode(recording->session, &full);
	if (what) {
		recording->progress = NULL;
		progress_end(&progress);
	}
	if (!totals)
		return error;
	recording_sums(recording, totals);
	totals->gaps = stats.gaps + stats.errors;
	return error;
}
