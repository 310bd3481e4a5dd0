/* SPDX-License-Identifier: GPL-2.0-only */
#define check_trace_callback_type_sched_switch(probe) ((void)(probe))
