// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: ntrace/components has a line for each component, ntrace/paths one for each path.
 * Neither shows addresses of trace memory, only positions in it.
 */
#include <linux/bitfield.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "path.h"

static struct dentry *ntrace_debugfs;

static void ntrace_debug_encoder(struct seq_file *file, const struct ntrace_component *component)
{
	const struct ntrace_encoder *encoder = &component->encoder;

	seq_printf(file, " cpu=%u hartid=%llu modes=%#x sync_modes=%#x sync_max=%u features=%#x",
		   component->cpu, encoder->hartid, encoder->modes, encoder->sync_modes,
		   encoder->sync_max, encoder->features);
	seq_printf(file, " privilege=%#x ranges=%u traps=%#x src=%u src_bits=%u timestamps=%#x",
		   encoder->privilege, encoder->ranges, encoder->traps, encoder->src,
		   encoder->src_bits, component->timestamp.offered);
	if (encoder->atid)
		seq_printf(file, " atid=%u", encoder->atid);
}

static void ntrace_debug_ramsink(struct seq_file *file, const struct ntrace_component *component,
				 bool active)
{
	const struct ntrace_ramsink *sink = &component->ramsink;
	u32 position;

	seq_printf(file, " granule=%u", sink->least);
	if (sink->reach > sink->least)
		seq_printf(file, "..%u", sink->reach);
	if (!sink->ring)
		return;
	/* The width is what the driver has learnt since it was loaded. */
	seq_printf(file, " width=%u ring=%u drained=%u%s", READ_ONCE(sink->granule),
		   READ_ONCE(sink->ring_size), READ_ONCE(sink->drained),
		   READ_ONCE(sink->fault) ? " fault" : "");
	if (!active || !component->programmed)
		return;
	if (ntrace_ramsink_position(component, &position))
		seq_printf(file, " written=%u", position);
	else
		seq_puts(file, " written=outside");
	if (READ_ONCE(sink->wrapped))
		seq_puts(file, " wrapped");
}

static void ntrace_debug_portsink(struct seq_file *file, const struct ntrace_component *component)
{
	const struct ntrace_portsink *port = &component->port;

	if (component->type == TR_COMP_TYPE_ATB_BRIDGE)
		seq_printf(file, " atb_id=%#x", port->id);
	else if (component->type == TR_COMP_TYPE_PIB_SINK)
		seq_printf(file, " pib_modes=%#x pib_mode=%#x pib_divider=%u%s%s", port->modes,
			   port->mode, port->divider, port->center ? " centered" : "",
			   port->calibrate ? " calibrates" : "");
}

/*
 * May the control register be read? Nothing may be read of the encoder of an offline CPU. A bridge
 * that belongs to a hart is inactive while that is offline.
 */
static bool ntrace_debug_is_reachable(const struct ntrace_component *component)
{
	if (component->type == TR_COMP_TYPE_ENCODER)
		return component->path && component->path->cpu_up;
	return !component->of_hart || !component->inactive;
}

/* Only the control register may be read of a component that may be inactive. */
static void ntrace_debug_component(struct seq_file *file, const struct ntrace_component *component)
{
	bool reachable = ntrace_debug_is_reachable(component);
	u32 control = reachable ? ntrace_read(component, component->layout->control) : 0;
	u32 major = FIELD_GET(TR_IMPL_VER_MAJOR_MASK, component->impl);

	seq_printf(file, "%s %s %pa impl=%#x", dev_name(component->dev),
		   ntrace_type_name(component->type), &component->start, component->impl);
	if (!component->layout->is_running)
		seq_printf(file, " version=%u.%u", major,
			   major ? FIELD_GET(TR_IMPL_VER_MINOR_MASK, component->impl) : 0);
	if (!reachable)
		seq_puts(file, " unreachable");
	else if (component->layout->is_running)
		seq_printf(file, " control=%#x%s", control,
			   component->layout->is_running(component) ? " enabled" : "");
	else
		seq_printf(file, " control=%#x%s%s%s%s", control,
			   control & TR_CONTROL_ACTIVE ? " active" : "",
			   control & TR_CONTROL_ENABLE ? " enabled" : "",
			   control & TR_CONTROL_EMPTY ? " empty" : "",
			   control & component->foreign ? " debugger" : "");
	seq_printf(file, " held=%u users=%u", component->held, component->users);
	if (component->type == TR_COMP_TYPE_ENCODER)
		ntrace_debug_encoder(file, component);
	if (component->sink)
		ntrace_debug_ramsink(file, component->sink, control & TR_CONTROL_ACTIVE);
	if (component->merges && !component->layout->is_running)
		seq_printf(file, " timestamps=%#x source=%u", component->timestamp.modes,
			   component->timestamp.source);
	if (ntrace_component_has_memory(component))
		ntrace_debug_ramsink(file, component, control & TR_CONTROL_ACTIVE);
	else if (component->type != TR_COMP_TYPE_ENCODER)
		ntrace_debug_portsink(file, component);
	seq_putc(file, '\n');
}

static int ntrace_debug_one(struct seq_file *file, struct ntrace_component *component)
{
	struct ntrace_component *sink = component->sink;
	int ret = ntrace_power_get(component);

	if (ret)
		return ret;
	if (ntrace_component_is_sink(component))
		sink = component;
	/* Harts stay online or offline: that of an encoder, or of its bridge. */
	cpus_read_lock();
	if (sink)
		mutex_lock(&sink->ramsink.mutex);
	ntrace_debug_component(file, component);
	if (sink)
		mutex_unlock(&sink->ramsink.mutex);
	cpus_read_unlock();
	ntrace_power_put(component);
	return 0;
}

static int components_show(struct seq_file *file, void *data)
{
	struct ntrace_component *component;
	int ret;

	guard(mutex)(&ntrace_lock);
	list_for_each_entry(component, &ntrace_components, node) {
		ret = ntrace_debug_one(file, component);
		if (ret)
			return ret;
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(components);

static void ntrace_debug_path(struct seq_file *file, struct ntrace_path *path)
{
	static const char *const states[] = { "configured", "running", "stopped", "dead" };
	struct ntrace_capture *capture;
	unsigned int i;

	guard(mutex)(&path->lock);
	seq_printf(file, "cpu%u", path->cpu);
	for (i = 0; i < path->count; i++)
		seq_printf(file, "%s%s", i ? " -> " : " ", dev_name(path->component[i]->dev));
	seq_printf(file, " online=%d%s", path->cpu_up, path->stale ? " stale" : "");
	capture = path->capture;
	if (capture)
		seq_printf(file, " owner=%s state=%s head=%llu lost=%llu loss=%#x gaps=%u",
			   capture->client ? "perf" : "file",
			   states[READ_ONCE(capture->feed.control->state) & 3], capture->feed.head,
			   capture->feed.lost, capture->feed.loss, capture->feed.gaps);
	seq_putc(file, '\n');
}

static int paths_show(struct seq_file *file, void *data)
{
	struct ntrace_path *path;

	guard(mutex)(&ntrace_lock);
	list_for_each_entry(path, &ntrace_paths, node)
		ntrace_debug_path(file, path);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(paths);

/** ntrace_debug_init - create the files; without debugfs there are none */
void __init ntrace_debug_init(void)
{
	ntrace_debugfs = debugfs_create_dir("ntrace", NULL);
	debugfs_create_file("components", 0400, ntrace_debugfs, NULL, &components_fops);
	debugfs_create_file("paths", 0400, ntrace_debugfs, NULL, &paths_fops);
}

/** ntrace_debug_exit - undo ntrace_debug_init() */
void ntrace_debug_exit(void)
{
	debugfs_remove(ntrace_debugfs);
}
