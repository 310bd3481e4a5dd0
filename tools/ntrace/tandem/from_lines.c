// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of text logs with retired instructions:
 *
 *  rvfi  NAME=VALUE of the signals, in any order, as a testbench prints them
 *  rvvi  RVVI-TEXT 0.1: RET PC INSN X 5 VALUE C 300 VALUE ...
 *  ibex  the log of Ibex's tracer: TIME CYCLE PC INSN text x5=0x... PA:0x... store:0x...
 *  cva6  the log of CVA6's RVFI tracer, which is like Spike's: 3 0xPC (0xINSN) x 5 0x... mem 0x...
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "from_rvfi.h"

/* A hexadecimal number, with or without 0x, and nothing after it. */
static bool is_hex(const char *text, uint64_t *value)
{
	const char *digits = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? text + 2 : text;
	char *end;

	if (!isxdigit((unsigned char)digits[0]))
		return false;
	errno = 0;
	*value = strtoull(digits, &end, 16);
	return !*end && !errno;
}

static bool is_decimal(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !*end && !errno;
}

/* ---- rvfi ---- */

/* A value of %h, in which digits may be x, X, z or Z. */
static bool is_bits(char *text, struct rvfi_bits *bits)
{
	char *digit = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text[2] ? text + 2 :
											text;

	for (bits->unknown = 0; *digit; digit++) {
		bits->unknown <<= 4;
		if (strchr("xXzZ", *digit)) {
			bits->unknown |= 0xf;
			*digit = '0';
		}
	}
	return is_hex(text, &bits->value);
}

int retire_rvfi_line(struct retiring *retiring, char *line)
{
	bool has[RVFI_SIGNAL_COUNT] = { false };
	struct rvfi_bits all[RVFI_SIGNAL_COUNT] = { { 0 } }, bits;
	char *words = NULL, *name = strtok_r(line, " \t,;", &words);
	struct rvfi_name found;
	int error = EXIT_OK;

	retiring_clear(retiring);
	for (; name && !error; name = strtok_r(NULL, " \t,;", &words)) {
		char *equals = strchr(name, '='), *text;

		if (!equals || strncmp(name, "rvfi_", 5))
			continue;
		/* %d pads numbers with spaces. */
		text = equals[1] ? equals + 1 : strtok_r(NULL, " \t,;", &words);
		*equals = 0;
		if (!rvfi_find(name + 5, &found))
			continue;
		if (!text || !is_bits(text, &bits))
			return retiring_fail(retiring,
					     "%s is '%s', not a hexadecimal number of 64 bits",
					     name, text ? text : "");
		if (found.csr) {
			error = bits.unknown ? retiring_unknown(retiring, name + 5, "") :
					       retiring_set(retiring, &found, bits.value);
			continue;
		}
		has[found.id] = true;
		all[found.id] = bits;
	}
	if (error || (!has[RVFI_INSN] && !has[RVFI_PC_RDATA]) ||
	    (has[RVFI_VALID] && !all[RVFI_VALID].value))
		return error;
	for (unsigned int i = 0; i < RVFI_SIGNAL_COUNT; i++) {
		bool needed = i == RVFI_INSN || i == RVFI_PC_RDATA || i == RVFI_RD_ADDR ||
			      i == RVFI_RD_WDATA;

		if (!has[i] && needed)
			return retiring_fail(retiring, "no rvfi_%s", rvfi_signal_name(i));
	}
	all[RVFI_VALID].value = 1;
	error = retiring_set_all(retiring, all, has);
	return error ? error : retiring_put(retiring);
}

/* ---- rvvi ---- */

static char *rvvi_word(char **words)
{
	return strtok_r(NULL, " \t", words);
}

/* A register: its index, and its value. The index of a CSR is hexadecimal. */
static int rvvi_register(struct retiring *retiring, const char *element, char **words)
{
	const char *index_text = rvvi_word(words), *value_text = rvvi_word(words);
	struct ntrace_rvfi_change *change;
	uint64_t index = 0, value = 0,
		 first = *element == 'X' ? NTRACE_TANDEM_GPR : NTRACE_TANDEM_FPR;
	bool csr = *element == 'C', good;

	if (!index_text || !value_text)
		return retiring_fail(retiring, "no index and value of a register after %s",
				     element);
	good = csr ? is_hex(index_text, &index) : is_decimal(index_text, &index);
	if (!good || index >= (csr ? 4096u : 32u) || !is_hex(value_text, &value))
		return retiring_fail(retiring, "%s %s %s is not a register with a value", element,
				     index_text, value_text);
	if (*element == 'X' && !index)
		return EXIT_OK;
	change = retiring_change(retiring, (unsigned int)(csr ? index : first + index));
	if (!change)
		return retiring_fail(retiring, "more than %d registers are told at once",
				     NTRACE_RVFI_CHANGES_MAX);
	change->wmask = UINT64_MAX;
	change->wdata = value;
	return EXIT_OK;
}

static int rvvi_number(struct retiring *retiring, const char *element, char **words,
		       uint64_t *value)
{
	const char *text = rvvi_word(words);

	return text && is_decimal(text, value) ?
		       EXIT_OK :
		       retiring_fail(retiring, "no decimal number after %s", element);
}

/* Elements that tell nothing of the instruction. */
static int rvvi_skip(struct retiring *retiring, const char *element, char **words)
{
	static const struct {
		const char *name;
		unsigned int words;
	} known[] = {
		{ "VENDOR", 3 }, { "VERSION", 2 }, { "V", 2 },
		{ "NET", 2 },	 { "DM", 1 },	   { "ISSUE", 1 },
	};
	uint64_t count = UINT64_MAX;
	int error = EXIT_OK;

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(element, known[i].name))
			count = known[i].words;
	if (!strcmp(element, "META") || !strcmp(element, "PARAMS"))
		error = rvvi_number(retiring, element, words, &count);
	if (error)
		return error;
	if (count == UINT64_MAX)
		return retiring_fail(retiring, "'%s' is not an element of RVVI-TEXT 0.1", element);
	if (!strcmp(element, "PARAMS"))
		count *= 2;
	while (count-- && rvvi_word(words))
		;
	return EXIT_OK;
}

static int rvvi_flush(struct retiring *retiring)
{
	int error = retiring->open ? retiring_put(retiring) : EXIT_OK;
	struct ntrace_rvfi last = retiring->next;

	retiring->open = false;
	retiring_clear(retiring);
	retiring->next.has = last.has & NTRACE_RVFI_HAS_MODE;
	retiring->next.mode = last.mode;
	return error;
}

static int rvvi_element(struct retiring *retiring, const char *element, char **words)
{
	struct ntrace_rvfi *next = &retiring->next;
	const char *pc, *insn;
	uint64_t number = 0;
	int error;

	if (!strcmp(element, "RET") || !strcmp(element, "TRAP")) {
		error = rvvi_flush(retiring);
		pc = rvvi_word(words);
		insn = rvvi_word(words);
		next->trap = *element == 'T';
		if (!pc || !insn || !is_hex(pc, &next->pc_rdata) || !is_hex(insn, &next->insn))
			return retiring_fail(retiring, "no pc and instruction after %s", element);
		retiring->open = true;
		return error;
	}
	if (*element && strchr("XFC", *element) && !element[1])
		return retiring->open ? rvvi_register(retiring, element, words) :
					retiring_fail(retiring, "%s without RET or TRAP", element);
	if (strcmp(element, "HART") && strcmp(element, "ORDER") && strcmp(element, "MODE"))
		return rvvi_skip(retiring, element, words);
	error = rvvi_number(retiring, element, words, &number);
	if (!error && *element == 'H' && number)
		return retiring_fail(retiring,
				     "another hart than 0: a tandem trace is of one hart");
	if (!error && *element == 'M') {
		if (number > 3)
			return retiring_fail(retiring, "MODE %" PRIu64 " is not a privilege",
					     number);
		next->has |= NTRACE_RVFI_HAS_MODE;
		next->mode = (uint8_t)number;
	}
	return error;
}

int retire_rvvi_line(struct retiring *retiring, char *line)
{
	char *words = NULL, *element, *comment, *close;
	size_t length;
	int error = EXIT_OK;

	while ((comment = strchr(line, '\''))) {
		close = strchr(comment + 1, '\'');
		if (!close)
			return retiring_fail(retiring, "a comment does not end");
		memset(comment, ' ', (size_t)(close - comment) + 1);
	}
	length = strlen(line);
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	line[length] = 0;
	/* An event goes on in the next line after a backslash. */
	if (length && line[length - 1] == '\\')
		line[length - 1] = 0;
	else
		length = 0;
	for (element = strtok_r(line, " \t", &words); element && !error;
	     element = rvvi_word(&words))
		error = rvvi_element(retiring, element, &words);
	return error || length ? error : rvvi_flush(retiring);
}

/* ---- ibex ---- */

/* x5=0x..., PA:0x..., store:0x..., load:0x...; registers that are read have a colon. */
static int ibex_effect(struct retiring *retiring, char *word)
{
	struct ntrace_rvfi *next = &retiring->next;
	char *mark = strpbrk(word, "=:");
	uint64_t value, number;

	if (!mark || mark[1] != '0' || mark[2] != 'x')
		return EXIT_OK;
	if (!is_hex(mark + 1, &value))
		return retiring_fail(retiring, "'%s' has no hexadecimal value", word);
	if (*mark == '=' && word[0] == 'x') {
		*mark = 0;
		if (!is_decimal(word + 1, &number) || number > 31)
			return retiring_fail(retiring, "'%s' is not a register", word);
		next->rd_addr = (uint8_t)number;
		next->rd_wdata = value;
	} else if (!strncmp(word, "PA:", 3)) {
		next->mem_addr = value;
	} else if (!strncmp(word, "store:", 6)) {
		next->mem_wmask = 1;
		next->mem_wdata = value;
	} else if (!strncmp(word, "load:", 5)) {
		next->mem_rmask = 1;
	}
	return EXIT_OK;
}

int retire_ibex_line(struct retiring *retiring, char *line)
{
	char *words = NULL, *time = strtok_r(line, " \t", &words), *cycle, *pc, *insn, *word;
	struct ntrace_rvfi *next = &retiring->next;
	uint64_t number;
	int error = EXIT_OK;

	retiring_clear(retiring);
	/* The head of the columns, and empty lines. */
	if (!time || !isdigit((unsigned char)time[0]))
		return EXIT_OK;
	cycle = strtok_r(NULL, " \t", &words);
	/* A time with its unit. */
	if (cycle && !isdigit((unsigned char)cycle[0]))
		cycle = strtok_r(NULL, " \t", &words);
	pc = strtok_r(NULL, " \t", &words);
	insn = strtok_r(NULL, " \t", &words);
	if (!cycle || !pc || !insn || !is_decimal(cycle, &number) || !is_hex(pc, &next->pc_rdata) ||
	    !is_hex(insn, &next->insn))
		return retiring_fail(retiring, "expected TIME CYCLE PC INSTRUCTION");
	for (word = strtok_r(NULL, " \t", &words); word && !error;
	     word = strtok_r(NULL, " \t", &words))
		error = ibex_effect(retiring, word);
	return error ? error : retiring_put(retiring);
}

/* ---- cva6 ---- */

/* "x 5 0x...", "f10 0x...", "mem 0x... [0x...]" */
static int cva6_effects(struct retiring *retiring, char *text)
{
	struct ntrace_rvfi *next = &retiring->next;
	char *words = NULL, *word = strtok_r(text, " ", &words);
	struct ntrace_rvfi_change *change;
	uint64_t number, value;

	for (; word; word = strtok_r(NULL, " ", &words)) {
		char *index = word[1] ? word + 1 : strtok_r(NULL, " ", &words), *data;

		if (!strcmp(word, "mem")) {
			data = strtok_r(NULL, " ", &words);
			if (!data || !is_hex(data, &next->mem_addr))
				return retiring_fail(retiring, "no address after mem");
			next->mem_rmask = 1;
			if (!strncmp(words + strspn(words, " "), "0x", 2)) {
				data = strtok_r(NULL, " ", &words);
				if (!is_hex(data, &next->mem_wdata))
					return retiring_fail(retiring, "'%s' is not store data",
							     data);
				next->mem_wmask = 1;
			}
			continue;
		}
		data = strtok_r(NULL, " ", &words);
		if ((*word != 'x' && *word != 'f') || !index || !data ||
		    !is_decimal(index, &number) || number > 31 || !is_hex(data, &value))
			return retiring_fail(retiring, "'%s' is not a register with a value", word);
		if (*word == 'x') {
			next->rd_addr = (uint8_t)number;
			next->rd_wdata = number ? value : 0;
			continue;
		}
		change = retiring_change(retiring, NTRACE_TANDEM_FPR + (unsigned int)number);
		if (change) {
			change->wmask = UINT64_MAX;
			change->wdata = value;
		}
	}
	return EXIT_OK;
}

/* "0xPC (0xINSN) ..." Return: what follows, or NULL */
static char *cva6_place(struct retiring *retiring, char *text)
{
	struct ntrace_rvfi *next = &retiring->next;
	char *end;

	next->pc_rdata = strtoull(text, &end, 16);
	if (strncmp(text, "0x", 2) || strncmp(end, " (0x", 4))
		return NULL;
	next->insn = strtoull(end + 2, &end, 16);
	return *end == ')' ? end + 1 : NULL;
}

/*
 * The privilege of an instruction that trapped, which its line does not tell: that of the instruction
 * before it, if this was no trap return. After one, it is taken to be U mode.
 */
static uint8_t cva6_trapped_mode(const struct retiring *retiring, const char *line)
{
	static const char call[] = "ENV_CALL_";

	if (!strncmp(line, call, sizeof(call) - 1))
		return line[sizeof(call) - 1] == 'M' ? 3 : line[sizeof(call) - 1] == 'S';
	return retiring->last_insn == 0x30200073 || retiring->last_insn == 0x10200073 ?
		       0 :
		       retiring->mode;
}

int retire_cva6_line(struct retiring *retiring, char *line)
{
	static const char exception[] = " exception @ ", interrupt[] = "core   INTERRUPT ";
	char *at = strstr(line, exception), *effects;
	int error;

	/* The line before that of an instruction tells that it is the first one of a handler. */
	if (!strncmp(line, interrupt, sizeof(interrupt) - 1)) {
		retiring_clear(retiring);
		retiring->next.intr = true;
		return EXIT_OK;
	}
	if (!at && (line[0] < '0' || line[0] > '3' || strncmp(line + 1, " 0x", 3)))
		return EXIT_OK;
	if (!retiring->next.intr)
		retiring_clear(retiring);
	retiring->next.has = NTRACE_RVFI_HAS_INTR | NTRACE_RVFI_HAS_MODE;
	retiring->next.trap = at;
	retiring->mode = at ? cva6_trapped_mode(retiring, line) : (uint8_t)(line[0] - '0');
	retiring->next.mode = retiring->mode;
	effects = cva6_place(retiring, at ? at + sizeof(exception) - 1 : line + 2);
	if (!effects)
		return retiring_fail(retiring, "expected 0xPC (0xINSTRUCTION)");
	error = at ? EXIT_OK : cva6_effects(retiring, effects);
	if (!error)
		error = retiring_put(retiring);
	retiring->last_insn = retiring->next.insn;
	retiring_clear(retiring);
	return error;
}
