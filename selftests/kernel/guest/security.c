// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access of an unprivileged user to the PMU "ntrace"; TAP without a plan.
 * Usage: security open TYPE LEVEL PID     as user nobody: events that may be opened with
 *                                         perf_event_paranoid LEVEL; PID belongs to root
 *        security own TYPE ERROR         as user nobody: opens an event of its own user mode on
 *                                         CPU 0; ERROR: errno, or 0
 *        security stale TYPE              AUX areas begin as zeros, and get only own trace
 *        security wild TYPE               as user nobody: invalid values in the control page
 *        security setuid TYPE PATH        as user nobody: a child execs PATH, which is this
 *                                         program and setuid root
 *        security spin                    the work of the child of setuid
 *        security busy TYPE               users and events that exclude each other
 *        security traps TYPE CONFIG FILE  traces a program full of traps in user mode, and writes
 *                                         the AUX area to FILE; CONFIG: of the event, "kernel":
 *                                         trace the kernel too
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "events.h"

#define NOBODY 65534
#define SOMEBODY 65533

static void become(uid_t user)
{
	if (setgid(user) || setuid(user))
		bail("setuid");
	/* Set as an exec would, so that the process may access its own children. */
	prctl(PR_SET_DUMPABLE, 1);
}

static void expect_open(struct perf_event_attr *attr, pid_t pid, int cpu, bool allowed,
			const char *level, const char *what)
{
	int fd = event_open(attr, pid, cpu);
	int error = fd < 0 ? errno : 0;

	if (!ok(error == (allowed ? 0 : EACCES), "paranoid %s: %s: %s", level, what,
		allowed ? "taken" : strerror(EACCES)))
		ksft_print_msg("%s\n", strerror(error));
	if (fd >= 0)
		close(fd);
}

static pid_t idle_child(void)
{
	pid_t child = fork();

	if (!child)
		for (;;)
			pause();
	return child;
}

static void test_open(const char *level, pid_t roots)
{
	const int paranoid = atoi(level);
	struct perf_event_attr user = attributes(), kernel = user, both = user;
	pid_t child = idle_child();

	if (whole) {
		/* perf does not know that firmware is in the trace, and its setting is not enough. */
		expect_open(&user, 0, -1, false, level, "own trace");
		expect_open(&user, child, -1, false, level, "that of an own child");
		expect_open(&user, -1, 0, false, level, "a hart");
		expect_open(&user, roots, -1, false, level, "a task of root");
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		return;
	}
	both.exclude_kernel = 0;
	kernel.exclude_kernel = 0;
	kernel.exclude_user = 1;
	expect_open(&user, 0, -1, paranoid < 3, level, "own user mode");
	expect_open(&user, child, -1, paranoid < 3, level, "that of an own child");
	expect_open(&both, 0, -1, paranoid < 2, level, "the kernel, too");
	expect_open(&kernel, 0, -1, paranoid < 2, level, "the kernel alone");
	expect_open(&user, -1, 0, paranoid < 1, level, "a hart, user mode");
	expect_open(&both, -1, 0, paranoid < 1, level, "a hart with the kernel");
	expect_open(&user, roots, -1, false, level, "a task of root");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(open("/dev/ntrace0", O_RDWR) < 0 && errno == EACCES, "paranoid %s: /dev/ntrace0: %s",
	   level, strerror(EACCES));
}

static void test_own(int expected)
{
	struct perf_event_attr attr = attributes();
	int fd = event_open(&attr, 0, 0);
	int error = fd < 0 ? errno : 0;

	if (!ok(error == expected, "own user mode on CPU 0: %s",
		expected ? strerror(expected) : "taken"))
		ksft_print_msg("%s\n", strerror(error));
	if (fd >= 0)
		close(fd);
}

/* ---- memory ---- */

static void trace_work(struct aux_area *area, uint64_t rounds)
{
	ioctl(area->fd, PERF_EVENT_IOC_ENABLE, 0);
	work(rounds);
	ioctl(area->fd, PERF_EVENT_IOC_DISABLE, 0);
}

static bool all_zero(const uint8_t *bytes, uint64_t from, uint64_t to)
{
	while (from < to && !bytes[from])
		from++;
	return from >= to;
}

/* Root fills as much memory as the test uses, also from the kernel, and frees it. */
static void fill(size_t size)
{
	struct perf_event_attr attr = attributes();
	struct aux_area area;

	attr.exclude_kernel = 0;
	area = aux_area_open(&attr, 0, 0, size, false);
	/* Some of it may be lost. */
	for (int i = 0; i < 100 && aux_head(&area) < size / 2; i++)
		trace_work(&area, 200000);
	if (aux_head(&area) < size / 2)
		bail("filling");
	aux_area_close(&area);
}

static int look_at_fresh(size_t size)
{
	struct perf_event_attr attr = attributes();
	struct aux_area area;
	uint64_t head;

	if (!whole)
		become(NOBODY);
	area = aux_area_open(&attr, 0, 0, size, false);
	if (!all_zero(area.aux, 0, size))
		return 1;
	trace_work(&area, 20);
	head = aux_head(&area);
	if (head < 16 || head > size / 2 || area.aux[0] != PROG_TRACE_SYNC)
		return 2;
	/* The driver has copied no more of its own buffer than it reports. */
	return all_zero(area.aux, head, size) ? 0 : 3;
}

static void test_stale(void)
{
	static const char *const wrong[4] = { "", "it begins with something",
					      "it does not begin with a trace",
					      "the area has bytes after its trace" };
	const size_t size = 1 << 18;
	int status = 0, i;
	pid_t child;

	for (i = 0; i < 4 && !status; i++) {
		fill(size);
		child = fork();
		if (!child)
			exit(look_at_fresh(size));
		waitpid(child, &status, 0);
	}
	if (!ok(!status, "an AUX area has zeros and own trace only"))
		ksft_print_msg("after %d: %s\n", i, wrong[WEXITSTATUS(status) & 3]);
}

static void test_stale_device(void)
{
	struct ntrace_config config = {
		.privilege = whole ? EVERYTHING : NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S,
		.data_size = 1 << 18
	};
	struct ntrace_config again = { .privilege = NTRACE_PRIVILEGE_U, .data_size = 1 << 18 };
	int fd = open_device("/dev/ntrace0", 0);
	struct area area;

	/* The path becomes free a moment after the last event was closed. */
	config.size = sizeof(config);
	if (configure_when_free(fd, &config))
		bail("CONFIGURE");
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	work(200000);
	ioctl(fd, NTRACE_IOC_STOP);
	close(fd);
	fd = open_device("/dev/ntrace0", 0);
	configure(fd, &again);
	area = map(fd, &again);
	ok(all_zero((const uint8_t *)area.data, 0, again.data_size),
	   "so does the data area of /dev/ntrace0");
	ioctl(fd, NTRACE_IOC_START);
	work(20);
	ioctl(fd, NTRACE_IOC_STOP);
	/* A frame begins with the ID of its bytes. */
	ok(head_of(&area) > 16 && byte_at(&area, !!info_of(fd).framing) == PROG_TRACE_SYNC &&
		   all_zero((const uint8_t *)area.data, head_of(&area), again.data_size),
	   "and nothing but its trace comes there");
	unmap(&area);
	close(fd);
}

/* ---- the control page ---- */

static atomic_bool wild_end;
static bool wild_all;

/*
 * Repeatedly overwrites everything that a user can write and the kernel reads, from the other hart.
 */
static void *be_wild(void *data)
{
	struct perf_event_mmap_page *page = data;
	volatile __u64 *fields[] = { &page->aux_tail,	 &page->aux_head,    &page->aux_offset,
				     &page->aux_size,	 &page->data_tail,   &page->data_head,
				     &page->data_offset, &page->data_size };
	const unsigned int count = wild_all ? sizeof(fields) / sizeof(*fields) : 2;
	uint64_t random = 88172645463325252u, value;

	run_on(1);
	for (uint64_t i = 0; !wild_end; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		value = random;
		/* values near the true one, and far from it */
		if (random & 1)
			value = page->aux_head + (random >> 1 & 0x1fff) - 0x1000;
		if ((random & 6) == 6)
			value = (uint64_t)0 - (random >> 3 & 1);
		*fields[i % count] = value;
	}
	return NULL;
}

static void test_wild(bool all)
{
	const char *what = all ? "nonsense in the control page" :
				 "nonsense in aux_head and aux_tail";
	struct perf_event_attr attr = attributes();
	struct aux_area area, other;
	uint64_t traced = 0, count = 0;
	pthread_t thread;

	wild_all = all;
	wild_end = false;
	area = aux_area_open(&attr, 0, 0, 1 << 16, false);
	other = aux_area_open(&attr, 0, 1, 1 << 16, false);
	if (pthread_create(&thread, NULL, be_wild, area.page))
		bail("thread");
	for (int i = 0; i < 300; i++) {
		/* The driver disables the event of a user who makes the area look full. */
		trace_work(&area, 1000);
		if (read(area.fd, &count, sizeof(count)) == sizeof(count) && count > traced)
			traced = count;
	}
	wild_end = true;
	pthread_join(thread, NULL);
	ok(traced > 65536, "%s: %llu bytes were traced", what, (unsigned long long)traced);
	ok(all_zero(other.aux, 0, other.aux_size), "%s: nothing in another AUX area", what);
	aux_area_close(&other);
	/* The kernel keeps its own position, and stores it with the next record. */
	area.page->aux_tail = 0;
	aux_area_close(&area);
	area = aux_area_open(&attr, 0, 0, 1 << 16, false);
	trace_work(&area, 20);
	if (!ok(area.aux[0] == PROG_TRACE_SYNC &&
			aux_head(&area) <= (flooded() ? area.aux_size : 4095) &&
			all_zero(area.aux, aux_head(&area), area.aux_size),
		"%s: the next event is as if nothing had been", what))
		ksft_print_msg("first byte 0x%02x, %llu bytes\n", area.aux[0],
			       (unsigned long long)aux_head(&area));
	aux_area_close(&area);
}

/* ---- other users ---- */

static uint64_t trace_child(const char *path)
{
	struct perf_event_attr attr = attributes();
	uint64_t count = 0;
	int go[2], fd;
	char byte;
	pid_t child;

	attr.disabled = 0;
	if (pipe(go))
		bail("pipe");
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) == 1)
			execl(path, path, "spin", (char *)NULL);
		_exit(1);
	}
	fd = event_open(&attr, child, 0);
	if (fd < 0 || write(go[1], "", 1) != 1)
		bail("an event of a child");
	waitpid(child, NULL, 0);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		bail("read");
	close(fd);
	close(go[0]);
	close(go[1]);
	return count;
}

static void test_setuid(const char *path)
{
	uint64_t plain, root;

	run_on(0);
	become(NOBODY);
	plain = trace_child("/proc/self/exe");
	root = trace_child(path);
	ok(plain > 20000, "a program that a child execs: %llu bytes of trace",
	   (unsigned long long)plain);
	/* The child's last steps before exec belong to the tracer's own program. */
	ok(root < plain / 4, "one that is setuid root: %llu, from before",
	   (unsigned long long)root);
}

/* A child of another user, with its own event; runs until it is killed. */
static pid_t owner(uid_t user, int expected, const char *what)
{
	struct perf_event_attr attr = attributes();
	int done[2];
	char result = 1;
	pid_t child;

	if (pipe(done))
		bail("pipe");
	child = fork();
	if (!child) {
		become(user);
		result = event_open(&attr, 0, 0) < 0 ? (char)errno : 0;
		if (write(done[1], &result, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(done[0], &result, 1) != 1)
		bail("read");
	ok(result == expected, "%s: %s", what, expected ? strerror(expected) : "taken");
	close(done[0]);
	close(done[1]);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void test_busy(void)
{
	struct ntrace_config config = { .size = sizeof(config),
					.privilege = whole ? EVERYTHING : 0 };
	struct perf_event_attr attr = attributes();
	int device = open_device("/dev/ntrace0", 0), hart = -1;
	pid_t one, two;

	if (whole) {
		end(owner(NOBODY, EACCES, "a user's own task"));
		ok(!ioctl(device, NTRACE_IOC_CONFIGURE, &config), "root: /dev/ntrace0");
		close(device);
		return;
	}
	one = owner(NOBODY, 0, "a user's own task");
	two = owner(SOMEBODY, 0, "another user's own task on the same hart");
	fails_with(event_open(&attr, -1, 0), EBUSY, "root: the hart beside them");
	ok(!ioctl(device, NTRACE_IOC_CONFIGURE, &config), "root: /dev/ntrace0 in spite of them");
	end(owner(SOMEBODY, EBUSY, "a user's own task beside it"));
	close(device);
	end(one);
	fails_with(event_open(&attr, -1, 0), EBUSY, "the hart while one event is left");
	end(two);
	hart = event_open_when_free(&attr, -1, 0);
	ok(hart >= 0, "the hart when both were killed");
	end(owner(NOBODY, EBUSY, "a user's own task beside it"));
	close(hart);
}

/* ---- traps ---- */

static volatile unsigned int signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static void be_trapped(void)
{
	const size_t size = 16 * (size_t)getpagesize();
	char *memory;

	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 200; i++) {
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
		if (memory == MAP_FAILED)
			bail("mmap");
		memset(memory, i, size);
		munmap(memory, size);
		kill(getpid(), SIGUSR1);
		if (i % 20 == 0)
			usleep(1000);
		sched_yield();
	}
}

static void trace_traps(const char *config, const char *path)
{
	struct perf_event_attr attr = attributes();
	FILE *file = fopen(path, "w");
	struct aux_area area;
	uint64_t head;

	if (!strcmp(config, "kernel"))
		attr.exclude_kernel = 0;
	else
		attr.config = strtoull(config, NULL, 0);
	run_on(0);
	area = aux_area_open(&attr, 0, 0, 1 << 22, false);
	ioctl(area.fd, PERF_EVENT_IOC_ENABLE, 0);
	be_trapped();
	ioctl(area.fd, PERF_EVENT_IOC_DISABLE, 0);
	head = aux_head(&area);
	if (!file || fwrite(area.aux, 1, head, file) != head || fclose(file))
		bail(path);
	ok(signals == 200 && head > 1000 && head < area.aux_size, "%s: %llu bytes", path,
	   (unsigned long long)head);
}

static const char modes[] = "security open TYPE LEVEL PID | own TYPE ERROR | stale TYPE | wild "
			    "TYPE | busy TYPE | setuid TYPE PATH | "
			    "traps TYPE CONFIG FILE | spin";

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "spin")) {
		work(100000);
		return 0;
	}
	if (argc < 3)
		usage(modes);
	type = (unsigned int)strtoul(argv[2], NULL, 0);
	look_for_filters();
	if (!strcmp(argv[1], "open") && argc == 5) {
		begin(whole ? 4 : 8);
		become(NOBODY);
		test_open(argv[3], atoi(argv[4]));
	} else if (!strcmp(argv[1], "own") && argc == 4) {
		begin(1);
		become(NOBODY);
		test_own(atoi(argv[3]));
	} else if (!strcmp(argv[1], "stale") && argc == 3) {
		begin(3);
		run_on(0);
		test_stale();
		test_stale_device();
	} else if (!strcmp(argv[1], "wild") && argc == 3) {
		begin(6);
		if (!whole)
			become(NOBODY);
		run_on(0);
		test_wild(false);
		test_wild(true);
	} else if (!strcmp(argv[1], "setuid") && argc == 4) {
		begin(2);
		test_setuid(argv[3]);
	} else if (!strcmp(argv[1], "busy") && argc == 3) {
		begin(whole ? 2 : 8);
		test_busy();
	} else if (!strcmp(argv[1], "traps") && argc == 5) {
		begin(1);
		trace_traps(argv[3], argv[4]);
	} else {
		usage(modes);
	}
	ksft_finished();
}
