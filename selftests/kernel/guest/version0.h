/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests that all pre-ratification SiFive blocks share. */
#ifndef SELFTESTS_KERNEL_VERSION0_H
#define SELFTESTS_KERNEL_VERSION0_H

#include "guest.h"

#define CONTROL_ENABLE 2
/* Register of faults, and the bit of SinkError: see tools/vsoc/model/fault.h. */
#define FAULTS (0xe00 / 4)
#define FAULT_SINK_ERROR 0x400

static inline void test_full(int fd)
{
	struct ntrace_config config = { .privilege = EVERYTHING,
					.flags = NTRACE_CONFIG_STOP_ON_WRAP,
					.sink_size = 65536 };
	struct area area;
	uint64_t unused;

	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 100000);
	/* The driver leaves a part of the last 4 KiB unused. */
	unused = config.sink_size + 1 - head_of(&area);
	ok(area.control->loss & NTRACE_LOSS_SINK_FULL && unused < 4096,
	   "stop when full: all that it took, and the mark: %llu bytes",
	   (unsigned long long)head_of(&area));
	unmap(&area);
}

/* The sink fails while it runs. @page: registers of the block that writes to memory */
static inline void test_sink_fails(int fd, volatile uint32_t *page)
{
	struct ntrace_config config = { .privilege = EVERYTHING };
	struct area area;
	int i;

	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	work(1000);
	page[FAULTS] = FAULT_SINK_ERROR;
	for (i = 0; i < 10000 && area.control->state != NTRACE_STATE_DEAD; i++)
		usleep(1000);
	ok(area.control->state == NTRACE_STATE_DEAD && area.control->loss & NTRACE_LOSS_ENCODER,
	   "SinkError while it runs: dead, and something was lost");
	ok(!(page[0] & CONTROL_ENABLE), "SinkError while it runs: the hardware is off");
	fails_with(ioctl(fd, NTRACE_IOC_STOP), EIO, "SinkError while it ran: STOP");
	fails_with(ioctl(fd, NTRACE_IOC_START), ENODEV, "SinkError while it ran: START again");
	unmap(&area);
}

#endif /* SELFTESTS_KERNEL_VERSION0_H */
