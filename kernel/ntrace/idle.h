/* SPDX-License-Identifier: GPL-2.0-only */
/* Idle states of a hart that lose the registers of its encoder. */
#ifndef NTRACE_IDLE_H
#define NTRACE_IDLE_H

struct ntrace_capture;

int ntrace_idle_get(void);
void ntrace_idle_put(void);
void ntrace_idle_begin(struct ntrace_capture *capture);
void ntrace_idle_end(const struct ntrace_capture *capture);

#endif /* NTRACE_IDLE_H */
