// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU "ntrace" while harts, components and events come and go: where each event is traced, and
 * the contents of its records. Rules: "The perf PMU" in Documentation/trace/ntrace.rst.
 */
#include <tap.h>

#include "../../kernel/ntrace/perf.c"
#include "../../kernel/ntrace/perf_config.c"
#include "../../kernel/ntrace/feed.c"
#include "host/perf.h"

static const char *judge_cpu(unsigned int cpu)
{
	const struct ntrace_perf *perf = &ntrace_perf_harts[cpu];
	const struct ntrace_path *path = &machine.path[cpu];
	const struct task_event *task = running_on(cpu);

	if (perf->path && (!world.bound[cpu] || path->capture != &machine.capture[cpu]))
		return "perf has a path with another capture";
	if (!perf->users != !perf->path)
		return "perf has a path without an event that holds it, or lacks one";
	if (perf->event && (!task || perf->event != &task->event))
		return "an event is traced that is not scheduled";
	if (perf->event && task->took[cpu] != world.bindings[cpu])
		return "an event is traced on a path that it did not take";
	if (world.tracing[cpu] && !perf->event)
		return "the encoder traces, and there is no event";
	if (world.file[cpu] && world.file_capture[cpu].feed.data)
		return "trace of a file goes to an AUX area";
	return NULL;
}

static const char *judge(void)
{
	const char *wrong = NULL;

	for (unsigned int cpu = 0; cpu < CPUS && !wrong; cpu++)
		wrong = judge_cpu(cpu);
	return wrong ? wrong : "right";
}

/*
 * The first event was opened while hart 1 was offline. It does not own the path that a second event
 * takes there.
 */
static void test_later_hart(void)
{
	machine_start();
	take_offline(1);
	is_u64(open_event(&tasks[0], -1, true), 0, "an event of all CPUs, hart 1 is offline");
	bring_online(1, NULL);
	is_u64(open_event(&tasks[1], -1, true), 0, "another one, hart 1 is online");
	is_u64((u64)schedule_in(&tasks[0], 1), (u64)-ENODEV,
	       "the first one is not traced on hart 1");
	is_str(judge(), "right", "the state of perf");
	close_event(&tasks[1], false);
	is_str(judge(), "right", "when the second one is closed");
	tick(1);
	is_u64((u64)schedule_in(&tasks[0], 0), 0, "it is traced on hart 0");
	machine_stop();
}

static void test_later_path(void)
{
	machine_start();
	is_u64(open_event(&tasks[0], -1, true), 0, "an event of all CPUs");
	is_u64((u64)schedule_in(&tasks[0], 1), 0, "it is traced on hart 1");
	unbind_path(1);
	bind_path(1);
	is_str(judge(), "right", "the path is removed and comes back");
	is_u64(open_event(&tasks[1], -1, true), 0, "another event");
	/* Does what perf does when it changes filters or the period of a scheduled event. */
	host_cpu = 1;
	ntrace_pmu.start(&tasks[0].event, 0);
	is_str(judge(), "right", "the first one, still scheduled, is started again");
	is_u64((u64)schedule_in(&tasks[0], 1), (u64)-ENODEV,
	       "nor is it traced when it is scheduled again");
	close_event(&tasks[1], false);
	tick(1);
	is_str(judge(), "right", "when the second one is closed");
	machine_stop();
}

/* The last event is closed while its hart is offline. */
static void test_closed_offline(void)
{
	machine_start();
	is_u64(open_event(&tasks[0], -1, true), 0, "an event of all CPUs");
	is_u64((u64)schedule_in(&tasks[0], 1), 0, "it is traced on hart 1");
	take_offline(1);
	close_event(&tasks[0], false);
	is_str(judge(), "right", "closed while hart 1 is offline");
	bring_online(1, NULL);
	is_str(judge(), "right", "hart 1 comes back");
	is_u64((u64)configure_file(1), 0, "a file takes its path");
	is_str(judge(), "right", "perf has no path");
	machine_stop();
}

/* ---- rights ---- */

/* A caller without rights takes no path, and does not learn that another one has it. */
static void test_rights(void)
{
	unsigned int *const ids[] = { &other_cred.uid, &other_cred.euid, &other_cred.suid,
				      &other_cred.gid, &other_cred.egid, &other_cred.sgid };

	machine_start();
	configure_file(0);
	configure_file(1);
	is_u64((u64)try_open(NULL, 0), (u64)-EBUSY, "perf_event_paranoid 1: a CPU that a file has");
	world.trusted = false;
	is_u64((u64)try_open(NULL, 0), (u64)-EACCES, "perf_event_paranoid 2: a CPU");
	is_u64((u64)try_open(&caller, 0), (u64)-EBUSY, "the caller itself");
	is_u64((u64)try_open(&other_task, 0), (u64)-EBUSY, "a task of the same user");
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		*ids[i] = 1;
		is_u64((u64)try_open(&other_task, 0), (u64)-EACCES,
		       "a task of which id %zu differs", i);
		*ids[i] = 0;
	}
	other_cred.uid = 1;
	world.ptrace = true;
	is_u64((u64)try_open(&other_task, 0), (u64)-EBUSY, "with CAP_SYS_PTRACE");
	world.ptrace = false;
	world.capable = true;
	is_u64((u64)try_open(&other_task, 0), (u64)-EBUSY, "with CAP_PERFMON");
	is_u64((u64)try_open(NULL, 0), (u64)-EBUSY, "a CPU with CAP_PERFMON");
	other_cred.uid = 0;
	close_file(0);
	close_file(1);
	is_u64((u64)try_open(&caller, NTRACE_PERF_CONTEXT), 0, "contexts with CAP_PERFMON");
	world.capable = false;
	is_u64((u64)try_open(&caller, NTRACE_PERF_CONTEXT), (u64)-EACCES, "contexts without it");
	is_u64((u64)try_open(&caller, 0), 0, "no contexts");
	machine_stop();
}

/*
 * What slows down a hart for others, acts on other parts of the chip, or shows them, is not for an
 * event of one's own task.
 */
static void test_privileged(void)
{
	static const struct {
		const char *what;
		struct perf_event_attr attr;
		int plain, capable;
	} cases[] = {
		{ "stall", { .config = NTRACE_PERF_STALL }, -EACCES, 0 },
		{ "debug triggers", { .config = NTRACE_PERF_DEBUG_TRIGGERS }, -EACCES, 0 },
		{ "armed", { .config = NTRACE_PERF_ARMED }, -EACCES, 0 },
		{ "an external input", { .config2 = 2 }, -EACCES, 0 },
		{ "an external output", { .config2 = 1ULL << 32 }, -EACCES, 0 },
		{ "strobes of 1 ms", { .config1 = 1000 | 1000ULL << 32 }, 0, 0 },
		{ "999 us on", { .config1 = 999 | 1000ULL << 32 }, -EACCES, 0 },
		{ "999 us off", { .config1 = 1000 | 999ULL << 32 }, -EACCES, 0 },
		{ "strobes of 19 us", { .config1 = 19 | 19ULL << 32 }, -EACCES, -EINVAL },
		{ "config3", { .config3 = 1 }, -EINVAL, -EINVAL },
	};
	struct perf_event_attr attr;

	machine_start();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		attr = cases[i].attr;
		attr.exclude_kernel = 1;
		world.capable = false;
		is_u64((u64)try_attr(&caller, attr), (u64)cases[i].plain, "%s, without rights",
		       cases[i].what);
		world.capable = true;
		is_u64((u64)try_attr(&caller, attr), (u64)cases[i].capable, "%s, with CAP_PERFMON",
		       cases[i].what);
	}
	world.locked = true;
	is_u64((u64)try_attr(&caller, (struct perf_event_attr){ 0 }), (u64)-EPERM,
	       "a locked down kernel does not show itself");
	is_u64((u64)try_open(&caller, 0), 0, "but a task in user mode");
	machine_stop();
}

/* A file takes a path from the events of users without rights, from no others. */
static void test_evicted(void)
{
	machine_start();
	is_u64(open_event(&tasks[0], -1, true), 0, "an event of a user");
	schedule_in(&tasks[0], 1);
	world.capable = true;
	is_u64(open_event(&tasks[1], 0, true), 0, "one of root, on CPU 0");
	is_u64((u64)configure_file(0), (u64)-EBUSY, "a file does not get the path of CPU 0");
	is_u64((u64)configure_file(1), 0, "it gets that of CPU 1");
	is_str(judge(), "right", "the state of perf");
	is_u64(tasks[0].flags, PERF_AUX_FLAG_PARTIAL, "the event was traced until then");
	close_file(1);
	is_u64((u64)schedule_in(&tasks[0], 1), (u64)-ENODEV, "and not again");
	is_u64((u64)schedule_in(&tasks[0], 0), 0, "on CPU 0 it is");
	close_event(&tasks[1], false);
	is_u64((u64)configure_file(0), 0, "without root's event a file gets that path, too");
	is_str(judge(), "right", "the state of perf");
	machine_stop();
}

/* Filters that filter nothing: nothing for users, and the hardware stays free for others. */
static void test_filters(void)
{
	machine_start();
	is_u64((u64)try_open(&caller, 0), 0, "an event of a user");
	is_u64(world.trials, CPUS, "the filters of each hart were tried");
	is_u64((u64)try_open(&caller, 0), 0, "another one");
	is_u64(world.trials, CPUS, "and not again");
	machine_stop();

	machine_start();
	world.unfiltered = true;
	is_u64((u64)try_open(&caller, 0), (u64)-EACCES, "filters do not work: an event of a user");
	is_str(judge(), "right", "perf has no path");
	is_u64((u64)configure_file(0), 0, "a file gets it");
	close_file(0);
	world.capable = true;
	world.bytes = 256;
	is_u64(open_event(&tasks[0], -1, true), 0, "root's event");
	schedule_in(&tasks[0], 0);
	tick(0);
	world.capable = false;
	is_u64((u64)try_open(&caller, 0), (u64)-EACCES, "one of a user beside it");
	is_str(judge(), "right", "root's event keeps the path");
	ok(world.tracing[0], "and is traced");
	schedule_out(0);
	is_u64(tasks[0].flags, 0, "its trace is whole");
	machine_stop();
}

/*
 * Root's event is traced on the only hart when the first event of a user is opened: the filters are
 * tried when the latter is scheduled, once, and root's trace lacks nothing.
 */
static void test_filters_later(bool work)
{
	machine_start();
	take_offline(1);
	world.capable = true;
	world.bytes = 256;
	is_u64(open_event(&tasks[0], -1, true), 0, "root's event");
	schedule_in(&tasks[0], 0);
	tick(0);
	world.capable = false;
	world.unfiltered = !work;
	is_u64((u64)open_event(&tasks[1], -1, true), 0, "one of a user beside it");
	is_u64(world.trials, 0, "the filters are not tried yet");
	ok(world.tracing[0], "root's event is traced");
	tick(0);
	for (int i = 0; i < 2; i++) {
		is_u64((u64)schedule_in(&tasks[1], 0), work ? 0 : (u64)-EINVAL,
		       work ? "filters work: traced" : "filters do not work: not traced");
		is_u64(world.trials, 1, "they were tried once");
		is_str(judge(), "right", "the state of perf");
		schedule_in(&tasks[0], 0);
		tick(0);
	}
	schedule_out(0);
	is_u64(tasks[0].flags, 0, "root's trace is whole");
	is_u64((u64)open_event(&tasks[2], -1, true), work ? 0 : (u64)-EACCES,
	       "a further event of a user");
	is_u64(world.trials, work ? 1 : 2, work ? "no further trial" : "tries again");
	machine_stop();
}

/* An event does not return what is hard-wired. */
static void test_wired(void)
{
	struct ntrace_perf_event asks = { .config.features = NTRACE_FEATURE_ALL_JUMPS },
				 not = { 0 };
	struct ntrace_config config;

	machine_start();
	world.wired = NTRACE_FEATURE_REPEATED_HISTORY;
	is_u64((u64)ntrace_perf_config_for(&not, &machine.encoder[0], &config), 0,
	       "hard-wired, and decoders need not know");
	world.wired = NTRACE_FEATURE_ALL_JUMPS;
	is_u64((u64)ntrace_perf_config_for(&not, &machine.encoder[0], &config), (u64)-EOPNOTSUPP,
	       "a hard-wired feature that they must know: refused");
	is_u64((u64)ntrace_perf_config_for(&asks, &machine.encoder[0], &config), 0,
	       "unless it is asked for");
	machine_stop();
}

/* ---- losses ---- */

static struct task_event *const task = &tasks[0];

static void begin_trace(bool snapshot)
{
	machine_start();
	open_event(task, -1, true);
	task->snapshot = snapshot;
	task->area->snapshot = snapshot;
	world.bytes = 256;
	schedule_in(task, 0);
	tick(0);
}

/*
 * @flags: expected flags of all records; @goes_on: the event must still be traced, on hart 0 or
 * else on hart 1
 */
static void end_trace(const char *what, u64 flags, bool goes_on)
{
	if (task->on < 0)
		schedule_in(task, host_online[0] ? 0 : 1);
	ok((task->on >= 0 && world.tracing[task->on]) == goes_on, "%s: the event %s", what,
	   goes_on ? "goes on" : "is disabled");
	is_str(judge(), "right", "%s: the state of perf", what);
	is_u64(task->flags, flags, "%s: flags of the records", what);
	machine_stop();
}

/* A record has the causes of its losses in its flags. */
static u64 cause(u32 loss)
{
	return (u64)loss << NTRACE_AUX_LOSS_SHIFT;
}

/* gtrace's rules: the format in each record that is written, the CPU once for each AUX area. */
static void test_format(void)
{
	begin_trace(false);
	schedule_out(0);
	for (int i = 0; i < 3; i++) {
		schedule_in(task, i & 1);
		tick(i & 1);
		schedule_out(i & 1);
	}
	is_u64(task->formats, task->records, "each record says that the trace is N-Trace");
	is_u64(task->ids[0], 1, "CPU 0 is named once");
	is_u64(task->ids[1], 1, "CPU 1 is named once");
	is_u64(task->ids[2], 0, "no other CPU is named");
	end_trace("named", 0, true);

	begin_trace(false);
	schedule_out(0);
	is_u64(task->ids[0], 1, "another AUX area: CPU 0 is named again");
	end_trace("another area", 0, true);

	machine_start();
	open_event(task, -1, false);
	schedule_in(task, 0);
	tick(0);
	schedule_out(0);
	is_u64(task->formats + task->records + task->ids[0], 0, "no AUX area: no record");
	machine_stop();
}

static void test_losses(void)
{
	begin_trace(false);
	schedule_out(0);
	end_trace("nothing lost", 0, true);

	begin_trace(false);
	world.lap = true;
	tick(0);
	world.lap = false;
	tick(0);
	schedule_out(0);
	end_trace("the sink laps", PERF_AUX_FLAG_PARTIAL | cause(NTRACE_LOSS_LAPPED), true);

	begin_trace(false);
	machine.encoder[0].encoder.losses = 0x1000;
	ntrace_feed_encoder(&machine.capture[0].feed, 0x1000);
	schedule_out(0);
	is_u64(task->last_flags, PERF_AUX_FLAG_PARTIAL | cause(NTRACE_LOSS_ENCODER),
	       "the encoder overflows: the record says so");
	schedule_in(task, 0);
	schedule_out(0);
	is_u64(task->last_flags, 0, "the next record does not");
	end_trace("the encoder overflows", PERF_AUX_FLAG_PARTIAL | cause(NTRACE_LOSS_ENCODER),
		  true);

	begin_trace(false);
	ntrace_feed_miss(&machine.capture[0].feed, 100, NTRACE_LOSS_SWITCH);
	schedule_out(0);
	end_trace("switched out too early", PERF_AUX_FLAG_PARTIAL | cause(NTRACE_LOSS_SWITCH),
		  true);

	begin_trace(true);
	world.lap = true;
	for (int i = 0; i < 100; i++)
		tick(0);
	schedule_out(0);
	end_trace("the sink laps, snapshot", PERF_AUX_FLAG_PARTIAL | cause(NTRACE_LOSS_LAPPED),
		  true);

	begin_trace(true);
	for (int i = 0; i < 100; i++)
		tick(0);
	schedule_out(0);
	end_trace("more than a snapshot holds", 0, true);

	begin_trace(false);
	world.incomplete = true;
	schedule_out(0);
	end_trace("the last messages are still in the sink", PERF_AUX_FLAG_PARTIAL, true);

	begin_trace(false);
	machine.capture[0].feed.fault = true;
	tick(0);
	is_u64(machine.capture[0].feed.control->state, NTRACE_STATE_DEAD, "the sink fails: dead");
	is_u64((u64)open_event(&tasks[1], 0, true), (u64)-EIO, "another event is refused");
	end_trace("the sink fails", PERF_AUX_FLAG_TRUNCATED, false);
}

/* A reader reads all, and enables the event, which has no effect on one that is enabled. */
static void read_all(unsigned int cpu)
{
	task->tail = task->head;
	task->enabled = true;
	if (task->on < 0)
		schedule_in(task, cpu);
}

/*
 * The area is full before the reader comes, which is before or after the event is scheduled out.
 */
static void test_full(unsigned int cpu, bool newer, bool out)
{
	const struct ntrace_feed *feed = &machine.capture[cpu].feed;
	char what[80];
	u64 head;

	(snprintf)(what, sizeof(what), "the AUX area is full, CPU %u, %s, %s", cpu,
		   newer ? "7.x" : "6.12", out ? "scheduled out" : "running");
	machine_start();
	world.newer = newer;
	open_event(task, (int)cpu, true);
	world.bytes = 256;
	schedule_in(task, cpu);
	for (int i = 0; i < 100; i++)
		tick(cpu);
	is_u64(task->head, AUX_SIZE - 2, "%s: all but two bytes are used", what);
	is_u64(task->flags, PERF_AUX_FLAG_PARTIAL | cause(NTRACE_LOSS_DATA_FULL),
	       "%s: the loss is marked", what);
	is_u64(feed->lost, 100 * 256 - (task->head - 1), "%s: and counted", what);
	is_u64((u64)task->event.count.value, task->head, "%s: the event counts the rest", what);
	is_u64(feed->gaps, 1, "%s: as one gap", what);
	if (out)
		schedule_out(cpu);
	head = task->head;
	read_all(cpu);
	for (int i = 0; i < 3; i++)
		tick(cpu);
	schedule_out(cpu);
	ok(task->head >= head + 2 * 256, "%s: the trace goes on when it was read", what);
	is_u64(task->last_flags, 0, "%s: without a further loss", what);
	schedule_in(task, cpu);
	end_trace(what, PERF_AUX_FLAG_PARTIAL | cause(NTRACE_LOSS_DATA_FULL), true);
}

/* Another event has filled the area that two share, and is closed. */
static void test_full_at_start(void)
{
	machine_start();
	open_event(task, 0, true);
	world.bytes = 256;
	task->head = AUX_SIZE - 2;
	schedule_in(task, 0);
	tick(0);
	is_u64(task->records, 0, "no room when the event starts: no record");
	task->tail = 100;
	tick(0);
	is_u64(machine.capture[0].feed.lost, 512, "nor before a quarter is free");
	task->tail = task->head;
	tick(0);
	tick(0);
	schedule_out(0);
	is_u64(task->head, AUX_SIZE - 2 + 256, "then it is traced");
	end_trace("no room when the event starts",
		  PERF_AUX_FLAG_PARTIAL | cause(NTRACE_LOSS_DATA_FULL), true);
}

/* Trace that arrived after the last AUX area was closed may be part of this one's, or not. */
static void test_gap_at_begin(void)
{
	machine_start();
	open_event(task, -1, true);
	world.bytes = 256;
	world.doubtful = true;
	schedule_in(task, 0);
	tick(0);
	schedule_out(0);
	is_u64(task->head, 1 + 256,
	       "a gap at the begin: the record contains its mark and all trace");
	end_trace("a gap at the begin", PERF_AUX_FLAG_PARTIAL, true);
}

static void test_stopped(void)
{
	begin_trace(false);
	take_offline(0);
	end_trace("the hart goes offline", PERF_AUX_FLAG_PARTIAL, true);

	begin_trace(false);
	unbind_path(0);
	schedule_in(task, 1);
	end_trace("the path is removed", PERF_AUX_FLAG_PARTIAL, true);

	begin_trace(false);
	sleep_system(0);
	ok(!world.tracing[0], "the system goes to sleep: the event is not traced");
	wake_system(0);
	end_trace("the system was asleep", PERF_AUX_FLAG_PARTIAL, true);

	begin_trace(false);
	sleep_system(0);
	schedule_out(0);
	task->enabled = false;
	wake_system(0);
	end_trace("disabled while the system was asleep", PERF_AUX_FLAG_PARTIAL, false);
}

/* Performs one random step. */
static void step(void)
{
	struct task_event *some = &tasks[random_below(TASKS)];
	unsigned int cpu = (unsigned int)random_below(CPUS);

	switch (random_below(13)) {
	case 0:
	case 1:
		if (!some->open)
			open_event(some, random_below(3) ? -1 : (int)cpu, random_below(2));
		break;
	case 2:
		close_event(some, random_below(2));
		break;
	case 3:
		take_offline(cpu);
		break;
	case 4:
		bring_online(cpu, random_below(2) ? some : NULL);
		break;
	case 5:
		unbind_path(cpu);
		break;
	case 6:
		bind_path(cpu);
		break;
	case 7:
		if (random_below(2))
			configure_file(cpu);
		else
			close_file(cpu);
		break;
	case 8:
		some->enabled = some->open;
		break;
	case 9:
		if (!host_online[cpu] || !world.bound[cpu])
			break;
		sleep_system(cpu);
		wake_system(cpu);
		break;
	default:
		if (some->event.cpu >= 0)
			cpu = (unsigned int)some->event.cpu;
		world.bytes = (u32)random_below(AUX_SIZE);
		schedule_in(some, cpu);
		tick(cpu);
		some->tail = some->head;
	}
}

static void test_random(u64 seed, unsigned int steps)
{
	const char *wrong = "right";
	unsigned int i;

	random_begin(seed, 0);
	machine_start();
	for (i = 0; i < steps && !strcmp(wrong, "right"); i++) {
		step();
		/* Closed events are released some steps later. */
		if (!random_below(4))
			flush_workqueue(ntrace_release_queue);
		wrong = ntrace_release_queue->first ? wrong : judge();
	}
	is_str(wrong, "right", "%u random steps", i);
	flush_workqueue(ntrace_release_queue);
	machine_stop();
}

int main(void)
{
	u64 seed = random_seed(1);

	test_later_hart();
	test_later_path();
	test_closed_offline();
	test_rights();
	test_privileged();
	test_evicted();
	test_filters();
	test_filters_later(true);
	test_filters_later(false);
	test_wired();
	test_format();
	test_losses();
	for (int i = 0; i < 8; i++)
		test_full((unsigned int)i & 1, i & 2, i & 4);
	test_full_at_start();
	test_gap_at_begin();
	test_stopped();
	for (unsigned int i = 0; i < 50; i++)
		test_random(seed + i, 1000);
	return done_testing();
}
