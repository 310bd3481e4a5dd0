// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sinks that are read while stopped: with their own memory, or with stop-on-wrap. Usage: whole
 * sram|smem
 */
#include "guest.h"

static const char *const device = "/dev/ntrace0";

/* Reads messages from the first one on, up to a gap mark. */
static uint64_t messages(const struct area *area, uint64_t from, uint64_t to)
{
	uint64_t count = 0;

	for (; from < to; from++)
		count += (byte_at(area, from) & 3) == 3;
	return count;
}

static void show(const struct area *area)
{
	ksft_print_msg("state %u head %llu lost %llu loss %u gaps %u\n", area->control->state,
		       area->control->head, area->control->lost, area->control->loss,
		       area->control->gaps);
}

/* A little work first, whose trace fits completely; then much work, whose end the memory holds. */
static void test_fits(uint32_t flags, const char *name)
{
	struct ntrace_config config = { .flags = flags, .privilege = NTRACE_PRIVILEGE_U };
	int fd = open_device(device, 0);
	struct area area;
	uint64_t head;

	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 10);
	show(&area);
	head = head_of(&area);
	ok(head > 16 && head < config.sink_size && !area.control->loss, "%s: %llu bytes fit", name,
	   (unsigned long long)head);
	ok(byte_at(&area, 0) == PROG_TRACE_SYNC && (byte_at(&area, head - 1) & 3) == 3 &&
		   messages(&area, 0, head) > 3,
	   "%s: from a synchronization to the end of a message", name);
	run(fd, 10);
	ok(head_of(&area) > head && byte_at(&area, head) == PROG_TRACE_SYNC,
	   "%s: START continues, with a synchronization", name);
	unmap(&area);
	close(fd);
}

static void test_sram(void)
{
	struct ntrace_info info = { .size = sizeof(info) };
	struct ntrace_config config = { .privilege = NTRACE_PRIVILEGE_U };
	int fd = open_device(device, 0);
	struct area area;

	ok(!ioctl(fd, NTRACE_IOC_INFO, &info) && info.sink_size_max == 4096 &&
		   (info.sink_impl >> 12 & 3) == 1,
	   "INFO: a sink with 4 KiB of memory");
	configure(fd, &config);
	ok(config.sink_size == 4096, "CONFIGURE: it is what there is");
	area = map(fd, &config);
	run(fd, 100000);
	show(&area);
	ok(area.control->loss & NTRACE_LOSS_LAPPED && area.control->gaps == 1 &&
		   byte_at(&area, 0) == RESERVED_BYTE,
	   "SRAM: the overwritten first trace is reported");
	ok(head_of(&area) == 4096 + 1, "SRAM: the data is the mark and the last 4 KiB");
	ok((byte_at(&area, 4096) & 3) == 3 && messages(&area, 1, 4097) > 100,
	   "SRAM: to the end of the last message");
	unmap(&area);
	close(fd);
}

static void test_full(uint64_t sink_size, const char *name)
{
	struct ntrace_config config = { .privilege = NTRACE_PRIVILEGE_U,
					.flags = NTRACE_CONFIG_STOP_ON_WRAP,
					.sink_size = sink_size };
	int fd = open_device(device, 0);
	struct area area;
	uint64_t bytes;

	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 100000);
	show(&area);
	bytes = area.control->gap_head;
	ok(area.control->loss & NTRACE_LOSS_SINK_FULL && area.control->gaps == 1 &&
		   !(area.control->loss & NTRACE_LOSS_LAPPED),
	   "%s: that it was full is reported", name);
	/* Of a buffer in system memory, the driver leaves a part of the last 4 KiB unused. */
	ok(head_of(&area) == bytes + 1 && bytes <= config.sink_size &&
		   config.sink_size - bytes < (sink_size ? 4096 : 1) &&
		   byte_at(&area, bytes) == RESERVED_BYTE,
	   "%s: all that it took, and the mark", name);
	ok(byte_at(&area, 0) == PROG_TRACE_SYNC && messages(&area, 0, bytes) > 100,
	   "%s: from the first synchronization on", name);
	unmap(&area);
	close(fd);
}

int main(int argc, char **argv)
{
	run_on(0);
	if (argc == 2 && !strcmp(argv[1], "sram")) {
		begin(14);
		test_fits(0, "SRAM");
		test_sram();
		test_fits(NTRACE_CONFIG_STOP_ON_WRAP, "SRAM, stop when full");
		test_full(0, "SRAM, stop when full");
	} else if (argc == 2 && !strcmp(argv[1], "smem")) {
		begin(6);
		test_fits(NTRACE_CONFIG_STOP_ON_WRAP, "stop when full");
		test_full(65536, "stop when full");
	} else {
		usage("whole sram|smem");
	}
	ksft_finished();
}
