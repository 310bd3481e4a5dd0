/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of threads that move between three CPUs deep in calls, at random, and what each thread executed.
 *
 *	f0 -> f1 -> ... -> f5:	0: c.nop	2: branch to 8		4: call of the next one
 *				8: branch to 0	a: return
 */
#ifndef SELFTESTS_LIB_MOVING_THREADS_H
#define SELFTESTS_LIB_MOVING_THREADS_H

#include "test_session.h"

#define CPUS 3
#define THREADS 4
#define FIRST 100		/* pid of the first thread */
#define CHILD 200		/* made by the first thread */
#define FUNCTIONS 6
#define SEEN_MAX 60000

static uint64_t seed;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* ---- the machine ---- */

/* A thread. @depth: number of its function; @seen: its functions, each time another one comes */
struct simulated {
	int32_t tid;
	unsigned int depth;
	bool busy;
	bool born;
	char seen[SEEN_MAX];
	size_t count;
	uint64_t instructions[FUNCTIONS];
};

static struct simulated threads[THREADS + 1];
static struct fake_hart other_harts[CPUS - 1];
static struct fake_hart *harts[CPUS] = { &hart, &other_harts[0], &other_harts[1] };
static struct simulated *running[CPUS];	/* NULL: idle */
static unsigned int traced = CPUS; /* the CPUs from this one on have no stream */
static unsigned int switched, moved;

static bool build_deep(void)
{
	FILE *file = fopen(in("root/deep.s"), "w");

	if (!file)
		return false;
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		fprintf(file, ".globl f%u\n.type f%u,@function\n.balign 16\nf%u: c.nop\n", i, i, i);
		fputs("c.beqz a0, 1f\n.option push\n.option norelax\n", file);
		if (i + 1 < FUNCTIONS)
			fprintf(file, "jal ra, f%u\n", i + 1);
		else
			fputs("c.nop\nc.nop\n", file);
		fprintf(file, ".option pop\n1: c.beqz a0, f%u\nc.jr ra\n.size f%u, . - f%u\n", i, i,
			i);
	}
	fclose(file);
	return !run("cd %s/root && riscv64-linux-gnu-as -march=rv64gc deep.s -o deep.o && "
		    "riscv64-linux-gnu-ld --no-relax --build-id -Ttext=0x10000 -e f0 deep.o -o "
		    "deep",
		    directory);
}

static uint64_t start_of(unsigned int function)
{
	return CODE + 16 * function;
}

static bool is_traced(const struct fake_hart *on)
{
	for (unsigned int cpu = traced; cpu < CPUS; cpu++)
		if (on == harts[cpu])
			return false;
	return true;
}

static void note(struct simulated *thread, unsigned int function, unsigned int instructions)
{
	char letter = (char)('0' + function);

	thread->instructions[function] += instructions;
	if ((thread->count && thread->seen[thread->count - 1] == letter) ||
	    thread->count == SEEN_MAX)
		return;
	thread->seen[thread->count++] = letter;
}

static void user(struct fake_hart *on, struct simulated *thread, uint64_t offset, uint32_t parcels,
		 unsigned int type, unsigned int last_size)
{
	unsigned int function = thread->depth;

	hart_block(on, start_of(function) + offset, parcels, type, last_size, NTRACE_PRIV_U);
	if (is_traced(on))
		note(thread, function, parcels - last_size);
}

/* The thread loops, calls, or returns; afterwards it is at the start of its function. */
static void step(struct fake_hart *on, struct simulated *thread)
{
	unsigned int what = (unsigned int)any(4);

	if (what == 0 && thread->depth + 1 < FUNCTIONS) {
		user(on, thread, 0, 2, NTRACE_ITYPE_BRANCH_NOT_TAKEN, 0);
		user(on, thread, 4, 2, NTRACE_ITYPE_DIRECT_CALL, 1);
		thread->depth++;
	} else if (what == 1 && thread->depth) {
		user(on, thread, 0, 2, NTRACE_ITYPE_BRANCH_TAKEN, 0);
		user(on, thread, 8, 1, NTRACE_ITYPE_BRANCH_NOT_TAKEN, 0);
		user(on, thread, 10, 1, NTRACE_ITYPE_RETURN, 0);
		thread->depth--;
		user(on, thread, 8, 1, NTRACE_ITYPE_BRANCH_TAKEN, 0);
	} else {
		user(on, thread, 0, 2, NTRACE_ITYPE_BRANCH_TAKEN, 0);
		user(on, thread, 8, 1, NTRACE_ITYPE_BRANCH_TAKEN, 0);
	}
	on->loop = start_of(thread->depth);
}

static uint64_t place_of(const struct simulated *thread)
{
	return thread ? start_of(thread->depth) : KERNEL_LOOP;
}

static void go_to(unsigned int cpu, struct simulated *next)
{
	struct simulated *last = running[cpu];
	int32_t from = last ? last->tid : 0, to = next ? next->tid : 0;

	now += 10;
	record_cpu = cpu;
	switch_threads(from, from, to, to);
	hart_trap(harts[cpu], NOTHING, SWITCH_TO, place_of(next));
	if (last)
		last->busy = false;
	if (next)
		next->busy = true;
	running[cpu] = next;
	switched++;
}

static void run_cpu(unsigned int cpu)
{
	struct simulated *thread = running[cpu];

	for (uint64_t i = 0, count = 1 + any(12); i < count; i++) {
		now += 2;
		if (any(8) == 0)
			hart_trap(harts[cpu], NOTHING, NOTHING, place_of(thread));
		else if (thread)
			step(harts[cpu], thread);
		else
			hart_loop(harts[cpu], 1);
	}
}

static void open_harts(const char *name)
{
	char path[600];

	memset(threads, 0, sizeof(threads));
	memset(running, 0, sizeof(running));
	switched = moved = 0;
	record_cpu = 0;
	start(name, KERNEL_LOOP, UINT32_MAX);
	for (unsigned int cpu = 1; cpu < CPUS; cpu++) {
		snprintf(path, sizeof(path), "%s/aux.%u", in(name), cpu);
		if (hart_start(harts[cpu], path, UINT32_MAX))
			ok(false, "starts the encoder");
		harts[cpu]->loop = KERNEL_LOOP;
		hart_loop(harts[cpu], 3);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		threads[i].tid = (int32_t)(FIRST + i);
		threads[i].born = true;
		named(threads[i].tid, 0, false, "deep");
		maps(threads[i].tid, 0, CODE, "/deep");
	}
	threads[THREADS].tid = CHILD;
}

static void close_harts(const char *name)
{
	struct ntrace_kernel_copy copy = { .size = sizeof(copy) };
	struct ntrace_stream streams[CPUS] = { { .file = "aux.0" },
					       { .file = "aux.1" },
					       { .file = "aux.2" } };
	struct ntrace_recording recording = { .size = sizeof(recording),
					      .tool = "test",
					      .clock = "monotonic",
					      .privilege = 3,
					      .streams = streams,
					      .stream_count = traced };
	struct ntrace_params params;

	ntrace_params_init(&params);
	params.mode = NTRACE_MODE_HISTORY;
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		streams[cpu].params = &params;
		streams[cpu].cpu = streams[cpu].hartid = cpu;
		streams[cpu].start_ns = START_NS;
		streams[cpu].stop_ns = now + 100;
		streams[cpu].lost_exact = true;
		streams[cpu].bytes = hart_stop(harts[cpu]);
	}
	record_cpu = 0;
	ntrace_perf_writer_close(sideband);
	copy.kcore = in("kcore");
	copy.kallsyms = in("symbols");
	if (ntrace_recording_copy_kernel(in(name), NTRACE_RECORDING_END, &copy) ||
	    ntrace_recording_write(in(name), &recording))
		ok(false, "closes the recording");
}

/* Writes the recording of a random schedule. */
static void make(const char *name, uint64_t with, unsigned int steps, bool child)
{
	unsigned int last_cpu[THREADS + 1] = { 0 };

	seed = with;
	open_harts(name);
	for (unsigned int i = 0; i < steps; i++) {
		unsigned int cpu = (unsigned int)any(CPUS), which = (unsigned int)any(THREADS + 2);
		struct simulated *next = which <= THREADS ? &threads[which] : NULL;

		now += 5;
		if (child && i > steps / 3 && !threads[THREADS].born && threads[0].busy) {
			for (unsigned int on = 0; on < CPUS; on++)
				if (running[on] == &threads[0])
					record_cpu = on;
			forks(FIRST, CHILD, now);
			threads[THREADS].born = true;
		}
		if (next != running[cpu] && (!next || (!next->busy && next->born))) {
			go_to(cpu, next);
			moved += next && next->count && last_cpu[which] != cpu;
			if (next)
				last_cpu[which] = cpu;
		}
		run_cpu(cpu);
	}
	close_harts(name);
}

#endif
