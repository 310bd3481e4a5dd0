// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a recording of two threads, each alone on its CPU, in the same program at ADDRESS (0x10000),
 * or in two that had the same path, with the inodes INODE and the next one, or build-ids of these bytes: everything but the traces. two_tasks DIRECTORY ELF BYTES-OF-FIRST BYTES-OF-SECOND PARAMS
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/perf.h>
#include <ntrace/recording.h>

#ifndef ADDRESS
#define ADDRESS 0x10000
#endif
#ifndef INODE
#define INODE 0
#endif
#ifndef BUILD_ID_BYTES
#define BUILD_ID_BYTES 0
#endif

#define SAMPLE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static const struct {
	const char *name;
	int pid;
	int tid;
} tasks[] = { { "first", 42, 42 }, { "second", 50, 51 } };

static void write_task(struct ntrace_perf_writer *writer, unsigned int cpu, const char *program)
{
	struct ntrace_sideband record = { .type = NTRACE_SIDEBAND_COMM,
					  .pid = tasks[cpu].pid,
					  .tid = tasks[cpu].tid,
					  .cpu = cpu,
					  .name = tasks[cpu].name };

	char deleted[4096];

	ntrace_perf_writer_sideband(writer, &record);
	record.type = NTRACE_SIDEBAND_MMAP2;
	record.name = INODE && !cpu ? strcat(strcpy(deleted, program), " (deleted)") : program;
	record.executable = true;
	record.address = ADDRESS;
	record.length = 0x1000;
	record.offset = 0x1000;
	record.inode = INODE && !BUILD_ID_BYTES ? INODE + cpu : 0;
	record.build_id_size = BUILD_ID_BYTES;
	memset(record.build_id, (int)(INODE + cpu), BUILD_ID_BYTES);
	ntrace_perf_writer_sideband(writer, &record);
	record = (struct ntrace_sideband){ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
					   .pid = tasks[cpu].pid,
					   .tid = tasks[cpu].tid,
					   .cpu = cpu,
					   .name = "" };
	ntrace_perf_writer_sideband(writer, &record);
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = PERF_ATTR_SIZE_VER5,
					.config = PERF_COUNT_SW_DUMMY,
					.sample_type = SAMPLE,
					.sample_id_all = 1 };
	struct ntrace_stream streams[2] = { { .file = "aux.0", .stop_ns = 1000 },
					    { .file = "aux.1", .stop_ns = 1000 } };
	struct ntrace_recording recording = { .size = sizeof(recording),
					      .clock = "monotonic",
					      .command = "two tasks",
					      .stream_count = 2,
					      .streams = streams };
	struct ntrace_perf_writer *writer;
	struct ntrace_params params;
	uint64_t id = 1;
	char data[4096];

	ntrace_params_init(&params);
	if (argc != 6 || ntrace_params_parse(&params, argv[5], NULL) ||
	    ntrace_recording_create(argv[1]))
		return 2;
	snprintf(data, sizeof(data), "%s/data", argv[1]);
	if (ntrace_perf_writer_open(&writer, data))
		return 1;
	ntrace_perf_writer_event(writer, &attr, &id, 1, "dummy:u");
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		write_task(writer, cpu, argv[2]);
		streams[cpu].cpu = cpu;
		streams[cpu].hartid = cpu;
		streams[cpu].bytes = strtoull(argv[3 + cpu], NULL, 0);
		streams[cpu].lost_exact = true;
		streams[cpu].params = &params;
	}
	return ntrace_perf_writer_close(writer) || ntrace_recording_write(argv[1], &recording);
}
