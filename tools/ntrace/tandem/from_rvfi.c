// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace tandem convert --from rvfi|rvvi|ibex|cva6: a tandem trace from the instructions that a core
 * reports as retired, in a waveform (from_wave.c) or a text log (from_lines.c).
 */
#include "from_rvfi.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "common/wave_file.h"

/* Violations that are shown; all are counted. */
#define SHOWN 10

static const char *const names[] = {
#define SIGNAL(name, text, qualifier) [RVFI_##name] = #text,
	RVFI_SIGNALS(SIGNAL)
#undef SIGNAL
};

const char *rvfi_signal_name(unsigned int signal)
{
	return names[signal];
}

/* "csr_NAME_rmask" */
static bool find_csr(const char *name, struct rvfi_name *found)
{
	static const char *const parts[] = { "rmask", "wmask", "rdata", "wdata" };
	const char *end = strrchr(name, '_');
	char csr[32];
	int number;

	if (strncmp(name, "csr_", 4) || end < name + 5 || (size_t)(end - name - 4) >= sizeof(csr))
		return false;
	memcpy(csr, name + 4, (size_t)(end - name - 4));
	csr[end - name - 4] = 0;
	number = ntrace_tandem_register_number(csr);
	if (number < 0 || number > 0xfff)
		return false;
	for (unsigned int part = 0; part < RVFI_PARTS; part++)
		if (!strcmp(end + 1, parts[part])) {
			*found = (struct rvfi_name){ true, (unsigned int)number, part };
			return true;
		}
	return false;
}

bool rvfi_find(const char *name, struct rvfi_name *found)
{
	for (unsigned int i = 0; i < RVFI_SIGNAL_COUNT; i++)
		if (!strcmp(name, names[i])) {
			*found = (struct rvfi_name){ false, i, 0 };
			return true;
		}
	return find_csr(name, found);
}

int retiring_fail(const struct retiring *retiring, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fail("%s: %s %" PRIu64 ": %s", retiring->convert->options->path, retiring->place,
		    retiring->at, text);
}

/* ---- the next instruction ---- */

void retiring_clear(struct retiring *retiring)
{
	memset(&retiring->next, 0, sizeof(retiring->next));
	retiring->next.size = sizeof(retiring->next);
	retiring->next.changes = retiring->changes;
}

struct ntrace_rvfi_change *retiring_change(struct retiring *retiring, unsigned int id)
{
	struct ntrace_rvfi *next = &retiring->next;
	struct ntrace_rvfi_change *change = retiring->changes;

	for (size_t i = 0; i < next->change_count; i++, change++)
		if (change->id == id)
			return change;
	if (next->change_count == NTRACE_RVFI_CHANGES_MAX)
		return NULL;
	next->change_count++;
	*change = (struct ntrace_rvfi_change){ .id = (uint16_t)id };
	return change;
}

static int set_csr(struct retiring *retiring, const struct rvfi_name *name, uint64_t value)
{
	struct ntrace_rvfi_change *change;

	/* A register without a bit that is valid takes no place. */
	if (!value && (name->part == RVFI_RMASK || name->part == RVFI_WMASK))
		return EXIT_OK;
	change = retiring_change(retiring, name->id);
	if (!change)
		return retiring_fail(retiring, "more than %d registers are told at once",
				     NTRACE_RVFI_CHANGES_MAX);
	switch (name->part) {
	case RVFI_RMASK:
		change->rmask = value;
		break;
	case RVFI_WMASK:
		change->wmask = value;
		break;
	case RVFI_RDATA:
		change->rdata = value;
		break;
	default:
		change->wdata = value;
	}
	return EXIT_OK;
}

static int set_small(struct retiring *retiring, unsigned int signal, uint64_t value, uint64_t max,
		     uint8_t *to)
{
	if (value > max)
		return retiring_fail(retiring, "rvfi_%s is 0x%" PRIx64 ", more than %" PRIu64,
				     names[signal], value, max);
	*to = (uint8_t)value;
	return EXIT_OK;
}

static int set_float(struct retiring *retiring, unsigned int signal, uint64_t value)
{
	struct ntrace_rvfi_change *change;

	/* The signals of one instruction come in the order of their list: valid, address, data. */
	if (signal == RVFI_FRD_WVALID) {
		retiring->next.change_count += value && !retiring->next.change_count;
		if (value)
			retiring->changes[0] = (struct ntrace_rvfi_change){ .id = NTRACE_TANDEM_FPR,
									    .wmask = UINT64_MAX };
		return EXIT_OK;
	}
	change = retiring->changes;
	if (!retiring->next.change_count || change->id < NTRACE_TANDEM_FPR)
		return EXIT_OK;
	if (signal == RVFI_FRD_ADDR)
		change->id = (uint16_t)(NTRACE_TANDEM_FPR + (value & 31));
	else
		change->wdata = value;
	return EXIT_OK;
}

int retiring_set(struct retiring *retiring, const struct rvfi_name *name, uint64_t value)
{
	struct ntrace_rvfi *next = &retiring->next;

	if (name->csr)
		return set_csr(retiring, name, value);
	switch (name->id) {
	case RVFI_ORDER:
		next->has |= NTRACE_RVFI_HAS_ORDER;
		next->order = value;
		break;
	case RVFI_INSN:
		next->insn = value;
		break;
	case RVFI_TRAP:
		/* Some cores add the kind of the trap in the bits above. */
		next->trap = value & 1;
		break;
	case RVFI_HALT:
		next->halt = value & 1;
		break;
	case RVFI_INTR:
		next->has |= NTRACE_RVFI_HAS_INTR;
		next->intr = value & 1;
		break;
	case RVFI_MODE:
		next->has |= NTRACE_RVFI_HAS_MODE;
		return set_small(retiring, name->id, value, 3, &next->mode);
	case RVFI_RS1_ADDR:
		return set_small(retiring, name->id, value, 31, &next->rs1_addr);
	case RVFI_RS2_ADDR:
		return set_small(retiring, name->id, value, 31, &next->rs2_addr);
	case RVFI_RD_ADDR:
		return set_small(retiring, name->id, value, 31, &next->rd_addr);
	case RVFI_RS1_RDATA:
		next->rs1_rdata = value;
		break;
	case RVFI_RS2_RDATA:
		next->has |= NTRACE_RVFI_HAS_SOURCES;
		next->rs2_rdata = value;
		break;
	case RVFI_RD_WDATA:
		next->rd_wdata = value;
		break;
	case RVFI_FRD_WVALID:
	case RVFI_FRD_ADDR:
	case RVFI_FRD_WDATA:
		return set_float(retiring, name->id, value);
	case RVFI_PC_RDATA:
		next->pc_rdata = value;
		break;
	case RVFI_PC_WDATA:
		next->has |= NTRACE_RVFI_HAS_NEXT_PC;
		next->pc_wdata = value;
		break;
	case RVFI_MEM_RMASK:
		next->has |= NTRACE_RVFI_HAS_MASKS;
		next->mem_rmask = (uint32_t)value;
		break;
	case RVFI_MEM_WMASK:
		next->has |= NTRACE_RVFI_HAS_MASKS;
		next->mem_wmask = (uint32_t)value;
		break;
	case RVFI_MEM_ADDR:
		next->mem_addr = value;
		break;
	case RVFI_MEM_RDATA:
		next->mem_rdata = value;
		break;
	case RVFI_MEM_WDATA:
		next->mem_wdata = value;
		break;
	case RVFI_MEM_EXTAMO:
		next->extamo = value & 1;
		break;
	default:
		break;
	}
	return EXIT_OK;
}

int retiring_unknown(const struct retiring *retiring, const char *name, const char *why)
{
	char channel[32] = "";

	if (retiring->channel)
		snprintf(channel, sizeof(channel), " of channel %u", retiring->channel);
	return retiring_fail(retiring, "rvfi_%s%s has bits that are x or z%s", name, channel, why);
}

static const enum rvfi_signal qualifiers[] = {
#define SIGNAL(name, text, qualifier) [RVFI_##name] = RVFI_##qualifier,
	RVFI_SIGNALS(SIGNAL)
#undef SIGNAL
};

/* The bytes that a mask selects. */
static uint64_t byte_mask(uint64_t mask)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < 8; i++)
		bits |= mask >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
	return bits;
}

/* The bits of a signal that have a meaning. */
static uint64_t needed_bits(const struct rvfi_bits *all, unsigned int signal)
{
	uint64_t qualifier = all[qualifiers[signal]].value;

	switch (signal) {
	case RVFI_MEM_RDATA:
	case RVFI_MEM_WDATA:
		return byte_mask(qualifier);
	case RVFI_MEM_ADDR:
		return all[RVFI_MEM_RMASK].value | all[RVFI_MEM_WMASK].value ? UINT64_MAX : 0;
	case RVFI_PC_WDATA:
		/* After a trap, execution goes on at the next pc_rdata. */
		return all[RVFI_TRAP].value ? 0 : UINT64_MAX;
	case RVFI_VALID:
		return UINT64_MAX;
	default:
		return qualifier ? UINT64_MAX : 0;
	}
}

/* Whether the instruction reads, or may read, what the program has never written. */
static bool reads_unknown(const struct rvfi_bits *all, const bool *has)
{
	static const enum rvfi_signal operands[] = { RVFI_RS1_RDATA, RVFI_RS2_RDATA,
						     RVFI_MEM_RDATA };

	for (unsigned int i = 0; i < sizeof(operands) / sizeof(operands[0]); i++) {
		enum rvfi_signal signal = operands[i];

		/* A load without mem_rdata, an instruction without rs1_rdata. */
		if (!has[signal] && (signal != RVFI_MEM_RDATA || all[RVFI_MEM_RMASK].value))
			return true;
		if (all[signal].unknown & needed_bits(all, signal))
			return true;
	}
	return false;
}

static bool is_data(unsigned int signal)
{
	return signal == RVFI_RS1_RDATA || signal == RVFI_RS2_RDATA || signal == RVFI_RD_WDATA ||
	       signal == RVFI_MEM_RDATA || signal == RVFI_MEM_WDATA;
}

int retiring_set_all(struct retiring *retiring, const struct rvfi_bits *all, const bool *has)
{
	bool excused = reads_unknown(all, has);
	int error = EXIT_OK;

	for (unsigned int i = 0; i < RVFI_SIGNAL_COUNT && !error; i++) {
		struct rvfi_name name = { false, i, 0 };
		uint64_t unknown = all[i].unknown & needed_bits(all, i);

		if (!has[i])
			continue;
		if (unknown && !(is_data(i) && excused))
			return retiring_unknown(retiring, names[i],
						is_data(i) ? ", and all that the instruction reads "
							     "is known" :
							     "");
		/* Only results show that an operand was used. */
		if (unknown && (i == RVFI_RD_WDATA || i == RVFI_MEM_WDATA) && !retiring->unknown++)
			retiring->unknown_at = retiring->at;
		/* What nobody needs is not told: a core need not drive it. */
		error = retiring_set(retiring, &name,
				     all[i].unknown && !unknown ? 0 : all[i].value);
	}
	return error;
}

int retiring_put(struct retiring *retiring)
{
	int result = retiring->ended ? 0 :
				       ntrace_tandem_rvfi_retire(retiring->rvfi, &retiring->next);

	if (result == TANDEM_ENOUGH) {
		retiring->ended = true;
		return EXIT_OK;
	}
	/* The problem has its message. */
	if (result == NTRACE_ERR_FORMAT)
		return EXIT_FAILED;
	if (!result && retiring->convert->refused)
		return retiring_fail(retiring,
				     "a value does not fit into the trace: are xlen, mlen "
				     "and flen right?");
	return result ? retiring_fail(retiring, "%s", error_text(result)) : EXIT_OK;
}

/* ---- the trace ---- */

static int on_field(void *data, const struct ntrace_tandem_field *field)
{
	struct retiring *retiring = data;
	struct convert *convert = retiring->convert;

	convert_field(convert, field);
	if (field->type == NTRACE_TANDEM_BEGIN)
		retiring->init = false;
	if (field->type == NTRACE_TANDEM_INIT)
		retiring->init = true;
	if (field->type != NTRACE_TANDEM_END || retiring->init)
		return 0;
	convert->groups++;
	return convert->groups == convert->options->limit ? TANDEM_ENOUGH : 0;
}

static int on_problem(void *data, const struct ntrace_rvfi_problem *problem)
{
	struct retiring *retiring = data;

	if (retiring->problems++ >= SHOWN)
		return 0;
	/* Without a cause, there is no value to compare. */
	if (problem->kind == NTRACE_RVFI_CAUSE)
		retiring_fail(retiring, "instruction %" PRIu64 " at 0x%" PRIx64 ": %s",
			      problem->order, problem->pc, problem->text);
	else
		retiring_fail(retiring,
			      "instruction %" PRIu64 " at 0x%" PRIx64 ": %s: 0x%" PRIx64
			      ", expected 0x%" PRIx64,
			      problem->order, problem->pc, problem->text, problem->seen,
			      problem->expected);
	return 0;
}

/* ---- the log ---- */

static int read_lines(struct retiring *retiring, FILE *log, retire_line *read)
{
	char *line = NULL;
	size_t size = 0;
	int error = EXIT_OK;

	retiring->place = "line";
	while (!error && !retiring->ended && getline(&line, &size, log) > 0) {
		retiring->at++;
		line[strcspn(line, "\r\n")] = 0;
		error = read(retiring, line);
	}
	free(line);
	if (!error && ferror(log))
		error = fail("%s: %s", retiring->convert->options->path, strerror(errno));
	return error;
}

/* A waveform in VCD begins with a keyword, in FST with its header. */
static bool is_wave(FILE *log)
{
	unsigned char bytes[16];
	size_t got = 0;
	int c;

	do
		c = getc(log);
	while (c == ' ' || c == '\n' || c == '\t' || c == '\r');
	if (c == EOF || c == '$') {
		ungetc(c, log);
		return c == '$';
	}
	if (c) {
		ungetc(c, log);
		return false;
	}
	bytes[got++] = 0;
	got += fread(bytes + 1, 1, sizeof(bytes) - 1, log);
	return wave_is_fst(bytes, got);
}

static int read_log(struct retiring *retiring)
{
	const struct tandem_options *options = retiring->convert->options;
	bool standard = !strcmp(options->path, "-");
	FILE *log = standard ? stdin : fopen(options->path, "re");
	retire_line *read = !strcmp(options->from, "rvvi") ? retire_rvvi_line :
			    !strcmp(options->from, "ibex") ? retire_ibex_line :
			    !strcmp(options->from, "cva6") ? retire_cva6_line :
							     retire_rvfi_line;
	int error;

	if (!log)
		return fail("%s: %s", options->path, strerror(errno));
	if (read != retire_rvfi_line || !is_wave(log))
		error = read_lines(retiring, log, read);
	else if (standard)
		error = fail("standard input: a waveform is read from a file");
	else
		error = convert_rvfi_wave(retiring);
	if (!standard)
		fclose(log);
	return error;
}

int convert_rvfi(struct convert *convert)
{
	static struct retiring retiring;
	struct ntrace_tandem_rvfi_config config = {
		.size = sizeof(config),
		.params = convert->options->params,
		.field = on_field,
		.problem = on_problem,
		.user = &retiring,
	};
	int error, result;

	retiring.convert = convert;
	if (ntrace_tandem_rvfi_new(&retiring.rvfi, &config))
		return fail("out of memory");
	retiring_clear(&retiring);
	error = read_log(&retiring);
	result = error || retiring.ended ? 0 : ntrace_tandem_rvfi_end(retiring.rvfi);
	if (result && result != TANDEM_ENOUGH)
		error = EXIT_FAILED;
	ntrace_tandem_rvfi_free(retiring.rvfi);
	if (retiring.unknown)
		warn("%s: %s %" PRIu64 ": the program reads a register or memory that it has not "
		     "written, and writes an x or z, which is read as 0; %" PRIu64
		     " such results in all",
		     convert->options->path, retiring.place, retiring.unknown_at, retiring.unknown);
	convert->problems = retiring.problems;
	return error;
}
