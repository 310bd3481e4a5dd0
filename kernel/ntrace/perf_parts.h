/* SPDX-License-Identifier: GPL-2.0-only */
/* The PMU "ntrace": declarations that its files share. */
#ifndef NTRACE_PERF_PARTS_H
#define NTRACE_PERF_PARTS_H

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/ntrace.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct list_head;
struct ntrace_component;
struct ntrace_path;

/* Fields of perf_event_attr.config, as in format/. */
#define NTRACE_PERF_MODE	GENMASK_ULL(2, 0)
#define NTRACE_PERF_SYNC	GENMASK_ULL(9, 8)
#define NTRACE_PERF_SYNC_MAX	GENMASK_ULL(15, 12)
#define NTRACE_PERF_TIMESTAMPS	GENMASK_ULL(18, 16)
#define NTRACE_PERF_PRESCALE	GENMASK_ULL(21, 20)
#define NTRACE_PERF_CONTEXT	BIT_ULL(24)
#define NTRACE_PERF_ARMED	BIT_ULL(25)
#define NTRACE_PERF_DEBUG_TRIGGERS BIT_ULL(26)
#define NTRACE_PERF_SEQUENTIAL_JUMP BIT_ULL(27)
#define NTRACE_PERF_IMPLICIT_RETURN BIT_ULL(28)
#define NTRACE_PERF_REPEATED_HISTORY BIT_ULL(29)
#define NTRACE_PERF_ALL_JUMPS	BIT_ULL(30)
#define NTRACE_PERF_STALL	BIT_ULL(31)
#define NTRACE_PERF_EXTEND_ADDRESS BIT_ULL(32)
#define NTRACE_PERF_CONFIG	(NTRACE_PERF_MODE | NTRACE_PERF_SYNC | NTRACE_PERF_SYNC_MAX | \
				 NTRACE_PERF_TIMESTAMPS | NTRACE_PERF_PRESCALE | \
				 NTRACE_PERF_CONTEXT | NTRACE_PERF_ARMED | \
				 NTRACE_PERF_DEBUG_TRIGGERS | NTRACE_PERF_SEQUENTIAL_JUMP | \
				 NTRACE_PERF_IMPLICIT_RETURN | NTRACE_PERF_REPEATED_HISTORY | \
				 NTRACE_PERF_ALL_JUMPS | NTRACE_PERF_STALL | \
				 NTRACE_PERF_EXTEND_ADDRESS)
/* Fields of config1: microseconds with and without tracing. */
#define NTRACE_PERF_STROBE_ON	GENMASK_ULL(31, 0)
#define NTRACE_PERF_STROBE_OFF	GENMASK_ULL(63, 32)
/* Fields of config2: the triggers of ntrace_config. */
#define NTRACE_PERF_TRIGGER_IN	GENMASK_ULL(31, 0)
#define NTRACE_PERF_TRIGGER_OUT	GENMASK_ULL(63, 32)

/* An event that user space opened, and the events that inherit it. */
struct ntrace_perf_event {
	struct ntrace_config config; /* configuration of the encoder */
	u64 id; /* number that no other event has ever had */
	cpumask_t cpus; /* CPUs whose paths the event holds */
	bool privileged; /* who opened it has CAP_PERFMON */
	u64 epoch; /* value of ntrace_perf_epoch when it took them */
	u64 strobe_on; /* nanoseconds of tracing in each period */
	u64 strobe_period; /* nanoseconds; 0: trace all the time */
	struct work_struct release; /* returns the paths */
};

/*
 * State of a single event, inherited or not.
 *
 * @ranges: address ranges in the event's task; not mapped: start > end
 *
 * This is hw.addr_filters of the event.
 */
struct ntrace_perf_own {
	bool tracing; /* tracing continues when the event is scheduled; triggers change this */
	bool full; /* the AUX area was full, and trace is lost until a quarter is free */
	u64 id; /* number that no other filters and no event have ever had; 0: no filters */
	u32 count;
	struct ntrace_range ranges[NTRACE_RANGES_MAX];
};

/* An AUX area. */
struct ntrace_perf_aux {
	void *pages; /* the pages, mapped as one block */
	size_t size; /* bytes, a power of two */
	bool snapshot; /* new trace overwrites the oldest */
	cpumask_t told; /* CPUs that an AUX_OUTPUT_HW_ID has named; bits are set atomically */
};

/*
 * State of perf on a CPU.
 *
 * @users: number of events that hold the path; the lock of the topology protects this and @lost
 * @path: the path while perf has it, else NULL; changed on the CPU itself
 * @halted: scheduled event whose trace was stopped without perf, or NULL
 */
struct ntrace_perf {
	unsigned int users;
	u64 lost; /* value of ntrace_perf_epoch when the last path of this CPU was removed */
	struct ntrace_path *path;
	struct perf_event *event; /* the event that is traced now, or NULL */
	struct perf_event *halted;
	struct perf_output_handle handle; /* handle of its AUX area */
	struct ntrace_perf_aux *aux; /* its AUX area; NULL: the trace is only counted */
	u64 begin; /* position in the stream where @handle was opened */
	u64 counted; /* position up to which the event has counted */
	u64 end; /* position where the last AUX area was closed */
	bool late; /* trace has arrived since @end, from a sink that others kept running */
	u32 gaps; /* number of gaps that records have reported, or at the start of the event */
	u64 programmed; /* id of the event that the encoder is programmed for */
	bool enabled; /* the components of the path are enabled */
	struct hrtimer strobe; /* switches tracing on and off */
};

static inline struct ntrace_perf_event *ntrace_perf_event_of(const struct perf_event *event)
{
	return event->pmu_private;
}

/* perf_config.c */
int ntrace_perf_config_permit(struct perf_event *event);
u64 ntrace_perf_config_phase(const struct ntrace_perf_event *perf_event, bool *on);
int ntrace_perf_config(struct perf_event *event, struct ntrace_perf_event *perf_event);
int ntrace_perf_config_for(const struct ntrace_perf_event *perf_event,
			   const struct ntrace_component *encoder, struct ntrace_config *config);
int ntrace_perf_config_check(const struct perf_event *event, const struct ntrace_component *encoder,
			     struct ntrace_config *config);
u64 ntrace_perf_new_id(void);
void ntrace_perf_filter_limit(u32 ranges);
int ntrace_perf_own_alloc(struct perf_event *event);
void ntrace_perf_own_free(struct perf_event *event);
int ntrace_perf_filter_validate(struct list_head *filters);
void ntrace_perf_filter_sync(struct perf_event *event);
void ntrace_perf_filter_apply(const struct perf_event *event, struct ntrace_config *config);
void *ntrace_perf_setup_aux(struct perf_event *event, void **pages, int count, bool overwrite);
void ntrace_perf_free_aux(void *data);

/* perf_trial.c */
int ntrace_perf_trial(struct ntrace_path *path);

/* perf_sysfs.c */
extern const struct attribute_group *ntrace_perf_groups[];

#endif /* NTRACE_PERF_PARTS_H */
