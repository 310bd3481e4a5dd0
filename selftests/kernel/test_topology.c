// SPDX-License-Identifier: GPL-2.0-only
/*
 * If a component was found running, the driver first stops the components that send to it, as far
 * as it may access their registers. While any is probed, the funnels before it are active. In
 * addition, the order in which components are suspended.
 */
#include <tap.h>

#include <linux/cpumask.h>

#define cpu_online(cpu) ((cpu) != 1)
#define put_device(device) free(container_of(device, struct ntrace_path, dev))
#define wake_up_all(queue) ((void)(queue))
#define pr_info(...) ((void)0)
#define order_base_2(n) ((n) > 2 ? 2U : 1U)
#define of_match_node(table, node) match_of(node)
/* Only the walks of the probe run here, not the probe itself. */
#define DECLARE_WORK(name, function) struct work_struct name = { .call = (function) }
#define schedule_work(work) (work)->call(work)
#define cancel_work_sync(work) ((void)(work))
#define cpu_latency_qos_add_request(request, value) (kept_awake = (request))
#define cpu_latency_qos_remove_request(request) (kept_awake = NULL)
#define cpuhp_setup_state_nocalls(...) ntrace_probe_online(0)
#define cpuhp_remove_state_nocalls(state) ((void)(state))

struct device_node;
static const struct of_device_id *match_of(const struct device_node *node);

struct pm_qos_request {
	int value;
};

/* The request that keeps harts out of idle states, and whether there was one during a probe */
static const struct pm_qos_request *kept_awake;
static bool probed_awake;

#include "../../kernel/ntrace/graph.c"
#include "../../kernel/ntrace/topology.c"
#include "../../kernel/ntrace/probe.c"
#include "host/machine.h"

int host_allocations = -1;
unsigned int host_cpu;
int host_cpus_read;

/*
 * A node of the device tree. Its ports are the node itself.
 *
 * @cpu: node of the hart; NULL: not an encoder
 * @inputs: endpoints of in-ports
 * @outputs: endpoints of out-ports
 * @remote: for an endpoint: the component at the other end
 * @port: for an endpoint: the number of its port
 * @owned: a debugger owns the encoder
 */
struct device_node {
	const char *name;
	struct device_node *cpu;
	struct device_node *inputs, *outputs;
	unsigned int count, outs;
	struct device_node *remote;
	unsigned int port;
	bool disabled;
	bool v0, owned, clocks;
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

struct device_node *of_node_get(struct device_node *node)
{
	return node;
}

static const struct of_device_id *match_of(const struct device_node *node)
{
	static const struct ntrace_layout v0, v1 = { .foreign = TR_TE_CONTROL_DIS_SELF_HOSTED };
	static const struct of_device_id ids[] = { { .data = &v1 }, { .data = &v0 } };

	return &ids[node->v0];
}

/* The ports that were asked for last. */
static bool outwards;

struct device_node *of_get_child_by_name(const struct device_node *node, const char *name)
{
	outwards = !strcmp(name, "out-ports");
	return (struct device_node *)node;
}

bool of_device_is_available(const struct device_node *node)
{
	return !node->disabled;
}

bool of_property_present(const struct device_node *node, const char *name)
{
	return strcmp(name, "cpus") ? node->clocks && !strcmp(name, "clocks") : !!node->cpu;
}

/* Linux does not use the last hart. */
int of_cpu_node_to_id(struct device_node *node)
{
	return node - cpus < 2 ? (int)(node - cpus) : -ENODEV;
}

struct device_node *of_graph_get_next_endpoint(const struct device_node *ports,
					       struct device_node *before)
{
	struct device_node *first = outwards ? ports->outputs : ports->inputs;
	struct device_node *next = before ? before + 1 : first;

	return next == first + (outwards ? ports->outs : ports->count) ? NULL : next;
}

int of_graph_parse_endpoint(const struct device_node *node, struct of_endpoint *endpoint)
{
	*endpoint = (struct of_endpoint){ .port = node->port };
	return 0;
}

struct device_node *of_graph_get_remote_port_parent(const struct device_node *endpoint)
{
	return endpoint->remote;
}

void *of_iomap(struct device_node *node, int index)
{
	return node;
}

/* trTeControl of an encoder: the node is its page. */
u32 readl(const void *address)
{
	const struct device_node *node = address;

	return node->owned ? TR_TE_CONTROL_DIS_SELF_HOSTED : 0;
}

int ntrace_component_init(struct ntrace_component *component)
{
	probed_awake = kept_awake;
	return 0;
}

bool ntrace_component_is_running(const struct ntrace_component *component)
{
	return false;
}

int ntrace_registers_quiesce(struct ntrace_component *component)
{
	const struct device_node *node = component->base;

	snprintf(stopped + strlen(stopped), sizeof(stopped) - strlen(stopped), "%s%s",
		 stopped[0] ? " " : "", node->name);
	return 1;
}

/* ---- other functions that topology.c calls ---- */

/* Every component has power. */
int ntrace_power_get(struct ntrace_component *component)
{
	return 0;
}

void ntrace_power_put(struct ntrace_component *component)
{
}

static unsigned int revived, left, switched_off;

int ntrace_capture_revive(struct ntrace_capture *capture)
{
	revived++;
	return 0;
}

int ntrace_capture_stop(struct ntrace_capture *capture)
{
	capture->running = false;
	return 0;
}

static unsigned int started;

int ntrace_capture_start(struct ntrace_capture *capture)
{
	started++;
	return 0;
}

void ntrace_capture_detach(struct ntrace_path *path)
{
}

/* Note what is switched off. */
static bool noted;

static void note(const char *what, const char *name)
{
	snprintf(stopped + strlen(stopped), sizeof(stopped) - strlen(stopped), "%s%s%s",
		 stopped[0] ? " " : "", what, name);
}

int ntrace_component_off(struct ntrace_component *component)
{
	switched_off++;
	if (noted)
		note("-", component->dev->of_node->name);
	return 0;
}

int ntrace_component_activate(struct ntrace_component *component)
{
	const struct device_node *node = component->dev ? component->dev->of_node : component->base;

	note("+", node->name);
	return 0;
}

static u32 wired_bits;

static u32 width_asked;

int ntrace_encoder_set_source(struct ntrace_component *component, u32 src, u32 least, u32 width)
{
	if (wired_bits && least)
		least = wired_bits;
	else
		component->encoder.src = src;
	width_asked = width;
	component->encoder.shared = least;
	component->encoder.src_bits = least;
	return (int)least;
}

void ntrace_path_leave_hart(struct ntrace_path *path)
{
	left++;
}

static char slept[64];

void ntrace_path_sleep(struct ntrace_path *path)
{
	snprintf(slept + strlen(slept), sizeof(slept) - strlen(slept), " %u", path->cpu);
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

static int stop(void)
{
	struct device dev = { .of_node = &sink };
	struct ntrace_component component = { .dev = &dev };
	int ret;

	mutex_lock(&ntrace_lock);
	ret = ntrace_upstream_stop(&component);
	mutex_unlock(&ntrace_lock);
	return ret;
}

static void stops(const char *expected, const char *what)
{
	is_u64((u64)stop(), 0, "%s", what);
	is_str(stopped, expected, "%s", what);
}

/* Two funnels before the sink, one of them bound; encoders are left alone. */
static void test_wake(void)
{
	struct device dev = { .of_node = &sink }, funnel_dev = { .of_node = &funnel };
	struct ntrace_component component = { .dev = &dev };
	struct device_node second = { .name = "second" }, to_second = { .remote = &encoders[2] };
	struct device_node inputs[2] = { { .remote = &funnel }, { .remote = &second } };
	struct ntrace_layout layout = { 0 };
	struct ntrace_component bound = { .dev = &funnel_dev, .layout = &layout };

	tree();
	second.inputs = &to_second;
	second.count = 1;
	sink.inputs = inputs;
	sink.count = 2;
	noted = true;
	list_add_tail(&bound.node, &ntrace_components);
	mutex_lock(&ntrace_lock);
	is_u64((u64)ntrace_upstream_wake(&component), 0, "a sink is probed");
	is_str(stopped, "+funnel +second", "the funnels before it become active");
	ntrace_upstream_rest(&component);
	is_str(stopped, "+funnel +second -funnel", "then that which is bound is switched off");
	stopped[0] = '\0';
	bound.held = 1;
	ntrace_upstream_wake(&component);
	ntrace_upstream_rest(&component);
	is_str(stopped, "+second", "one in use stays as it is");
	bound.held = 0;
	funnel.inputs = to_sink;
	to_sink[0].remote = &funnel;
	funnel.count = 1;
	is_u64((u64)ntrace_upstream_wake(&component), (u64)-ELOOP, "a loop");
	ntrace_upstream_rest(&component);
	ok(!bound.woken, "is undone as well");
	mutex_unlock(&ntrace_lock);
	list_del(&bound.node);
	noted = false;
	switched_off = 0;
}

static void no_remove(struct ntrace_path *path)
{
}

static int no_add(struct ntrace_path *path)
{
	return 0;
}

static const struct ntrace_path_ops no_ops = { no_add, no_remove };

static unsigned int lost;

static void lose(struct ntrace_path *path)
{
	lost++;
	path->capture = NULL;
}

static const struct ntrace_client client = { .lose = lose };

/* Who has which right, in which session, on a sink that two harts share. */
static void test_evict(void)
{
	struct pid *user = (struct pid *)&client, *root = (struct pid *)&lost;
	struct device devs[3] = { 0 };
	struct ntrace_component encoder[2] = { 0 }, ram = { .dev = &devs[2] };
	struct ntrace_capture capture[2];
	struct ntrace_component *way[] = { NULL, &ram };
	const struct {
		const char *what;
		bool dealt;
		unsigned int privileged;
		struct pid *of, *by;
		unsigned int lost;
	} cases[] = {
		{ "a file, events of a user", true, 0, user, NULL, 2 },
		{ "a file, an event of root among them", true, 1, user, NULL, 1 },
		{ "root's event on a sink that is shared out", true, 0, user, root, 2 },
		{ "on one that events use in turn", false, 0, user, root, 0 },
		{ "the same process", true, 0, root, root, 0 },
	};

	for (int i = 0; i < 2; i++) {
		encoder[i].dev = &devs[i];
		way[0] = &encoder[i];
		ntrace_path_create(way, 2);
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int n = 0; n < 2; n++) {
			capture[n] = (struct ntrace_capture){ .client = &client,
							      .session = cases[i].of };
			encoder[n].path->capture = &capture[n];
		}
		capture[1].privileged = cases[i].privileged;
		ram.ramsink.dealt = cases[i].dealt;
		lost = 0;
		mutex_lock(&ntrace_lock);
		ntrace_topology_evict(encoder[0].path, cases[i].by);
		mutex_unlock(&ntrace_lock);
		is_u64(lost, cases[i].lost, "%s: they lose the path", cases[i].what);
	}
	for (int i = 0; i < 2; i++) {
		encoder[i].path->capture = NULL;
		ntrace_path_destroy(encoder[i].path);
	}
}

/* Harts go offline after devices sleep, and come online before those wake up. */
static void test_sleep(void)
{
	struct device devs[2] = { 0 };
	struct ntrace_component encoder = { .dev = &devs[0] }, ram = { .dev = &devs[1] };
	struct ntrace_component *components[] = { &encoder, &ram };
	struct ntrace_capture capture = { .client = &client };
	struct ntrace_path *path;

	ntrace_path_create(components, 2);
	path = encoder.path;
	path->capture = &capture;
	ntrace_hart_online(0, &path->hotplug);
	is_u64(revived, 0, "a hart is online");
	slept[0] = '\0';
	ntrace_topology_suspend(&encoder);
	is_str(slept, " 0", "sleep: the first component takes its path with it");
	ntrace_topology_suspend(&ram);
	is_u64(switched_off, 2, "sleep: each component is switched off");
	ntrace_hart_offline(0, &path->hotplug);
	is_u64(left, 1, "its hart goes offline");
	ntrace_hart_online(0, &path->hotplug);
	is_u64(revived, 0, "and comes back: the components are still asleep");
	ntrace_topology_resume(&ram);
	is_u64(revived, 0, "the sink wakes up");
	ntrace_topology_resume(&encoder);
	is_u64(revived, 1, "the encoder does: the path is programmed");
	ntrace_hart_offline(0, &path->hotplug);
	ntrace_hart_online(0, &path->hotplug);
	is_u64(revived, 2, "the hart alone goes and comes back: again");
	ntrace_topology_resume(&encoder);
	is_u64(revived, 2, "a sleep that ended before this device fell asleep: nothing is lost");
	capture.client = NULL;
	for (int running = 0; running < 2; running++) {
		capture.running = running;
		ntrace_topology_suspend(&encoder);
		ntrace_topology_suspend(&ram);
		ntrace_topology_resume(&ram);
		ntrace_topology_resume(&encoder);
		is_u64(started, (u64)running, "a file that was %s: it %s",
		       running ? "traced" : "not", running ? "is started again" : "is not started");
	}
	ntrace_path_destroy(path);
}

/* Encoders that share a sink have SRC fields of one width, and different numbers. */
static void test_sources(void)
{
	struct device devs[3] = { 0 };
	struct ntrace_component one = { 0 }, two = { 0 }, ram = { 0 };
	struct ntrace_component *components[] = { &one, &ram };
	struct ntrace_component *others[] = { &two, &ram };

	tree();
	devs[0].of_node = &encoders[0];
	devs[1].of_node = &encoders[1];
	devs[2].of_node = &sink;
	one.dev = &devs[0];
	two.dev = &devs[1];
	ram.dev = &devs[2];
	ok(!ntrace_path_number(components, 2) && ram.ramsink.src_bits == 2 && one.encoder.src == 0,
	   "three encoders: two bits, the first is 0");
	ok(!ntrace_path_number(others, 2) && two.encoder.src == 1, "the second is 1");
	wired_bits = 3;
	one.encoder.src = 5;
	two.encoder.src = 6;
	ok(!ntrace_path_number(components, 2) && ram.ramsink.src_bits == 3,
	   "wired numbers: the wired width");
	ntrace_path_create(components, 2);
	is_u64((u64)ntrace_path_number(others, 2), 0, "another wired number");
	two.encoder.src = 5;
	machine_logged = 0;
	is_u64((u64)ntrace_path_number(others, 2), (u64)-EOPNOTSUPP, "the same one is refused");
	ok(machine_logged == 1, "and the log says so");
	ntrace_path_destroy(one.path);
	wired_bits = 0;
}

/* A funnel may lose its registers while all harts that send to it sleep. */
static void test_awake(void)
{
	struct device_node node = { .name = "funnel" };
	struct device dev = { .of_node = &node };
	struct ntrace_component component = { .dev = &dev };

	is_u64((u64)ntrace_probe_now(&component), 0, "a component is probed");
	ok(probed_awake && !kept_awake, "harts do not sleep meanwhile");
}

static void add(struct ntrace_component *component)
{
	guard(mutex)(&ntrace_lock);
	ntrace_topology_add(component);
}

static void take_away(struct ntrace_component *component)
{
	guard(mutex)(&ntrace_lock);
	ntrace_topology_remove(component);
}

/*
 * An encoder with two ways out, to a funnel and to a sink of its own; in the device tree, that with
 * the higher number comes first.
 */
static void test_choice(void)
{
	static const char *const names[] = { "encoder", "funnel", "far sink", "near sink" };
	struct device_node nodes[4] = { 0 }, ways[2] = { 0 }, on = { 0 }, forks[2] = { 0 };
	struct device devs[4] = { 0 };
	struct ntrace_component parts[4] = { 0 };
	static const u32 types[] = { TR_COMP_TYPE_ENCODER, TR_COMP_TYPE_FUNNEL,
				     TR_COMP_TYPE_RAM_SINK, TR_COMP_TYPE_RAM_SINK };
	struct ntrace_component *encoder = &parts[0];
	char shown[16];

	for (int i = 0; i < 4; i++) {
		nodes[i].name = names[i];
		devs[i].of_node = &nodes[i];
		devs[i].init_name = names[i];
		parts[i].dev = &devs[i];
		parts[i].type = types[i];
	}
	ways[0] = (struct device_node){ .remote = &nodes[3], .port = 1 };
	ways[1] = (struct device_node){ .remote = &nodes[1], .port = 0 };
	on.remote = &nodes[2];
	forks[0] = (struct device_node){ .remote = &nodes[2], .port = 0 };
	forks[1] = (struct device_node){ .remote = &nodes[3], .port = 1 };
	nodes[0].outputs = ways;
	nodes[0].outs = 2;
	nodes[1].outputs = &on;
	nodes[1].outs = 1;

	add(&parts[3]);
	add(encoder);
	ok(!encoder->path, "the first way is not bound: no path by the second one");
	add(&parts[1]);
	add(&parts[2]);
	ok(encoder->path && encoder->path->count == 3 &&
		   ntrace_path_sink(encoder->path) == &parts[2],
	   "it is bound: the path goes there");
	devs[0].driver_data = encoder;
	is_u64((u64)sink_store(&devs[0], NULL, "funnel", 6), (u64)-ENODEV,
	       "a funnel cannot be chosen");
	encoder->path->capture = &(struct ntrace_capture){ 0 };
	is_u64((u64)sink_store(&devs[0], NULL, "near sink", 9), (u64)-EBUSY,
	       "no other sink while a capture is configured");
	ok(!encoder->path->gone, "which goes on");
	encoder->path->capture = NULL;
	is_u64((u64)sink_store(&devs[0], NULL, "near sink", 9), 9, "another sink");
	ok(encoder->path && encoder->path->count == 2 &&
		   ntrace_path_sink(encoder->path) == &parts[3],
	   "the path goes there");
	take_away(&parts[3]);
	ok(!encoder->path, "it is unbound: no path");
	add(&parts[3]);
	ok(encoder->path && ntrace_path_sink(encoder->path) == &parts[3], "bound again: the same");
	is_u64((u64)sink_store(&devs[0], NULL, "", 0), 0, "the default");
	is_u64((u64)sink_show(&devs[0], NULL, shown), 9, "the attribute has a line");
	is_str(shown, "far sink\n", "with the name of the sink");
	ok(encoder->path && ntrace_path_sink(encoder->path) == &parts[2], "is the first way");
	take_away(encoder);
	nodes[1].disabled = true;
	encoder->wanted = NULL;
	add(encoder);
	ok(encoder->path && ntrace_path_sink(encoder->path) == &parts[3],
	   "a disabled component is no way");
	take_away(encoder);
	nodes[1].disabled = false;
	nodes[1].outputs = forks;
	nodes[1].outs = 2;
	machine_logged = 0;
	for (int i = 0; i < 2; i++) {
		guard(mutex)(&ntrace_lock);
		is_u64((u64)ntrace_topology_add(encoder), (u64)-EOPNOTSUPP,
		       "a funnel with two ways out: refused");
	}
	ok(machine_logged == 1 && strstr(machine_log, "funnel has several \"out-ports\""),
	   "the log says so, once");
	for (int i = 1; i < 4; i++)
		take_away(&parts[i]);
}

/* Two harts with a bridge each, and a funnel before a bridge for two more. */
static void test_bridges(void)
{
	static struct device_node harts[4], bridges[3], merger, etr;
	static struct device_node from[4], to_merger[2], to_etr[3];
	struct device devs[9] = { 0 };
	struct ntrace_component encoder[4] = { 0 }, bridge[3] = { 0 }, ram = { 0 };
	struct ntrace_component funnel_before = { .merges = true, .type = TR_COMP_TYPE_FUNNEL };
	struct ntrace_component *components[4] = { 0 };
	int ret[4];

	for (int i = 0; i < 4; i++) {
		harts[i] = (struct device_node){ .name = "encoder", .cpu = &cpus[0] };
		from[i] = (struct device_node){ .remote = &harts[i] };
		encoder[i].dev = &devs[i];
		devs[i].of_node = &harts[i];
	}
	to_merger[0] = from[1];
	to_merger[1] = from[2];
	merger = (struct device_node){ .name = "merger", .inputs = to_merger, .count = 2 };
	/* The bridges of one hart belong to that hart. */
	static struct device_node merged;

	merged = (struct device_node){ .remote = &merger };
	bridges[0] = (struct device_node){ .inputs = &from[0], .count = 1, .cpu = &cpus[0] };
	bridges[1] = (struct device_node){ .inputs = &merged, .count = 1 };
	bridges[2] = (struct device_node){ .inputs = &from[3], .count = 1, .cpu = &cpus[0] };
	for (int i = 0; i < 3; i++) {
		to_etr[i] = (struct device_node){ .remote = &bridges[i] };
		bridge[i].type = TR_COMP_TYPE_ATB_BRIDGE;
		bridge[i].is_link = true;
		bridge[i].port.id_bits = 0x7f;
		bridge[i].dev = &devs[4 + i];
		devs[4 + i].of_node = &bridges[i];
	}
	etr = (struct device_node){ .name = "etr", .inputs = to_etr, .count = 3 };
	funnel_before.dev = &devs[7];
	devs[7].of_node = &merger;
	ram.type = TR_COMP_TYPE_RAM_SINK;
	ram.ramsink.framed = true;
	ram.dev = &devs[8];
	devs[8].of_node = &etr;
	for (int i = 0; i < 4; i++) {
		bool before = i == 1 || i == 2;
		struct ntrace_component *way[] = { &encoder[i], before ? &funnel_before : NULL,
						   &bridge[i == 3 ? 2 : before], &ram };
		unsigned int count = 0;

		for (int k = 0; k < 4; k++)
			if (way[k])
				components[count++] = way[k];
		ret[i] = ntrace_path_number(components, count);
		if (!ret[i])
			ntrace_path_create(components, count);
	}
	ok(!ret[0] && !ret[1] && !ret[2] && !ret[3], "encoders with bridges are numbered");
	ok(encoder[0].encoder.atid == 1 && encoder[3].encoder.atid == 7,
	   "each with a bridge of its own has the odd ATID of its number in the device tree");
	ok(!encoder[0].encoder.src_bits && !encoder[3].encoder.src_bits, "and sends no SRC");
	ok(encoder[1].encoder.atid == 3 && encoder[2].encoder.atid == 3,
	   "two with a funnel before their bridge: the ATID of the first");
	ok(encoder[1].encoder.src_bits && encoder[1].encoder.src != encoder[2].encoder.src,
	   "and different SRCs");
	ok(bridge[0].port.id == 1 && bridge[1].port.id == 3 && bridge[2].port.id == 7,
	   "the bridges get these IDs");
	is_u64(ram.ramsink.src_bits, 0, "the sink separates frames, not messages");

	/* A wired ID is taken as it is, unless it is that of another. */
	components[0] = &encoder[0];
	components[1] = &bridge[0];
	components[2] = &ram;
	ntrace_path_destroy(encoder[0].path);
	bridge[0].port.id_bits = 0;
	bridge[0].port.id = 0x42;
	ok(!ntrace_path_number(components, 3) && encoder[0].encoder.atid == 0x42, "a wired ID");
	bridge[0].port.id = 7;
	machine_logged = 0;
	is_u64((u64)ntrace_path_number(components, 3), (u64)-EOPNOTSUPP,
	       "the wired ID of another encoder is refused");
	is_str(machine_log, "has the ATID 7 of device, which sends to the same sink\n",
	       "and the log says so");
	ntrace_path_number(components, 3);
	is_u64(machine_logged, 1, "once, whenever a component makes the driver try again");
	bridge[0].port.id = 0x70;
	is_u64((u64)ntrace_path_number(components, 3), (u64)-EOPNOTSUPP, "a reserved one as well");
	components[1] = &ram;
	is_u64((u64)ntrace_path_number(components, 2), (u64)-EINVAL,
	       "frames need a bridge on the way");
	for (int i = 1; i < 4; i++)
		ntrace_path_destroy(encoder[i].path);
}

int main(void)
{
	test_awake();
	ntrace_topology_init(&no_ops);
	test_wake();
	test_evict();
	test_sources();
	test_bridges();
	test_sleep();
	test_choice();
	tree();
	stops("encoder0 encoder1 encoder2 funnel",
	      "all that sends to the sink, the farthest first");
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
	stops("", "nor components before a disabled funnel");
	tree();
	encoders[1].clocks = true;
	stops("encoder0 encoder2 funnel", "nor one whose clock may be off");
	tree();
	encoders[1].owned = true;
	is_u64((u64)stop(), (u64)-EBUSY, "a debugger owns an encoder: busy");
	is_str(stopped, "encoder0", "it is not stopped, nor what it sends to");
	tree();
	encoders[1].owned = true;
	encoders[1].v0 = true;
	stops("encoder0 encoder1 encoder2 funnel", "version 0 has no such bit");
	return done_testing();
}
