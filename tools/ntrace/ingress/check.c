// SPDX-License-Identifier: GPL-2.0-only
/* ntrace ingress check: checks an ingress file against the rules of the port. */
#include <inttypes.h>
#include <string.h>

#include <ntrace/image.h>

#include "common/ingress_file.h"
#include "common/ui.h"
#include "ingress.h"

/* Exit status with findings; a file that cannot be checked gives 2. */
#define EXIT_FINDINGS	1
#define EXIT_UNCHECKED	EXIT_USAGE

/**
 * struct check - state of a check
 * @counts: findings by severity
 * @space: the program of --elf, or NULL
 */
struct check {
	const struct ingress_command *ingress;
	struct output *output;
	struct ntrace_ingress_checker checker;
	uint64_t line;
	uint64_t counts[2];
	bool begun;
	struct ntrace_object *object;
	struct ntrace_space *space;
	struct ntrace_isa isa;
};

static const char *severity_name(unsigned int severity)
{
	return severity == NTRACE_INGRESS_ERROR ? "error" : "warning";
}

static const char *place_name(unsigned int place)
{
	static const char *const names[] = { "cycle", "group", "access", "response" };

	return names[place & 3];
}

static void json_rule(struct output *output, const struct ntrace_ingress_rule *rule)
{
	output_printf(output,
		      "\"rule\":\"%s\",\"severity\":\"%s\",\"section\":\"%s\",\"text\":", rule->id,
		      severity_name(rule->severity), rule->section);
	output_json(output, rule->text);
}

static void print_number(struct output *output, const struct ntrace_ingress_finding *finding,
			 uint64_t number)
{
	output_printf(output, finding->hexadecimal ? "0x%" PRIx64 : "%" PRIu64, number);
}

static void finding_text(struct check *check, const struct ntrace_ingress_finding *finding)
{
	struct output *output = check->output;

	output_printf(output, "line %" PRIu64 ", cycle %" PRIu64, check->line, finding->cycle);
	if (finding->place != NTRACE_INGRESS_PLACE_CYCLE)
		output_printf(output, ", %s %u", place_name(finding->place), finding->index);
	output_printf(output, ": %s %s: %s", severity_name(finding->rule->severity),
		      finding->rule->id, finding->rule->text);
	if (finding->values) {
		output_text(output, ": ");
		print_number(output, finding, finding->value);
	}
	if (finding->values > 1) {
		output_text(output, ", expected ");
		print_number(output, finding, finding->expected);
	}
	output_printf(output, " (%s)\n", finding->rule->section);
}

static void finding_json(struct check *check, const struct ntrace_ingress_finding *finding)
{
	struct output *output = check->output;

	output_printf(output,
		      "{\"type\":\"finding\",\"line\":%" PRIu64 ",\"cycle\":%" PRIu64
		      ",\"place\":\"%s\",\"index\":%u,",
		      check->line, finding->cycle, place_name(finding->place), finding->index);
	json_rule(output, finding->rule);
	if (finding->values)
		output_printf(output, ",\"value\":\"0x%" PRIx64 "\"", finding->value);
	if (finding->values > 1)
		output_printf(output, ",\"expected\":\"0x%" PRIx64 "\"", finding->expected);
	output_text(output, "}\n");
}

static int take_finding(void *data, const struct ntrace_ingress_finding *finding)
{
	struct check *check = data;

	check->counts[finding->rule->severity]++;
	if (check->ingress->json)
		finding_json(check, finding);
	else
		finding_text(check, finding);
	return check->output->error ? EXIT_UNCHECKED : EXIT_OK;
}

static int fetch(void *data, uint64_t address, void *bytes, size_t size)
{
	struct ntrace_space *space = data;

	for (size_t have = 0; have < size;) {
		const uint8_t *code;
		size_t available;
		int error = ntrace_space_read(space, address + have, &code, &available);

		if (error)
			return error;
		if (available > size - have)
			available = size - have;
		memcpy((uint8_t *)bytes + have, code, available);
		have += available;
	}
	return 0;
}

static int open_program(struct check *check)
{
	const char *elf = check->ingress->elf, *reason;
	int error;

	if (!elf)
		return EXIT_OK;
	error = ntrace_object_open_elf(&check->object, elf);
	if (error)
		return fail("%s: %s", elf, error_text(error)), EXIT_UNCHECKED;
	check->isa = *ntrace_object_isa(check->object);
	if (check->ingress->isa &&
	    ntrace_isa_parse_reason(&check->isa, check->ingress->isa, &reason))
		return fail("option --isa: '%s': %s", check->ingress->isa, reason), EXIT_UNCHECKED;
	error = ntrace_space_new(&check->space, "program", NULL);
	if (!error)
		error = ntrace_space_map_linked(check->space, check->object, 0);
	return error ? (fail("%s: %s", elf, ntrace_strerror(error)), EXIT_UNCHECKED) : EXIT_OK;
}

static int take_record(void *data, const struct ntrace_ingress_reader *reader,
		       const struct ntrace_ingress_record *record)
{
	struct check *check = data;

	if (!check->begun) {
		ntrace_ingress_checker_init(&check->checker, &reader->port, take_finding, check);
		if (check->space && check->isa.xlen != reader->port.xlen)
			return fail("%s: the program has XLEN %u, the port %u", check->ingress->elf,
				    check->isa.xlen, reader->port.xlen),
			       EXIT_UNCHECKED;
		if (check->space)
			ntrace_ingress_checker_program(&check->checker, &check->isa, fetch,
						       check->space);
	}
	check->begun = true;
	check->line = reader->line;
	return ntrace_ingress_checker_record(&check->checker, record);
}

int ingress_check(struct ingress_command *ingress, const char *path)
{
	static struct check check;
	struct output *output = ingress->output;
	int error;

	check.ingress = ingress;
	check.output = output;
	error = open_program(&check);
	if (!error)
		error = ingress_file_read(path, true, take_record, &check);
	ntrace_space_put(check.space);
	ntrace_object_put(check.object);
	if (error)
		return EXIT_UNCHECKED;
	if (check.begun)
		ntrace_ingress_checker_end(&check.checker);
	if (ingress->json)
		output_printf(output,
			      "{\"type\":\"summary\",\"cycles\":%" PRIu64 ",\"blocks\":%" PRIu64
			      ",\"parcels\":%" PRIu64 ",\"accesses\":%" PRIu64
			      ",\"loads_in_flight\":%u,",
			      check.checker.cycles, check.checker.blocks, check.checker.parcels,
			      check.checker.accesses, check.checker.in_flight_most);
	else
		output_printf(output,
			      "%" PRIu64 " cycles, %" PRIu64 " blocks, %" PRIu64
			      " parcels, %" PRIu64 " accesses: ",
			      check.checker.cycles, check.checker.blocks, check.checker.parcels,
			      check.checker.accesses);
	output_printf(output,
		      ingress->json ? "\"errors\":%" PRIu64 ",\"warnings\":%" PRIu64 "}\n" :
				      "%" PRIu64 " errors, %" PRIu64 " warnings\n",
		      check.counts[NTRACE_INGRESS_ERROR], check.counts[NTRACE_INGRESS_WARNING]);
	return check.counts[0] || check.counts[1] ? EXIT_FINDINGS : EXIT_OK;
}

int ingress_list(struct ingress_command *ingress)
{
	const struct ntrace_ingress_rule *rules;
	struct output *output = ingress->output;
	size_t count;

	rules = ntrace_ingress_rules(&count);
	for (size_t i = 0; i < count; i++) {
		if (ingress->json) {
			output_char(output, '{');
			json_rule(output, &rules[i]);
			output_text(output, "}\n");
			continue;
		}
		output_padded(output, rules[i].id, 18);
		output_padded(output, rules[i].section, 32);
		output_padded(output, severity_name(rules[i].severity), 9);
		output_text(output, rules[i].text);
		output_char(output, '\n');
	}
	return EXIT_OK;
}
