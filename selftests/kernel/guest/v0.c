// SPDX-License-Identifier: GPL-2.0-only
/* SiFive's encoders of before the specification: what they can do, and what not. */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "guest.h"

#define EVERYTHING (NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S | NTRACE_PRIVILEGE_M | \
		    NTRACE_PRIVILEGE_VU | NTRACE_PRIVILEGE_VS)

static int ask(int fd, struct ntrace_config config)
{
	config.size = sizeof(config);
	return ioctl(fd, NTRACE_IOC_CONFIGURE, &config);
}

static void test_refused(int fd)
{
	struct ntrace_config all = { .privilege = EVERYTHING }, config;

	fails_with(ask(fd, (struct ntrace_config){ .mode = 0 }), EOPNOTSUPP,
		   "CONFIGURE: not all privileges");
	config = all;
	config.mode = NTRACE_MODE_BTM;
	fails_with(ask(fd, config), EOPNOTSUPP, "CONFIGURE: BTM");
	config = all;
	config.sync_mode = NTRACE_SYNC_MESSAGES;
	fails_with(ask(fd, config), EOPNOTSUPP, "CONFIGURE: a synchronization each 16 messages");
	config.sync_max = 1;
	ok(!ask(fd, config), "CONFIGURE: each 32 messages");
	config.sync_mode = NTRACE_SYNC_CYCLES;
	fails_with(ask(fd, config), EOPNOTSUPP, "CONFIGURE: one each so many cycles");
	config = all;
	config.range_count = 1;
	fails_with(ask(fd, config), EOPNOTSUPP, "CONFIGURE: an address range");
}

static void test_trace(int fd)
{
	struct ntrace_config config = { .privilege = EVERYTHING };
	struct area area;
	uint64_t middle;

	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 10000);
	middle = head_of(&area);
	ok(middle > 1000 && !area.control->loss && area.control->state == NTRACE_STATE_STOPPED,
	   "START, STOP: %llu bytes, none lost", (unsigned long long)middle);
	ok(byte_at(&area, 0) == PROG_TRACE_SYNC && (byte_at(&area, middle - 1) & 3) == 3,
	   "from a synchronization to the end of a message");
	run(fd, 10000);
	ok(head_of(&area) > middle && byte_at(&area, middle) == PROG_TRACE_SYNC,
	   "START continues, with a synchronization");
	unmap(&area);
}

static void test_full(int fd)
{
	struct ntrace_config config = { .privilege = EVERYTHING,
					.flags = NTRACE_CONFIG_STOP_ON_WRAP,
					.sink_size = 65536 };
	struct area area;

	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 100000);
	ok(area.control->loss & NTRACE_LOSS_SINK_FULL && head_of(&area) == config.sink_size + 1,
	   "stop when full: all that it took, and the mark: %llu bytes",
	   (unsigned long long)head_of(&area));
	unmap(&area);
}

/* A buffer that ends before it begins, behind the back of the driver. */
static void test_sink_error(int fd, off_t address)
{
	struct ntrace_config config = { .privilege = EVERYTHING };
	int memory = open("/dev/mem", O_RDWR | O_SYNC);
	volatile uint32_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, address);

	if (page == MAP_FAILED)
		bail("/dev/mem");
	configure(fd, &config);
	page[0x18 / 4] = page[0x10 / 4] - 64;
	fails_with(ioctl(fd, NTRACE_IOC_START), ETIMEDOUT, "SinkError: START");
	ok(page[0] >> 27 & 1 || !(page[0] & 2), "SinkError: it does not run");
	fails_with(ioctl(fd, NTRACE_IOC_START), ENODEV, "SinkError: START again");
	test_trace(fd);
	munmap((void *)page, 4096);
	close(memory);
}

int main(int argc, char **argv)
{
	struct ntrace_info info = { .size = sizeof(info) };
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int fd = open_device("/dev/ntrace0", 0);

	if (argc != 3)
		return 2;
	run_on(0);
	if (ioctl(fd, NTRACE_IOC_INFO, &info))
		bail("INFO");
	ok(!(info.encoder_impl & 0xf) && info.modes == 1 << NTRACE_MODE_HTM && !info.privilege &&
		   !info.range_max && !info.src_bits && info.granule == 8,
	   "INFO: version 0, HTM, no filters, no SRC, 8 bytes at once");
	test_refused(fd);
	test_trace(fd);
	test_full(fd);
	test_sink_error(fd, strtoul(argv[1], NULL, 0));
	close(fd);
	attr.type = strtoul(argv[2], NULL, 0);
	fails_with(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), EOPNOTSUPP,
		   "perf: it may not trace all");
	return failures ? 1 : 0;
}
