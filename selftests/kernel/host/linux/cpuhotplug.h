/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CPUHOTPLUG_H
#define HOST_LINUX_CPUHOTPLUG_H

struct hlist_node;

enum cpuhp_state { CPUHP_AP_ONLINE_DYN };

/* The test calls the callbacks itself. */
#define cpuhp_setup_state_multi(state, name, online, offline) ((void)(online), (void)(offline), 0)
#define cpuhp_remove_multi_state(state) ((void)(state))
#define cpuhp_state_add_instance(state, node) ((void)(state), (void)(node), 0)
#define cpuhp_state_remove_instance_nocalls(state, node) ((void)(state), (void)(node))

#endif /* HOST_LINUX_CPUHOTPLUG_H */
