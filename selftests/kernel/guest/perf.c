// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU "ntrace" by perf_event_open().
 * Usage: perf abi TYPE             accepted and refused events; TAP without a plan
 *        perf refused TYPE         events refused without privileges; likewise
 *        perf nameless TYPE        events refused without scontext; likewise
 *        perf trace TYPE DIR TEST [sparse]
 *                                  traces this program, user mode only, on two harts;
 *                                  DIR/N.nex: AUX area of hart N, DIR/flags: offset, size,
 *                                  flags, thread, hart and format of all PERF_RECORD_AUX,
 *                                  DIR/maps: addresses of its code,
 *                                  DIR/steps: number of traced calls of step().
 *        TEST is plain, drain, fork, context, pause, resume, snapshot, full, turns or beside.
 *        The last two have two tasks; DIR/other has N.nex and flags of the second task, which
 *        calls other_step(). turns: the tasks exchange harts and call their functions equally
 *        often. beside: the first task sleeps and wakes on hart 0 while the second one runs on
 *        hart 1 without a pause. sparse: 12 bytes of trace per 1,000 instructions instead of 460:
 *        from a sink that harts share, more cannot be separated when a task is switched.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "events.h"

#define HARTS 2
/* Steps that make more trace than the sink takes, 256 KiB. */
#define PIECE 200000
#define CONTEXT (1 << 24)

static const char modes[] = "perf abi|refused|nameless TYPE, perf trace TYPE DIR "
			    "plain|drain|fork|context|turns|beside|pause|resume|snapshot|full "
			    "[sparse]";

static void expect(struct perf_event_attr attr, int expected, const char *what)
{
	int fd = event_open(&attr, 0, -1);
	int error = fd < 0 ? errno : 0;

	if (!ok(error == expected, "%s: %s", what, expected ? strerror(expected) : "taken"))
		ksft_print_msg("%s\n", strerror(error));
	if (fd >= 0)
		close(fd);
}

#define EXPECT(expected, what, ...)                                                                \
	do {                                                                                       \
		struct perf_event_attr attr = attributes();                                        \
		__VA_ARGS__;                                                                       \
		expect(attr, expected, what);                                                      \
	} while (0)

static void test_config(void)
{
	const int filtered = whole ? EOPNOTSUPP : 0;

	EXPECT(filtered, "user mode", attr.exclude_kernel = 1; attr.exclude_hv = 1);
	EXPECT(filtered, "user mode and the kernel", attr.exclude_kernel = 0; attr.exclude_hv = 1);
	EXPECT(filtered, "the kernel alone", attr.exclude_kernel = 0; attr.exclude_user = 1);
	EXPECT(EINVAL, "neither", attr.exclude_user = 1; attr.exclude_kernel = 1);
	EXPECT(filtered, "mode 3, BTM", attr.config = 3);
	EXPECT(0, "mode 6, HTM", attr.config = 6);
	EXPECT(EOPNOTSUPP, "mode 5, which the encoder lacks", attr.config = 5);
	EXPECT(0, "sync=1,syncmax=4", attr.config = 1 << 8 | 4 << 12);
	EXPECT(EINVAL, "a bit that means nothing", attr.config = 1 << 3);
	EXPECT(EINVAL, "a bit that means nothing, above", attr.config = UINT64_C(1) << 63);
	EXPECT(0, "strobing", attr.config1 = 20 | UINT64_C(1000) << 32);
	EXPECT(EINVAL, "strobing: on, but not off", attr.config1 = 100);
	EXPECT(EINVAL, "strobing: too short", attr.config1 = 19 | UINT64_C(1000) << 32);
	EXPECT(EINVAL, "config2", attr.config2 = 1);
	EXPECT(0, "context", attr.config = CONTEXT);
	EXPECT(EOPNOTSUPP, "exclude_host", attr.exclude_host = 1);
	EXPECT(EOPNOTSUPP, "exclude_idle", attr.exclude_idle = 1);
	EXPECT(EOPNOTSUPP, "branch stacks", attr.sample_period = 1000;
	       attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	       attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
}

static void test_owners(void)
{
	struct perf_event_attr attr = attributes();
	struct ntrace_config config = { .size = sizeof(config),
					.privilege = whole ? EVERYTHING : 0 };
	int task = event_open(&attr, 0, 0), hart, device;

	ok(task >= 0, "an event of a task");
	hart = event_open(&attr, -1, 0);
	fails_with(hart, EBUSY, "an event of the hart beside it");
	device = open_device("/dev/ntrace0", 0);
	fails_with(ioctl(device, NTRACE_IOC_CONFIGURE, &config), EBUSY, "/dev/ntrace0 beside it");
	close(task);
	hart = event_open(&attr, -1, 0);
	ok(hart >= 0, "an event of the hart when the task's is closed");
	fails_with(event_open(&attr, 0, -1), EBUSY, "an event of a task beside it");
	close(hart);
	/* The path becomes free a moment after the last event was closed. */
	ok(!configure_when_free(device, &config), "/dev/ntrace0 when all are closed");
	fails_with(event_open(&attr, 0, 0), EBUSY, "an event beside /dev/ntrace0");
	close(device);
	task = event_open(&attr, 0, 0);
	ok(task >= 0, "an event when /dev/ntrace0 is closed");
	close(task);
}

static void test_count(void)
{
	struct perf_event_attr attr = attributes();
	int fd = event_open(&attr, 0, -1);
	uint64_t before = 0, after = 0, later = 0;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work(1000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ok(read(fd, &before, 8) == 8 && before > 100, "without AUX area: %llu bytes of trace",
	   (unsigned long long)before);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work(10000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	/*
	 * Every round has four conditional branches, each at least a bit of history. The rest is
	 * no measure: where the kernel is traced, an interrupt may make more trace than 1000 rounds.
	 */
	ok(read(fd, &after, 8) == 8 && after >= before + (flooded() ? 1 : 10000 * 4 / 8),
	   "more trace after more work: %llu bytes, then %llu", (unsigned long long)before,
	   (unsigned long long)after);
	work(1000);
	ok(read(fd, &later, 8) == 8 && later == after, "none while disabled");
	close(fd);
}

/* @device: /dev/ntrace0, configured by root */
static void test_refused(int device)
{
	/* Debian's perf_event_paranoid 3 locks out all users; the test sets it to 2. */
	struct perf_event_attr own = attributes();

	/*
	 * perf_event_open() fails before it tries the path: it must neither take the path from its
	 * user nor reveal that it is in use.
	 */
	fails_with(event_open(&own, -1, 0), EACCES, "unprivileged: a hart that root traces");
	fails_with(event_open(&own, 1, -1), EACCES, "unprivileged: a task of root on it");
	close(device);
	EXPECT(whole ? EACCES : 0, "unprivileged: own user mode", (void)0);
	EXPECT(EACCES, "unprivileged: the kernel", attr.exclude_kernel = 0);
	EXPECT(EACCES, "unprivileged: context", attr.config = CONTEXT);
	fails_with(event_open(&own, -1, 0), EACCES, "unprivileged: a hart");
	fails_with(event_open(&own, 1, -1), EACCES, "unprivileged: a task of root");
}

static void test_nameless(void)
{
	struct ntrace_config config = { .size = sizeof(config), .flags = NTRACE_CONFIG_CONTEXT };
	int device = open_device("/dev/ntrace0", 0);

	EXPECT(EOPNOTSUPP, "context", attr.config = CONTEXT);
	fails_with(ioctl(device, NTRACE_IOC_CONFIGURE, &config), EOPNOTSUPP,
		   "/dev/ntrace0: context");
	config.flags = 0;
	ok(!ioctl(device, NTRACE_IOC_CONFIGURE, &config), "/dev/ntrace0: without");
	close(device);
}

struct hart {
	struct aux_area area;
	uint64_t tail;
	FILE *out;
};
static struct hart harts[HARTS], other_harts[HARTS];
static FILE *flags_file;
static unsigned long steps;
static bool overwrite;
static bool start_paused;
static bool sparse;
static uint64_t context;

static __attribute__((noinline, noclone)) void step(void)
{
	__asm__ volatile("");
	steps++;
	if (sparse)
		__asm__ volatile(".rept 400\n\tnop\n\t.endr");
}

static __attribute__((noinline)) void many_steps(unsigned long count)
{
	while (count--)
		step();
}

static __attribute__((noinline, noclone)) void other_step(void)
{
	__asm__ volatile("" ::: "memory");
	steps++;
}

static void open_harts(struct hart *hart, const char *directory, pid_t pid, size_t aux_size)
{
	struct perf_event_attr attr = attributes();
	char path[256];

	attr.inherit = 1;
	attr.aux_start_paused = start_paused;
	attr.config |= context;
	/* A decoder that begins in the middle needs sync messages: one per 1024 messages. */
	if (overwrite)
		attr.config |= 1 << 8 | 6 << 12;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;
	for (int cpu = 0; cpu < HARTS; cpu++, hart++) {
		hart->area = aux_area_open(&attr, pid, cpu, aux_size, overwrite);
		snprintf(path, sizeof(path), "%s/%d.nex", directory, cpu);
		hart->out = fopen(path, "w");
		if (!hart->out)
			bail(path);
	}
}

/*
 * Appends the new part of the AUX area to the file. In blocks: this program may be the one that is
 * traced, and a loop over bytes makes more trace than it saves.
 */
static size_t save(struct hart *hart)
{
	const struct aux_area *area = &hart->area;
	uint64_t head = aux_head(area), at = hart->tail, begin;
	size_t saved, first;

	if (overwrite && head - at > area->aux_size)
		at = head - area->aux_size;
	saved = head - at;
	begin = at % area->aux_size;
	first = saved < area->aux_size - begin ? saved : area->aux_size - begin;
	if (fwrite(area->aux + begin, 1, first, hart->out) != first ||
	    fwrite(area->aux, 1, saved - first, hart->out) != saved - first)
		bail("trace");
	hart->tail = head;
	if (!overwrite)
		__atomic_store_n(&area->page->aux_tail, head, __ATOMIC_RELEASE);
	return saved;
}

/* Writes the flags of the AUX records so far. Return: all flags combined. */
static uint64_t save_flags(struct hart *hart)
{
	struct perf_event_mmap_page *page = hart->area.page;
	const uint8_t *data = (const uint8_t *)page + page->data_offset;
	uint64_t at = page->data_tail, head = page->data_head, all = 0;
	struct perf_event_header header;
	/* sample_id follows: struct { u32 pid, tid; u64 time; u32 cpu, reserved; } */
	uint64_t record[6];

	for (; at < head; at += header.size) {
		for (size_t i = 0; i < sizeof(header); i++)
			((uint8_t *)&header)[i] = data[(at + i) % page->data_size];
		if (header.type != PERF_RECORD_AUX || !header.size)
			continue;
		for (size_t i = 0; i < sizeof(record); i++)
			((uint8_t *)record)[i] = data[(at + sizeof(header) + i) % page->data_size];
		/* Without the causes of losses, which are above perf's own flags. */
		fprintf(flags_file, "%lu %lu %lu %lu %lu %lu\n", record[0], record[1],
			record[2] & 0xff, record[3] >> 32, record[5] & UINT32_MAX,
			record[2] & PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK);
		all |= record[2] & ~(uint64_t)PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK;
	}
	page->data_tail = head;
	return all;
}

static void control(unsigned long request)
{
	for (int cpu = 0; cpu < HARTS; cpu++)
		ioctl(harts[cpu].area.fd, request, 0);
}

static void save_all(void)
{
	for (int cpu = 0; cpu < HARTS; cpu++) {
		save(&harts[cpu]);
		save_flags(&harts[cpu]);
	}
}

/* Moves between the harts, where other processes run too. */
static void trace_plain(void)
{
	for (int i = 0; i < 20; i++) {
		run_on((unsigned int)i % HARTS);
		many_steps(10000);
		sched_yield();
	}
}

/*
 * Makes more trace than the AUX area holds, in pieces that each exceed the sink. The reader is not
 * traced and reads between the pieces, so the AUX area never gets full.
 */
static void trace_drain(const char *directory)
{
	int go[2], done[2];
	pid_t child;
	char byte;

	if (pipe(go) || pipe(done))
		bail("pipe");
	child = fork();
	if (!child) {
		close(go[1]);
		for (int i = 0; read(go[0], &byte, 1) == 1; i++) {
			run_on((unsigned int)i % HARTS);
			many_steps(PIECE);
			if (write(done[1], "", 1) != 1)
				break;
		}
		_exit(0);
	}
	/* With the kernel, there is more. */
	open_harts(harts, directory, child, whole ? 1 << 21 : 1 << 20);
	control(PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 6; i++) {
		if (write(go[1], "", 1) != 1 || read(done[0], &byte, 1) != 1)
			bail("pipe");
		steps += PIECE;
		save_all();
	}
	close(go[1]);
	waitpid(child, NULL, 0);
}

static void trace_fork(void)
{
	int status;

	for (int i = 0; i < 4; i++) {
		pid_t child = fork();

		if (!child) {
			run_on((unsigned int)i % HARTS);
			many_steps(10000);
			_exit(0);
		}
		waitpid(child, &status, 0);
		steps += 10000;
	}
	many_steps(1000);
}

/* Two tasks that exchange harts; a third process traces both. The traces must not mix. */
static pid_t one_of_two(int which, int go)
{
	pid_t child = fork();
	char byte;

	if (child)
		return child;
	if (read(go, &byte, 1) != 1)
		_exit(1);
	for (int i = 0; i < 8; i++) {
		run_on((unsigned int)(i + which) % HARTS);
		for (int k = 0; k < 10000; k++) {
			if (which)
				other_step();
			else
				step();
		}
	}
	_exit(0);
}

/*
 * The first of two tasks sleeps between its steps. The other task makes trace all the time: as a
 * real-time task, it yields its hart to no other.
 */
struct other_task {
	int running;
	int over;
};

static volatile struct other_task *other_task;

static pid_t one_beside(int which, int go)
{
	const struct sched_param first = { .sched_priority = 1 };
	const struct timespec pause = { .tv_nsec = 100000 };
	pid_t child = fork();
	char byte;

	if (child)
		return child;
	run_on((unsigned int)which);
	if (which && sched_setscheduler(0, SCHED_FIFO, &first))
		_exit(1);
	if (read(go, &byte, 1) != 1)
		_exit(1);
	while (which && !other_task->over) {
		other_step();
		other_task->running = 1;
		/* More trace than the first hart can drain would be lost. */
		__asm__ volatile(".rept 200\n\tnop\n\t.endr");
	}
	while (!which && !other_task->running)
		;
	for (int i = 0; i < 8 && !which; i++) {
		nanosleep(&pause, NULL);
		for (int k = 0; k < 5000; k++)
			step();
	}
	_exit(0);
}

static void trace_two(const char *directory, pid_t (*start)(int which, int go))
{
	struct hart *of[2] = { harts, other_harts };
	char path[280], other_flags[300];
	FILE *mine = flags_file;
	pid_t child[2];
	int go[2];

	snprintf(path, sizeof(path), "%s/other", directory);
	snprintf(other_flags, sizeof(other_flags), "%s/flags", path);
	if (pipe(go) || mkdir(path, 0755))
		bail(path);
	other_task = mmap(NULL, sizeof(*other_task), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (other_task == MAP_FAILED)
		bail("mmap");
	/* Stay off the hart of the real-time task, which yields to no other task. */
	run_on(0);
	for (int i = 0; i < 2; i++) {
		child[i] = start(i, go[0]);
		open_harts(of[i], i ? path : directory, child[i], 1 << 20);
		for (int cpu = 0; cpu < HARTS; cpu++)
			ioctl(of[i][cpu].area.fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	if (write(go[1], "12", 2) != 2)
		bail("pipe");
	waitpid(child[0], NULL, 0);
	other_task->over = 1;
	waitpid(child[1], NULL, 0);
	flags_file = fopen(other_flags, "w");
	if (!flags_file)
		bail(other_flags);
	for (int cpu = 0; cpu < HARTS; cpu++) {
		ioctl(other_harts[cpu].area.fd, PERF_EVENT_IOC_DISABLE, 0);
		save(&other_harts[cpu]);
		save_flags(&other_harts[cpu]);
	}
	fclose(flags_file);
	flags_file = mine;
	steps = 8 * 10000;
}

/*
 * A page fault pauses or resumes the trace, which then has only the steps before, or after, the
 * fault.
 */
static void trace_pause(void)
{
	const size_t size = (size_t)getpagesize();
	volatile char *pages =
		mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.size = sizeof(attr),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = 1,
		.aux_pause = !start_paused,
		.aux_resume = start_paused,
	};

	run_on(0);
	if (pages == MAP_FAILED || event_open_in(&attr, 0, 0, harts[0].area.fd) < 0)
		bail("page faults that pause");
	/* Avoid all other page faults. */
	pages[0] = 1;
	many_steps(1);
	ioctl(harts[0].area.fd, PERF_EVENT_IOC_ENABLE, 0);
	many_steps(start_paused ? 50000 : 1000);
	pages[size] = 1;
	many_steps(start_paused ? 1000 : 50000);
	ioctl(harts[0].area.fd, PERF_EVENT_IOC_DISABLE, 0);
	steps = 1000;
}

/* Works until more trace has been handed over; makes many times as much as that takes. */
static bool goes_on(const struct aux_area *area)
{
	uint64_t head = aux_head(area);

	for (int i = 0; i < 1000 && aux_head(area) == head; i++)
		many_steps(PIECE / 100);
	return aux_head(area) != head;
}

/* Without the cause that the last bytes of a record have waited in a sink that harts share. */
static uint64_t unshared(uint64_t flags)
{
	const uint64_t shared = (uint64_t)NTRACE_LOSS_SHARED << NTRACE_AUX_LOSS_SHIFT;

	return flags == (PERF_AUX_FLAG_PARTIAL | shared) ? 0 : flags & ~shared;
}

/* Whether records tell of a full area. */
static bool is_full(uint64_t flags)
{
	const uint64_t cause = (uint64_t)NTRACE_LOSS_DATA_FULL << NTRACE_AUX_LOSS_SHIFT;

	return unshared(flags) == (PERF_AUX_FLAG_PARTIAL | cause);
}

/* An event of a hart, whatever its number: the area is full, and read; the event is scheduled out. */
static void trace_full_hart(int cpu)
{
	struct perf_event_attr attr = attributes(), other = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(other),
		.pinned = 1,
	};
	struct aux_area area = aux_area_open(&attr, -1, cpu, 65536, false);
	int fd;

	run_on((unsigned int)cpu);
	ioctl(area.fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 2; i++) {
		many_steps(PIECE);
		ok(aux_head(&area) - area.page->aux_tail > 65536 / 2 && is_full(aux_flags(&area)),
		   "hart %d: a full AUX area: PARTIAL", cpu);
		__atomic_store_n(&area.page->aux_tail, aux_head(&area), __ATOMIC_RELEASE);
		ioctl(area.fd, PERF_EVENT_IOC_ENABLE, 0);
		/* perf schedules all events of the hart out, and in again. */
		fd = event_open(&other, -1, cpu);
		ok(fd >= 0 && goes_on(&area), "hart %d: tracing continues after it was read", cpu);
		close(fd);
	}
	aux_area_close(&area);
}

/* Fills the AUX area without reading it, then reads it. */
static void trace_full(void)
{
	uint64_t flags = 0;

	run_on(0);
	many_steps(PIECE);
	flags = save_flags(&harts[0]);
	if (flooded()) {
		ok(flags & PERF_AUX_FLAG_PARTIAL, "losses are reported");
		return;
	}
	if (!ok(is_full(flags), "a full AUX area: PARTIAL"))
		printf("# flags of its records: %#llx\n", (unsigned long long)flags);
	ok(save(&harts[0]) > harts[0].area.aux_size / 2, "a full AUX area: it is full of trace");
	ok(goes_on(&harts[0].area), "a full AUX area: tracing continues after it was read");
	/* A shared sink may still hold more than the area. */
	for (int i = 0; i < 100 && unshared(flags); i++) {
		save(&harts[0]);
		goes_on(&harts[0].area);
		flags = save_flags(&harts[0]);
	}
	if (!ok(!unshared(flags), "a full AUX area: and whole, if it is read"))
		printf("# flags of its last records: %#llx\n", (unsigned long long)flags);
}

static void save_maps(const char *directory)
{
	char command[300];

	snprintf(command, sizeof(command), "cat /proc/%d/maps >%s/maps", (int)getpid(), directory);
	if (system(command))
		bail("maps");
}

static void trace(const char *directory, const char *test)
{
	char path[256];
	FILE *file;
	bool full = !strcmp(test, "full");
	bool pauses = !strcmp(test, "pause") || !strcmp(test, "resume");

	snprintf(path, sizeof(path), "%s/flags", directory);
	flags_file = fopen(path, "w");
	if (!flags_file)
		bail(path);
	begin(full ? (flooded() ? 2 : 13) : 1);
	save_maps(directory);
	overwrite = !strcmp(test, "snapshot");
	start_paused = !strcmp(test, "resume");
	context = strcmp(test, "context") ? 0 : CONTEXT;
	if (!strcmp(test, "drain")) {
		trace_drain(directory);
	} else if (!strcmp(test, "turns")) {
		trace_two(directory, one_of_two);
	} else if (!strcmp(test, "beside")) {
		trace_two(directory, one_beside);
	} else {
		open_harts(harts, directory, 0, full || overwrite ? 65536 : 1 << 20);
		if (!pauses)
			control(PERF_EVENT_IOC_ENABLE);
	}
	if (pauses) {
		trace_pause();
	} else if (full) {
		trace_full();
	} else if (overwrite) {
		run_on(0);
		many_steps(PIECE);
	} else if (!strcmp(test, "fork") || context) {
		trace_fork();
	} else if (!strcmp(test, "plain")) {
		trace_plain();
	} else if (strcmp(test, "drain") && strcmp(test, "turns") && strcmp(test, "beside")) {
		usage(modes);
	}
	control(PERF_EVENT_IOC_DISABLE);
	save_all();
	snprintf(path, sizeof(path), "%s/steps", directory);
	file = fopen(path, "w");
	if (!file || fprintf(file, "steps %lu\n", steps) < 0 || fclose(file))
		bail(path);
	ok(steps && harts[0].tail, "%s: %lu steps, %llu bytes of trace", test, steps,
	   (unsigned long long)(harts[0].tail + harts[1].tail));
	if (!full || flooded())
		return;
	for (int cpu = 0; cpu < HARTS; cpu++)
		aux_area_close(&harts[cpu].area);
	for (int cpu = 0; cpu < HARTS; cpu++)
		trace_full_hart(cpu);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		usage(modes);
	type = (unsigned int)strtoul(argv[2], NULL, 0);
	look_for_filters();
	if (argc == 3 && !strcmp(argv[1], "abi")) {
		begin(29);
		test_config();
		test_owners();
		test_count();
	} else if (argc == 3 && !strcmp(argv[1], "refused")) {
		struct ntrace_config config = { .size = sizeof(config),
						.privilege = whole ? EVERYTHING : 0 };
		int device = open_device("/dev/ntrace0", 0);

		begin(7);
		/* The path becomes free a moment after the last event was closed. */
		if (configure_when_free(device, &config))
			bail("CONFIGURE");
		if (setgid(65534) || setuid(65534))
			bail("setuid");
		test_refused(device);
	} else if (argc == 3 && !strcmp(argv[1], "nameless")) {
		begin(3);
		test_nameless();
	} else if (argc >= 5 && argc <= 6 && !strcmp(argv[1], "trace")) {
		sparse = argc == 6;
		if (sparse && strcmp(argv[5], "sparse"))
			usage(modes);
		trace(argv[3], argv[4]);
	} else {
		usage(modes);
	}
	ksft_finished();
}
