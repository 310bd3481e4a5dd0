// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf.data with branch stacks, which stock perf, llvm-profgen, create_llvm_prof and perf2bolt
 * read. They require an attr of exactly its own size; COMM and MMAP2 records; the feature
 * BRANCH_STACK; and an event other than "branches" with period 1, unless each sample is one branch.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include <ntrace/perf.h>

#include "samples.h"
#include "struct_size.h"

#define EVENT_ID 1

#define SAMPLE_TYPE                                                                                \
	((uint64_t)PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* Cpumode of perf by privilege of the ingress port. */
#define PRIVILEGE_U 0

struct branch_entry {
	uint64_t from;
	uint64_t to;
	uint64_t flags;
};

/* A record in the order of the bits of sample_type. */
struct sample_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t addr_or_cpu[3];	/* record with an address: addr, cpu, period; without:
					 * cpu, period */
};

struct perf_data {
	struct ntrace_export_samples base;
	struct ntrace_perf_writer *writer;
	uint64_t period;
	bool user;
};

static const uint8_t branch_types[NTRACE_INSN_CLASS_COUNT] = {
	[NTRACE_INSN_BRANCH] = PERF_BR_COND,
	[NTRACE_INSN_JUMP] = PERF_BR_UNCOND,
	[NTRACE_INSN_CALL] = PERF_BR_CALL,
	[NTRACE_INSN_OTHER_JUMP] = PERF_BR_UNCOND,
	[NTRACE_INSN_INDIRECT_JUMP] = PERF_BR_IND,
	[NTRACE_INSN_INDIRECT_CALL] = PERF_BR_IND_CALL,
	[NTRACE_INSN_OTHER_INDIRECT_JUMP] = PERF_BR_IND,
	[NTRACE_INSN_RETURN] = PERF_BR_RET,
	[NTRACE_INSN_COROUTINE_SWAP] = PERF_BR_IND_CALL,
	[NTRACE_INSN_TRAP_RETURN] = PERF_BR_ERET,
};

/* The branch type of perf in bits 20 to 23 of the flags. */
static uint64_t branch_flags(const struct ntrace_sample_branch *branch)
{
	unsigned int type = branch_types[branch->insn_class % NTRACE_INSN_CLASS_COUNT];

	if (branch->insn_class == NTRACE_INSN_TRAP && !branch->exception)
		type = PERF_BR_IRQ;
	return (uint64_t)type << 20;
}

static void fill(struct sample_record *record, const struct ntrace_session_event *event)
{
	memset(record, 0, sizeof(*record));
	record->header.type = PERF_RECORD_SAMPLE;
	record->header.misc = event->privilege == PRIVILEGE_U ? PERF_RECORD_MISC_USER :
								PERF_RECORD_MISC_KERNEL;
	record->id = EVENT_ID;
	record->pid = (uint32_t)event->pid;
	record->tid = (uint32_t)event->tid;
	record->time = event->sideband_ns;
}

static int put_sample(struct ntrace_export_samples *base, const struct ntrace_sample *sample)
{
	struct perf_data *data = (struct perf_data *)base;
	uint8_t bytes[sizeof(struct sample_record) + 8 +
		      NTRACE_SAMPLE_DEPTH_MAX * sizeof(struct branch_entry)];
	struct sample_record record;
	struct branch_entry entry;
	uint64_t count = sample->count;
	size_t size = offsetof(struct sample_record, addr_or_cpu[2]), i;

	fill(&record, sample->event);
	record.ip = sample->address;
	record.addr_or_cpu[0] = sample->event->cpu;
	record.addr_or_cpu[1] = data->period;
	record.header.size = (uint16_t)(size + 8 + count * sizeof(entry));
	memcpy(bytes, &record, size);
	memcpy(bytes + size, &count, 8);
	size += 8;
	for (i = 0; i < count; i++, size += sizeof(entry)) {
		entry = (struct branch_entry){ sample->branches[i].from, sample->branches[i].to,
					       branch_flags(&sample->branches[i]) };
		memcpy(bytes + size, &entry, sizeof(entry));
	}
	base->counts.traces++;
	base->counts.executed += count;
	return ntrace_perf_writer_records(data->writer, bytes, size);
}

static int put_branch(struct ntrace_export_samples *base, const struct ntrace_sample_branch *branch,
		      const struct ntrace_session_event *event)
{
	struct perf_data *data = (struct perf_data *)base;
	struct sample_record record;

	fill(&record, event);
	record.ip = branch->from;
	record.addr_or_cpu[0] = branch->to;
	record.addr_or_cpu[1] = event->cpu;
	record.addr_or_cpu[2] = 1;
	record.header.size = sizeof(record);
	base->counts.traces++;
	base->counts.executed++;
	return ntrace_perf_writer_records(data->writer, &record, sizeof(record));
}

/*
 * Samples have times that sort them between changes of code, and may come after the EXIT of their task. Readers
 * forget its mappings there, and need no EXIT: a number that is used again begins with a FORK.
 */
static int put_sideband(void *writer, const struct ntrace_sideband *sideband)
{
	switch (sideband->type) {
	case NTRACE_SIDEBAND_MMAP:
	case NTRACE_SIDEBAND_MMAP2:
	case NTRACE_SIDEBAND_COMM:
	case NTRACE_SIDEBAND_FORK:
	case NTRACE_SIDEBAND_KSYMBOL:
		return ntrace_perf_writer_sideband(writer, sideband);
	default:
		return 0;
	}
}

static int close_perf_data(struct ntrace_export_samples *base)
{
	struct perf_data *data = (struct perf_data *)base;
	int error = ntrace_perf_writer_close(data->writer);

	free(data);
	return error;
}

static int declare_event(struct perf_data *data, bool every_branch)
{
	const uint64_t id = EVENT_ID;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = data->period,
		.sample_type = SAMPLE_TYPE,
		.exclude_kernel = data->user,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = 1, /* CLOCK_MONOTONIC */
	};

	if (every_branch) {
		attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
		attr.sample_period = 1;
		attr.sample_type |= PERF_SAMPLE_ADDR;
	} else {
		attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE |
					  PERF_SAMPLE_BRANCH_USER |
					  (data->user ? 0 : PERF_SAMPLE_BRANCH_KERNEL);
	}
	return ntrace_perf_writer_event(data->writer, &attr, &id, 1,
					every_branch ?
						(data->user ? "branches:u" : "branches") :
						(data->user ? "instructions:u" : "instructions"));
}

static int describe(struct perf_data *data, const struct ntrace_export_samples_options *options)
{
	const struct ntrace_recording *recording = ntrace_session_recording(options->session);
	const char *const words[] = { recording->command };
	struct ntrace_perf_features features = {
		.size = sizeof(features),
		.release = *recording->release ? recording->release : NULL,
		.arch = *recording->machine ? recording->machine : "riscv64",
		.clock_resolution_ns = 1,
		.argv = words,
		.argc = *recording->command ? 1 : 0,
		.branch_stacks = !options->every_branch,
	};

	return ntrace_perf_writer_features(data->writer, &features);
}

int ntrace_export_perf_data_open(struct ntrace_export_samples **samples, const char *path,
				 const struct ntrace_export_samples_options *options)
{
	struct ntrace_export_samples_options full = { 0 };
	const struct ntrace_perf_file *sideband;
	struct perf_data *data;
	int error;

	if (STRUCT_TAKE(&full, options))
		return NTRACE_ERR_INVALID;
	options = &full;
	if (!options->session)
		return NTRACE_ERR_INVALID;
	data = calloc(1, sizeof(*data));
	if (!data)
		return NTRACE_ERR_NOMEM;
	data->base.sample = put_sample;
	data->base.branch = options->every_branch ? put_branch : NULL;
	data->base.close = close_perf_data;
	data->user = options->user;
	data->period = options->period;
	error = ntrace_perf_writer_open(&data->writer, path);
	if (error) {
		free(data);
		return error;
	}
	error = declare_event(data, options->every_branch);
	if (!error)
		error = describe(data, options);
	sideband = ntrace_session_sideband(options->session);
	if (!error && sideband)
		error = ntrace_perf_file_sideband(sideband, put_sideband, data->writer, NULL);
	if (error)
		close_perf_data(&data->base);
	else
		*samples = &data->base;
	return error;
}
