// SPDX-License-Identifier: GPL-2.0-only
/* Capabilities and limits of pre-ratification SiFive encoders. */
#include <sys/wait.h>

#include "events.h"
#include "version0.h"

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

/* Sets a buffer that ends before it starts, without the driver. */
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

static struct perf_event_attr all(void)
{
	struct perf_event_attr attr = attributes();

	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	return attr;
}

/*
 * A v0 encoder traces firmware too: perf_event_paranoid alone does not permit
 * that.
 */
static void test_perf_unprivileged(void)
{
	struct perf_event_attr attr = all();
	pid_t child = fork();
	int status;

	if (!child) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(2);
		_exit(event_open(&attr, 0, 0) == -1 && errno == EACCES ? 0 : 1);
	}
	ok(child > 0 && waitpid(child, &status, 0) == child && !status,
	   "perf: not for everyone: %s", strerror(EACCES));
}

static void test_perf_refused(void)
{
	struct perf_event_attr attr = all();

	attr.exclude_kernel = 1;
	fails_with(event_open(&attr, 0, 0), EOPNOTSUPP, "perf: without the kernel");
	attr = all();
	attr.exclude_user = 1;
	fails_with(event_open(&attr, 0, 0), EOPNOTSUPP, "perf: the kernel alone");
	attr = all();
	attr.exclude_hv = 1;
	fails_with(event_open(&attr, 0, 0), EOPNOTSUPP, "perf: without firmware");
	attr = all();
	attr.config = 3;
	fails_with(event_open(&attr, 0, 0), EOPNOTSUPP, "perf: BTM");
}

static void test_perf(volatile uint32_t *page)
{
	struct perf_event_attr attr = all();
	struct aux_area area = aux_area_open(&attr, 0, 0, 1 << 22, false);
	uint64_t head;

	ioctl(area.fd, PERF_EVENT_IOC_ENABLE, 0);
	work(1000);
	ioctl(area.fd, PERF_EVENT_IOC_DISABLE, 0);
	head = aux_head(&area);
	ok(head > 1000 && area.aux[0] == PROG_TRACE_SYNC && !(page[0] & 2),
	   "perf: all of a task: %llu bytes", (unsigned long long)head);
	ioctl(area.fd, PERF_EVENT_IOC_ENABLE, 0);
	work(1000);
	ioctl(area.fd, PERF_EVENT_IOC_DISABLE, 0);
	/* A v0 encoder cannot exclude the kernel. */
	ok(aux_head(&area) > head && area.aux[head] == PROG_TRACE_SYNC &&
		   (!aux_flags(&area) || on_debug_kernel()),
	   "perf: and again, nothing lost");
	ioctl(area.fd, PERF_EVENT_IOC_ENABLE, 0);
	work(1000);
	page[FAULTS] = FAULT_SINK_ERROR;
	work(100000);
	ok(!(page[0] & 2), "perf: SinkError while it runs: the hardware is off");
	ioctl(area.fd, PERF_EVENT_IOC_DISABLE, 0);
	ok(aux_flags(&area) & PERF_AUX_FLAG_TRUNCATED, "perf: and the trace is marked");
	head = aux_head(&area);
	ioctl(area.fd, PERF_EVENT_IOC_ENABLE, 0);
	work(1000);
	ok(aux_head(&area) == head && !(page[0] & 2), "perf: it is not tried again");
	aux_area_close(&area);
	area = aux_area_open(&attr, 0, 0, 1 << 22, false);
	ioctl(area.fd, PERF_EVENT_IOC_ENABLE, 0);
	work(1000);
	ioctl(area.fd, PERF_EVENT_IOC_DISABLE, 0);
	ok(aux_head(&area) > 1000, "perf: a new event works");
	aux_area_close(&area);
}

int main(int argc, char **argv)
{
	struct ntrace_info info;
	volatile uint32_t *page;
	int fd;

	if (argc != 3)
		usage("v0 ENCODER_ADDRESS TYPE");
	begin(35);
	run_on(0);
	fd = open_device("/dev/ntrace0", 0);
	info = info_of(fd);
	ok(!(info.encoder_impl & 0xf) && info.modes == 1 << NTRACE_MODE_HTM && !info.privilege &&
		   !info.range_max && !info.src_bits && info.granule >= 8,
	   "INFO: version 0, HTM, no filters, no SRC, 8 bytes at once or more");
	test_refused(fd);
	test_trace(fd);
	test_full(fd);
	test_sink_error(fd, strtoul(argv[1], NULL, 0));
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		    open("/dev/mem", O_RDWR | O_SYNC), strtoul(argv[1], NULL, 0));
	if (page == MAP_FAILED)
		bail("/dev/mem");
	test_sink_fails(fd, page);
	test_trace(fd);
	close(fd);
	type = (unsigned int)strtoul(argv[2], NULL, 0);
	test_perf_refused();
	test_perf_unprivileged();
	test_perf(page);
	ksft_finished();
}
