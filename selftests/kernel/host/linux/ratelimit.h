/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_RATELIMIT_H
#define HOST_LINUX_RATELIMIT_H

struct ratelimit_state {
	int unused;
};

#define DEFINE_RATELIMIT_STATE(name, interval, burst) struct ratelimit_state name
#define __ratelimit(state) ((state) != NULL)

#endif /* HOST_LINUX_RATELIMIT_H */
