// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the number of bytes of trace that perf counts for a task that sleeps
 * often. Usage: counted CPU SLEEPS fine|fault|any|none|owned; none: without an event; owned: the
 * event is refused because a debugger owns an encoder
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "guest.h"

int main(int argc, char **argv)
{
	/* If the encoder cannot leave anything out, the event must not ask for it. */
	bool filters = info_of(open_device("/dev/ntrace0", 0)).privilege;
	struct perf_event_attr attr = { .size = sizeof(attr), .exclude_kernel = filters };
	FILE *file = fopen("/sys/bus/event_source/devices/ntrace/type", "r");
	uint64_t bytes = 0;
	int fd = -1, i;
	bool none;

	if (argc != 4 || !strstr("fine fault any none owned", argv[3]))
		usage("counted CPU SLEEPS fine|fault|any|none|owned");
	begin(1);
	if (!file || fscanf(file, "%u", &attr.type) != 1)
		bail("type of the PMU");
	run_on(atoi(argv[1]));
	none = !strcmp(argv[3], "none");
	if (!none)
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (!strcmp(argv[3], "owned")) {
		ok(fd < 0 && errno == EBUSY, "perf_event_open: EBUSY");
		ksft_finished();
	}
	if (!none && fd < 0)
		bail("perf_event_open");
	for (i = 0; i < atoi(argv[2]); i++) {
		work(100);
		usleep(1);
	}
	if (!none && read(fd, &bytes, sizeof(bytes)) != sizeof(bytes))
		bail("read");
	close(fd);
	ok(none || !strcmp(argv[3], "any") || (bytes > 1000) == !strcmp(argv[3], "fine"),
	   "perf counts %llu bytes, %s", (unsigned long long)bytes, argv[3]);
	ksft_finished();
}
