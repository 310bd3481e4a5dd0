// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random sequences of what users and administrators do: two events and two files that come and go,
 * a hart that goes offline and comes back, components that are unbound and bound. Calls may fail
 * with the errors that this explains; hardware never does. After each sequence, all is as it was.
 * Usage: random SEQUENCES SEED
 */
#include "events.h"

#define DRIVER "/sys/bus/platform/drivers/ntrace/"
#define DEBUG "/sys/kernel/debug/ntrace/"
#define PARTS_MAX 32
#define SLOTS 2
/* Most steps of a sequence, before everything is closed and brought back. */
#define STEPS 9

static char parts[PARTS_MAX][64];
static unsigned int part_count;
static bool bound[PARTS_MAX];
static bool online = true;
static int files[SLOTS] = { -1, -1 }, events[SLOTS] = { -1, -1 };
static uint64_t state;
static unsigned int unexpected;

static unsigned int random_below(unsigned int bound_)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned int)((state * 0x2545f4914f6cdd1d) >> 33) % bound_;
}

/* Return: the result of write(). */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text)) < 0 ? -1 : 0;
	close(fd);
	return ret;
}

/* Complains about an error that no user can cause. */
static void check(int ret, const char *what)
{
	static const int fine[] = { EBUSY, ENODEV, ENOENT, EINVAL, ENXIO };

	if (ret >= 0)
		return;
	for (unsigned int i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		if (errno == fine[i])
			return;
	ksft_print_msg("%s: %s\n", what, strerror(errno));
	unexpected++;
}

static void file_step(int *file)
{
	struct ntrace_config config = { .size = sizeof(config),
					.data_size = 1 << 16,
					.privilege = whole ? EVERYTHING : 0 };
	char name[32];

	if (*file < 0) {
		snprintf(name, sizeof(name), "/dev/ntrace%u", random_below(2));
		*file = open(name, O_RDWR | O_CLOEXEC);
		check(*file, name);
		return;
	}
	switch (random_below(4)) {
	case 0:
		check(ioctl(*file, NTRACE_IOC_CONFIGURE, &config), "CONFIGURE");
		break;
	case 1:
		check(ioctl(*file, NTRACE_IOC_START), "START");
		break;
	case 2:
		check(ioctl(*file, NTRACE_IOC_STOP), "STOP");
		break;
	default:
		close(*file);
		*file = -1;
	}
}

static void event_step(int *event)
{
	struct perf_event_attr attr = attributes();
	int cpu = (int)random_below(3) - 1;

	if (*event < 0) {
		*event = event_open(&attr, cpu < 0 ? 0 : -1, cpu);
		check(*event, "perf_event_open");
		return;
	}
	switch (random_below(3)) {
	case 0:
		check(ioctl(*event, PERF_EVENT_IOC_ENABLE, 0), "ENABLE");
		break;
	case 1:
		check(ioctl(*event, PERF_EVENT_IOC_DISABLE, 0), "DISABLE");
		break;
	default:
		close(*event);
		*event = -1;
	}
}

static void switch_hart(bool on)
{
	if (on == online)
		return;
	check(put("/sys/devices/system/cpu/cpu1/online", on ? "1" : "0"), "online");
	online = on;
}

static void switch_part(unsigned int part, bool on)
{
	if (bound[part] != on)
		check(put(on ? DRIVER "bind" : DRIVER "unbind", parts[part]), parts[part]);
	bound[part] = on;
}

static void step(void)
{
	unsigned int part = random_below(part_count);

	switch (random_below(8)) {
	case 0:
		switch_hart(!online);
		break;
	case 1:
		switch_part(part, !bound[part]);
		break;
	case 2:
	case 3:
	case 4:
		file_step(&files[random_below(SLOTS)]);
		break;
	default:
		event_step(&events[random_below(SLOTS)]);
	}
	work(500);
}

/* Reads a file of debugfs, sorted by lines: components are listed in the order of their probes. */
static int compare(const void *one, const void *two)
{
	return strcmp(*(char *const *)one, *(char *const *)two);
}

static void read_sorted(const char *name, char *text, size_t size)
{
	char buffer[8192], *lines[64];
	int fd = open(name, O_RDONLY);
	size_t have = 0, count = 0;
	ssize_t got;

	if (fd < 0)
		bail(name);
	while ((got = read(fd, buffer + have, sizeof(buffer) - 1 - have)) > 0)
		have += (size_t)got;
	close(fd);
	buffer[have] = '\0';
	for (char *line = strtok(buffer, "\n"); line && count < 64; line = strtok(NULL, "\n"))
		lines[count++] = line;
	qsort(lines, count, sizeof(lines[0]), compare);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		strncat(text, lines[i], size - strlen(text) - 1);
		strncat(text, "\n", size - strlen(text) - 1);
	}
}

/* A hart that was offline has registers that are written before the next start: not a difference. */
static void snapshot(char *text, size_t size)
{
	static const char stale[] = " stale";

	read_sorted(DEBUG "components", text, size / 2);
	read_sorted(DEBUG "paths", text + strlen(text), size / 2);
	while ((text = strstr(text, stale)))
		memmove(text, text + strlen(stale), strlen(text + strlen(stale)) + 1);
}

static void find_parts(const char *text)
{
	while (*text && part_count < PARTS_MAX && sscanf(text, "%63s", parts[part_count]) == 1 &&
	       strncmp(parts[part_count], "cpu", 3)) {
		bound[part_count++] = true;
		text += strcspn(text, "\n") + 1;
	}
}

/* Closes all, and brings all back. */
static void finish(void)
{
	for (int i = 0; i < SLOTS; i++) {
		if (files[i] >= 0)
			close(files[i]);
		if (events[i] >= 0)
			close(events[i]);
		files[i] = events[i] = -1;
	}
	switch_hart(true);
	for (unsigned int i = 0; i < part_count; i++)
		switch_part(i, true);
}

/* A fresh capture works on a hart. */
static void captures(unsigned int cpu)
{
	struct ntrace_config config = { .size = sizeof(config), .privilege = NTRACE_PRIVILEGE_U };
	struct area area;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/dev/ntrace%u", cpu);
	run_on(cpu);
	fd = open_device(name, 0);
	if (!info_of(fd).privilege)
		config.privilege = EVERYTHING;
	if (configure_when_free(fd, &config))
		bail("CONFIGURE");
	area = map(fd, &config);
	run(fd, 1000);
	ok(head_of(&area) > 100, "CPU %u: a fresh capture has %llu bytes", cpu,
	   (unsigned long long)head_of(&area));
	unmap(&area);
	close(fd);
}

/* perf returns its paths a moment after the last event is closed. */
static bool same(const char *before, char *after, size_t size)
{
	uint64_t end = now_ns() + 10 * NSEC_PER_SEC;

	for (;;) {
		snapshot(after, size);
		if (!strcmp(before, after))
			return true;
		if (now_ns() > end)
			return false;
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	static char before[16384], after[16384];
	FILE *file = fopen("/sys/bus/event_source/devices/ntrace/type", "r");
	int sequences, done = 0, steps = 0;
	bool good = true;

	if (argc != 3)
		usage("random SEQUENCES SEED");
	if (!file || fscanf(file, "%u", &type) != 1)
		bail("type of the PMU");
	fclose(file);
	look_for_filters();
	sequences = atoi(argv[1]);
	state = strtoull(argv[2], NULL, 0) | 1;
	begin(4);
	ksft_print_msg("SEED=%s, %d sequences\n", argv[2], sequences);
	snapshot(before, sizeof(before));
	find_parts(before);
	run_on(0);
	while (good && done < sequences) {
		for (unsigned int i = random_below(STEPS) + 1; i; i--, steps++)
			step();
		finish();
		good = same(before, after, sizeof(after));
		done++;
	}
	ok(!unexpected, "%d steps: no error that no user can cause", steps);
	if (!ok(good, "%d sequences: the state of the driver is as before", done))
		ksft_print_msg("before:\n# %s\n# after:\n# %s\n", before, after);
	captures(0);
	captures(1);
	ksft_finished();
}
