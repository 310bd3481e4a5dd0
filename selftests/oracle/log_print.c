// SPDX-License-Identifier: GPL-2.0-only
/*
 * log_print LOG [SECTION[-]]: prints the executed instructions of one section of a log (default:
 * the first), one per line: address, size, privilege and, for the first instruction of a trap
 * handler, the cause. "SECTION-" prints that section and all later ones. With a log written with
 * stacks=on, log_print also prints how control came to an address, and the stack pointer and task
 * there.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "log.h"
#include "log_read.h"

static int on_arrival(void *data, const struct oracle_arrival *arrival)
{
	static const char *const names[] = { "call", "return", "trap-return", "handler",
					     "indirect" };

	static const char *const others[] = { "turn", "clock", "syscall" };

	(void)data;
	if (arrival->token == ORACLE_IDENTITY)
		printf("identity %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", arrival->pid,
		       arrival->tgid, arrival->parent);
	else if (arrival->token >= ORACLE_TURN)
		printf("%s %" PRIu64 "\n", others[arrival->token - ORACLE_TURN], arrival->value);
	else if (arrival->token >= ORACLE_CALL)
		printf("%s %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
		       names[arrival->token - ORACLE_CALL], arrival->address, arrival->stack,
		       arrival->task);
	return 0;
}

int main(int argc, char **argv)
{
	struct oracle_log log;
	struct oracle_insn insn;
	unsigned int section = 0;
	char *rest = "";
	int result = 1;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: log_print LOG [SECTION[-]]\n");
		return 2;
	}
	if (argc > 2)
		section = (unsigned int)strtoul(argv[2], &rest, 0);
	if (!oracle_log_open(&log, argv[1], section)) {
		log.join = *rest == '-';
		log.arrive = on_arrival;
		while ((result = oracle_log_next(&log, &insn)) == 1) {
			if (insn.trap)
				printf("trap %s %u\n", insn.interrupt ? "interrupt" : "exception",
				       insn.cause);
			printf("%" PRIx64 " %u %c\n", insn.address, insn.size, "US?M"[insn.priv]);
		}
	}
	if (log.error)
		fprintf(stderr, "log_print: %s: %s\n", argv[1], log.error);
	else if (!log.closed)
		fprintf(stderr, "log_print: %s: the section is not closed\n", argv[1]);
	oracle_log_close(&log);
	return log.error ? 1 : 0;
}
