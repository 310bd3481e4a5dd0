/* SPDX-License-Identifier: GPL-2.0-only */
/* The graph of components, and the paths in it. */
#ifndef NTRACE_TOPOLOGY_H
#define NTRACE_TOPOLOGY_H

#include <linux/mutex.h>

struct device_node;
struct ntrace_component;
struct ntrace_path;
struct pid;
struct workqueue_struct;

/**
 * struct ntrace_path_ops - makes paths visible to user space
 * @setup: initialize the device of a new path; put_device() frees the path from then on
 * @add: make the device; the path is ready for use
 * @remove: remove the device; open files stay
 */
struct ntrace_path_ops {
	void (*setup)(struct ntrace_path *path);
	int (*add)(struct ntrace_path *path);
	void (*remove)(struct ntrace_path *path);
};

extern struct mutex ntrace_lock;
/* Closed events return their paths here: flush it, without ntrace_lock, for their paths. */
extern struct workqueue_struct *ntrace_release_queue;
int ntrace_topology_init(const struct ntrace_path_ops *ops);
void ntrace_topology_exit(void);
int ntrace_topology_add(struct ntrace_component *component);
void ntrace_topology_remove(struct ntrace_component *component);
void ntrace_topology_shutdown(struct ntrace_component *component);
void ntrace_topology_suspend(struct ntrace_component *component);
void ntrace_topology_resume(struct ntrace_component *component);
ssize_t ntrace_topology_show_sink(const struct ntrace_component *encoder, char *buffer);
int ntrace_topology_choose_sink(struct ntrace_component *encoder, const char *name);
void ntrace_topology_evict(const struct ntrace_path *path, const struct pid *session);
struct ntrace_component *ntrace_topology_find(const struct device_node *node);
int ntrace_topology_each_component(int (*call)(struct ntrace_component *component, void *data),
				   void *data);
int ntrace_topology_each_path(int (*call)(struct ntrace_path *path, void *data), void *data);

#endif /* NTRACE_TOPOLOGY_H */
