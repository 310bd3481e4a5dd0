// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random events of a PMU: attributes, targets, groups, ioctls, mmaps, tasks that come and go with
 * inherited events. The kernel may return any result but must not fail; the caller checks its log.
 * Usage: attr_fuzz TYPE SEED NUMBER     opens NUMBER events; prints what was done
 *        attr_fuzz work MILLISECONDS    work that its children do after exec
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENTS	 10
#define CHILDREN 6

static struct {
	int fd;
	void *ring;
	size_t size;
	bool writable;
} events[EVENTS];

static pid_t children[CHILDREN];
static uint32_t type;
static uint64_t state;
static int cgroup = -1;
static bool harts;
static unsigned long tried, opened, errors[256];

/* splitmix64 */
static uint64_t any(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t limit)
{
	return any() % limit;
}

static bool once_in(unsigned int n)
{
	return !below(n);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Returns a random value with few bits set. */
static uint64_t few_bits(unsigned int width)
{
	uint64_t bits = 0;
	unsigned int n;

	for (n = below(4); n; n--)
		bits |= 1ULL << below(width);
	return bits;
}

/* Calls, returns and branches, so that samples have entries. */
static __attribute__((noinline)) unsigned int work_a_little(unsigned int depth)
{
	return depth ? work_a_little(depth - 1) * 3 + (depth & 1) : 1;
}

static void work(unsigned int milliseconds)
{
	double end = now() + milliseconds / 1000.;
	volatile unsigned int sum = 0;

	do {
		for (int i = 0; i < 200; i++)
			sum += work_a_little(i % 23);
	} while (now() < end);
}

static void random_branches(struct perf_event_attr *attr)
{
	static const uint64_t usual[] = {
		PERF_SAMPLE_BRANCH_ANY,	    PERF_SAMPLE_BRANCH_ANY_CALL,
		PERF_SAMPLE_BRANCH_COND,    PERF_SAMPLE_BRANCH_ANY_RETURN,
		PERF_SAMPLE_BRANCH_IND_JUMP, PERF_SAMPLE_BRANCH_CALL_STACK,
	};

	attr->branch_sample_type = usual[below(6)];
	if (!once_in(4))
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_USER;
	if (once_in(8))
		attr->branch_sample_type |= few_bits(20);
	if (once_in(50))
		attr->branch_sample_type = any();
}

/* Avoid periods short enough to hang a machine: that is no defect of the PMU. */
static void random_period(struct perf_event_attr *attr)
{
	attr->freq = once_in(4);
	/*
	 * The kernel refuses rates above kernel.perf_event_max_sample_rate, which drops on a slow
	 * host.
	 */
	attr->sample_period = attr->freq ? 1 + below(100) : 5000 + below(200000);
	if (once_in(30))
		attr->sample_period = once_in(2) ? 0 : any() | 1ULL << 40;
}

static void random_flags(struct perf_event_attr *attr)
{
	attr->disabled = once_in(3);
	attr->inherit = once_in(2);
	attr->inherit_thread = attr->inherit && once_in(6);
	attr->inherit_stat = attr->inherit && once_in(6);
	attr->pinned = once_in(6);
	attr->exclusive = once_in(12);
	attr->exclude_user = once_in(16);
	attr->exclude_kernel = !once_in(3);
	attr->exclude_hv = once_in(2);
	attr->exclude_idle = once_in(8);
	attr->exclude_guest = once_in(3);
	attr->exclude_host = once_in(40);
	attr->enable_on_exec = once_in(3);
	attr->remove_on_exec = !attr->enable_on_exec && once_in(8);
	attr->mmap = once_in(3);
	attr->comm = once_in(3);
	attr->task = once_in(3);
	attr->watermark = once_in(4);
	attr->precise_ip = once_in(40) ? below(4) : 0;
	attr->sample_id_all = once_in(2);
	attr->context_switch = once_in(4);
	attr->write_backward = once_in(10);
	attr->namespaces = once_in(10);
	attr->ksymbol = once_in(10);
	attr->aux_output = once_in(50);
	attr->sigtrap = once_in(50);
	attr->use_clockid = once_in(20);
}

static struct perf_event_attr random_attr(void)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
	};
	uint64_t *words = (uint64_t *)&attr;

	if (once_in(6)) {
		attr.type = once_in(2) ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
		attr.sample_type = PERF_SAMPLE_IP;
	}
	/* The virtual SoC counts little else than cycles and instructions. */
	attr.config = once_in(6) ? below(10) : below(2);
	if (once_in(8)) {
		attr.config = 1 << 8;
		attr.config1 = below(64);
	}
	attr.config2 = once_in(2) ? below(260) : 0;
	random_branches(&attr);
	random_period(&attr);
	random_flags(&attr);
	if (once_in(4))
		attr.sample_type |= few_bits(24);
	if (once_in(6))
		attr.read_format = few_bits(5);
	attr.wakeup_events = once_in(2) ? below(20) : 0;
	attr.sample_max_stack = once_in(6) ? below(200) : 0;
	attr.sample_regs_user = once_in(8) ? few_bits(32) : 0;
	attr.sample_stack_user = once_in(8) ? below(4096) & ~7 : 0;
	/* Then flip random bits at random places. */
	while (once_in(8))
		words[1 + below(sizeof(attr) / 8 - 1)] ^= few_bits(64);
	if (once_in(40))
		attr.size = below(sizeof(attr) + 16);
	return attr;
}

/* An event of a hart and one of a task exclude each other. */
static pid_t random_target(void)
{
	if (harts ? !once_in(20) : once_in(20))
		return -1;
	if (once_in(3))
		return children[below(CHILDREN)] ?: 0;
	return once_in(40) ? (pid_t)below(400) : 0;
}

static void close_event(unsigned int i)
{
	if (events[i].ring)
		munmap(events[i].ring, events[i].size);
	if (events[i].fd >= 0)
		close(events[i].fd);
	events[i].fd = -1;
	events[i].ring = NULL;
}

static void open_event(unsigned int i)
{
	struct perf_event_attr attr = random_attr();
	pid_t target = random_target();
	int cpu = target == -1 || once_in(5) ? (int)below(2 + once_in(20)) : -1;
	int group = once_in(8) ? events[below(EVENTS)].fd : -1;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;

	close_event(i);
	if (once_in(10) && cgroup >= 0) {
		flags |= PERF_FLAG_PID_CGROUP;
		target = cgroup;
		cpu = below(2);
	}
	if (once_in(20))
		flags ^= few_bits(5);
	tried++;
	events[i].fd = syscall(SYS_perf_event_open, &attr, target, cpu, group, flags);
	if (events[i].fd < 0) {
		errors[errno & 255]++;
		return;
	}
	opened += attr.type == type;
	if (once_in(2)) {
		events[i].size = (1 + (1UL << below(5))) * sysconf(_SC_PAGESIZE);
		events[i].writable = !once_in(3);
		events[i].ring = mmap(NULL, events[i].size,
				      PROT_READ | (events[i].writable ? PROT_WRITE : 0), MAP_SHARED,
				      events[i].fd, 0);
		if (events[i].ring == MAP_FAILED)
			events[i].ring = NULL;
	}
}

static void poke_event(unsigned int i)
{
	static const unsigned long orders[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_PAUSE_OUTPUT,
	};
	uint64_t value = below(100000), buffer[64];

	switch (below(5)) {
	case 0:
		ioctl(events[i].fd, PERF_EVENT_IOC_PERIOD, &value);
		break;
	case 1:
		ioctl(events[i].fd, PERF_EVENT_IOC_SET_OUTPUT, events[below(EVENTS)].fd);
		break;
	case 2:
		errors[0] += read(events[i].fd, buffer, sizeof(buffer)) < 0;
		break;
	default:
		ioctl(events[i].fd, orders[below(5)], once_in(4) ? PERF_IOC_FLAG_GROUP : below(3));
	}
}

/* Consumes the samples. */
static void drain(unsigned int i)
{
	volatile struct perf_event_mmap_page *page = events[i].ring;

	if (page && events[i].writable)
		page->data_tail = page->data_head;
}

static void new_child(unsigned int i, const char *self)
{
	if (children[i]) {
		if (once_in(2))
			kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	children[i] = fork();
	if (children[i])
		return;
	if (once_in(2)) {
		execl(self, self, "work", once_in(2) ? "1" : "20", NULL);
		_exit(1);
	}
	if (once_in(2) && fork() == 0)
		work(5);
	work(below(10));
	_exit(0);
}

static void run(const char *self, unsigned long number)
{
	unsigned int i;

	cgroup = open("/sys/fs/cgroup", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < EVENTS; i++)
		events[i].fd = -1;
	signal(SIGIO, SIG_IGN);
	signal(SIGTRAP, SIG_IGN);
	while (tried < number) {
		i = below(EVENTS);
		switch (below(10)) {
		case 0 ... 3:
			open_event(i);
			break;
		case 4 ... 5:
			poke_event(i);
			break;
		case 6:
			close_event(i);
			break;
		case 7:
			new_child(below(CHILDREN), self);
			break;
		case 8:
			drain(i);
			break;
		default:
			work(below(6));
		}
		if (once_in(60)) {
			harts = once_in(3);
			for (i = 0; i < EVENTS; i++)
				close_event(i);
		}
	}
	for (i = 0; i < EVENTS; i++)
		close_event(i);
	for (i = 0; i < CHILDREN; i++) {
		if (children[i]) {
			kill(children[i], SIGKILL);
			waitpid(children[i], NULL, 0);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "work")) {
		work(atoi(argv[2]));
		return 0;
	}
	if (argc != 4) {
		fprintf(stderr, "usage: attr_fuzz TYPE SEED NUMBER\n");
		return 2;
	}
	type = strtoul(argv[1], NULL, 0);
	state = strtoull(argv[2], NULL, 0);
	run(argv[0], strtoul(argv[3], NULL, 0));
	printf("tried %lu\nopened %lu\n", tried, opened);
	for (int i = 1; i < 256; i++) {
		if (errors[i])
			printf("error %s %lu\n", strerror(i), errors[i]);
	}
	return 0;
}
