// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Anchors in the sideband. `ntrace record --values` makes two events, of tracepoints, that have all user
 * registers: raw_syscalls:sys_exit, and sched:sched_process_exec, which has the stack, too. A third one, bpf-output,
 * has memory that the call has written, in samples after that of the registers.
 */
#include <string.h>

#include <linux/perf_event.h>

#include "anchors.h"
#include "bisect.h"
#include "compare.h"
#include "grow.h"
#include "syscalls.h"

#define CPUS 4096
#define PAGE UINT64_C(4096)

#define A0 10
#define A1 11
#define A2 12
#define A7 17

/* A process began, at @time: as a copy of @parent, or with @parent -1 by exec() */
struct origin {
	uint64_t time;
	int32_t pid, parent;
};

/* Numbers of processes are below PID_MAX_LIMIT of Linux. */
#define PIDS (4u << 20)

/*
 * @last: of each CPU, the time of its last record; @limit: records may be missing after this time;
 * @began: the last exec() of the process
 */
struct reading {
	struct anchors *anchors;
	const struct ntrace_perf_file *file;
	int32_t pid, tid;
	struct anchor exec;
	struct origin *origin;
	size_t origins, origin_room;
	uint64_t began;
	uint64_t limit;
	uint64_t last[CPUS];
};

uint64_t anchor_register(const struct anchor *anchor, unsigned int number)
{
	uint64_t value;

	memcpy(&value, anchor->registers + sizeof(value) * number, sizeof(value));
	return value;
}

static bool is_ours(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT && attr->sample_type & PERF_SAMPLE_REGS_USER &&
	       attr->sample_regs_user == UINT32_MAX;
}

bool anchors_event(const struct ntrace_perf_file *file)
{
	for (unsigned int i = 0; file && i < ntrace_perf_file_events(file); i++)
		if (is_ours(ntrace_perf_file_attr(file, i)))
			return true;
	return false;
}

/* The event of exec() copies more of the stack. */
static bool is_exec(const struct ntrace_perf_file *file, const struct ntrace_perf_sample *sample)
{
	const struct perf_event_attr *own = ntrace_perf_file_attr(file, sample->event);

	for (unsigned int i = 0; i < ntrace_perf_file_events(file); i++) {
		const struct perf_event_attr *attr = ntrace_perf_file_attr(file, i);

		if (is_ours(attr) && attr->sample_stack_user > own->sample_stack_user)
			return false;
	}
	return sample->stack;
}

static int add_shared(struct anchors *anchors, uint64_t first, uint64_t last)
{
	if (grow((void **)&anchors->shared, anchors->shares, &anchors->share_room,
		 sizeof(*anchors->shared)))
		return NTRACE_ERR_NOMEM;
	anchors->shared[anchors->shares++] = (struct shared_range){ first, last };
	return 0;
}

/* An error of the call is a short range at the end of all addresses, or none. */
static int note_move(struct anchors *anchors, uint64_t first, uint64_t length)
{
	uint64_t last = first + length - 1;

	return !length || last < first ? 0 : add_shared(anchors, first, last | (PAGE - 1));
}

/* A program of somebody else may send anything. */
bool anchors_content(struct content *content, const uint8_t *raw, size_t size)
{
	struct ntrace_values_content *of = &content->of;

	if (size < sizeof(*of))
		return false;
	memcpy(of, raw, sizeof(*of));
	content->bytes = raw + sizeof(*of);
	return of->magic == NTRACE_VALUES_CONTENT && of->length &&
	       of->length <= size - sizeof(*of) && of->address + of->length - 1 >= of->address;
}

static int read_content(struct reading *reading, const struct ntrace_perf_sample *sample)
{
	const struct perf_event_attr *attr = ntrace_perf_file_attr(reading->file, sample->event);
	struct anchors *anchors = reading->anchors;
	struct content content = { .time = sample->time };

	if (attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_BPF_OUTPUT ||
	    sample->pid != reading->pid || sample->tid != reading->tid ||
	    !anchors_content(&content, sample->raw, sample->raw_size))
		return 0;
	if (grow((void **)&anchors->content, anchors->contents, &anchors->content_room,
		 sizeof(content)))
		return NTRACE_ERR_NOMEM;
	anchors->content[anchors->contents++] = content;
	return 0;
}

static int read_sample(struct reading *reading, const struct ntrace_perf_record *record)
{
	struct anchors *anchors = reading->anchors;
	struct ntrace_perf_sample sample;
	struct anchor anchor;
	uint64_t number;

	if (ntrace_perf_file_sample(reading->file, record, &sample))
		return 0;
	if (!sample.registers)
		return read_content(reading, &sample);
	anchor = (struct anchor){
		.time = sample.time,
		.registers = sample.registers,
		.stack = sample.stack,
		.stack_size = sample.stack_size,
	};
	number = anchor_register(&anchor, A7);
	anchors->uncertain |= syscall_changes_others(number, anchor_register(&anchor, A1),
						     reading->pid, reading->tid);
	/* Where it was moved to, a mapping may be a shared one: the sideband does not tell. */
	if (number == SYSCALL_MREMAP &&
	    note_move(anchors, anchor_register(&anchor, A0), anchor_register(&anchor, A2)))
		return NTRACE_ERR_NOMEM;
	if (sample.pid != reading->pid)
		return 0;
	anchors->uncertain |= syscall_is_uncertain(number);
	/* A child with a stack of its own, which is no thread, may share the memory. */
	anchors->uncertain |= number == SYSCALL_CLONE && anchor_register(&anchor, A1);
	if (sample.tid != reading->tid)
		return 0;
	if (is_exec(reading->file, &sample)) {
		anchor.exec = true;
		reading->exec = anchor;
		return 0;
	}
	/* exec() returns with the registers of the new program. */
	if (reading->exec.exec &&
	    anchor_register(&reading->exec, 0) == anchor_register(&anchor, 0)) {
		anchor.stack = reading->exec.stack;
		anchor.stack_size = reading->exec.stack_size;
		anchor.began = reading->began;
		anchor.exec = true;
	}
	reading->exec.exec = false;
	if (grow((void **)&anchors->anchor, anchors->count, &anchors->room, sizeof(anchor)))
		return NTRACE_ERR_NOMEM;
	anchors->anchor[anchors->count++] = anchor;
	return 0;
}

static int note_origin(struct reading *reading, const struct ntrace_sideband *of, int32_t parent)
{
	if (grow((void **)&reading->origin, reading->origins, &reading->origin_room,
		 sizeof(*reading->origin)))
		return NTRACE_ERR_NOMEM;
	reading->origin[reading->origins++] = (struct origin){ of->time, of->pid, parent };
	return 0;
}

static int note_mapping(struct reading *reading, const struct ntrace_sideband *of)
{
	struct anchors *anchors = reading->anchors;
	uint64_t last = of->address + of->length - 1;

	if (!of->length || last < of->address)
		return 0;
	/* A shared mapping that cannot be written is of a file, which others may write. */
	if (of->shared)
		return add_shared(anchors, of->address, last);
	if (of->pid != reading->pid)
		return 0;
	if (grow((void **)&anchors->mapping, anchors->mappings, &anchors->mapping_room,
		 sizeof(*anchors->mapping)))
		return NTRACE_ERR_NOMEM;
	anchors->mapping[anchors->mappings++] = (struct mapping){ .of = *of, .last = last };
	return 0;
}

static int read_record(void *data, const struct ntrace_perf_record *record)
{
	struct reading *reading = data;
	struct ntrace_sideband sideband;

	if (record->type == PERF_RECORD_SAMPLE)
		return read_sample(reading, record);
	if (ntrace_perf_file_parse(reading->file, record, &sideband))
		return 0;
	if (sideband.type == NTRACE_SIDEBAND_LOST) {
		uint64_t before = sideband.cpu < CPUS ? reading->last[sideband.cpu] : 0;

		if (before < reading->limit)
			reading->limit = before;
	} else if (sideband.cpu < CPUS && sideband.time > reading->last[sideband.cpu]) {
		reading->last[sideband.cpu] = sideband.time;
	}
	if (sideband.type == NTRACE_SIDEBAND_MMAP2)
		return note_mapping(reading, &sideband);
	if (sideband.type == NTRACE_SIDEBAND_FORK && sideband.tid != sideband.pid) {
		reading->anchors->uncertain |= sideband.pid == reading->pid;
		reading->anchors->born |= sideband.tid == reading->tid && sideband.time;
		return 0;
	}
	if (sideband.type == NTRACE_SIDEBAND_FORK) {
		reading->anchors->born |= sideband.tid == reading->tid && sideband.time;
		return note_origin(reading, &sideband, sideband.other_pid);
	}
	if (sideband.type != NTRACE_SIDEBAND_COMM || !sideband.exec)
		return 0;
	if (sideband.pid == reading->pid)
		reading->began = sideband.time;
	return note_origin(reading, &sideband, -1);
}

static int compare_anchors(const void *left, const void *right)
{
	const struct anchor *a = left, *b = right;
	int order = compare_numbers(a->time, b->time);

	return order ? order : compare_numbers((uintptr_t)a->registers, (uintptr_t)b->registers);
}

static int compare_contents(const void *left, const void *right)
{
	const struct content *a = left, *b = right;
	int order = compare_numbers(a->time, b->time);

	return order ? order : compare_numbers((uintptr_t)a->bytes, (uintptr_t)b->bytes);
}

static int compare_mappings(const void *left, const void *right)
{
	const struct mapping *a = left, *b = right;
	int order = compare_numbers(a->of.time, b->of.time);

	return order ? order : compare_numbers(a->of.position, b->of.position);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct shared_range *a = left, *b = right;

	return compare_numbers(a->first, b->first);
}

/* Puts ranges in order, and joins those that overlap. */
static void join_shared(struct anchors *anchors)
{
	size_t kept = 0;

	if (!anchors->shares)
		return;
	qsort(anchors->shared, anchors->shares, sizeof(*anchors->shared), compare_ranges);
	for (size_t i = 1; i < anchors->shares; i++) {
		struct shared_range *last = &anchors->shared[kept];

		if (anchors->shared[i].first > last->last)
			anchors->shared[++kept] = anchors->shared[i];
		else if (anchors->shared[i].last > last->last)
			last->last = anchors->shared[i].last;
	}
	anchors->shares = kept + 1;
}

int anchors_share(struct anchors *anchors, uint64_t first, uint64_t last)
{
	if (last < first)
		return 0;
	if (add_shared(anchors, first, last))
		return NTRACE_ERR_NOMEM;
	join_shared(anchors);
	return 0;
}

bool anchors_shares(const struct anchors *anchors, uint64_t first, uint64_t last)
{
	size_t low = 0;

	BISECT(low, anchors->shares, at, anchors->shared[at].last < last);
	return low < anchors->shares && anchors->shared[low].first <= first;
}

static int compare_origins(const void *left, const void *right)
{
	const struct origin *a = left, *b = right;

	return compare_numbers(a->time, b->time);
}

static bool has_bit(const uint8_t *bits, int32_t pid)
{
	return pid >= 0 && (uint32_t)pid < PIDS && bits[pid / 8] >> pid % 8 & 1;
}

static void set_bit(uint8_t *bits, int32_t pid, bool on)
{
	if (pid < 0 || (uint32_t)pid >= PIDS)
		return;
	if (on)
		bits[pid / 8] |= (uint8_t)(1u << pid % 8);
	else
		bits[pid / 8] = (uint8_t)(bits[pid / 8] & ~(1u << pid % 8));
}

/* Whether all mappings of the process are known from its beginning on. Return: 0 or NTRACE_ERR_NOMEM */
static int find_inherited(struct reading *reading)
{
	uint8_t *known = calloc(PIDS / 8, 1);

	if (!known)
		return NTRACE_ERR_NOMEM;
	if (reading->origins)
		qsort(reading->origin, reading->origins, sizeof(*reading->origin), compare_origins);
	for (size_t i = 0; i < reading->origins; i++) {
		const struct origin *origin = &reading->origin[i];
		bool all = origin->time && (origin->parent < 0 || has_bit(known, origin->parent));

		set_bit(known, origin->pid, all);
		if (origin->pid == reading->pid && origin->parent >= 0)
			reading->anchors->inherited = all;
	}
	free(known);
	return 0;
}

/* Records of one CPU are in order also if their times are the same. */
static bool is_before(const struct anchor *anchor, const struct content *content)
{
	return anchor->time < content->time ||
	       (anchor->time == content->time &&
		(uintptr_t)anchor->registers < (uintptr_t)content->bytes);
}

void anchors_pair(struct anchors *anchors)
{
	size_t next = 0;

	for (size_t i = 0; i < anchors->contents; i++) {
		const struct content *content = &anchors->content[i];
		struct anchor *anchor;

		while (next < anchors->count && is_before(&anchors->anchor[next], content))
			next++;
		/* Of a thread that was not recorded yet. */
		if (!next)
			continue;
		anchor = &anchors->anchor[next - 1];
		if (anchor_register(anchor, A7) != content->of.number ||
		    (int64_t)anchor_register(anchor, A0) != content->of.result) {
			anchors->contents = 0;
			break;
		}
		if (!anchor->contents++)
			anchor->content = i;
	}
	for (size_t i = 0; !anchors->contents && i < anchors->count; i++)
		anchors->anchor[i].contents = 0;
}

int anchors_read(struct anchors *anchors, const struct ntrace_session *session, int32_t pid,
		 int32_t tid)
{
	struct reading *reading;
	int error;

	*anchors = (struct anchors){ 0 };
	if (!ntrace_session_sideband(session))
		return NTRACE_ERR_UNSUPPORTED;
	reading = calloc(1, sizeof(*reading));
	if (!reading)
		return NTRACE_ERR_NOMEM;
	*reading = (struct reading){
		.anchors = anchors,
		.file = ntrace_session_sideband(session),
		.pid = pid,
		.tid = tid,
		.limit = UINT64_MAX,
	};
	error = ntrace_perf_file_records(reading->file, read_record, reading);
	/* A thread is on one CPU at a time, and the records of one CPU are in order. */
	if (anchors->count)
		qsort(anchors->anchor, anchors->count, sizeof(*anchors->anchor), compare_anchors);
	join_shared(anchors);
	if (!error || error == NTRACE_ERR_TRUNCATED)
		error = find_inherited(reading);
	if (anchors->mappings)
		qsort(anchors->mapping, anchors->mappings, sizeof(*anchors->mapping),
		      compare_mappings);
	if (anchors->contents)
		qsort(anchors->content, anchors->contents, sizeof(*anchors->content),
		      compare_contents);
	while (anchors->count && anchors->anchor[anchors->count - 1].time > reading->limit)
		anchors->count--;
	while (anchors->contents && anchors->content[anchors->contents - 1].time > reading->limit)
		anchors->contents--;
	anchors_pair(anchors);
	free(reading->origin);
	free(reading);
	/* A recording that was not closed has what has arrived. */
	return error == NTRACE_ERR_TRUNCATED ? 0 : error;
}

void anchors_free(struct anchors *anchors)
{
	free(anchors->anchor);
	free(anchors->content);
	free(anchors->shared);
	free(anchors->mapping);
	*anchors = (struct anchors){ 0 };
}
