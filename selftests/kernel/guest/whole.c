// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sinks that are read while stopped: with their own memory, or with stop-on-wrap. Usage: whole
 * sram|smem
 * Sinks whose width of a write no register shows, or whose Wrap a write of WP does not clear:
 * captures that wrap, drained while they run or read while stopped, and those after them. Usage:
 * whole width DEVICE CPU SINK_ADDRESS WIDTH [stated]; stated: the device tree has the width, and the
 * whole buffer is used
 */
#include "guest.h"

#define TR_RAM_START_LOW 0x10
#define TR_RAM_LIMIT_LOW 0x18

static const char *device = "/dev/ntrace0";
/* Registers of the sink, and its width if they may not show it. */
static volatile uint32_t *sink;
static uint64_t width;
static bool stated;

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

/* All that the sink's buffer holds: to the end of the write at Limit. */
static uint64_t capacity(const struct ntrace_config *config)
{
	return sink ? sink[TR_RAM_LIMIT_LOW / 4] - sink[TR_RAM_START_LOW / 4] + width :
		      config->sink_size;
}

/* Without its width from the device tree, a part of the last 4 KiB of system memory is not used. */
static bool is_capacity(uint64_t size, const struct ntrace_config *config)
{
	if (stated && size != config->sink_size)
		return false;
	return sink ? size == capacity(config) :
		      size <= config->sink_size && config->sink_size - size < 4096;
}

static void test_full(uint64_t sink_size, const char *name)
{
	struct ntrace_config config = { .privilege = NTRACE_PRIVILEGE_U,
					.flags = NTRACE_CONFIG_STOP_ON_WRAP,
					.sink_size = sink_size };
	int fd = open_device(device, 0);
	struct area area;
	uint64_t size;

	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 100000);
	size = head_of(&area) - 1;
	show(&area);
	ok(area.control->loss & NTRACE_LOSS_SINK_FULL && area.control->gaps == 1 &&
		   !(area.control->loss & NTRACE_LOSS_LAPPED),
	   "%s: that it was full is reported", name);
	ok(is_capacity(size, &config) && area.control->gap_head == size &&
		   byte_at(&area, size) == RESERVED_BYTE,
	   "%s: all that it took, and the mark", name);
	ok(byte_at(&area, 0) == PROG_TRACE_SYNC && messages(&area, 0, size) > 100,
	   "%s: from the first synchronization on", name);
	unmap(&area);
	close(fd);
}

/* A sink buffer that is drained while it wraps several times; then START and STOP again. */
static void test_drained(const char *name)
{
	struct ntrace_config config = { .privilege = NTRACE_PRIVILEGE_U,
					.sink_size = 65536,
					.data_size = 1 << 18 };
	int fd = open_device(device, 0);
	uint64_t end = now_ns() + 60 * NSEC_PER_SEC, laps = 3, head;
	struct area area;
	bool stopped;

	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	while (head_of(&area) < laps * config.sink_size && now_ns() < end &&
	       area.control->state == NTRACE_STATE_RUNNING) {
		work(1000);
		consume(fd, head_of(&area));
	}
	stopped = !ioctl(fd, NTRACE_IOC_STOP);
	show(&area);
	ok(stopped && head_of(&area) >= laps * config.sink_size, "%s: it wraps, and STOP", name);
	ok(!area.control->loss && !area.control->lost && !area.control->gaps, "%s: nothing is lost",
	   name);
	head = head_of(&area);
	ok((byte_at(&area, head - 1) & 3) == 3, "%s: to the end of a message", name);
	run(fd, 10);
	show(&area);
	ok(head_of(&area) > head && head_of(&area) - head < config.sink_size &&
		   byte_at(&area, head) == PROG_TRACE_SYNC && !area.control->loss,
	   "%s: START continues, with a synchronization", name);
	unmap(&area);
	close(fd);
}

/* A sink buffer that wraps before it is read, once or several times. */
static void test_overwritten(uint64_t rounds, const char *name)
{
	struct ntrace_config config = { .privilege = NTRACE_PRIVILEGE_U,
					.sink_size = 65536,
					.drain_us = 10000000 };
	int fd = open_device(device, 0);
	struct area area;
	uint64_t head;

	configure(fd, &config);
	area = map(fd, &config);
	run(fd, rounds);
	show(&area);
	head = head_of(&area);
	ok(area.control->loss == NTRACE_LOSS_LAPPED && area.control->gaps == 1 &&
		   byte_at(&area, 0) == RESERVED_BYTE,
	   "%s: the overwritten first trace is reported", name);
	ok(head <= capacity(&config) + 1 && area.control->lost + head > config.sink_size,
	   "%s: at least a round is lost or delivered, at most what the buffer holds", name);
	unmap(&area);
	close(fd);
}

static void test_width(off_t address)
{
	int fd = open("/dev/mem", O_RDONLY | O_SYNC);
	struct ntrace_info info;

	if (fd < 0)
		bail("/dev/mem");
	sink = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, address);
	if (sink == MAP_FAILED)
		bail("registers of the sink");
	close(fd);
	fd = open_device(device, 0);
	info = info_of(fd);
	close(fd);
	ok(info.granule >= width, "INFO: granules of %u bytes", info.granule);
	test_drained("drained");
	test_fits(0, "after a wrap");
	test_overwritten(100000, "overwritten");
	test_full(65536, "stop when full");
	test_fits(NTRACE_CONFIG_STOP_ON_WRAP, "stop when full, after a wrap");
	test_overwritten(200000, "overwritten many times");
	test_drained("drained again");
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
	} else if (argc >= 6 && !strcmp(argv[1], "width")) {
		begin(22);
		device = argv[2];
		width = strtoul(argv[5], NULL, 0);
		stated = argc == 7 && !strcmp(argv[6], "stated");
		run_on((unsigned int)atoi(argv[3]));
		test_width(strtol(argv[4], NULL, 0));
	} else {
		usage("whole sram|smem, whole width DEVICE CPU SINK_ADDRESS WIDTH [stated]");
	}
	ksft_finished();
}
