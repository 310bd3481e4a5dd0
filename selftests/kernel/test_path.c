// SPDX-License-Identifier: GPL-2.0-only
/*
 * While a hart is offline, the driver must not access its encoder, which may be powered down and
 * not answer. Paths of two harts to one sink, and a block that is both.
 */
#include <tap.h>

#include "../../kernel/ntrace/component.c"
#include "../../kernel/ntrace/path.c"
#include "host/machine.h"

#define BLOCKS 3 /* two encoders and the sink */

static struct machine machine;
static struct ntrace_component *const sink = &machine.sink;

/* tr??Control of each block, and the number of accesses to a block without power. */
static u32 registers[BLOCKS][TR_COMPONENT_SIZE / sizeof(u32)];
static bool dead[BLOCKS];
static unsigned int touched;
/* Accesses to an encoder from another hart than its own. */
static unsigned int strange;
bool host_online[nr_cpu_ids];
unsigned int host_cpu;
static unsigned int freed;

int host_allocations = -1;

static unsigned int block_of(const void *address)
{
	unsigned int block =
		(unsigned int)(((const u8 *)address - (u8 *)registers) / sizeof(registers[0]));

	touched += dead[block];
	strange += block < 2 && block != host_cpu;
	return block;
}

u32 readl(const void *address)
{
	block_of(address);
	return *(const u32 *)address;
}

/* Each change of Enable and Active: the block, its new value, a space. */
static char order[128];

static void note(unsigned int block, u32 changed, u32 value)
{
	size_t used = strlen(order);

	if (changed & TR_CONTROL_ENABLE)
		snprintf(order + used, sizeof(order) - used, "%u%s ", block,
			 value & TR_CONTROL_ENABLE ? "+" : "-");
	else if (changed & TR_CONTROL_ACTIVE)
		snprintf(order + used, sizeof(order) - used, "%u%s ", block,
			 value & TR_CONTROL_ACTIVE ? "on" : "off");
}

/* A block is empty as soon as it is disabled. */
void writel(u32 value, void *address)
{
	u32 *control = registers[block_of(address)];

	if (address == control)
		note(block_of(address), *control ^ value, value);

	*(u32 *)address = value;
	if (address == control)
		*control = value & TR_CONTROL_ENABLE ? value : value | TR_CONTROL_EMPTY;
}

/* Every component has power. */
int ntrace_power_get(struct ntrace_component *component)
{
	return 0;
}

void ntrace_power_put(struct ntrace_component *component)
{
}

u64 ktime_get_mono_fast_ns(void)
{
	return 0;
}

bool ntrace_trigger_is_used(const struct ntrace_config *config)
{
	return config->trigger_in;
}

static int programs;

static int reset(struct ntrace_component *component)
{
	return ntrace_component_reset(component);
}

/* Number of the next calls that time out. */
static unsigned int timeouts;

static int program(struct ntrace_component *component, const struct ntrace_config *config)
{
	programs++;
	if (!timeouts)
		return 0;
	timeouts--;
	return -ETIMEDOUT;
}

static const struct ntrace_layout layout = { .reset = reset };
static const struct ntrace_ops ops = { .program = program };

void ntrace_drain_begin(struct ntrace_component *component)
{
}

u32 ntrace_drain_end_us(const struct ntrace_feed *feed)
{
	return NTRACE_DRAIN_END_US;
}

void ntrace_drain_end(struct ntrace_feed *feed, u32 control, bool sink_stopped)
{
}

/* Bytes that the funnels may still hold when the trace of an event ends. */
static u32 held_at_end;

void ntrace_turn_measure(struct ntrace_feed *feed, struct ntrace_turn_way *way)
{
}

bool ntrace_turn_leave(struct ntrace_feed *feed, struct ntrace_turn_way *way, u64 deadline,
		       u32 control, u32 held)
{
	held_at_end = held;
	return !held;
}

void ntrace_turn_join(struct ntrace_feed *feed, u32 held)
{
}

void ntrace_turn_part(struct ntrace_feed *feed)
{
}

int ntrace_ramsink_alloc(struct ntrace_component *component, size_t size)
{
	return 0;
}

void ntrace_ramsink_free(struct ntrace_component *component)
{
	freed++;
}

/* @both: the encoder of hart 0 contains its sink */
static void begin(unsigned int harts, bool both)
{
	(memset)(registers, 0, sizeof(registers));
	(memset)(dead, 0, sizeof(dead));
	touched = 0;
	freed = 0;
	programs = 0;
	machine_init(&machine, harts, 0);
	INIT_LIST_HEAD(&sink->ramsink.feeds);
	sink->layout = &layout;
	sink->ops = &ops;
	sink->base = registers[both ? 0 : 2];
	for (unsigned int i = 0; i < harts; i++) {
		machine.encoder[i].layout = &layout;
		machine.encoder[i].ops = &ops;
		machine.encoder[i].base = registers[i];
		machine.path[i].cpu_up = true;
		ntrace_path_attach(&machine.path[i], &machine.capture[i]);
	}
}

static void offline(unsigned int hart)
{
	machine.path[hart].cpu_up = false;
	machine.path[hart].stale = true;
	ntrace_path_leave_hart(&machine.path[hart]);
	dead[hart] = true;
}

static u32 active(unsigned int block)
{
	return registers[block][0] & TR_CONTROL_ACTIVE;
}

static void test_offline(void)
{
	begin(2, false);
	offline(1);
	ok(!active(1), "offline: the encoder was switched off before");
	ok(active(0) && active(2), "the other encoder and their sink were not");
	ntrace_path_detach(&machine.path[1], &machine.capture[1]);
	is_u64(touched, 0, "released while it is offline: nothing of the encoder is touched");
	ok(active(2) && !freed, "the sink is in use");
	ntrace_path_detach(&machine.path[0], &machine.capture[0]);
	ok(!active(0) && !active(2) && freed == 1, "the last one is released: all is off");
	ntrace_component_off(&machine.encoder[1]);
	is_u64(touched, 0, "unbound while it is offline: neither");
}

/*
 * A block may get its clock from the one before it, while that is active: trace flows out first,
 * from the encoder on, then the sink becomes inactive first.
 */
static void test_order(void)
{
	begin(1, false);
	order[0] = '\0';
	ntrace_path_detach(&machine.path[0], &machine.capture[0]);
	is_str(order, "2off 0off ", "released: the sink becomes inactive, then the encoder");
	order[0] = '\0';
	ntrace_path_attach(&machine.path[0], &machine.capture[0]);
	is_str(order, "0on 2on ", "configured: the encoder becomes active, then the sink");
	registers[0][0] |= TR_CONTROL_ENABLE;
	registers[2][0] |= TR_CONTROL_ENABLE;
	order[0] = '\0';
	ntrace_path_sleep(&machine.path[0]);
	is_str(order, "0- 2- 2off 0off ", "still enabled: disabled in the order of the trace");
}

static void test_back(void)
{
	struct ntrace_config config = { 0 };

	begin(2, false);
	offline(1);
	dead[1] = false;
	programs = 0;
	is_u64((u64)ntrace_path_program(&machine.path[1], &config), 0, "online again");
	ok(active(1) && programs == 1 && !machine.path[1].stale,
	   "the encoder is programmed, and no more");
	ntrace_path_detach(&machine.path[1], &machine.capture[1]);
	ok(!active(1), "and switched off when it is released");
}

static void test_timeout(void)
{
	struct ntrace_config config = { 0 };

	begin(1, false);
	timeouts = 1;
	programs = 0;
	is_u64((u64)ntrace_path_program(&machine.path[0], &config), 0,
	       "a timeout: the second try succeeds");
	is_u64(programs, 3, "it programs all components");
	timeouts = 3;
	is_u64((u64)ntrace_path_program(&machine.path[0], &config), (u64)-ETIMEDOUT,
	       "two timeouts: ETIMEDOUT");
	is_u64(timeouts, 1, "there is no third try");
	timeouts = 0;
	ntrace_path_detach(&machine.path[0], &machine.capture[0]);
}

static void test_one_block(void)
{
	begin(1, true);
	offline(0);
	ok(!active(0), "one block: it was switched off before");
	ntrace_path_detach(&machine.path[0], &machine.capture[0]);
	is_u64(touched, 0, "released while it is offline: it is not touched");
	is_u64(freed, 1, "the memory is free");
}

/* Encoders answer to their own hart only. */
static void test_own_hart(void)
{
	begin(2, false);
	for (unsigned int i = 0; i < 2; i++) {
		machine.encoder[i].of_hart = true;
		machine.encoder[i].cpu = i;
		host_online[i] = true;
		ntrace_path_detach(&machine.path[i], &machine.capture[i]);
	}
	host_irqs_on = true;
	strange = 0;
	for (host_cpu = 0; host_cpu < 3; host_cpu++) {
		for (unsigned int i = 0; i < 2; i++)
			ntrace_path_attach(&machine.path[i], &machine.capture[i]);
		ok(active(0) && active(1), "CPU %u configures both", host_cpu);
		for (unsigned int i = 0; i < 2; i++)
			ntrace_path_detach(&machine.path[i], &machine.capture[i]);
		ok(!active(0) && !active(1), "and releases them");
	}
	host_cpu = 0;
	is_u64(strange, 0, "each encoder is accessed on its own hart");
	host_online[1] = false;
	machine.encoder[1].inactive = false;
	is_u64(ntrace_read(&machine.encoder[1], TR_CONTROL), 0, "not that of an offline hart");
	is_u64(strange, 0, "which is not accessed");
	host_irqs_on = false;
}

/* Two events of a process and a shared sink. */
static void test_join(void)
{
	struct ntrace_config config = { .privilege = NTRACE_PRIVILEGE_U };

	begin(2, false);

	sink->ramsink.dealt = true;
	is_u64((u64)ntrace_path_may_join(&machine.path[0], NULL, &config), 0, "user alone: joins");
	config.trigger_in = 1;
	is_u64((u64)ntrace_path_may_join(&machine.path[0], NULL, &config), 0,
	       "user alone, with a trigger: joins");
	config.privilege |= NTRACE_PRIVILEGE_S;
	is_u64((u64)ntrace_path_may_join(&machine.path[0], NULL, &config), (u64)-EBUSY,
	       "with the kernel and a trigger: EBUSY");
	config.trigger_in = 0;
	is_u64((u64)ntrace_path_may_join(&machine.path[0], NULL, &config), 0,
	       "with the kernel: joins");
	sink->ramsink.dealt = false;
}

static unsigned int bridge_looks, funnel_looks, flushes;

static int switch_link(struct ntrace_component *component, bool atomic)
{
	return 0;
}

/* It holds a part of a transfer back until a flush. */
static bool bridge_await_empty(const struct ntrace_component *component, u64 deadline)
{
	bridge_looks += !flushes;
	return flushes;
}

static bool funnel_await_empty(const struct ntrace_component *component, u64 deadline)
{
	funnel_looks++;
	return true;
}

static bool flush_sink(struct ntrace_component *component, u64 deadline)
{
	flushes++;
	return true;
}

/* Stopping a sink with a formatter flushes the components before it. */
static int stop_sink(struct ntrace_component *component, bool atomic)
{
	flushes++;
	return 0;
}

/* Events of two harts stop one after the other: encoder, funnel, ATB bridge, funnel, sink. */
static void test_flush(void)
{
	static const struct ntrace_ops bridge_ops = { .start = switch_link,
						      .stop = switch_link,
						      .await_empty = bridge_await_empty };
	static const struct ntrace_ops funnel_ops = { .start = switch_link,
						      .stop = switch_link,
						      .await_empty = funnel_await_empty };
	static const struct ntrace_ops sink_ops = { .start = switch_link,
						    .stop = stop_sink,
						    .flush = flush_sink };
	struct ntrace_component first = { .type = TR_COMP_TYPE_FUNNEL, .ops = &funnel_ops };
	struct ntrace_component bridge = { .type = TR_COMP_TYPE_ATB_BRIDGE,
					   .is_link = true,
					   .ops = &bridge_ops };
	struct ntrace_component second = { .type = TR_COMP_TYPE_FUNNEL, .ops = &funnel_ops };

	begin(2, false);
	sink->ops = &sink_ops;
	sink->ramsink.framed = true;
	for (unsigned int i = 0; i < 2; i++) {
		struct ntrace_path *path = &machine.path[i];

		path->component[1] = &first;
		path->component[2] = &bridge;
		path->component[3] = &second;
		path->component[4] = sink;
		path->count = 5;
		ntrace_path_enable_atomic(path);
	}
	ntrace_path_disable_atomic(&machine.capture[0], 0);
	ok(funnel_looks == 1 && flushes == 1 && !bridge_looks,
	   "others go on: waits for the funnel before a bridge, then flushes");
	ok(machine.capture[0].complete, "the trace is complete");
	funnel_looks = 0;
	flushes = 0;
	ntrace_path_disable_atomic(&machine.capture[1], 0);
	ok(funnel_looks == 1 && flushes == 1 && !bridge_looks, "the last one stops: the same");
	sink->ops = &ops;
	sink->ramsink.framed = false;
}

static bool sink_is_empty;

static bool sink_await_empty(const struct ntrace_component *component, u64 deadline)
{
	return sink_is_empty;
}

/*
 * A sink that is a funnel as well holds trace back until it writes it. Events of three harts stop one after
 * the other.
 */
static void test_funnel_in_sink(void)
{
	static const struct ntrace_ops sink_ops = { .start = switch_link,
						    .stop = switch_link,
						    .await_empty = sink_await_empty };

	begin(3, false);
	sink->ops = &sink_ops;
	for (unsigned int i = 0; i < 3; i++)
		ntrace_path_enable_atomic(&machine.path[i]);
	sink_is_empty = false;
	ntrace_path_disable_atomic(&machine.capture[0], 0);
	is_u64(held_at_end, NTRACE_PATH_HOLDS,
	       "a sink with a funnel, others go on: it may hold trace of this hart");
	sink_is_empty = true;
	ntrace_path_disable_atomic(&machine.capture[1], 0);
	is_u64(held_at_end, 0, "a sink with a funnel, others go on: it was empty");
	sink->ops = &ops;
}

int main(void)
{
	test_flush();
	test_funnel_in_sink();
	test_offline();
	test_order();
	test_back();
	test_timeout();
	test_one_block();
	test_own_hart();
	test_join();
	return done_testing();
}
