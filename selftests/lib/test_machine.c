// SPDX-License-Identifier: GPL-2.0-only
/*
 * lib/sideband/machine.c alone: sideband records in the kernel's format (linux/perf_event.h), and
 * the expected programs, names, switches and pieces.
 */

#include "sideband/machine.h"

#include "sideband_records.h"

#define MISC_FORK_EXEC (1u << 13)	/* PERF_RECORD_MISC_FORK_EXEC: synthesized by perf */

static struct machine machine;

static void begin(void)
{
	open_records();
}

static void end(void)
{
	if (ntrace_perf_writer_close(sideband) || machine_open(&machine, in("data")))
		ok(false, "reads the records");
}

/* Whether the process or thread has any record. */
static bool is_known(int32_t id)
{
	const struct task *task = machine.tasks[(uint32_t)id % MACHINE_BUCKETS];

	while (task && task->id != id)
		task = task->next;
	return task;
}

/* ---- mappings ---- */

/* Kernel names of mappings (fs/proc/task_mmu.c, mm/shmem.c, ipc/shm.c, kernel/events/core.c). */
static void test_names(void)
{
	static const struct {
		const char *name;
		bool file, anonymous;
	} cases[] = {
		{ "/usr/bin/true", true, false },
		{ "/a", true, false },
		{ "/memfd:code (deleted)", true, false },
		{ "/memfd", true, false },	/* a file may have such a name */
		{ "/memfds/a", true, false },
		{ "/dev/zero (deleted)", false, true },
		{ "/dev/shm/a", true, false },
		{ "/develop/a", true, false },
		{ "/SYSV00000000 (deleted)", false, true },
		{ "/SYSTEM/a", true, false },
		{ "//anon", false, true },
		{ "[vdso]", true, false },
		{ "[vsyscall]", false, false },
		{ "[heap]", false, true },
		{ "[stack]", false, true },
		{ "anon_inode:[io_uring]", false, true },
		{ "", false, true },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct program *program;

		begin();
		maps(100, 10, 0x1000, cases[i].name);
		end();
		program = machine_program(&machine, 100, 10);
		if (!ok(program && program->count == 1, "%s: one mapping", cases[i].name))
			continue;
		ok((program->changes[0].file != NULL) == cases[i].file, "%s: %s", cases[i].name,
		   cases[i].file ? "a file" : "no file");
		ok(machine.anonymous_code == cases[i].anonymous, "%s: %s", cases[i].name,
		   cases[i].anonymous ? "code without a file" : "no code without a file");
		machine_close(&machine);
	}
}

static void test_mappings(void)
{
	struct ntrace_sideband record = { .type = NTRACE_SIDEBAND_MMAP2,
					  .pid = 100,
					  .tid = 100,
					  .time = 10,
					  .executable = true,
					  .name = "/a" };
	const struct mapping_change *changes;
	const struct program *program;

	begin();
	record.address = 0;
	record.length = 0;
	put(record); /* empty */
	record.address = UINT64_MAX - 0xfff;
	record.length = 0x1000;
	put(record); /* up to the last byte of the address space */
	record.length = 0x1001;
	put(record); /* beyond the end */
	record.address = 0x2000;
	record.length = 1;
	record.cpumode_kernel = true;
	put(record);
	record.cpumode_kernel = false;
	record.executable = false;
	put(record); /* data over an earlier mapping */
	record.executable = true;
	record.build_id_size = 20;
	record.build_id[19] = 1;
	put(record);
	record.build_id[19] = 2;
	put(record);
	record.build_id[19] = 1;
	put(record);
	record.pid = -1;
	put(record);
	record.pid = 0;
	put(record);
	end();
	program = machine_program(&machine, 100, 10);
	if (!ok(program && program->count == 5, "five mappings")) {
		machine_close(&machine);
		return;
	}
	changes = program->changes;
	is_hex(changes[0].address, UINT64_MAX - 0xfff, "the end of the address space");
	is_hex(changes[1].address, 0x2000, "one byte");
	ok(!changes[1].file && !machine.anonymous_code, "data is no code");
	ok(changes[2].file != changes[3].file, "files of one path and two build-ids");
	ok(changes[2].file == changes[4].file, "one build-id, one file");
	ok(changes[0].file != changes[2].file, "without a build-id it is another one");
	is_u64(program->start, 0, "the process ran before the recording");
	is_u64(program_changes_before(program, 10), 0,
	       "a change does not take effect before its time");
	is_u64(program_changes_before(program, 11), 5, "and all do after it");
	ok(!is_known(-1), "a mapping without a process is of no use");
	ok(!machine_program(&machine, 0, 10), "nor for the idle task");
	machine_close(&machine);
}

/* ---- processes ---- */

static void test_forks(void)
{
	const struct program *parent, *child;

	begin();
	maps(100, 10, 0x1000, "/a");
	forks(100, 101, 20);
	maps(100, 30, 0x2000, "/b");
	forks(100, 102, 0); /* synthesized without a time: sorted to the front */
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_FORK,
				      .misc = MISC_FORK_EXEC,
				      .pid = 103,
				      .tid = 103,
				      .other_pid = 100,
				      .other_tid = 100,
				      .time = 40 });
	forks(99, 104, 50); /* of an unknown process */
	named(98, 98, 50, false, "idle");
	forks(98, 105, 51); /* of a process with a name and no mappings */
	forks(98, -1, 52);
	end();
	parent = machine_program(&machine, 100, 20);
	child = machine_program(&machine, 101, 20);
	ok(!machine_program(&machine, 101, 19), "a child does not exist before its fork");
	if (ok(parent && child && child->base == parent, "a child has its parent's mappings")) {
		is_u64(child->base_count, 1, "only those from before the fork");
		is_u64(child->depth, 1, "one level down");
	}
	child = machine_program(&machine, 103, 40);
	ok(child && !child->base, "a fork synthesized by perf has no mappings");
	child = machine_program(&machine, 104, 50);
	ok(child && !child->base, "an unknown parent has no mappings");
	child = machine_program(&machine, 105, 51);
	ok(child && !child->base, "nor has a parent without mappings");
	ok(!is_known(-1), "nor has a child that has ended");
	machine_close(&machine);

	/* Records of time 0 keep their order, so that the parent's mappings exist. */
	begin();
	maps(100, 0, 0x1000, "/a");
	forks(100, 102, 0);
	maps(102, 0, 0x1000, "/a");
	end();
	child = machine_program(&machine, 102, 1);
	if (ok(child, "a process from before the recording"))
		ok(!child->base && child->count == 1, "has only its own mappings");
	machine_close(&machine);
}

/* A chain of forks: all generations see the mappings of the first. */
static void test_generations(void)
{
	const struct program *program;
	const struct mapping_change *change;
	unsigned int i;

	begin();
	maps(100, 10, 0x1000, "/a");
	for (i = 1; i <= 40; i++) {
		forks(100 + (int32_t)i - 1, 100 + (int32_t)i, 10 * i);
		maps(100 + (int32_t)i, 10 * i + 5, 0x10000 * i, "/b");
	}
	end();
	for (i = 1; i <= 40; i++) {
		size_t own, all = 0;

		program = machine_program(&machine, 100 + (int32_t)i, UINT64_MAX);
		if (!program)
			break;
		ok(program->depth <= 16, "generation %u: %u bases", i, program->depth);
		own = program->count;
		change = &program->changes[own - 1];
		is_hex(change->address, 0x10000 * i, "generation %u: its own mapping is last", i);
		for (; program; own = program->base_count, program = program->base)
			all += own;
		is_u64(all, i + 1, "generation %u: all mappings", i);
	}
	is_u64(i, 41, "forty generations");
	/* The 17th is a copy, whose mappings date from its fork. */
	program = machine_program(&machine, 117, UINT64_MAX);
	ok(program && !program->base, "a deep one is copied");
	if (program && program->count) {
		is_hex(program->changes[0].address, 0x1000, "oldest first");
		is_u64(program->changes[0].time, 170, "valid since the fork");
	}
	machine_close(&machine);
}

static void test_execs(void)
{
	const struct program *first, *second;

	begin();
	named(100, 100, 5, false, "shell");
	maps(100, 10, 0x1000, "/a");
	named(100, 100, 20, true, "program");
	maps(100, 21, 0x1000, "/b");
	named(100, 107, 50, false, "worker");
	named(-1, -1, 40, true, "gone");
	named(100, 107, 60, false, "idle");
	/* A thread has no program of its own, but its creator's name. */
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_FORK,
				      .pid = 100,
				      .tid = 108,
				      .other_pid = 100,
				      .other_tid = 107,
				      .time = 50 });
	end();
	first = machine_program(&machine, 100, 19);
	second = machine_program(&machine, 100, 20);
	ok(first && second && first != second && first->next == second, "exec: another program");
	ok(!machine_program(&machine, 108, 60), "a thread is no process");
	ok(machine_program(&machine, 100, 60) == second, "and starts no program");
	ok(!is_known(-1), "a task that has ended is unknown");
	is_str(machine_thread_name(&machine, 100, 20), "shell", "just before the exec");
	is_str(machine_thread_name(&machine, 100, 21), "program", "and after it");
	is_str(machine_thread_name(&machine, 107, 51), "worker", "a thread's name");
	is_str(machine_thread_name(&machine, 108, 51), "worker",
	       "a new thread has the name of its creator");
	ok(!machine_thread_name(&machine, 108, 50), "it has no name before");
	is_str(machine_last_name(&machine, 100, 6), "shell", "the last name before an exec");
	is_str(machine_last_name(&machine, 107, 51), "idle", "the last name of a thread");
	ok(!machine_last_name(&machine, 107, 50), "which has none before");
	ok(!machine_thread_name(&machine, 100, 5), "nor does the process before its first record");
	machine_close(&machine);
}

/* ---- switches ---- */

static void comes(uint64_t time, int32_t to, int32_t from)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
				      .pid = to,
				      .tid = to,
				      .other_pid = from,
				      .other_tid = from,
				      .time = time });
}

/* "FROM>TO[*LOST] ..." of CPU 0 */
static const char *switches(void)
{
	static char text[1024];
	size_t used = 0, i;

	text[0] = '\0';
	for (i = 0; machine.cpu_count && i < machine.cpus[0].count; i++) {
		const struct task_switch *made = &machine.cpus[0].switches[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d>%d", i ? " " : "",
					 made->previous_tid, made->next_tid);
		if (made->lost)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "*%u",
						 (unsigned int)made->lost);
	}
	return text;
}

static void expect(const char *want, const char *name)
{
	end();
	is_str(switches(), want, name);
	machine_close(&machine);
}

static void test_switches(void)
{
	begin();
	goes(10, 1, 2);
	comes(11, 2, 1);
	goes(20, 2, 3);
	comes(21, 3, 2);
	expect("1>2 2>3", "two records of each switch");

	begin();
	goes(10, 1, 2);
	goes(20, 2, 3);
	comes(31, 4, 3);
	comes(41, 5, 4);
	expect("1>2 2>3 3>4 4>5", "one of the two records is enough");

	/* 2 comes in, goes out unseen, and comes in again: the second record is no confirmation. */
	begin();
	goes(10, 1, 2);
	comes(11, 2, 1);
	comes(31, 2, 3);
	expect("1>2 3>2*1", "a task that comes in twice has been out in between");

	begin();
	comes(11, 2, 1);
	comes(31, 2, 3);
	expect("1>2 3>2*1", "likewise if neither task has a record of going out");

	/* 2 comes in and goes out without records; 3 does not confirm 2. */
	begin();
	goes(10, 1, 2);
	comes(31, 3, 2);
	expect("1>2 2>3", "another incoming task is another switch");

	begin();
	goes(10, 1, 2);
	comes(11, 2, 1);
	goes(20, 3, 4);
	expect("1>2 3>4*1", "the outgoing task did not come in: at least one switch is missing");

	begin();
	goes(10, 1, 2);
	comes(11, 2, 1);
	loses(15, 3);
	goes(20, 2, 3);
	goes(30, 3, 4);
	expect("1>2 2>3*3 3>4", "lost records count once, before the next switch");

	/* The OUT record exists, then a loss, then the IN record of the same switch. */
	begin();
	goes(10, 1, 2);
	loses(11, 3);
	comes(12, 2, 1);
	goes(20, 2, 3);
	expect("1>2 2>3*3", "a loss between the two records of a switch counts as after it");

	begin();
	loses(5, 1);
	goes(10, 5, 2);
	loses(12, 1);
	loses(13, 2);
	goes(20, 3, 4);
	end();
	is_str(switches(), "5>2*1 3>4*3", "a known loss is not reported twice");
	is_u64(machine.lost, 4, "all lost records");
	machine_close(&machine);

	/* Not system-wide: the OUT record does not name the incoming task. */
	begin();
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_SWITCH, .pid = 1, .tid = 1, .out = true, .time = 10 });
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_SWITCH, .pid = 2, .tid = 2, .time = 11 });
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_SWITCH, .pid = 3, .tid = 3, .time = 21 });
	expect("-1>2 -1>3", "per-process records name only the incoming task");

	begin();
	goes(10, 1, -1);
	goes(20, 3, 4);
	goes(30, -1, 5);
	expect("1>-1 3>4 -1>5", "a task that has ended may have come in");
}

static void test_cpus(void)
{
	struct ntrace_sideband record = { .type = NTRACE_SIDEBAND_SWITCH_CPU_WIDE,
					  .pid = 1,
					  .tid = 1,
					  .other_pid = 2,
					  .other_tid = 2,
					  .out = true,
					  .time = 10 };

	begin();
	record.cpu = 3;
	put(record);
	record.cpu = 1;
	put(record);
	record.cpu = MACHINE_CPUS_MAX;
	put(record);
	end();
	is_u64(machine.cpu_count, 4, "as many CPUs as have records");
	ok(machine.cpu_count == 4 && !machine.cpus[0].count && machine.cpus[1].count == 1 &&
		   !machine.cpus[2].count && machine.cpus[3].count == 1,
	   "each has its own switches");
	ok(!machine.no_cpu, "all records have a CPU");
	machine_close(&machine);

	begin();
	record.cpu = NTRACE_SIDEBAND_NO_CPU;
	put(record);
	record.cpu = 0;
	put(record);
	end();
	ok(machine.no_cpu && machine.cpu_count == 1,
	   "a record without a CPU, before a record with one");
	machine_close(&machine);
}

/* ---- trace ---- */

static void hands_over(uint64_t time, uint64_t offset, uint64_t size, uint32_t flags)
{
	put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_AUX,
				      .pid = 1,
				      .tid = 1,
				      .id = 7,
				      .offset = offset,
				      .length = size,
				      .code = flags,
				      .time = time });
}

static void test_pieces(void)
{
	static const struct {
		uint64_t offset, size, start, end;
	} want[] = {
		{ 0, 100, 0, 10 },	/* no earlier record is known */
		{ 100, 50, 15, 20 },	/* the task came in at 15 */
		{ 150, 50, 20, 30 },	/* handed over at 20, and no task came in */
		{ 900, 100, 30, 40 },	/* a snapshot: the offset is its end */
		{ 1000, 0, 40, 45 },	/* empty: the next piece begins after it */
		{ UINT64_MAX - 9, 9, 45, 50 },
	};
	size_t i;

	begin();
	hands_over(10, 0, 100, 0);
	comes(15, 1, 2);
	goes(17, 1, 2);
	hands_over(20, 100, 50, 0);
	hands_over(30, 150, 50, 0);
	hands_over(40, 1000, 100, PERF_AUX_FLAG_OVERWRITE);
	hands_over(45, 1000, 0, 0);
	hands_over(50, UINT64_MAX - 9, 9, 0);
	hands_over(60, UINT64_MAX - 9, 10, 0); /* beyond the end of all offsets */
	end();
	is_u64(machine.piece_count, 6, "pieces");
	for (i = 0; i < machine.piece_count && i < 6; i++) {
		const struct piece *piece = &machine.pieces[i];

		is_u64(piece->offset, want[i].offset, "piece %zu: offset", i);
		is_u64(piece->size, want[i].size, "piece %zu: size", i);
		is_u64(piece->start, want[i].start, "piece %zu: start", i);
		is_u64(piece->end, want[i].end, "piece %zu: end", i);
		is_u64(piece->event, 7, "piece %zu: event", i);
	}
	machine_close(&machine);
}

static void test_symbols(void)
{
	struct ntrace_sideband record = { .type = NTRACE_SIDEBAND_KSYMBOL,
					  .address = 0x1000,
					  .length = 0x20,
					  .name = "bpf_prog" };

	begin();
	put(record);
	record.unregister = true;
	put(record);
	record.unregister = false;
	record.name = "";
	put(record);
	end();
	is_u64(machine.symbol_count, 1, "one symbol: neither a removed nor an unnamed one");
	if (machine.symbol_count) {
		is_str(machine.symbols[0].name, "bpf_prog", "its name");
		is_hex(machine.symbols[0].address, 0x1000, "its address");
		is_u64(machine.symbols[0].length, 0x20, "its length");
	}
	machine_close(&machine);
}

/* A CPU of whose switches the records so far say nothing. */
static void test_more_cpus(void)
{
	begin();
	put((struct ntrace_sideband){
		.type = NTRACE_SIDEBAND_SWITCH, .pid = 100, .tid = 100, .cpu = 0, .time = 10 });
	end();
	is_u64(machine.cpu_count, 1, "records of one CPU");
	is_u64(machine_grow(&machine, 2), 0, "the records of another one will come");
	ok(machine.cpu_count == 3 && !machine.cpus[1].count && !machine.cpus[2].count &&
		   !machine.cpus[2].switches,
	   "its list is empty");
	machine_close(&machine);
}

/* Files are known by name and build ID: each once, however many there are. */
static void test_many_files(void)
{
	enum { FILES = 3 * MACHINE_BUCKETS };
	const struct mapped_file *file;
	unsigned int count = 0, i;
	char name[40];

	begin();
	for (i = 0; i < 2 * FILES; i++) {
		snprintf(name, sizeof(name), "/lib/file%u", i % FILES);
		maps(100, 10 + i, 0x1000 * (i + 1), name);
	}
	for (i = 0; i < 3; i++)
		put((struct ntrace_sideband){ .type = NTRACE_SIDEBAND_MMAP2,
					      .pid = 100,
					      .tid = 100,
					      .time = 100000 + i,
					      .executable = true,
					      .address = 0x1000,
					      .length = 0x1000,
					      .build_id_size = 2,
					      .build_id = { 1, (uint8_t)(i % 2) },
					      .name = "/lib/file0" });
	end();
	for (i = 0; i < MACHINE_BUCKETS; i++)
		for (file = machine.files[i]; file; file = file->next)
			count++;
	is_u64(count, FILES + 2, "%d files, one of them with two build IDs", FILES);
	machine_close(&machine);
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_names();
	test_many_files();
	test_mappings();
	test_forks();
	test_generations();
	test_execs();
	test_switches();
	test_cpus();
	test_more_cpus();
	test_pieces();
	test_symbols();
	scratch_remove();
	return done_testing();
}
