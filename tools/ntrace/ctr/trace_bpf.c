// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace ctr trace: setup in the kernel.
 *
 * An event of the PMU "ctr" on each CPU enables recording; it never takes a sample. A trampoline at
 * the beginning of each function (fentry, fexit) calls the BPF program. A kprobe's breakpoint would
 * fill the ring with ten times as many transfers, and its return probe with more still.
 *
 * libbpf loads the two programs for one test function of the kernel. The command then loads
 * libbpf's relocated instructions again for each function, because such a program attaches to one
 * function only. Opening the object each time would parse the kernel's BTF each time.
 */
#ifdef NTRACE_BPF
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "common/command.h"
#include "common/process_limits.h"
#include "common/ui.h"
#include "trace_bpf.h"
#include "trace_find.h"

#define STRING_(text) #text
#define STRING(text) STRING_(text)

/* The object file that clang compiles from bpf/trace.bpf.c. */
__asm__(".pushsection .rodata\n"
	".balign 8\n"
	"ctr_trace_object:\n"
	".incbin \"" STRING(NTRACE_BPF) "\"\n"
					"ctr_trace_object_end:\n"
					".popsection\n");
extern const char ctr_trace_object[], ctr_trace_object_end[];

/* A kernel function that is never called. */
#define ANY_FUNCTION "bpf_fentry_test1"
#define PMU "/sys/bus/event_source/devices/ctr/type"
#define JIT "/proc/sys/net/core/bpf_jit_enable"

struct range {
	uint64_t start;
	uint64_t end;
};

struct ctr_trace {
	struct ctr_trace_found found;
	struct bpf_object *object;
	struct ring_buffer *hits;
	int (*hit)(void *data, const struct ctr_trace_hit *hit);
	void *hit_data;
	int stopped;
	int *event;
	size_t events;
	int *link;
	size_t links;
	size_t barred;
	size_t last_barred;
	struct range *own;
	size_t owns;
};

/* Messages of libbpf, printed only if loading fails. */
static char complaint[256];

static int keep_complaint(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN && !complaint[0]) {
		vsnprintf(complaint, sizeof(complaint), format, args);
		complaint[strcspn(complaint, "\n")] = 0;
	}
	return 0;
}

/* Return: the number in a file, -1 if there is none. */
static int number_in(const char *path)
{
	FILE *file = fopen(path, "re");
	int number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* ---- recording ---- */

/* Without a period: the CPU records, and has no samples. */
static int open_event(int type, int cpu, bool user)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY |
				      PERF_SAMPLE_BRANCH_TYPE_SAVE |
				      (user ? PERF_SAMPLE_BRANCH_USER : 0),
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int record(struct ctr_trace *trace, bool user)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int type = number_in(PMU);

	if (type < 0)
		return fail(
			"no PMU \"ctr\": load the module riscv_ctr, and see what it says in the "
			"kernel log");
	trace->event = calloc((size_t)cpus, sizeof(*trace->event));
	if (!trace->event)
		return fail("out of memory");
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = open_event(type, cpu, user);

		/* The CPU is offline. */
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0 && errno == EBUSY)
			return fail("CPU %d: another event of the PMU \"ctr\" records call stacks",
				    cpu);
		if (fd < 0)
			return fail("CPU %d: %s", cpu, strerror(errno));
		trace->event[trace->events++] = fd;
	}
	return trace->events ? EXIT_OK : fail("no CPU can be recorded");
}

/* ---- programs ---- */

static int on_hit(void *data, void *bytes, size_t size)
{
	struct ctr_trace *trace = data;

	if (size < CTR_TRACE_HEAD || trace->stopped)
		return 0;
	trace->stopped = trace->hit(trace->hit_data, bytes);
	return trace->stopped;
}

/* Sets the programs' constants before loading. */
static int configure(struct bpf_object *object, const struct ctr_trace_config *config)
{
	struct bpf_program *program;
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.config");

	if (!map || bpf_map__set_initial_value(map, config, sizeof(*config)))
		return fail("the BPF object does not belong to this program");
	bpf_object__for_each_program(program, object)
	{
		if (bpf_program__set_attach_target(program, 0, ANY_FUNCTION))
			return fail("the kernel's BTF lacks " ANY_FUNCTION);
	}
	return EXIT_OK;
}

static int load_object(struct ctr_trace *trace, const struct ctr_trace_config *config)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "ctr_trace");
	struct bpf_map *map;

	libbpf_set_print(keep_complaint);
	trace->object = bpf_object__open_mem(
		ctr_trace_object, (size_t)(ctr_trace_object_end - ctr_trace_object), &options);
	if (!trace->object)
		return fail("the BPF object: %s", complaint);
	if (configure(trace->object, config))
		return EXIT_FAILED;
	if (bpf_object__load(trace->object))
		return fail("the BPF programs cannot be loaded: %s: %s", strerror(errno),
			    complaint);
	map = bpf_object__find_map_by_name(trace->object, "hits");
	trace->hits = map ? ring_buffer__new(bpf_map__fd(map), on_hit, trace, NULL) : NULL;
	return trace->hits ? EXIT_OK : fail("no ring buffer: %s", strerror(errno));
}

/* Records the address of a loaded program's code. */
static int find_own(struct ctr_trace *trace, int program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info), lengths[1] = { 0 };
	uint64_t starts[1] = { 0 };

	info.nr_jited_ksyms = info.nr_jited_func_lens = 1;
	info.jited_ksyms = (uintptr_t)starts;
	info.jited_func_lens = (uintptr_t)lengths;
	if (bpf_obj_get_info_by_fd(program, &info, &size))
		return fail("where a BPF program is: %s", strerror(errno));
	trace->own[trace->owns++] = (struct range){ starts[0], starts[0] + lengths[0] };
	return EXIT_OK;
}

/* Returns the last line of the verifier's log that is not statistics. */
static const char *why(char *log)
{
	char *line, *last = log, *next;

	for (line = strtok_r(log, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
		if (strncmp(line, "processed ", 10))
			last = line;
	return last;
}

/**
 * load_for() - load a program again, for another function
 * @base: the program, as libbpf has loaded it
 * @snapshot: BTF object of riscv_ctr
 * @object: BTF object of the function, 0 for the kernel's
 */
static int load_for(const struct bpf_program *base, const struct ctr_trace_function *function,
		    int snapshot, int object)
{
	/*
	 * Instructions that call a module's function refer to its module by an index into this
	 * array.
	 */
	const int list[] = { snapshot, snapshot };
	static char log[16384];
	int fd;

	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = bpf_program__expected_attach_type(base),
		    .attach_btf_id = function->id, .attach_btf_obj_fd = (uint32_t)object,
		    .fd_array = list);
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, bpf_program__name(base), "GPL",
			   bpf_program__insns(base), bpf_program__insn_cnt(base), &options);
	if (fd >= 0 || !function->named)
		return fd;
	options.log_buf = log;
	options.log_size = sizeof(log);
	options.log_level = 1;
	log[0] = 0;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, bpf_program__name(base), "GPL",
			   bpf_program__insns(base), bpf_program__insn_cnt(base), &options);
	if (fd < 0)
		fail("%s: %s: %s", function->name, strerror(-fd), why(log));
	return fd;
}

/*
 * A function matched a pattern but cannot be traced, for instance for lack of room for a
 * trampoline.
 */
static int bar(struct ctr_trace *trace, size_t index)
{
	/* Count it once, although both its entry and its return may fail. */
	if (!trace->last_barred || trace->last_barred != index + 1)
		trace->barred++;
	trace->last_barred = index + 1;
	return EXIT_OK;
}

static int attach(struct ctr_trace *trace, const struct bpf_program *base, size_t index,
		  int snapshot)
{
	const struct ctr_trace_function *function = &trace->found.function[index];
	enum bpf_attach_type type = bpf_program__expected_attach_type(base);
	int object = function->btf ? bpf_btf_get_fd_by_id(function->btf) : 0;
	int program, link, error;

	LIBBPF_OPTS(bpf_link_create_opts, options,
		    .tracing.cookie = index * 2 + (type == BPF_TRACE_FEXIT));
	if (object < 0)
		return fail("%s: the BTF of its module %s: %s", function->name, function->module,
			    strerror(errno));
	program = load_for(base, function, snapshot, object);
	if (object)
		close(object);
	if (program < 0 && !function->named)
		return bar(trace, index);
	if (program < 0)
		return EXIT_FAILED;
	link = bpf_link_create(program, 0, type, &options);
	if (link >= 0)
		trace->link[trace->links++] = link;
	if (link < 0)
		error = function->named ?
				fail("%s: cannot be traced: %s", function->name, strerror(-link)) :
				bar(trace, index);
	else
		error = find_own(trace, program);
	/* The link now holds a reference to the program. */
	close(program);
	return error;
}

int ctr_trace_prepare(struct ctr_trace **result, const struct ctr_trace_request *request)
{
	struct ctr_trace *trace = calloc(1, sizeof(*trace));
	int error;

	*result = trace;
	if (!trace)
		return fail("out of memory");
	if (number_in(JIT) == 0)
		error = fail("calls of module functions need the BPF compiler: set "
			     "net.core.bpf_jit_enable=1");
	else
		error = record(trace, request->user);
	if (!error)
		error = ctr_trace_find(&trace->found, request);
	if (!error)
		error = load_object(trace, &request->config);
	if (error) {
		ctr_trace_stop(trace);
		*result = NULL;
	}
	return error;
}

int ctr_trace_start(struct ctr_trace *trace, const struct ctr_trace_request *request)
{
	const struct bpf_program *entered, *returned;
	int snapshot, error = EXIT_OK;

	trace->link = calloc(trace->found.count * 2, sizeof(*trace->link));
	trace->own = calloc(trace->found.count * 2, sizeof(*trace->own));
	if (!trace->link || !trace->own)
		return fail("out of memory");
	/* Each traced entry and return needs a file descriptor. */
	limits_raise_files();
	snapshot = bpf_btf_get_fd_by_id(trace->found.snapshot);
	entered = bpf_object__find_program_by_name(trace->object, "entered");
	returned = bpf_object__find_program_by_name(trace->object, "returned");
	if (snapshot < 0 || !entered || !returned)
		error = fail("riscv_ctr is gone");
	for (size_t i = 0; i < trace->found.count && !error; i++) {
		if (request->at_entry)
			error = attach(trace, entered, i, snapshot);
		if (request->at_return && !error)
			error = attach(trace, returned, i, snapshot);
	}
	if (snapshot >= 0)
		close(snapshot);
	if (!error && trace->barred == trace->found.count)
		error = fail("none of the %zu matching functions can be traced", trace->barred);
	return error;
}

void ctr_trace_stop(struct ctr_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->links; i++)
		close(trace->link[i]);
	for (size_t i = 0; i < trace->events; i++)
		close(trace->event[i]);
	ring_buffer__free(trace->hits);
	bpf_object__close(trace->object);
	ctr_trace_found_free(&trace->found);
	free(trace->event);
	free(trace->link);
	free(trace->own);
	free(trace);
}

void ctr_trace_on_hit(struct ctr_trace *trace,
		      int (*hit)(void *data, const struct ctr_trace_hit *hit), void *data)
{
	trace->hit = hit;
	trace->hit_data = data;
}

int ctr_trace_poll(struct ctr_trace *trace, int timeout)
{
	int result = ring_buffer__poll(trace->hits, timeout);

	if (trace->stopped)
		return trace->stopped;
	return result < 0 ? result : 0;
}

size_t ctr_trace_functions(const struct ctr_trace *trace, size_t *barred)
{
	*barred = trace->barred;
	return trace->found.count;
}

const struct ctr_trace_function *ctr_trace_function(const struct ctr_trace *trace, size_t index)
{
	return &trace->found.function[index];
}

size_t ctr_trace_cpus(const struct ctr_trace *trace)
{
	return trace->events;
}

bool ctr_trace_own(const struct ctr_trace *trace, uint64_t address)
{
	for (size_t i = 0; i < trace->owns; i++)
		if (address >= trace->own[i].start && address < trace->own[i].end)
			return true;
	return false;
}

uint64_t ctr_trace_lost(const struct ctr_trace *trace)
{
	struct bpf_map *map = bpf_object__find_map_by_name(trace->object, ".bss.counts");
	struct ctr_trace_counts counts = { 0 };
	uint32_t key = 0;

	if (!map || bpf_map_lookup_elem(bpf_map__fd(map), &key, &counts))
		return 0;
	return counts.lost;
}
#endif /* NTRACE_BPF */
