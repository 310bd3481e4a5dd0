#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes a random C program whose threads and processes change their CPUs while deep in calls.

usage: random_threads.py SEED [--without KIND,...]

The functions f_N are a random call graph: a function calls functions with higher numbers, and itself, in
the order that a generator of the thread chooses, with loops and changes of the CPU in between. Among the
steps are: kinds of other control flow, each in functions of its own (KIND is one of them):
  threads   two threads that run at once
  fork      children that go on with the calls, while the parent does
  vfork     a child that shares the stack of its parent
  exec      a child that runs the program again, with other calls
  signal    handlers for signals that the thread raises, and that a timer sends
  jump      longjmp out of calls, to a function that is on the stack once
  fiber     calls on other stacks, between which swapcontext changes
  tail      tail calls
The fuel of a thread bounds its calls. Each function counts its executions; lines "count FUNCTION NUMBER" have the sums of
the processes that share a main(). A program that fails exits with a status other than 0.
"""
import random
import re
import sys

PRELUDE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ALONE __attribute__((noipa, unused))
#ifndef CPUS
#define CPUS 4
#endif

#define COUNT(n) __atomic_fetch_add(&counts[n], 1, __ATOMIC_RELAXED)

static uint64_t *counts;
static volatile uint64_t sink;
static __thread uint32_t state = 1;
static __thread int fuel;
static __thread int in_thread, in_fiber, in_handler;
static __thread jmp_buf *catcher;
static int phases = PHASES;
static char *self;

static ALONE uint32_t draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static ALONE void spin(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sink += i;
}

static ALONE void hop(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(draw(CPUS), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}
"""

KINDS = {
    "threads": r"""
static ALONE void *thread_run(void *seed)
{
	state = (uint32_t)(uintptr_t)seed;
	in_thread = 1;
	fuel = 60;
	hop();
	FIRST(3);
	SECOND(2);
	return NULL;
}

static ALONE void do_threads(void)
{
	pthread_t thread[2];

	if (in_thread || in_fiber || in_handler)
		return;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, thread_run, (void *)(uintptr_t)(draw(1000) + 1)))
			abort();
	FIRST(2);
	for (int i = 0; i < 2; i++)
		if (pthread_join(thread[i], NULL))
			abort();
}
""",
    "fork": r"""
static ALONE void do_fork(void)
{
	pid_t pid;
	int status;

	if (in_thread || in_fiber || in_handler)
		return;
	pid = fork();
	if (!pid) {
		fuel = 30;
		state = state * 7 + 3;
		phases = 0;
		/* The child must not leave this function: its callers wait for children of the parent. */
		catcher = NULL;
		hop();
		FIRST(2);
		_exit(0);
	}
	SECOND(2);
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}
""",
    "vfork": r"""
static ALONE void do_vfork(void)
{
	pid_t pid;
	int status;

	if (in_thread || in_fiber || in_handler)
		return;
	pid = vfork();
	if (!pid) {
		spin(50);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}
""",
    "exec": r"""
static ALONE void do_exec(void)
{
	char seed[16];
	pid_t pid;
	int status;

	if (in_thread || in_fiber || in_handler)
		return;
	snprintf(seed, sizeof(seed), "%u", draw(1000) + 1);
	pid = draw(2) ? fork() : vfork();
	if (!pid) {
		execl(self, self, seed, NULL);
		_exit(1);
	}
	SECOND(2);
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}
""",
    "signal": r"""
static ALONE void handler(int number)
{
	if (in_handler)
		return;
	in_handler++;
	spin(20);
	if (number == SIGUSR1)
		hop();
	LAST(1);
	in_handler--;
}

static ALONE void do_signal(void)
{
	const struct itimerval on = { { 0, 150 }, { 0, 150 } }, off = { { 0, 0 }, { 0, 0 } };

	raise(SIGUSR1);
	if (in_thread || in_fiber || in_handler)
		return;
	setitimer(ITIMER_REAL, &on, NULL);
	SECOND(2);
	spin(20000);
	setitimer(ITIMER_REAL, &off, NULL);
}
""",
    "jump": r"""
static ALONE void do_jump(void)
{
	jmp_buf place;
	int fiber = in_fiber, handling = in_handler;

	if (catcher || in_fiber || in_handler)
		return;
	catcher = &place;
	if (!setjmp(place))
		FIRST(3);
	in_fiber = fiber;
	in_handler = handling;
	catcher = NULL;
}

static ALONE void throw(void)
{
	if (catcher && !in_fiber && !in_handler)
		longjmp(*catcher, 1);
}
""",
    "fiber": r"""
#define FIBERS 3
static char fiber_stacks[FIBERS][65536] __attribute__((aligned(16)));
static __thread ucontext_t fiber_contexts[FIBERS], fiber_main;
static __thread int fiber_now;

static ALONE void fiber_yield(void)
{
	int old = fiber_now;

	if (!in_fiber || in_handler)
		return;
	fiber_now = (int)draw(FIBERS);
	if (fiber_now != old)
		swapcontext(&fiber_contexts[old], &fiber_contexts[fiber_now]);
}

static ALONE void fiber_run(void)
{
	for (int i = 0; i < 3; i++) {
		LAST(1);
		fiber_yield();
		SECOND(1);
	}
	/* A fiber that has ended goes back to the main stack, which ends them all. */
}

static ALONE void do_fiber(void)
{
	if (in_fiber || in_handler || in_thread)
		return;
	in_fiber = 1;
	for (int i = 0; i < FIBERS; i++) {
		getcontext(&fiber_contexts[i]);
		fiber_contexts[i].uc_stack.ss_sp = fiber_stacks[i];
		fiber_contexts[i].uc_stack.ss_size = sizeof(fiber_stacks[i]);
		fiber_contexts[i].uc_link = &fiber_main;
		makecontext(&fiber_contexts[i], fiber_run, 0);
	}
	fiber_now = 0;
	swapcontext(&fiber_main, &fiber_contexts[0]);
	in_fiber = 0;
}
""",
}

MAIN = r"""
int main(int argc, char **argv)
{
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		abort();
	self = argv[0];
	state = SEED;
	fuel = FUEL;
SETUP	if (argc > 1) {
		state = (uint32_t)atoi(argv[1]);
		phases = 0;
		fuel = 40;
	}
	hop();
	while (fuel > 0) {
		FIRST(4);
		fuel -= 3;
	}
	fuel = 100;
	if (argc == 1)
		every(DEPTH);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		printf("count %s %lu\n", names[i], (unsigned long)counts[i]);
	return 0;
}
"""


def body(rng, number, count, kinds, phases):
    """A function: steps that its thread chooses at run time, or takes in any case."""
    lines = [f"static ALONE void f_{number}(int depth)", "{"]
    higher = range(number + 1, count)
    tail = None
    lines += ["\tif (--fuel < 0)", "\t\treturn;"]
    steps = []
    for _ in range(rng.randint(2, 5)):
        kind = rng.random()
        if kind < 0.25:
            steps.append(f"spin({rng.randint(1, 300)});")
        elif kind < 0.45:
            steps.append("hop();")
        elif kind < 0.6 and rng.random() < 0.8:
            steps.append(f"if (depth > 0)\n\t\tf_{number}(depth - 1);")
        elif higher:
            steps.append(f"f_{rng.choice(higher)}(depth);")
    if "jump" in kinds and rng.random() < 0.3:
        steps.append("if (!draw(4))\n\t\tthrow();")
    if "fiber" in kinds and rng.random() < 0.4:
        steps.append("fiber_yield();")
    if phases and rng.random() < 0.7:
        steps.append("phase();")
    rng.shuffle(steps)
    if "tail" in kinds and higher and rng.random() < 0.5:
        tail = rng.choice(higher)
    for step in steps:
        if rng.random() < 0.3 and "\n" not in step:
            step = f"if (draw(2))\n\t\t{step}"
        lines.append("\t" + step)
    if tail is None:
        lines.append(f"\tsink += {number};")
    else:
        lines.append(f"\tf_{tail}(depth);")
    return "\n".join(lines + ["}", ""])


def phase(rng, phases):
    """The function that does one of the kinds, each program with other frequencies."""
    cases = [name for name in phases for _ in range(rng.randint(1, 3))]
    rng.shuffle(cases)
    lines = ["static ALONE void phase(void)", "{", "\tif (phases <= 0 || in_thread || in_fiber || in_handler || draw(3))",
             "\t\treturn;", "\tphases--;", f"\tswitch (draw({max(len(cases), 1)})) {{"]
    for number, name in enumerate(cases):
        lines += [f"\tcase {number}:", f"\t\tdo_{name}();", "\t\tbreak;"]
    lines += ["\t}", "}", "", "/* Each of them once, deep in calls. */", "static ALONE void every(int depth)", "{",
              "\tif (depth) {", "\t\tevery(depth - 1);", "\t\thop();", "\t\treturn;", "\t}"]
    lines += [f"\tdo_{name}();\n\thop();" for name in rng.sample(phases, len(phases))]
    return "\n".join(lines + ["}", "", ""])


def program(seed, without):
    rng = random.Random(seed)
    kinds = set(KINDS) | {"tail"}
    kinds -= without
    count = rng.randint(8, 16)
    order = [name for name in KINDS if name in kinds]
    text = PRELUDE.replace("PHASES", str(rng.randint(12, 20)))
    text += "\n" + "".join(f"static ALONE void f_{i}(int depth);\n" for i in range(count))
    text += "".join(KINDS[name] for name in order) + "\n"
    phases = [name for name in order if name != "tail"]
    text += phase(rng, phases)
    text += "\n".join(body(rng, i, count, kinds, phases) for i in range(count))
    setup = ""
    if "signal" in kinds:
        setup = ("\tsignal(SIGUSR1, handler);\n\tsigaction(SIGALRM, &(struct sigaction){ .sa_handler = handler, "
                 ".sa_flags = SA_RESTART }, NULL);\n")
    text += MAIN.replace("SETUP", setup).replace("SEED", str(seed + 1)).replace("FUEL", str(rng.randint(300, 600)))
    text = text.replace("DEPTH", str(rng.randint(1, 8)))
    for name, low, high in (("FIRST", 0, 1), ("SECOND", 1, count // 2), ("LAST", count // 2, count - 1)):
        while name + "(" in text:
            text = text.replace(name + "(", f"f_{rng.randint(low, high)}(", 1)
    counted = []

    def count(match):
        counted.append(match.group(1))
        return f"{match.group(0)}\tCOUNT({len(counted) - 1});\n"
    text = re.sub(r"^static ALONE .*?(\w+)\([^;]*?\)\n\{\n", count, text, flags=re.MULTILINE)
    return text.replace("int main", "static const char *const names[] = { " +
                        ", ".join(f'"{name}"' for name in counted) + " };\n\nint main")


def main():
    without = set(sys.argv[3].split(",")) if len(sys.argv) > 3 and sys.argv[2] == "--without" else set()
    print("// SPDX-License-Identifier: GPL-2.0-only\n/* random_threads.py " + " ".join(sys.argv[1:]) + " */" +
          program(int(sys.argv[1]), without))


main()
