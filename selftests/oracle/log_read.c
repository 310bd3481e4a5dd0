// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "log.h"
#include "log_read.h"

static int fail(struct oracle_log *log, const char *why)
{
	log->error = why;
	return -1;
}

static int get_number(struct oracle_log *log, uint64_t *value)
{
	unsigned int shift = 0;
	int byte;

	*value = 0;
	do {
		byte = getc_unlocked(log->file);
		if (byte == EOF || shift > 63)
			return fail(log, "the log is damaged: a number does not end");
		*value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return 0;
}

static int take(struct oracle_log *log, unsigned int size, struct oracle_insn *insn)
{
	insn->address = log->expect;
	insn->size = (uint8_t)size;
	insn->priv = (uint8_t)log->priv;
	insn->trap = log->trap;
	insn->interrupt = log->interrupt;
	insn->cause = log->cause;
	insn->task = log->task;
	insn->section = log->section;
	log->trap = false;
	log->expect += size;
	return 1;
}

static int take_run(struct oracle_log *log, struct oracle_insn *insn)
{
	log->run_left--;
	return take(log, log->run >> log->run_left & 1 ? 4 : 2, insn);
}

static void start_section(struct oracle_log *log, uint64_t remote)
{
	log->remote_start = remote;
	log->closed = false;
	log->expect = 0;
	log->trap = false;
	log->task_known = false;
	log->task = 0;
	log->last.stack = 0;
	log->last.task = 0;
}

static uint64_t from_zigzag(uint64_t distance)
{
	return distance >> 1 ^ -(distance & 1);
}

static int arrive(struct oracle_log *log, unsigned int token, uint64_t address)
{
	log->last.token = token;
	log->last.priv = log->priv;
	log->last.address = address;
	if (log->arrive && log->arrive(log->data, &log->last))
		return fail(log, "told above");
	return 2;
}

static int read_arrival(struct oracle_log *log, unsigned int token)
{
	uint64_t address, stack, task;

	if (get_number(log, &address) || get_number(log, &stack) || get_number(log, &task))
		return -1;
	log->last.stack += from_zigzag(stack);
	log->last.task += from_zigzag(task);
	return arrive(log, token, log->expect + from_zigzag(address));
}

/*
 * The TASK before the first instruction names the section's task; the TASK at its end must match.
 */
static void take_task(struct oracle_log *log, uint64_t task)
{
	if (log->task_known && task != log->task)
		log->task_changed = true;
	if (!log->task_known)
		log->task = task;
	log->task_known = true;
}

/* Reads one token. Return: as oracle_log_next(), or 2 for a token that yields no instruction. */
static int read_token(struct oracle_log *log, int token, struct oracle_insn *insn)
{
	uint64_t first = 0, second = 0;

	if (token < ORACLE_JUMP) {
		if (token < 2)
			return fail(log, "the log is damaged: an empty run");
		log->run = (unsigned int)token;
		log->run_left = 31 - (unsigned int)__builtin_clz(log->run);
		return take_run(log, insn);
	}
	switch (token) {
	case ORACLE_JUMP:
	case ORACLE_JUMP + 1:
		if (get_number(log, &first))
			return -1;
		log->expect += from_zigzag(first) << 1;
		return take(log, token & 1 ? 4 : 2, insn);
	case ORACLE_PRIV:
	case ORACLE_PRIV + 1:
	case ORACLE_PRIV + 3:
		log->priv = token & 3;
		return 2;
	case ORACLE_TASK:
		if (get_number(log, &first))
			return -1;
		take_task(log, first);
		return 2;
	case ORACLE_FULL:
		return fail(log, "the log is incomplete: it reached its size limit");
	case ORACLE_CALL:
	case ORACLE_RETURN:
	case ORACLE_TRAP_RETURN:
	case ORACLE_HANDLER:
	case ORACLE_INDIRECT:
		return read_arrival(log, (unsigned int)token);
	case ORACLE_IDENTITY:
		if (get_number(log, &log->last.pid) || get_number(log, &log->last.tgid) ||
		    get_number(log, &log->last.parent))
			return -1;
		return arrive(log, ORACLE_IDENTITY, log->last.address);
	case ORACLE_TURN:
	case ORACLE_CLOCK:
	case ORACLE_SYSCALL:
		if (get_number(log, &log->last.value) || get_number(log, &second))
			return -1;
		return arrive(log, (unsigned int)token, log->last.address);
	}
	if (token < ORACLE_TRAP || token > ORACLE_ODD)
		return fail(log, "the log is damaged: unknown token");
	if (get_number(log, &first) || get_number(log, &second))
		return -1;
	switch (token) {
	case ORACLE_TRAP:
		log->trap = true;
		log->interrupt = first & 1;
		log->cause = (uint8_t)(first >> 1);
		log->last.cause = first;
		return arrive(log, ORACLE_TRAP, second);
	case ORACLE_BEGIN:
		log->section++;
		start_section(log, second);
		return 2;
	case ORACLE_END:
		log->remote_stop = second;
		log->closed = true;
		return log->join ? 2 : 0;
	}
	return fail(log,
		    "the plugin met something it cannot explain (see its messages): no witness");
}

int oracle_log_next(struct oracle_log *log, struct oracle_insn *insn)
{
	int token, result = 2;

	if (log->closed && !log->join)
		return 0;
	if (log->run_left)
		return take_run(log, insn);
	while (result == 2) {
		token = getc_unlocked(log->file);
		if (token == EOF)
			return 0;
		result = read_token(log, token, insn);
	}
	return result;
}

/* Skips to the token after the BEGIN of @section. */
static int find_section(struct oracle_log *log, unsigned int section)
{
	struct oracle_insn insn;
	uint64_t sequence, remote;
	int token;

	for (;;) {
		token = getc_unlocked(log->file);
		if (token == EOF)
			return fail(log, "the log has no such section: the hart's encoder was not "
					 "started so often");
		if (token != ORACLE_BEGIN)
			return fail(log, "the log is damaged: no section where one should start");
		if (get_number(log, &sequence) || get_number(log, &remote))
			return -1;
		start_section(log, remote);
		log->task_changed = false;
		if (log->section == section)
			return 0;
		log->section++;
		while ((token = oracle_log_next(log, &insn)) == 1)
			;
		if (token < 0)
			return -1;
	}
}

int oracle_log_open(struct oracle_log *log, const char *path, unsigned int section)
{
	char magic[ORACLE_LOG_MAGIC_SIZE];

	memset(log, 0, sizeof(*log));
	log->file = fopen(path, "rb");
	if (!log->file)
		return fail(log, strerror(errno));
	if (fread(magic, 1, sizeof(magic), log->file) != sizeof(magic) ||
	    memcmp(magic, ORACLE_LOG_MAGIC, sizeof(magic)))
		return fail(log, "not a log of exec_log.so");
	return find_section(log, section);
}

void oracle_log_close(struct oracle_log *log)
{
	if (log->file)
		fclose(log->file);
	log->file = NULL;
}
