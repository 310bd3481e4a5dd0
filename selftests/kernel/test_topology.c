// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is stopped before a component that was found running: the components that send to it, as
 * far as their registers may be accessed.
 */
#include <tap.h>

#include <linux/cpumask.h>

#define cpu_online(cpu) ((cpu) != 1)
#define put_device(dev) ((void)(dev))
#define wake_up_all(queue) ((void)(queue))
#define pr_info(...) ((void)0)
#define order_base_2(n) ((n) > 2 ? 2U : 1U)

#include "../../kernel/ntrace/topology.c"
#include "host/machine.h"

int host_allocations = -1;
unsigned int host_cpu;
int host_cpus_read;

/*
 * A node of the device tree. Its ports are the node itself.
 *
 * @cpu: node of the hart; NULL: not an encoder
 * @inputs: endpoints of in-ports
 * @remote: of an endpoint: the component at the other end
 */
struct device_node {
	const char *name;
	struct device_node *cpu;
	struct device_node *inputs;
	unsigned int count;
	struct device_node *remote;
	bool disabled;
};

static struct device_node cpus[3];
static char stopped[64];

struct device_node *of_parse_phandle(const struct device_node *node, const char *name, int index)
{
	return strcmp(name, "cpus") ? NULL : node->cpu;
}

void of_node_put(struct device_node *node)
{
}

struct device_node *of_get_child_by_name(const struct device_node *node, const char *name)
{
	return strcmp(name, "in-ports") ? NULL : (struct device_node *)node;
}

bool of_device_is_available(const struct device_node *node)
{
	return !node->disabled;
}

bool of_property_present(const struct device_node *node, const char *name)
{
	return node->cpu;
}

/* Linux does not use the last hart. */
int of_cpu_node_to_id(struct device_node *node)
{
	return node - cpus < 2 ? (int)(node - cpus) : -ENODEV;
}

struct device_node *of_graph_get_next_endpoint(const struct device_node *ports,
					       struct device_node *before)
{
	struct device_node *next = before ? before + 1 : ports->inputs;

	return next == ports->inputs + ports->count ? NULL : next;
}

struct device_node *of_graph_get_remote_port_parent(const struct device_node *endpoint)
{
	return endpoint->remote;
}

void *of_iomap(struct device_node *node, int index)
{
	return node;
}

int ntrace_registers_quiesce(void *base)
{
	const struct device_node *node = base;

	snprintf(stopped + strlen(stopped), sizeof(stopped) - strlen(stopped), "%s%s",
		 stopped[0] ? " " : "", node->name);
	return 1;
}

/* ---- what topology.c calls beside that ---- */

int ntrace_capture_revive(struct ntrace_capture *capture)
{
	return 0;
}

int ntrace_capture_stop(struct ntrace_capture *capture)
{
	return 0;
}

void ntrace_capture_detach(struct ntrace_path *path)
{
}

int ntrace_component_off(struct ntrace_component *component)
{
	return 0;
}

int ntrace_encoder_set_source(struct ntrace_component *component, u32 src, u32 src_bits)
{
	return 0;
}

void ntrace_path_leave_hart(struct ntrace_path *path)
{
}

void ntrace_timestamp_connect(struct ntrace_component *const *component, unsigned int count)
{
}

/* ---- */

static struct device_node encoders[3], funnel, sink, to_funnel[3], to_sink[1];

static void tree(void)
{
	static const char *const names[] = { "encoder0", "encoder1", "encoder2" };

	for (int i = 0; i < 3; i++) {
		encoders[i] = (struct device_node){ .name = names[i], .cpu = &cpus[0] };
		to_funnel[i] = (struct device_node){ .remote = &encoders[i] };
	}
	funnel = (struct device_node){ .name = "funnel", .inputs = to_funnel, .count = 3 };
	to_sink[0] = (struct device_node){ .remote = &funnel };
	sink = (struct device_node){ .name = "sink", .inputs = to_sink, .count = 1 };
	stopped[0] = '\0';
}

static void stops(const char *expected, const char *what)
{
	struct device dev = { .of_node = &sink };
	struct ntrace_component component = { .dev = &dev };

	mutex_lock(&ntrace_lock);
	ntrace_topology_quiesce_upstream(&component);
	mutex_unlock(&ntrace_lock);
	is_str(stopped, expected, "%s", what);
}

int main(void)
{
	tree();
	stops("encoder0 encoder1 encoder2 funnel", "all that sends to the sink, the farthest first");
	tree();
	encoders[1].cpu = &cpus[1];
	stops("encoder0 encoder2 funnel", "not the encoder of a hart that is offline");
	tree();
	encoders[2].cpu = &cpus[2];
	stops("encoder0 encoder1 funnel", "nor that of a hart that Linux does not use");
	tree();
	encoders[0].disabled = true;
	stops("encoder1 encoder2 funnel", "nor a disabled one");
	tree();
	funnel.disabled = true;
	stops("", "nor what is before a disabled funnel");
	return done_testing();
}
