/* SPDX-License-Identifier: GPL-2.0-only */
/* The verbs of ntrace ingress. */
#ifndef NTRACE_TOOL_INGRESS_INGRESS_H
#define NTRACE_TOOL_INGRESS_INGRESS_H

#include <ntrace/ingress_check.h>

#include "common/command.h"
#include "common/output.h"

/**
 * struct ingress_command - options of ntrace ingress
 * @filter: data accesses to show
 * @filtered: only data accesses are shown
 * @map: file of --map
 * @target: file of --output
 * @elf: program of check, or NULL
 * @isa: its instruction set, or NULL
 */
struct ingress_command {
	const struct command *command;
	struct output *output;
	bool json;
	bool filtered;
	struct ntrace_data_filter filter;
	const char *map;
	const char *target;
	const char *elf;
	const char *isa;
};

/** ingress_dump - print the records of a file */
int ingress_dump(struct ingress_command *ingress, const char *path);

/** ingress_check - check a file against the rules of the port. Return: enum tool_exit, 1 with findings */
int ingress_check(struct ingress_command *ingress, const char *path);

/** ingress_list - print the rules of ingress_check() */
int ingress_list(struct ingress_command *ingress);

/** ingress_import - convert a VCD waveform to an ingress file */
int ingress_import(struct ingress_command *ingress, const char *path);

#endif /* NTRACE_TOOL_INGRESS_INGRESS_H */
