// SPDX-License-Identifier: GPL-2.0-only
/* ntrace tandem verify: compares a trace with a model behind a GDB stub, or one that is linked. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/image.h>

#include "common/ui.h"
#include "report.h"
#include "tandem.h"

struct verify {
	const struct tandem_options *options;
	struct ntrace_tandem_verifier *verifier;
	struct ntrace_tandem_builtin *builtin;
	struct report report;
	uint64_t mismatched;
	uint64_t shown;		/* group of the last report + 1 */
	bool ended;		/* the model ended in the last group, which it did not complete */
};

static int on_mismatch(void *data, const struct ntrace_tandem_mismatch *mismatch)
{
	struct verify *verify = data;
	bool first = verify->shown != mismatch->group + 1;

	if (first) {
		if (verify->options->mismatches &&
		    verify->mismatched == verify->options->mismatches)
			return TANDEM_ENOUGH;
		verify->mismatched++;
		verify->shown = mismatch->group + 1;
	}
	report_mismatch(&verify->report, mismatch, first);
	return 0;
}

static int on_group(void *data, const struct ntrace_tandem_state *state)
{
	struct verify *verify = data;

	if (verify->builtin)
		ntrace_tandem_builtin_group(verify->builtin, state);
	report_group(&verify->report, state);
	return 0;
}

/*
 * The last instruction of a program often ends the model: a store that powers it off. The hart may
 * jump to itself until it loses its power. Return: whether a field can belong to such a jump
 */
static bool waits(const struct ntrace_tandem_field *field)
{
	switch (field->type) {
	case NTRACE_TANDEM_BEGIN:
	case NTRACE_TANDEM_END:
		return true;
	case NTRACE_TANDEM_STATE:
		return field->id == NTRACE_TANDEM_STATE_PC;
	case NTRACE_TANDEM_INSN16:
		return field->value == 0xa001;
	case NTRACE_TANDEM_INSN32:
		return field->value == 0x6f;
	default:
		return false;
	}
}

static int on_field(void *data, const struct ntrace_tandem_field *field)
{
	struct verify *verify = data;
	int result;

	if (verify->ended)
		return waits(field) ? 0 : NTRACE_ERR_EOS;
	result = ntrace_tandem_verifier_field(verify->verifier, field);
	if (result == NTRACE_ERR_EOS) {
		verify->ended = true;
		return 0;
	}
	if (!result && (field->type == NTRACE_TANDEM_END || field->type == NTRACE_TANDEM_BEGIN) &&
	    ((verify->report.groups && verify->report.groups == verify->options->limit) ||
	     (verify->mismatched && verify->mismatched == verify->options->mismatches)))
		return TANDEM_ENOUGH;
	return result;
}

/* Text of an error of the model. @gdb: it is a GDB stub; @open: while connecting */
static const char *model_error(int error, bool gdb, bool open)
{
	if (gdb && open && error == NTRACE_ERR_UNSUPPORTED)
		return "the GDB stub does not describe its registers";
	if (gdb && open && error == NTRACE_ERR_INVALID)
		return "neither the path of a socket nor HOST:PORT, with a port from 1 to 65535 "
		       "and an "
		       "address of IPv6 in brackets";
	if (gdb && open && error == NTRACE_ERR_NOSPACE)
		return "a file of the GDB stub's target description is larger than 1 MiB";
	if (gdb && error == NTRACE_ERR_FORMAT)
		return open ? "the GDB stub breaks the protocol, sends damaged packets, or gives a "
			      "register a bitsize "
			      "of 0, or pc and general registers one that is not XLEN" :
			      "the GDB stub breaks the protocol or sends damaged packets";
	if (error == NTRACE_ERR_EOS)
		return "it ended, and the trace goes on";
	if (gdb && error == NTRACE_ERR_IO && errno == ETIMEDOUT)
		return "the GDB stub does not answer";
	return error_text(error);
}

static int load_segment(const struct ntrace_tandem_model *model, FILE *file, uint64_t offset,
			uint64_t address, uint64_t size)
{
	uint8_t bytes[8];
	size_t part;

	if (fseeko(file, (off_t)offset, SEEK_SET))
		return NTRACE_ERR_IO;
	for (; size; address += part, size -= part) {
		int error;

		part = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);
		if (fread(bytes, 1, part, file) != part)
			return NTRACE_ERR_IO;
		error = model->write_memory(model->data, address, bytes, part);
		if (error)
			return error;
	}
	return 0;
}

/* The program, as its loader has put it into memory. Return: 0, or an error */
static int load_program(const struct ntrace_tandem_model *model, const struct ntrace_object *object,
			const char *path)
{
	uint64_t address, size, offset;
	FILE *file = fopen(path, "rb");
	bool executable;
	int error = 0;

	if (!file)
		return NTRACE_ERR_IO;
	for (size_t i = 0;
	     !error && !ntrace_object_segment(object, i, &address, &size, &executable); i++) {
		error = ntrace_object_file_offset(object, address, &offset);
		if (!error)
			error = load_segment(model, file, offset, address, size);
	}
	fclose(file);
	return error;
}

static int run_verifier(struct verify *verify, const struct ntrace_tandem_verify_config *config)
{
	struct ntrace_tandem_verify_stats stats;
	int status, result, saved;

	if (ntrace_tandem_verifier_new(&verify->verifier, config))
		return fail("out of memory");
	status = tandem_read_file(verify->options, on_field, verify, &result);
	saved = errno;
	if (status != EXIT_FAILED)
		report_totals(&verify->report, verify->verifier, verify->builtin);
	ntrace_tandem_verifier_stats(verify->verifier, &stats);
	ntrace_tandem_verifier_free(verify->verifier);
	errno = saved;
	if (result)
		return fail("%s: the model ended the verification: %s",
			    verify->options->gdb ? verify->options->gdb : verify->options->path,
			    model_error(result, verify->options->gdb, false));
	if (!status && verify->mismatched)
		return EXIT_GAPS;
	/* A pipe whose first command failed must not pass. */
	if (!status && !(stats.steps + stats.interrupts + stats.calls))
		return fail("%s: no instruction: nothing was verified", verify->options->path);
	return status;
}

int tandem_verify(const struct tandem_options *options)
{
	static struct ntrace_tandem_mask *chosen;
	struct ntrace_tandem_verify_config config;
	static struct verify verify;
	struct ntrace_tandem_gdb *gdb = NULL;
	int error = 0;

	verify.options = options;
	ntrace_tandem_verify_config_init(&config);
	chosen = calloc(config.chosen_count + options->chosen_count, sizeof(*chosen));
	if (!chosen)
		return fail("out of memory");
	memcpy(chosen, config.chosen, config.chosen_count * sizeof(chosen[0]));
	memcpy(chosen + config.chosen_count, options->chosen,
	       options->chosen_count * sizeof(chosen[0]));
	config.chosen = chosen;
	config.chosen_count += options->chosen_count;
	config.params = options->params;
	config.full_interval = options->full;
	config.pending_limit = options->pending;
	config.absent = options->absent;
	config.absent_count = options->absent_count;
	config.devices = options->devices;
	config.device_count = options->device_count;
	config.mismatch = on_mismatch;
	config.group = on_group;
	config.flags = options->linux_user ? NTRACE_TANDEM_VERIFY_LINUX_USER : 0;
	config.user = &verify;
	if (options->model)
		config.model = *options->model;
	else if (options->gdb)
		error = ntrace_tandem_gdb_open(&gdb, options->gdb, &config.model);
	else if (ntrace_tandem_builtin_new(&verify.builtin, &options->params,
					   options->isa.xlen ? &options->isa : NULL,
					   options->linux_user, &config.model))
		return fail("out of memory");
	if (error)
		return fail("%s: %s", options->gdb, model_error(error, true, true));
	if (config.model.xlen && config.model.xlen != config.params.xlen) {
		ntrace_tandem_gdb_close(gdb);
		return fail("%s: the model's registers have %u bits, and the trace has xlen %u: "
			    "option --xlen",
			    options->model ? options->path : options->gdb, config.model.xlen,
			    config.params.xlen);
	}
	error = report_open(&verify.report, options);
	if (!error && verify.report.object) {
		const struct ntrace_isa *isa = ntrace_object_isa(verify.report.object);

		if (isa->xlen != config.params.xlen)
			error = fail("%s: the program has XLEN %u, the trace %u", options->elf,
				     isa->xlen, config.params.xlen);
	}
	if (!error && verify.builtin && verify.report.object) {
		int result = load_program(&config.model, verify.report.object, options->elf);

		if (result)
			error = fail("%s: %s", options->elf, error_text(result));
	}
	if (!error)
		error = run_verifier(&verify, &config);
	report_close(&verify.report);
	ntrace_tandem_gdb_close(gdb);
	ntrace_tandem_builtin_free(verify.builtin);
	free(chosen);
	return error;
}
