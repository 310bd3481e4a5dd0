// SPDX-License-Identifier: GPL-2.0-only
/*
 * The graph of components. Trace components cannot be discovered; the device tree describes their
 * connections. They are probed in any order. A path is created as soon as all components from an
 * encoder to its sink are present. Paths of several encoders may meet in a funnel and share the
 * rest.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/log2.h>
#include <linux/of.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "path.h"

/* The list of components, and creation and removal of paths. */
DEFINE_MUTEX(ntrace_lock);
struct workqueue_struct *ntrace_release_queue;
LIST_HEAD(ntrace_components);
LIST_HEAD(ntrace_paths);
static int ntrace_hotplug_state;
static const struct ntrace_path_ops *ntrace_path_ops;

/** ntrace_topology_find - find the component of a node; NULL: it was not added */
struct ntrace_component *ntrace_topology_find(const struct device_node *node)
{
	struct ntrace_component *component;

	list_for_each_entry(component, &ntrace_components, node)
		if (component->dev->of_node == node)
			return component;
	return NULL;
}

static int ntrace_hart_online(unsigned int cpu, struct hlist_node *node)
{
	struct ntrace_path *path = hlist_entry(node, struct ntrace_path, hotplug);

	if (cpu != path->cpu)
		return 0;
	guard(mutex)(&path->lock);
	path->cpu_up = true;
	/* Harts wake up before devices: ntrace_topology_resume() does this then. */
	if (path->stale && !path->asleep && path->capture && path->capture->client)
		ntrace_capture_revive(path->capture);
	return 0;
}

static int ntrace_hart_offline(unsigned int cpu, struct hlist_node *node)
{
	struct ntrace_path *path = hlist_entry(node, struct ntrace_path, hotplug);

	if (cpu != path->cpu)
		return 0;
	guard(mutex)(&path->lock);
	/* The encoder may lose its registers with the power of the hart. */
	path->cpu_up = false;
	path->stale = true;
	if (path->capture)
		ntrace_capture_stop(path->capture);
	ntrace_path_leave_hart(path);
	return 0;
}

/*
 * Takes the path away from who uses it. The path is locked; for perf, an offline hart must stay
 * offline meanwhile.
 */
static void ntrace_path_take_away(struct ntrace_path *path)
{
	if (path->capture && path->capture->client)
		path->capture->client->lose(path);
	ntrace_capture_detach(path);
}

/**
 * ntrace_topology_evict - end the unprivileged captures that a privileged one cannot be beside
 * @path: path that a user with CAP_PERFMON needs
 * @session: session of that user, see struct ntrace_ramsink
 *
 * Everybody may trace their own tasks, and those events hold the path, and a shared sink, until
 * they are closed. They must not keep an administrator from tracing.
 */
void ntrace_topology_evict(const struct ntrace_path *path, const struct pid *session)
{
	struct ntrace_path *other;

	lockdep_assert_held(&ntrace_lock);
	guard(cpus_read_lock)();
	list_for_each_entry(other, &ntrace_paths, node) {
		if (ntrace_path_sink(other) != path->component[path->count - 1])
			continue;
		guard(mutex)(&other->lock);
		/* Events of several sessions take turns on a sink that harts do not share. */
		if (other->capture && other->capture->client && !other->capture->privileged &&
		    other->capture->session != session &&
		    (!session || ntrace_path_sink(other)->ramsink.dealt))
			ntrace_path_take_away(other);
	}
}

/* From now on the path touches no hardware, and calls of open files return ENODEV. */
static void ntrace_path_retire(struct ntrace_path *path)
{
	/* For perf: an offline hart must stay offline while it loses the path. */
	guard(cpus_read_lock)();
	guard(mutex)(&path->lock);
	if (path->gone)
		return;
	path->gone = true;
	ntrace_path_take_away(path);
	wake_up_all(&path->wait);
}

static void ntrace_path_destroy(struct ntrace_path *path)
{
	ntrace_path_ops->remove(path);
	cpuhp_state_remove_instance_nocalls(ntrace_hotplug_state, &path->hotplug);
	ntrace_path_retire(path);
	ntrace_path_encoder(path)->path = NULL;
	list_del(&path->node);
	put_device(&path->dev);
}

static int ntrace_path_create(struct ntrace_component *const *component, unsigned int count)
{
	struct ntrace_path *path;
	int ret;

	path = kzalloc(sizeof(*path), GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	mutex_init(&path->lock);
	init_waitqueue_head(&path->wait);
	path->cpu = component[0]->cpu;
	path->count = count;
	memcpy(path->component, component, count * sizeof(*component));
	ntrace_timestamp_connect(component, count);
	ret = cpuhp_state_add_instance(ntrace_hotplug_state, &path->hotplug);
	if (ret) {
		kfree(path);
		return ret;
	}
	ret = ntrace_path_ops->add(path);
	if (ret) {
		cpuhp_state_remove_instance_nocalls(ntrace_hotplug_state, &path->hotplug);
		put_device(&path->dev);
		return ret;
	}
	component[0]->path = path;
	list_add_tail(&path->node, &ntrace_paths);
	return 0;
}

/* The encoders that send to a sink. */
struct ntrace_sources {
	const struct device_node *encoder; /* the encoder to look for */
	const struct device_node *bridge; /* the ATB bridge on its way, or NULL */
	unsigned int depth; /* number of components between the sink and the position of the walk */
	unsigned int count; /* number of encoders found */
	unsigned int index; /* index of @encoder among them */
	unsigned int bridge_index; /* index of the first encoder before @bridge */
};

/* In the order of the device tree, bound or not: the numbers are always the same. */
static int ntrace_count_source(struct device_node *node, void *data)
{
	struct ntrace_sources *sources = data;
	int ret;

	if (!of_device_is_available(node))
		return 0;
	if (node == sources->bridge)
		sources->bridge_index = sources->count;
	/* An encoder. A bridge may belong to a hart, too, but other components send to it. */
	if (ntrace_graph_is_of_hart(node) && !ntrace_graph_is_connected(node, "in-ports")) {
		if (node == sources->encoder)
			sources->index = sources->count;
		sources->count++;
		return 0;
	}
	/* The graph comes from firmware and may contain a loop. */
	if (sources->depth == NTRACE_PATH_MAX)
		return -ELOOP;
	sources->depth++;
	ret = ntrace_graph_visit(node, "in-ports", ntrace_count_source, sources);
	sources->depth--;
	return ret;
}

/* The width of SRC that an encoder before it has taken for a sink, or 0. */
static u32 ntrace_path_src_bits(const struct ntrace_component *encoder,
				const struct ntrace_component *sink)
{
	const struct ntrace_component *other;
	struct ntrace_path *path;

	list_for_each_entry(path, &ntrace_paths, node) {
		other = ntrace_path_encoder(path);
		if (ntrace_path_sink(path) == sink && other->encoder.shared &&
		    other->encoder.atid == encoder->encoder.atid)
			return other->encoder.src_bits;
	}
	return 0;
}

/* Logs why an encoder has no path: once, although each component that comes tries all again. */
__printf(3, 4) static int ntrace_path_refuse(struct ntrace_component *encoder, int error,
					     const char *reason, ...)
{
	char text[128];
	va_list args;

	if (encoder->encoder.refused == reason)
		return error;
	encoder->encoder.refused = reason;
	va_start(args, reason);
	vsnprintf(text, sizeof(text), reason, args);
	va_end(args);
	dev_err(encoder->dev, "%s\n", text);
	return error;
}

/* Numbers that are wired, of version 0, may be the same. */
static int ntrace_path_check_source(struct ntrace_component *encoder,
				    const struct ntrace_component *sink)
{
	bool shared = encoder->encoder.shared;
	const struct ntrace_component *other;
	struct ntrace_path *path;

	list_for_each_entry(path, &ntrace_paths, node) {
		other = ntrace_path_encoder(path);
		if (ntrace_path_sink(path) != sink || other->encoder.atid != encoder->encoder.atid)
			continue;
		if (shared && other->encoder.src != encoder->encoder.src)
			continue;
		return ntrace_path_refuse(encoder, -EOPNOTSUPP,
					  "has the %s %u of %s, which sends to the same sink",
					  shared ? "trTeSrcID" : "ATID",
					  shared ? encoder->encoder.src : encoder->encoder.atid,
					  dev_name(other->dev));
	}
	return 0;
}

/* The ATB bridge on the way of an encoder, or NULL. @merged: a funnel is before it. */
static struct ntrace_component *ntrace_path_bridge(struct ntrace_component *const *component,
						   unsigned int count, bool *merged)
{
	unsigned int i;

	*merged = false;
	for (i = 1; i + 1 < count; i++) {
		if (component[i]->type == TR_COMP_TYPE_ATB_BRIDGE)
			return component[i];
		*merged |= component[i]->merges;
	}
	return NULL;
}

/*
 * Sets the ID that the bridge on the way of an encoder gives its trace: odd numbers in the order of
 * the device tree. A bridge may have a hard-wired ID.
 */
static int ntrace_path_set_atid(struct ntrace_component *encoder, struct ntrace_component *bridge,
				unsigned int index)
{
	struct ntrace_portsink *port = &bridge->port;
	u32 id = 2 * index + 1;

	if (!port->id_bits)
		id = port->id;
	if (id < TR_ATB_ID_MIN || id > TR_ATB_ID_MAX || (port->id_bits && id & ~port->id_bits))
		return ntrace_path_refuse(encoder, -EOPNOTSUPP, "%s does not support ATID %u",
					  dev_name(bridge->dev), id);
	port->id = id;
	encoder->encoder.atid = id;
	return 0;
}

/*
 * Numbers the encoders of a shared sink from 0, with as few bits as possible. An encoder with a
 * sink or a bridge of its own sends no number.
 */
static int ntrace_path_number(struct ntrace_component *const *component, unsigned int count)
{
	struct ntrace_component *encoder = component[0], *sink = component[count - 1];
	struct ntrace_sources sources = { .encoder = encoder->dev->of_node };
	struct ntrace_component *bridge;
	u32 src_bits;
	bool merged;
	int ret;

	bridge = ntrace_path_bridge(component, count, &merged);
	if (bridge)
		sources.bridge = bridge->dev->of_node;
	if (!bridge && sink->ramsink.framed)
		return ntrace_path_refuse(encoder, -EINVAL, "no ATB bridge on the way to %s",
					  dev_name(sink->dev));
	ret = ntrace_graph_visit(sink->dev->of_node, "in-ports", ntrace_count_source, &sources);
	if (!ret && bridge)
		ret = ntrace_path_set_atid(encoder, bridge, sources.bridge_index);
	if (ret)
		return ret;
	src_bits = sources.count > 1 && (!bridge || merged) ? order_base_2(sources.count) : 0;
	ret = ntrace_encoder_set_source(encoder, sources.index, src_bits,
					ntrace_path_src_bits(encoder, sink));
	if (ret < 0)
		return ntrace_path_refuse(encoder, ret,
					  "cannot share %s with %u other encoders (%s)",
					  dev_name(sink->dev), sources.count - 1,
					  encoder->encoder.lacks);
	if (!bridge)
		sink->ramsink.src_bits = ret;
	return ret || bridge ? ntrace_path_check_source(encoder, sink) : 0;
}

/**
 * struct ntrace_route - a way from an encoder to a sink
 * @wanted: node of the sink; NULL: the sink that the ways out with the lowest numbers lead to
 * @count: number of components
 * @component: the components, from the encoder on
 */
struct ntrace_route {
	struct device_node *wanted;
	unsigned int count;
	struct ntrace_component *component[NTRACE_PATH_MAX];
};

static int ntrace_route_find(struct ntrace_route *route);

/* Return: as ntrace_route_find(). */
static int ntrace_route_try(struct ntrace_route *route, struct ntrace_component *next)
{
	struct ntrace_component *encoder = route->component[0];
	int ret;

	if (route->count == NTRACE_PATH_MAX)
		return ntrace_path_refuse(encoder, -ELOOP, "path to the sink is too long");
	if (next->type == TR_COMP_TYPE_ENCODER)
		return ntrace_path_refuse(encoder, -EBUSY,
					  "%s does not accept trace from an encoder",
					  dev_name(next->dev));
	route->component[route->count++] = next;
	ret = ntrace_route_find(route);
	if (!ret)
		route->count--;
	return ret;
}

/*
 * Continues a route to a sink. It calls itself for each component, NTRACE_PATH_MAX times at most.
 *
 * Return: 1 if the route is complete, 0 if a component is missing, or a negative error.
 */
static int ntrace_route_find(struct ntrace_route *route)
{
	const struct ntrace_component *last = route->component[route->count - 1];
	struct ntrace_component *next;
	struct device_node *node;
	u64 number = 0;
	int ret = 0;

	if (last->sink)
		return ntrace_route_try(route, last->sink);
	if (ntrace_component_is_sink(last))
		return !route->wanted || route->wanted == last->dev->of_node;
	/* Only an encoder may choose: the sinks of several harts would depend on each other. */
	if (route->count > 1 && ntrace_graph_forks(last->dev->of_node))
		return ntrace_path_refuse(route->component[0], -EOPNOTSUPP,
					  "%s has several \"out-ports\": connect one of them",
					  dev_name(last->dev));
	for (node = ntrace_graph_next_out(last->dev->of_node, 0, &number); node;
	     node = ntrace_graph_next_out(last->dev->of_node, number + 1, &number)) {
		/* If it is not probed yet, its probe tries again. */
		next = ntrace_topology_find(node);
		of_node_put(node);
		if (next)
			ret = ntrace_route_try(route, next);
		if (ret || !route->wanted)
			return ret;
	}
	return 0;
}

/* Walks from an encoder to its sink. Creates a path if no component is missing. */
static int ntrace_path_try(struct ntrace_component *encoder)
{
	struct ntrace_route route = { encoder->wanted, 1, { encoder } };
	int ret = ntrace_route_find(&route);

	if (ret <= 0)
		return ret;
	ret = ntrace_path_number(route.component, route.count) ?:
		      ntrace_path_create(route.component, route.count);
	if (!ret)
		encoder->encoder.refused = NULL;
	return ret;
}

static const struct ntrace_component *ntrace_find_sink(const char *name)
{
	const struct ntrace_component *component;

	list_for_each_entry(component, &ntrace_components, node)
		if (ntrace_component_is_sink(component) && !strcmp(dev_name(component->dev), name))
			return component;
	return NULL;
}

/* Return: false if a capture uses the path; else none begins from now on. */
static bool ntrace_path_close(struct ntrace_path *path)
{
	guard(mutex)(&path->lock);
	if (path->capture)
		return false;
	path->gone = true;
	return true;
}

/*
 * Replaces the path of an encoder by the one to the sink of this name; empty: to the default.
 *
 * Return: 0, -ENODEV if no complete way leads to such a sink, -EBUSY if a capture uses the path, or
 * an error of the new path.
 */
static int ntrace_path_choose(struct ntrace_component *encoder, const char *name)
{
	struct ntrace_route route = { .count = 1, .component = { encoder } };
	const struct ntrace_component *sink;
	struct ntrace_path *path;
	int ret;

	guard(mutex)(&ntrace_lock);
	/* It is no encoder, or waits for its hart. */
	if (encoder->type != TR_COMP_TYPE_ENCODER)
		return -ENODEV;
	path = encoder->path;
	encoder->encoder.refused = NULL;
	if (*name) {
		sink = ntrace_find_sink(name);
		route.wanted = sink ? sink->dev->of_node : NULL;
		ret = sink ? ntrace_route_find(&route) : 0;
		if (ret <= 0)
			return ret ? ret : -ENODEV;
		if (path && ntrace_path_sink(path) == sink) {
			of_node_put(encoder->wanted);
			encoder->wanted = of_node_get(sink->dev->of_node);
			return 0;
		}
	}
	if (path && !ntrace_path_close(path))
		return -EBUSY;
	if (path)
		ntrace_path_destroy(path);
	of_node_put(encoder->wanted);
	encoder->wanted = of_node_get(route.wanted);
	return ntrace_path_try(encoder);
}

static ssize_t sink_show(struct device *dev, struct device_attribute *attr, char *buffer)
{
	const struct ntrace_component *encoder = dev_get_drvdata(dev);

	guard(mutex)(&ntrace_lock);
	return sysfs_emit(buffer, "%s\n",
			  encoder->path ? dev_name(ntrace_path_sink(encoder->path)->dev) : "");
}

static ssize_t sink_store(struct device *dev, struct device_attribute *attr, const char *buffer,
			  size_t size)
{
	char *name __free(kfree) = kstrndup(buffer, size, GFP_KERNEL);
	int ret = name ? ntrace_path_choose(dev_get_drvdata(dev), strim(name)) : -ENOMEM;

	return ret ? ret : size;
}
static DEVICE_ATTR_RW(sink);

static struct attribute *ntrace_topology_attrs[] = {
	&dev_attr_sink.attr,
	NULL,
};

/* The type of an encoder that waits for its hart is not known yet. */
static umode_t ntrace_topology_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	return ntrace_graph_is_of_hart(kobj_to_dev(kobj)->of_node) ? attr->mode : 0;
}

/*
 * The attribute "sink" of an encoder's device: an encoder that has several ways out sends the same
 * messages on all of them, and the components of the path in use are enabled.
 */
const struct attribute_group ntrace_topology_group = {
	.attrs = ntrace_topology_attrs,
	.is_visible = ntrace_topology_visible,
};

/*
 * Adds a component that is initialized, and creates the paths that it completes.
 * Return: 0, or the error of the path of @component.
 */
int ntrace_topology_add(struct ntrace_component *component)
{
	struct ntrace_component *encoder;
	int ret;

	lockdep_assert_held(&ntrace_lock);
	list_add_tail(&component->node, &ntrace_components);
	list_for_each_entry(encoder, &ntrace_components, node) {
		if (encoder->type != TR_COMP_TYPE_ENCODER || encoder->path)
			continue;
		ret = ntrace_path_try(encoder);
		/* An error of another encoder does not affect this component. */
		if (ret && encoder == component) {
			list_del_init(&component->node);
			return ret;
		}
	}
	return 0;
}

static bool ntrace_path_has(const struct ntrace_path *path,
			    const struct ntrace_component *component)
{
	unsigned int i;

	for (i = 0; i < path->count; i++)
		if (path->component[i] == component)
			return true;
	return false;
}

/* Removes a component and its paths. */
void ntrace_topology_remove(struct ntrace_component *component)
{
	struct ntrace_path *path, *next;

	lockdep_assert_held(&ntrace_lock);
	list_for_each_entry_safe(path, next, &ntrace_paths, node)
		if (ntrace_path_has(path, component))
			ntrace_path_destroy(path);
	list_del(&component->node);
	of_node_put(component->wanted);
	ntrace_component_off(component);
}

/*
 * The system shuts down or starts another kernel. Devices are shut down in no useful order, so
 * each takes down all its paths, encoders first: nothing may write to memory of the next kernel.
 */
void ntrace_topology_shutdown(struct ntrace_component *component)
{
	struct ntrace_path *path;

	guard(mutex)(&ntrace_lock);
	list_for_each_entry(path, &ntrace_paths, node)
		if (ntrace_path_has(path, component))
			ntrace_path_retire(path);
	ntrace_component_off(component);
}

/*
 * The system goes to sleep. The registers may be lost. A running capture is stopped, and continues
 * after resume. The component is made inactive: harts go offline after this, and must not touch it
 * any more. So are all others on the paths to the same sink, in their order, once all these paths
 * have stopped.
 */
void ntrace_topology_suspend(struct ntrace_component *component)
{
	const struct ntrace_component *sink = NULL;
	struct ntrace_path *path;

	guard(mutex)(&ntrace_lock);
	list_for_each_entry(path, &ntrace_paths, node)
		if (ntrace_path_has(path, component))
			sink = ntrace_path_sink(path);
	list_for_each_entry(path, &ntrace_paths, node) {
		if (ntrace_path_sink(path) != sink)
			continue;
		guard(mutex)(&path->lock);
		path->stale = true;
		path->asleep = true;
		if (!path->capture)
			continue;
		path->capture->resumes |= path->capture->running;
		ntrace_capture_stop(path->capture);
	}
	list_for_each_entry(path, &ntrace_paths, node)
		if (ntrace_path_sink(path) == sink)
			ntrace_path_sleep(path);
	/* It may be on no path. */
	ntrace_component_off(component);
}

/*
 * The system is awake again, and all components have been resumed. Acts once per path, if that was
 * suspended: something else may have kept the system from falling asleep.
 */
void ntrace_topology_resume(struct ntrace_component *component)
{
	struct ntrace_path *path;

	guard(mutex)(&ntrace_lock);
	path = component->path;
	if (!path || component != ntrace_path_encoder(path))
		return;
	guard(mutex)(&path->lock);
	if (!path->asleep)
		return;
	path->asleep = false;
	if (!path->cpu_up || !path->capture)
		return;
	if (path->capture->client)
		ntrace_capture_revive(path->capture);
	else if (path->capture->resumes)
		ntrace_capture_start(path->capture);
	path->capture->resumes = false;
}

/* Gets a CPU hotplug state. Return: 0 or a negative error. */
int __init ntrace_topology_init(const struct ntrace_path_ops *ops)
{
	ntrace_path_ops = ops;
	ntrace_hotplug_state = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "ntrace:online",
						       ntrace_hart_online, ntrace_hart_offline);
	return min(ntrace_hotplug_state, 0);
}

/** ntrace_topology_exit - undo ntrace_topology_init() */
void ntrace_topology_exit(void)
{
	cpuhp_remove_multi_state(ntrace_hotplug_state);
}
