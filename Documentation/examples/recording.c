/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recording: a trace of one program, and who it was. recording DIRECTORY ELF BYTES-OF-TRACE */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include <ntrace/perf.h>
#include <ntrace/recording.h>

#define SAMPLE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = PERF_ATTR_SIZE_VER5,
					.config = PERF_COUNT_SW_DUMMY,
					.sample_type = SAMPLE,
					.sample_id_all = 1 };
	struct ntrace_sideband comm = {
		.type = NTRACE_SIDEBAND_COMM, .pid = 42, .tid = 42, .name = "demo"
	};
	struct ntrace_sideband map = { .type = NTRACE_SIDEBAND_MMAP2,
				       .pid = 42,
				       .tid = 42,
				       .executable = true,
				       .address = 0x10000,
				       .length = 0x1000,
				       .offset = 0x1000 };
	struct ntrace_sideband in = {
		.type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE, .pid = 42, .tid = 42, .name = ""
	};
	struct ntrace_stream stream = { .file = "aux.0", .stop_ns = 1000 };
	struct ntrace_recording recording = { .size = sizeof(recording),
					      .clock = "monotonic",
					      .stream_count = 1,
					      .streams = &stream };
	struct ntrace_perf_writer *writer;
	uint64_t id = 1;
	char data[4096];

	if (argc != 4 || ntrace_recording_create(argv[1]))
		return 2;
	snprintf(data, sizeof(data), "%s/data", argv[1]);
	map.name = argv[2];
	if (ntrace_perf_writer_open(&writer, data))
		return 1;
	/* An error in between is kept, and returned by close. */
	ntrace_perf_writer_event(writer, &attr, &id, 1, "dummy:u");
	ntrace_perf_writer_sideband(writer, &comm);
	ntrace_perf_writer_sideband(writer, &map);
	ntrace_perf_writer_sideband(writer, &in);
	stream.bytes = strtoull(argv[3], NULL, 0);
	return ntrace_perf_writer_close(writer) || ntrace_recording_write(argv[1], &recording);
}
