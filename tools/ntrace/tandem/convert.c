// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace tandem convert: a tandem trace from a log of Spike (spike -l --log-commits) or QEMU
 * (-d in_asm,cpu,nochain with one-insn-per-tb=on), from the recording of a trace ingress port
 * (from_ingress.c), or from what a core reports through RVFI (from_rvfi.c). What they do not tell is
 * left out: that is a partial trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "convert.h"

void convert_field(struct convert *convert, const struct ntrace_tandem_field *field)
{
	uint8_t bytes[NTRACE_TANDEM_FIELD_MAX];
	int length = ntrace_tandem_write(&convert->options->params, field, bytes);

	if (length < 0)
		convert->refused = true;
	else
		output_bytes(convert->file.output, (const char *)bytes, (size_t)length);
}

void convert_put(struct convert *convert, unsigned int type, unsigned int id, uint64_t value)
{
	struct ntrace_tandem_field field = { .type = (uint8_t)type,
					     .id = (uint16_t)id,
					     .value = value };

	convert_field(convert, &field);
}

void convert_add(struct convert *convert, unsigned int type, unsigned int id, uint64_t value)
{
	if (convert->count == sizeof(convert->fields) / sizeof(convert->fields[0])) {
		convert->refused = true;
		return;
	}
	convert->fields[convert->count++] = (struct ntrace_tandem_field){ .type = (uint8_t)type,
									  .id = (uint16_t)id,
									  .value = value };
}

void convert_start(struct convert *convert, uint64_t pc)
{
	convert_put(convert, NTRACE_TANDEM_BEGIN, 0, 0);
	convert_put(convert, NTRACE_TANDEM_INIT, 0, 0);
	convert_put(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, pc);
}

void convert_finish(struct convert *convert, bool known, uint64_t next)
{
	if (!convert->held)
		return;
	convert_put(convert, NTRACE_TANDEM_BEGIN, 0, 0);
	if (known && convert->insn_bytes && next == convert->pc + convert->insn_bytes)
		convert_put(convert, NTRACE_TANDEM_NEXT_PC, 0, 0);
	else if (known)
		convert_put(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, next);
	if (convert->insn_bytes)
		convert_put(convert,
			    convert->insn_bytes == 2 ? NTRACE_TANDEM_INSN16 : NTRACE_TANDEM_INSN32,
			    0, convert->insn);
	else
		convert->unknown++;
	for (unsigned int i = 0; i < convert->count; i++)
		convert_field(convert, &convert->fields[i]);
	convert_put(convert, NTRACE_TANDEM_END, 0, 0);
	convert->count = 0;
	convert->held = false;
	convert->groups++;
}

static int bad_line(const struct convert *convert, const char *why)
{
	return fail("%s: line %" PRIu64 ": %s", convert->options->path, convert->line, why);
}

static bool take_hex(char **at, uint64_t *value, unsigned int *digits)
{
	char *end;

	errno = 0;
	*value = strtoull(*at, &end, 16);
	if (end == *at || errno)
		return false;
	*digits = (unsigned int)(end - *at) - (end - *at > 1 && (*at)[1] == 'x' ? 2 : 0);
	*at = end;
	return true;
}

/* ---- Spike ---- */

/* Number of a name in a commit log: x5, f3, c768_mstatus; vectors (v0, e32) have none. */
static int spike_register(const char *name)
{
	char *end;
	unsigned long number;

	if (name[0] == 'c') {
		number = strtoul(name + 1, &end, 10);
		return end != name + 1 && *end == '_' && number < 4096 ? (int)number : -1;
	}
	return name[0] == 'x' || name[0] == 'f' ? ntrace_tandem_register_number(name) : -1;
}

/* "mem ADDRESS [DATA]": a load has no data. The width of the data is that of the store. */
static int spike_memory(struct convert *convert, char **words)
{
	char *text = strtok_r(NULL, " ", words), *data;
	unsigned int digits, id;
	uint64_t value;

	if (!text || !take_hex(&text, &value, &digits))
		return bad_line(convert, "no address after mem");
	convert_add(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_EADDR, value);
	data = *words + strspn(*words, " ");
	if (data[0] != '0')
		return EXIT_OK;
	data = strtok_r(NULL, " ", words);
	if (!take_hex(&data, &value, &digits) ||
	    (digits != 2 && digits != 4 && digits != 8 && digits != 16))
		return bad_line(convert, "store data of no size");
	id = digits == 2  ? NTRACE_TANDEM_STATE_STORE8 :
	     digits == 4  ? NTRACE_TANDEM_STATE_STORE16 :
	     digits == 8  ? NTRACE_TANDEM_STATE_STORE32 :
			   NTRACE_TANDEM_STATE_STORE64;
	convert_add(convert, NTRACE_TANDEM_STATE, id, value);
	return EXIT_OK;
}

static int spike_effects(struct convert *convert, char *text)
{
	char *words = NULL, *word = strtok_r(text, " ", &words), *value_text;
	unsigned int digits;
	uint64_t value;
	int number, error;

	for (; word; word = strtok_r(NULL, " ", &words)) {
		if (!strcmp(word, "mem")) {
			error = spike_memory(convert, &words);
			if (error)
				return error;
			continue;
		}
		number = spike_register(word);
		value_text = strtok_r(NULL, " ", &words);
		if (!value_text || !take_hex(&value_text, &value, &digits))
			return bad_line(convert, "no value after the name of a register");
		if (number >= 0)
			convert_add(convert, NTRACE_TANDEM_REGISTER, (unsigned int)number, value);
	}
	return EXIT_OK;
}

/* core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000 */
static int spike_commit(struct convert *convert, char *at)
{
	unsigned int priv, digits;
	uint64_t pc, insn;

	priv = (unsigned int)(at[0] - '0');
	at += 2;
	if (!take_hex(&at, &pc, &digits) || at[0] != ' ' || at[1] != '(')
		return bad_line(convert, "not a line of a commit log");
	at += 2;
	if (!take_hex(&at, &insn, &digits) || at[0] != ')')
		return bad_line(convert, "no instruction in a line of a commit log");
	if (!convert->groups && !convert->held) {
		convert_start(convert, pc);
		convert_put(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, priv);
		convert_put(convert, NTRACE_TANDEM_END, 0, 0);
		convert->priv = priv;
	}
	/* The privilege in the next line is the one that the held instruction left. */
	if (convert->held && convert->priv != priv)
		convert_add(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, priv);
	convert_finish(convert, true, pc);
	convert->held = true;
	convert->priv = priv;
	convert->pc = pc;
	convert->insn = (uint32_t)insn;
	convert->insn_bytes = (insn & 3) == 3 ? 4 : 2;
	return spike_effects(convert, at + 1);
}

static int spike_line(struct convert *convert, char *line)
{
	char *at;

	if (strncmp(line, "core ", 5))
		return EXIT_OK;
	at = strchr(line, ':');
	if (!at)
		return bad_line(convert, "no hart");
	at += 1 + strspn(at + 1, " ");
	/* Lines of -l without a privilege are disassembly, exceptions and symbols. */
	if (at[0] < '0' || at[0] > '3' || at[1] != ' ')
		return EXIT_OK;
	if (strtoul(line + 5, NULL, 10))
		return bad_line(convert, "another hart than 0: a tandem trace is of one hart");
	return spike_commit(convert, at);
}

/* ---- QEMU ---- */

static struct code *find_code(struct convert *convert, uint64_t pc)
{
	uint64_t slot = (pc >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 44;

	return &convert->code[slot];
}

/* 0x80000000:  00000297          auipc ... */
static void qemu_code(struct convert *convert, char *line)
{
	char *at = line;
	unsigned int digits;
	uint64_t pc, bits;
	struct code *code;

	if (!take_hex(&at, &pc, &digits) || at[0] != ':')
		return;
	at += 1 + strspn(at + 1, " ");
	if (!take_hex(&at, &bits, &digits) || at[0] != ' ' || (digits != 8 && digits != 4))
		return;
	code = find_code(convert, pc);
	*code = (struct code){ .pc = pc, .bits = (uint32_t)bits, .bytes = (uint8_t)(digits / 2) };
}

/*
 * A state of the CPU begins with its pc. The state before it is complete then: it is what the
 * instruction that is held has left, or the one before the first instruction.
 */
static void qemu_pc(struct convert *convert, uint64_t pc)
{
	const struct code *code = find_code(convert, convert->next);

	if (!convert->states++) {
		convert_start(convert, pc);
		convert->next = pc;
		return;
	}
	if (convert->held) {
		convert_finish(convert, true, convert->next);
	} else {
		for (unsigned int i = 0; i < convert->count; i++)
			convert_field(convert, &convert->fields[i]);
		convert_put(convert, NTRACE_TANDEM_END, 0, 0);
		convert->count = 0;
	}
	convert->held = true;
	convert->pc = convert->next;
	convert->insn_bytes = code->bytes && code->pc == convert->pc ? code->bytes : 0;
	convert->insn = code->bits;
	convert->next = pc;
}

static void qemu_value(struct convert *convert, unsigned int number, uint64_t value)
{
	if (number == NTRACE_TANDEM_GPR || number >= NTRACE_TANDEM_REGISTERS)
		return;
	if (convert->known[number] && convert->value[number] == value)
		return;
	convert->known[number] = true;
	convert->value[number] = value;
	convert_add(convert, NTRACE_TANDEM_REGISTER, number, value);
}

static void qemu_line(struct convert *convert, char *line)
{
	char *words = NULL, *word, *value_text;
	unsigned int digits;
	uint64_t value;

	if (!strncmp(line, "0x", 2)) {
		qemu_code(convert, line);
		return;
	}
	for (word = strtok_r(line, " \t", &words); word; word = strtok_r(NULL, " \t", &words)) {
		char *slash = strchr(word, '/');
		int number = ntrace_tandem_register_number(slash ? slash + 1 : word);

		if (number < 0)
			return;
		value_text = strtok_r(NULL, " \t", &words);
		if (!value_text || !take_hex(&value_text, &value, &digits) || *value_text)
			return;
		if (number == NTRACE_TANDEM_PC)
			qemu_pc(convert, value);
		else
			qemu_value(convert, (unsigned int)number, value);
	}
}

/* ---- the command ---- */

static int convert_lines(struct convert *convert, FILE *log)
{
	bool spike = !strcmp(convert->options->from, "spike");
	char *line = NULL;
	size_t size = 0;
	int error = EXIT_OK;

	while (!error && getline(&line, &size, log) > 0) {
		convert->line++;
		line[strcspn(line, "\r\n")] = 0;
		if (spike)
			error = spike_line(convert, line);
		else
			qemu_line(convert, line);
		if (!error && convert->refused)
			error = bad_line(convert, "a value does not fit into the trace: are xlen, "
						  "mlen and flen right?");
		if (convert->options->limit && convert->groups == convert->options->limit)
			break;
	}
	free(line);
	if (!error && ferror(log))
		error = fail("%s: %s", convert->options->path, strerror(errno));
	return error;
}

static int convert_simulator(struct convert *convert)
{
	bool stdin_is_it = !strcmp(convert->options->path, "-");
	FILE *log = stdin_is_it ? stdin : fopen(convert->options->path, "re");
	int error;

	if (!log)
		return fail("%s: %s", convert->options->path, strerror(errno));
	convert->code = calloc(CODE_SLOTS, sizeof(*convert->code));
	error = convert->code ? convert_lines(convert, log) : fail("out of memory");
	free(convert->code);
	if (!stdin_is_it)
		fclose(log);
	return error;
}

static const struct {
	const char *from;
	int (*convert)(struct convert *convert);
	const char *what;
} sources[] = {
	{ "spike", convert_simulator, "a log of Spike" },
	{ "qemu", convert_simulator, "a log of QEMU" },
	{ "rvfi", convert_rvfi, "a waveform or a log with the signals of RVFI" },
	{ "rvvi", convert_rvfi, "a trace in RVVI-TEXT" },
	{ "ibex", convert_rvfi, "a log of Ibex's tracer" },
	{ "cva6", convert_rvfi, "a log of CVA6's tracer" },
	{ "ingress", convert_ingress, "a recording of an ingress port" },
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

static size_t find_source(const char *from)
{
	size_t i = 0;

	while (i < SOURCES && strcmp(from, sources[i].from))
		i++;
	return i;
}

bool tandem_converts(const char *from)
{
	return find_source(from) < SOURCES;
}

int tandem_convert(const struct tandem_options *options)
{
	static struct convert convert;
	size_t source = find_source(options->from);
	int error;

	convert.options = options;
	error = output_file_open(&convert.file, options->output);
	if (error)
		return error;
	error = sources[source].convert(&convert);
	if (!error && !convert.groups)
		error = fail("%s: no instruction followed by another: is it %s?", options->path,
			     sources[source].what);
	error = output_file_close(&convert.file, error);
	if (!error)
		say("%s: %" PRIu64 " groups, %" PRIu64 " without the bits of their instruction",
		    options->output, convert.groups, convert.unknown);
	if (!error && convert.problems)
		say("%s: %" PRIu64 " problems in what RVFI reports", options->path,
		    convert.problems);
	return error ? error : convert.problems ? EXIT_GAPS : EXIT_OK;
}
