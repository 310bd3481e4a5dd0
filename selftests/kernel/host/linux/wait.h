/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_WAIT_H
#define HOST_LINUX_WAIT_H

typedef struct {
	int unused;
} wait_queue_head_t;

#define wake_up_interruptible_poll(queue, events) ((void)(queue))

#define init_waitqueue_head(queue) ((void)(queue))

/*
 * Runs the test's other threads for one turn, or returns an error for a signal.
 */
int host_wait(void);

#define wait_event_interruptible(queue, condition)					\
({											\
	int wait_ = 0;									\
											\
	while (!(condition) && !wait_)							\
		wait_ = host_wait();							\
	wait_;										\
})

#endif /* HOST_LINUX_WAIT_H */
