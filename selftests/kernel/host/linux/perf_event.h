/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PERF_EVENT_H
#define HOST_LINUX_PERF_EVENT_H

#include_next <linux/perf_event.h>
#include <linux/bitfield.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/types.h>

/* Headers of the host before 6.3: a field that the driver does not use otherwise. */
#ifndef PERF_ATTR_SIZE_VER8
#define config3 sig_data
#endif

/* Attributes of an event with this branch_sample_type. */
#define host_branches(perf)                                              \
	(&(struct perf_event_attr){ .sample_type = PERF_SAMPLE_BRANCH_STACK, \
				    .sample_period = 1,                      \
				    .branch_sample_type = (perf) })

struct attribute_group;
struct module;
struct perf_event;
struct perf_sample_data;
struct pt_regs;
struct task_struct;
typedef void (*perf_overflow_handler_t)(struct perf_event *event, struct perf_sample_data *data,
					struct pt_regs *regs);

typedef struct {
	long value;
} local_t;
typedef struct {
	s64 value;
} local64_t;

#define local_inc(v) ((void)(v)->value++)
#define local_dec(v) ((void)(v)->value--)
#define local64_add(n, v) ((void)((v)->value += (n)))

#define PERF_HES_STOPPED 0x01
#define PERF_HES_UPTODATE 0x02
#define PERF_EF_START 0x01
#define PERF_EF_RELOAD 0x02
#define PERF_EF_UPDATE 0x04
#define PERF_PMU_CAP_EXCLUSIVE 0x10
#define PERF_PMU_CAP_ITRACE 0x20

enum perf_event_task_context { perf_sw_context };

struct pmu {
	struct module *module;
	const struct attribute_group **attr_groups;
	int type;
	int capabilities;
	int task_ctx_nr;
	unsigned int nr_addr_filters;
	int (*event_init)(struct perf_event *event);
	int (*add)(struct perf_event *event, int flags);
	void (*del)(struct perf_event *event, int flags);
	void (*start)(struct perf_event *event, int flags);
	void (*stop)(struct perf_event *event, int flags);
	void (*read)(struct perf_event *event);
	int (*addr_filters_validate)(struct list_head *filters);
	void (*addr_filters_sync)(struct perf_event *event);
	void *(*setup_aux)(struct perf_event *event, void **pages, int count, bool overwrite);
	void (*free_aux)(void *aux);
};

struct perf_event_context {
	local_t nr_no_switch_fast;
};

struct perf_event {
	void *pmu_private;
	struct pmu *pmu;
	struct perf_event_attr attr;
	struct perf_event *parent;
	struct perf_event_context *ctx;
	struct perf_addr_filter_range *addr_filter_ranges;
	int cpu;
	local64_t count;
	unsigned int pending_disable;
	void (*destroy)(struct perf_event *event);
	struct {
		int state;
		void *addr_filters;
		struct task_struct *target;
	} hw;
};

struct perf_addr_filter {
	struct list_head entry;
	struct {
		void *dentry;
	} path;
	unsigned long offset, size;
	enum { PERF_ADDR_FILTER_ACTION_STOP, PERF_ADDR_FILTER_ACTION_FILTER } action;
};

struct perf_addr_filter_range {
	unsigned long start, size;
};

struct perf_addr_filters_head {
	struct list_head list;
};

/* The events of the tests have no filters. */
static inline struct perf_addr_filters_head *perf_event_addr_filters(struct perf_event *event)
{
	static struct perf_addr_filters_head none;

	INIT_LIST_HEAD(&none.list);
	return &none;
}

struct perf_output_handle {
	struct perf_event *event;
	u64 aux_flags;
	u64 head;
	unsigned long size;
};

static inline bool has_branch_stack(const struct perf_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK;
}

/* Defined by the test, which replaces perf. */
void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event);
void perf_report_aux_output_id(struct perf_event *event, u64 hw_id);
void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags);
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size);
void perf_event_addr_filters_sync(struct perf_event *event);
int perf_pmu_register(struct pmu *pmu, const char *name, int type);
void perf_pmu_unregister(struct pmu *pmu);
int perf_allow_kernel(struct perf_event_attr *attr);

#endif /* HOST_LINUX_PERF_EVENT_H */
