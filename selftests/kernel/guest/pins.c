// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sinks without memory. Usage: pins TYPE FILE VALUE PERF OUT: component type, attribute that
 * enables the output and the value to write there, type of the PMU. OUT: address of step(), which
 * is called STEPS times while hart 0 is traced, and by no other code; SRC of the encoder and its
 * bits.
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "guest.h"

#define STEPS 1000

static __attribute__((noinline, noclone)) void step(void)
{
	__asm__ volatile("");
}

/* Call through a pointer: the trace then has the target of each call. */
static void (*volatile indirect)(void) = step;

static int ask(int fd, struct ntrace_config config)
{
	config.size = sizeof(config);
	return ioctl(fd, NTRACE_IOC_CONFIGURE, &config);
}

static int set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);
	ssize_t ret = fd < 0 ? -1 : write(fd, value, strlen(value));
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return ret < 0 ? -1 : 0;
}

static void test_refused(int fd, const char *path, const char *value)
{
	struct ntrace_config quiet = { .flags = NTRACE_CONFIG_NO_DATA }, config;

	fails_with(ask(fd, (struct ntrace_config){ .mode = 0 }), EOPNOTSUPP,
		   "CONFIGURE: with a data area");
	config = quiet;
	config.flags |= NTRACE_CONFIG_STOP_ON_WRAP;
	fails_with(ask(fd, config), EOPNOTSUPP, "CONFIGURE: a buffer that gets full");
	config = quiet;
	config.sink_size = 65536;
	fails_with(ask(fd, config), EINVAL, "CONFIGURE: a buffer of the sink");
	fails_with(ask(fd, quiet), EDESTADDRREQ, "CONFIGURE: nobody said where to");
	fails_with(set(path, "0xffff"), EINVAL, "the attribute: what the hardware lacks");
	ok(!set(path, value), "the attribute: %s", value);
}

static void test_data(int fd, const struct ntrace_config *config)
{
	void *both = mmap(NULL, 2 * (size_t)getpagesize(), PROT_READ, MAP_SHARED, fd, 0);
	char byte;

	fails_with(both == MAP_FAILED ? -1 : 0, EOPNOTSUPP, "mmap() of data");
	fails_with(read(fd, &byte, 1), EOPNOTSUPP, "read()");
	ok(!config->data_size && !config->sink_size, "CONFIGURE tells that there is no data");
}

static void test_trace(int fd, const char *path, const char *value)
{
	struct ntrace_config config = { .flags = NTRACE_CONFIG_NO_DATA,
					.privilege = NTRACE_PRIVILEGE_U };
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	struct area area;
	int i;

	configure(fd, &config);
	test_data(fd, &config);
	area = map(fd, &config);
	fails_with(set(path, value), EBUSY, "the attribute while it is configured");
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	for (i = 0; i < STEPS; i++)
		indirect();
	ok(!ioctl(fd, NTRACE_IOC_STOP), "START, %d steps, STOP", STEPS);
	ok(area.control->state == NTRACE_STATE_STOPPED && !area.control->loss && !head_of(&area) &&
		   area.control->stop_ns > area.control->start_ns,
	   "the control page: stopped, nothing lost, no data");
	ok(poll(&poller, 1, 0) == 1 && poller.revents == POLLHUP, "poll(): it has ended");
	unmap(&area);
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .exclude_kernel = 1 };
	struct ntrace_info info;
	FILE *file;
	int fd;

	if (argc != 6)
		usage("pins TYPE FILE VALUE PERF OUT");
	begin(15);
	run_on(0);
	fd = open_device("/dev/ntrace0", 0);
	info = info_of(fd);
	ok((info.sink_impl >> 8 & 0xf) == strtoul(argv[1], NULL, 0) && !info.sink_size_max,
	   "INFO: what the sink is, and that it has no memory");
	test_refused(fd, argv[2], argv[3]);
	test_trace(fd, argv[2], argv[3]);
	close(fd);
	attr.type = strtoul(argv[4], NULL, 0);
	fails_with(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), EOPNOTSUPP,
		   "perf: there is nothing for an AUX area");
	file = fopen(argv[5], "w");
	if (!file || fprintf(file, "%p %u %u\n", (void *)step, info.src, info.src_bits) < 0 ||
	    fclose(file))
		bail(argv[5]);
	ksft_finished();
}
