/* SPDX-License-Identifier: GPL-2.0-only */
#define check_trace_callback_type_sched_switch(probe) ((void)(probe))
#define check_trace_callback_type_sched_process_fork(probe) ((void)(probe))
#define check_trace_callback_type_sched_process_exec(probe) ((void)(probe))
#define check_trace_callback_type_sched_process_free(probe) ((void)(probe))
