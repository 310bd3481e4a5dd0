// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices that the driver makes of Arm's components: which, once each, and their removal. Rules:
 * the comment of adopt.c, and the device tree bindings of CoreSight.
 */
#include <stdlib.h>
#include <tap.h>

/* Without CONFIG_ARM_AMBA. */
#define IS_ENABLED(option) 0
#define of_match_node(table, node) match_of(node)

struct device_node;
static const struct of_device_id *match_of(const struct device_node *node);

#include "../../kernel/ntrace/graph.c"
#include "../../kernel/ntrace/adopt.c"

int host_allocations = -1;

bool of_property_present(const struct device_node *node, const char *name)
{
	return false;
}

/*
 * A component, whose ports are the node itself. @out: what it sends to; @primecell: it is on the AMBA
 * bus; @known: the driver supports it; @made: its device
 */
struct device_node {
	struct device_node *out[2];
	bool primecell, known, disabled;
	struct platform_device *made;
};

static unsigned int devices, refused;
static const struct device *parent;

static const struct of_device_id *match_of(const struct device_node *node)
{
	static const struct of_device_id id;

	return node->known ? &id : NULL;
}

bool of_device_is_compatible(const struct device_node *node, const char *name)
{
	return node->primecell && !strcmp(name, "arm,primecell");
}

void of_node_put(struct device_node *node)
{
}

struct device_node *of_get_child_by_name(const struct device_node *node, const char *name)
{
	return strcmp(name, "out-ports") ? NULL : (struct device_node *)node;
}

/* An endpoint is the member of @out. */
struct device_node *of_graph_get_next_endpoint(const struct device_node *ports,
					       struct device_node *before)
{
	struct device_node *const *next = before ? (struct device_node *const *)before + 1 :
						   ports->out;

	return next < ports->out + ARRAY_SIZE(ports->out) && *next ? (struct device_node *)next :
								     NULL;
}

struct device_node *of_graph_get_remote_port_parent(const struct device_node *endpoint)
{
	return *(struct device_node *const *)endpoint;
}

/* Not called here. */
int of_graph_parse_endpoint(const struct device_node *node, struct of_endpoint *endpoint)
{
	return -EINVAL;
}

bool of_device_is_available(const struct device_node *node)
{
	return !node->disabled;
}

struct device_node *of_parse_phandle(const struct device_node *node, const char *name, int index)
{
	return NULL;
}

int of_cpu_node_to_id(struct device_node *node)
{
	return -ENODEV;
}

/* As the kernel: no device of a disabled node, and no second one. The driver's probe adopts in turn. */
struct platform_device *of_platform_device_create(struct device_node *node, const char *name,
						  struct device *of)
{
	if (node->disabled || node->made) {
		refused++;
		return NULL;
	}
	parent = of;
	node->made = calloc(1, sizeof(*node->made));
	if (!node->made)
		abort();
	node->made->dev.of_node = node;
	node->made->dev.parent = of;
	devices++;
	ntrace_adopt(&node->made->dev);
	return node->made;
}

int of_platform_device_destroy(struct device *dev, void *data)
{
	struct device_node *node = dev->of_node;

	devices--;
	free(node->made);
	node->made = NULL;
	return 0;
}

int main(void)
{
	struct device bus = { 0 };
	struct device_node etr = { .primecell = true, .known = true };
	struct device_node etf = { .out = { &etr }, .primecell = true, .known = true };
	struct device_node tpiu = { .primecell = true };
	struct device_node funnel = { .out = { &etf, &tpiu }, .primecell = true, .known = true };
	struct device_node bridge = { .out = { &funnel }, .known = true };
	struct device_node encoder = { .out = { &bridge }, .known = true };
	struct device dev = { .of_node = &encoder, .parent = &bus };

	ntrace_adopt(&dev);
	is_u64(devices, 0, "a component of RISC-V has a device of its own");
	dev.of_node = &bridge;
	ntrace_adopt(&dev);
	ok(funnel.made && etf.made && etr.made && devices == 3,
	   "the components of Arm that a bridge leads to, however far away");
	ok(!tpiu.made && !refused, "none that the driver does not support");
	ok(parent == &bus, "on the bus of the bridge");
	ntrace_adopt(&dev);
	ok(devices == 3 && refused == 1, "a second bridge: no second device");
	ntrace_adopt_exit();
	ok(!devices && !funnel.made && !etf.made && !etr.made, "the end: all are gone");
	ntrace_adopt(&dev);
	is_u64(devices, 3, "they can be made again");
	ntrace_adopt_exit();
	is_u64(devices, 0, "and are gone again");

	funnel.disabled = true;
	ntrace_adopt(&dev);
	ok(!devices && refused == 2, "a disabled component has no device");
	funnel.disabled = false;
	host_allocations = 0;
	ntrace_adopt(&dev);
	host_allocations = -1;
	is_u64(devices, 0, "without memory none is made, and none is lost");
	ntrace_adopt(&dev);
	is_u64(devices, 3, "later they are");
	ntrace_adopt_exit();
	return done_testing();
}
