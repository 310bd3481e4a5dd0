// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU "ntrace" while harts, components and events come and go: which event is traced where,
 * and what its records say. Rules: "The perf PMU" in Documentation/trace/ntrace.rst.
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
		return "perf has a path whose capture is not its own";
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

/* The first event was opened while hart 1 was offline. The path that a second one takes there is not its own. */
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
	/* As perf does when it changes filters or the period of a scheduled event. */
	host_cpu = 1;
	ntrace_pmu.start(&tasks[0].event, 0);
	is_str(judge(), "right", "the first one, still scheduled, is started again");
	settle(&tasks[0]);
	tasks[0].enabled = true;
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
	is_str(judge(), "right", "perf has nothing of it");
	machine_stop();
}

/* One random step. */
static void step(void)
{
	struct task_event *task = &tasks[random_below(TASKS)];
	unsigned int cpu = (unsigned int)random_below(CPUS);

	switch (random_below(12)) {
	case 0:
	case 1:
		if (!task->open)
			open_event(task, random_below(3) ? -1 : (int)cpu, random_below(2));
		break;
	case 2:
		close_event(task, random_below(2));
		break;
	case 3:
		take_offline(cpu);
		break;
	case 4:
		bring_online(cpu, random_below(2) ? task : NULL);
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
		task->enabled = task->open;
		break;
	default:
		if (task->event.cpu >= 0)
			cpu = (unsigned int)task->event.cpu;
		world.bytes = (u32)random_below(AUX_SIZE);
		schedule_in(task, cpu);
		tick(cpu);
		task->tail = task->head;
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
		/* What is closed is released some steps later. */
		if (!random_below(4))
			flush_workqueue(ntrace_perf_workqueue);
		wrong = ntrace_perf_workqueue->first ? wrong : judge();
	}
	is_str(wrong, "right", "%u random steps", i);
	flush_workqueue(ntrace_perf_workqueue);
	machine_stop();
}

int main(void)
{
	u64 seed = random_seed(1);

	test_later_hart();
	test_later_path();
	test_closed_offline();
	for (unsigned int i = 0; i < 50; i++)
		test_random(seed + i, 1000);
	return done_testing();
}
