// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens, configures and starts a device and prints "running". It then reads
 * orders from standard input and answers each on standard output:
 *   start stop flush configure close    the call's result: 0 or the error's name
 *   head state loss gaps  the value in the control page
 *   consume             consumes all available data: 0
 *   churn N             after close: N times open, CONFIGURE, START, STOP, close
 * Usage: hold DEVICE [SINK_SIZE DATA_SIZE]
 */
#include "guest.h"

static int fd = -1;

static const char *result(int ret)
{
	return ret ? strerrorname_np(errno) : "0";
}

static const char *churn(const char *device, int times, struct ntrace_config config)
{
	while (times--) {
		struct ntrace_config again = config;

		fd = open(device, O_RDWR);
		if (fd < 0 || ioctl(fd, NTRACE_IOC_CONFIGURE, &again) ||
		    ioctl(fd, NTRACE_IOC_START) || ioctl(fd, NTRACE_IOC_STOP))
			return strerrorname_np(errno);
		close(fd);
	}
	fd = -1;
	return "0";
}

int main(int argc, char **argv)
{
	struct ntrace_config config = { .size = sizeof(config) };
	struct area area;
	char line[64];

	if (argc < 2)
		usage("hold DEVICE [SINK_SIZE DATA_SIZE]");
	if (argc == 4) {
		config.sink_size = strtoull(argv[2], NULL, 0);
		config.data_size = strtoull(argv[3], NULL, 0);
	}
	fd = open_device(argv[1], 0);
	if (!info_of(fd).sink_size_max)
		config.flags = NTRACE_CONFIG_NO_DATA;
	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	puts("running");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "start"))
			puts(result(ioctl(fd, NTRACE_IOC_START)));
		else if (!strcmp(line, "stop"))
			puts(result(ioctl(fd, NTRACE_IOC_STOP)));
		else if (!strcmp(line, "flush"))
			puts(result(ioctl(fd, NTRACE_IOC_FLUSH)));
		else if (!strcmp(line, "configure"))
			puts(result(ioctl(fd, NTRACE_IOC_CONFIGURE, &config)));
		else if (!strcmp(line, "head"))
			printf("%llu\n", (unsigned long long)head_of(&area));
		else if (!strcmp(line, "consume"))
			puts(result(consume(fd, head_of(&area))));
		else if (!strcmp(line, "state"))
			printf("%u\n", area.control->state);
		else if (!strcmp(line, "loss"))
			printf("%u\n", area.control->loss);
		else if (!strcmp(line, "gaps"))
			printf("%u\n", area.control->gaps);
		else if (!strcmp(line, "close")) {
			unmap(&area);
			puts(result(close(fd)));
		} else if (!strncmp(line, "churn ", 6))
			puts(churn(argv[1], atoi(line + 6), config));
		else
			puts("?");
		fflush(stdout);
	}
	return 0;
}
