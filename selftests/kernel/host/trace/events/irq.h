/* SPDX-License-Identifier: GPL-2.0-only */
#define check_trace_callback_type_irq_handler_exit(probe) ((void)(probe))
