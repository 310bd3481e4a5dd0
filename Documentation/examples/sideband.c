/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* perf.data files: which programs were there. sideband FILE-OR-DIRECTORY */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/perf.h>

static int print(void *data, const struct ntrace_sideband *record)
{
	(void)data;
	switch (record->type) {
	case NTRACE_SIDEBAND_COMM:
		printf("%d is %s\n", record->pid, record->name);
		break;
	case NTRACE_SIDEBAND_MMAP2:
		printf("%d has %s at 0x%" PRIx64 "\n", record->pid, record->name, record->address);
		break;
	case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
		printf("%d runs %s\n", record->pid, record->out ? "no more" : "now");
		break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct ntrace_perf_counts counts;
	struct ntrace_perf_file *file;
	int error;

	if (argc != 2)
		return 2;
	error = ntrace_perf_file_open(&file, argv[1]);
	if (!error) {
		error = ntrace_perf_file_sideband(file, print, NULL, &counts);
		ntrace_perf_file_close(file);
	}
	if (error)
		fprintf(stderr, "%s: %s\n", argv[1], ntrace_strerror(error));
	return error ? 1 : 0;
}
