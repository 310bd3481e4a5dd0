// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver on hardware with any properties that the specifications allow: its own code, from the
 * probe to the drain, on the register models of the virtual SoC (tools/vsoc/model/variant.h).
 *
 * Of each variant, a seed chooses some configurations that the driver offers. Each must be exact: the
 * data area holds the bytes that an encoder sends whose parameters are those that the driver reports.
 * Or it is refused: the message names a field of the Trace Control Interface. Nothing may be written
 * outside the buffer, no access may be a bus error, and no loss is silent.
 *
 * To try other ones than 2,000 with all choices:
 *
 *	TEXT="SEED+NAME" build/selftests/kernel/test_variants	one variant
 *	NAMES=NAME+NAME VARIANTS=N ...				these choices
 *	NAMES= ...						each choice alone, a line for each
 */
#include <tap.h>

#define HOST_POLLS 1000

/* The library has functions and a struct of these names, too. */
#define ntrace_encoder driver_encoder
#define ntrace_encoder_init driver_encoder_init
#define ntrace_encoder_stop driver_encoder_stop

/* As in a kernel that has drivers for the components of Arm. */
#define IS_ENABLED(option) 1

#include "../../kernel/ntrace/component.c"
#include "../../kernel/ntrace/layouts.c"
#include "../../kernel/ntrace/encoder.c"
#include "../../kernel/ntrace/filter.c"
#include "../../kernel/ntrace/timestamp.c"
#include "../../kernel/ntrace/funnel.c"
#include "../../kernel/ntrace/ramsink.c"
#include "../../kernel/ntrace/feed.c"
#include "../../kernel/ntrace/split.c"
#include "../../kernel/ntrace/drain.c"
#include "../../kernel/ntrace/pace.c"
#include "../../kernel/ntrace/turn.c"
#include "../../kernel/ntrace/path.c"
#include "host/machine.h"

#undef ntrace_encoder
#undef ntrace_encoder_init
#undef ntrace_encoder_stop

#include "host/models.h"

/* Nothing here has these. */
const struct ntrace_layout ntrace_layout_v0, ntrace_layout_v0_funnel;

#define RING (8 * SZ_4K)
#define DATA (128 * SZ_4K)
#define BLOCKS 200
#define BLOCKS_LONG 12000	/* enough to fill the ring more than once */
#define CONFIGS 4

/* The driver's view of it. */
static struct {
	struct device dev;
	struct ntrace_component encoder[HARTS], sink[HARTS], funnel[FUNNELS];
	struct ntrace_path path[HARTS];
	struct ntrace_capture capture[HARTS];
	struct ntrace_control control[HARTS];
} soc;

/* What is expected in a data area. */
static struct {
	struct ntrace_encoder encoder;
	u8 bytes[DATA];
	size_t size;
} reference;

/* Captures that are exact, refusals, captures that filled the ring, that stopped then, and ends in a
 * sink's own memory.
 */
static unsigned int exact, refusals, wraps, full, tails;

/* What happened to a variant, for a message. */
static char verdict[512];

__printf(1, 2) static bool fails(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(verdict, sizeof(verdict), format, args);
	va_end(args);
	return false;
}

/* A refusal names a field. */
static bool is_refusal(const char *what, int error)
{
	for (const char *at = machine_log; (at = strstr(at, "tr")); at++)
		if (at[2] >= 'A' && at[2] <= 'Z') {
			refusals++;
			return true;
		}
	return fails("%s: error %d, and no field is named: \"%s\"", what, error, machine_log);
}

/* Of what an encoder has accepted, only the sink may refuse something. */
static bool is_sinks_refusal(int error)
{
	return strstr(machine_log, "trTe") ? fails("accepted, and then refused: %s", machine_log) :
					     is_refusal("attached", error);
}

static bool is_harmless(const char *what)
{
	u64 outside = hw.sink[0].outside + hw.sink[1].outside;
	u64 errors = 0;

	for (unsigned int i = 0; i < 2; i++)
		errors += hw.encoder[i].software_errors + hw.sink[i].software_errors +
			  hw.funnel[i].software_errors;

	if (hw.wrong)
		return fails("%s: %s at 0x%x", what, hw.wrong, hw.wrong_at);
	if (outside)
		return fails("%s: %llu bytes outside the buffer", what,
			     (unsigned long long)outside);
	if (errors)
		return fails("%s: %llu writes to registers that are frozen", what,
			     (unsigned long long)errors);
	return true;
}

/* The driver runs in a process, on the last hart. */
static void in_process(void)
{
	host_cpu = HARTS - 1;
	host_irqs_on = true;
}

/* The driver runs on a hart, with interrupts off. */
static void on_hart(unsigned int i)
{
	host_cpu = i;
	host_irqs_on = false;
}

static int probe(struct ntrace_component *component, unsigned int page)
{
	component->dev = &soc.dev;
	component->layout = &ntrace_layout_v1;
	component->base = hw.page[page];
	component->start = 0x1000 * page;
	*machine_log = '\0';
	return ntrace_component_init(component);
}

/* As upstream.c: a funnel is active while its sink is probed, be it bound or not. */
static int probe_funnel(unsigned int k)
{
	struct ntrace_component *funnel = &soc.funnel[k];
	bool bound = random_below(2);
	int error = 0;

	funnel->layout = &ntrace_layout_v1;
	funnel->base = hw.page[2 * HARTS + k];
	if (bound)
		error = probe(funnel, 2 * HARTS + k);
	if (!error)
		error = ntrace_component_activate(funnel);
	if (!error)
		error = probe(&soc.sink[k], HARTS + k);
	if (!error)
		error = bound ? ntrace_component_off(funnel) : probe(funnel, 2 * HARTS + k);
	funnel->merges = true;
	return error;
}

/* Connects a hart with sink @k as topology.c does. */
static int connect_hart(unsigned int i, unsigned int k)
{
	struct ntrace_path *path = &soc.path[i];
	bool shared = hw.wiring != DIRECT && !k;
	u32 bits = shared; /* enough for two harts */
	int error;

	path->cpu = i;
	path->cpu_up = true;
	path->component[path->count++] = &soc.encoder[i];
	if (hw.wiring != DIRECT)
		path->component[path->count++] = &soc.funnel[k];
	path->component[path->count++] = &soc.sink[k];
	soc.encoder[i].path = path;
	*machine_log = '\0';
	error = ntrace_encoder_set_source(&soc.encoder[i], i, bits,
					  i && bits ? soc.encoder[0].encoder.src_bits : 0);
	if (error < 0)
		snprintf(machine_log, sizeof(machine_log), "%s", soc.encoder[i].encoder.lacks);
	ntrace_timestamp_connect(path->component, path->count);
	return min(error, 0);
}

/* Probes all, and connects the paths. Return: 0, or an error that is refused. */
static int probe_all(void)
{
	unsigned int sinks = hw.wiring == FUNNEL ? 1 : 2;
	int error = 0;

	(memset)(&soc, 0, sizeof(soc));
	in_process();
	for (unsigned int i = 0; i < HARTS && !error; i++) {
		soc.encoder[i].layout = &ntrace_layout_v1;
		ntrace_component_set_hart(&soc.encoder[i], i);
		error = probe(&soc.encoder[i], i);
		soc.encoder[i].encoder.hartid = i;
	}
	for (unsigned int k = 0; k < sinks && !error; k++)
		error = hw.wiring == DIRECT ? probe(&soc.sink[k], HARTS + k) : probe_funnel(k);
	/* Of a fork, the user chooses. */
	for (unsigned int i = 0; i < HARTS && !error; i++)
		error = connect_hart(i, hw.wiring == DIRECT ? i :
					hw.wiring == FORK && i ? (unsigned int)random_below(2) :
								 0);
	return error;
}

/* The number of the sink of a hart. */
static unsigned int sink_of(unsigned int hart)
{
	const struct ntrace_path *path = &soc.path[hart];

	return (unsigned int)(path->component[path->count - 1] - soc.sink);
}

static u32 one_of(u32 set)
{
	u32 chosen = 0;

	for (u32 i = 0, count = 0; i < 32; i++)
		if (set >> i & 1 && !random_below(++count))
			chosen = i;
	return chosen;
}

/* A configuration that the driver offers for a hart. */
static void choose_config(struct ntrace_config *config, unsigned int hart)
{
	const struct driver_encoder *e = &soc.encoder[hart].encoder;
	u32 stamps = soc.encoder[hart].timestamp.offered;

	*config = (struct ntrace_config){ .size = sizeof(*config),
					  .sink_size = RING,
					  .data_size = DATA,
					  .mode = one_of(e->modes),
					  .privilege = NTRACE_PRIVILEGE_ALL,
					  .sync_mode = one_of(e->sync_modes) };
	config->sync_max = one_of(e->sync_maxes);
	if (config->sync_mode == NTRACE_SYNC_MESSAGES && config->sync_max < e->sync_messages_min)
		config->sync_max = e->sync_messages_min;
	if (e->privilege & NTRACE_PRIVILEGE_S && random_below(2))
		config->privilege = random_below(2) ? NTRACE_PRIVILEGE_S : NTRACE_PRIVILEGE_U;
	config->features = e->features & (u32)random_below(1 << 11) &
			   (NTRACE_FEATURE_SEQUENTIAL_JUMP | NTRACE_FEATURE_IMPLICIT_RETURN |
			    NTRACE_FEATURE_REPEATED_HISTORY | NTRACE_FEATURE_ALL_JUMPS |
			    NTRACE_FEATURE_EXTEND_ADDRESS);
	/* What the interface excludes */
	if (config->features & NTRACE_FEATURE_ALL_JUMPS)
		config->features &= ~NTRACE_FEATURE_IMPLICIT_RETURN;
	if (config->mode == NTRACE_MODE_BTM)
		config->features &= ~NTRACE_FEATURE_REPEATED_HISTORY;
	if (stamps && random_below(2))
		config->timestamps = one_of(stamps);
	if (e->context && random_below(2))
		config->flags |= NTRACE_CONFIG_CONTEXT;
	if (random_below(2))
		config->features = 0;
	if (!random_below(4))
		config->flags |= NTRACE_CONFIG_STOP_ON_WRAP;
}

static void reference_write(void *opaque, const u8 *data, size_t size)
{
	if (size > sizeof(reference.bytes) - reference.size)
		return;
	memcpy(reference.bytes + reference.size, data, size);
	reference.size += size;
}

/* The encoder whose trace a decoder expects that knows what the driver reports. */
static bool begin_reference(const struct ntrace_config *config, unsigned int hart)
{
	const struct ntrace_component *c = &soc.encoder[hart];
	struct ntrace_encoder_config e;
	struct ntrace_params params;

	ntrace_encoder_config_init(&e);
	ntrace_params_init(&params);
	params.xlen = 64;
	params.mode = config->mode == NTRACE_MODE_BTM ? NTRACE_MODE_BRANCH : NTRACE_MODE_HISTORY;
	params.all_jumps = config->features & TR_TE_FEATURE_ALL_JUMPS;
	params.extend_address = config->features & TR_TE_FEATURE_EXTEND_ADDR_MSB;
	if (config->features & TR_TE_FEATURE_IMPLICIT_RETURN)
		params.implicit_return =
			c->encoder.features >> TR_TE_FEATURE_IMPLICIT_RETURN_MODE_SHIFT & 3;
	params.src_bits = c->encoder.src_bits;
	e.params = &params;
	e.src = params.src_bits ? c->encoder.src : 0;
	e.repeated_history = config->features & TR_TE_FEATURE_REPEATED_HISTORY &&
			     params.mode == NTRACE_MODE_HISTORY;
	e.sequential_jumps = config->features & TR_TE_FEATURE_SEQUENTIAL_JUMP;
	e.sync_mode = config->sync_mode;
	e.sync_max = config->sync_max;
	e.context = config->flags & NTRACE_CONFIG_CONTEXT ||
		    c->encoder.control_on & TR_TE_CONTROL_CONTEXT;
	if (config->privilege != NTRACE_PRIVILEGE_ALL)
		e.priv_mask = config->privilege;
	if (config->timestamps) {
		e.timestamps = NTRACE_TIMESTAMPS_BRANCH;
		params.timestamp_bits = c->timestamp.bits;
	}
	e.write = reference_write;
	reference.size = 0;
	if (ntrace_encoder_init(&reference.encoder, &e))
		return fails("the driver reports what no encoder can do: %s",
			     ntrace_encoder_refusal(&e));
	return true;
}

/* One hart executes: linear code, branches, calls and returns, traps and their returns. */
static struct {
	u64 pc;
	u64 stack[8];
	unsigned int depth;
	unsigned int priv;	/* 0 or 1 */
	u64 epc;
} hart;

static u64 call_target(void)
{
	return 0x10000 * (hart.priv + 1) + 0x40 * random_below(64);
}

static void next_block(struct ntrace_ingress *block)
{
	bool last = random_below(2);
	u32 parcels = (u32)random_below(20) + 1 + last;

	*block = (struct ntrace_ingress){
		.iaddr = hart.pc, .iretire = parcels, .ilastsize = last, .priv = hart.priv
	};
	hart.pc += 2 * parcels;
	switch (random_below(12)) {
	case 0:
		block->itype = NTRACE_ITYPE_DIRECT_CALL;
		if (hart.depth < 8)
			hart.stack[hart.depth++] = hart.pc;
		hart.pc = call_target();
		break;
	case 1:
		block->itype = NTRACE_ITYPE_INDIRECT_CALL;
		if (hart.depth < 8)
			hart.stack[hart.depth++] = hart.pc;
		hart.pc = call_target();
		break;
	case 2:
	case 3:
		block->itype = NTRACE_ITYPE_RETURN;
		hart.pc = hart.depth ? hart.stack[--hart.depth] : call_target();
		break;
	case 4:
		block->itype = NTRACE_ITYPE_INDIRECT_JUMP;
		block->sijump = random_below(2);
		hart.pc = call_target();
		break;
	case 5:
		block->itype = NTRACE_ITYPE_DIRECT_JUMP;
		hart.pc = call_target();
		break;
	case 6:
		if (hart.priv) {
			block->itype = NTRACE_ITYPE_TRAP_RETURN;
			hart.priv = 0;
			hart.pc = hart.epc;
		} else {
			block->itype = random_below(2) ? NTRACE_ITYPE_EXCEPTION :
							 NTRACE_ITYPE_INTERRUPT;
			hart.epc = hart.pc;
			hart.priv = 1;
			hart.pc = 0x20000;
		}
		break;
	case 7:
	case 8:
		block->itype = NTRACE_ITYPE_BRANCH_TAKEN;
		hart.pc = call_target();
		break;
	case 9:
		block->itype = NTRACE_ITYPE_NONE;
		break;
	default:
		block->itype = NTRACE_ITYPE_BRANCH_NOT_TAKEN;
	}
}

/* The hart waited in low power after a block that is no jump, and the encoder says so. */
static void expect_pause(void)
{
	ntrace_encoder_stop(&reference.encoder, NTRACE_EVCODE_LOW_POWER);
	ntrace_encoder_start(&reference.encoder, NTRACE_SYNC_POWER_DOWN_EXIT);
}

/* Traces @blocks blocks while the drain runs. The reference gets the same blocks. */
static void run_hart(unsigned int i, const struct ntrace_config *config, unsigned int blocks)
{
	struct trace_encoder *te = &hw.encoder[i];
	unsigned int until_pause = te->parameters.pauses;
	struct ntrace_ingress block = { .itype = NTRACE_ITYPE_DIRECT_JUMP };
	bool plain;

	hart = (__typeof__(hart)){ .pc = 0x10000 };
	ntrace_encoder_time(&reference.encoder, timestamp_value(&te->timestamp));
	ntrace_encoder_start(&reference.encoder, NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int n = 0; n < blocks; n++) {
		plain = block.itype == NTRACE_ITYPE_NONE;
		next_block(&block);
		ntrace_encoder_time(&reference.encoder, timestamp_value(&te->timestamp));
		if (te->running)
			trace_encoder_retire(te, &block);
		if (config->sync_mode == NTRACE_SYNC_CYCLES)
			ntrace_encoder_cycles(&reference.encoder, block.iretire);
		if (until_pause) {
			until_pause--;
		} else if (te->parameters.pauses && plain) {
			until_pause = te->parameters.pauses;
			expect_pause();
		}
		ntrace_encoder_retire(&reference.encoder, &block);
		if (n % 8 == 7)
			ntrace_drain_step(&soc.capture[i].feed);
	}
}

static void make_capture(unsigned int i, const struct ntrace_config *config)
{
	struct ntrace_capture *capture = &soc.capture[i];
	struct ntrace_path *path = &soc.path[i];

	*capture = (struct ntrace_capture){ .path = path, .config = *config };
	soc.control[i] = (struct ntrace_control){ 0 };
	capture->feed.encoder = &soc.encoder[i];
	capture->feed.sink = path->component[path->count - 1];
	capture->feed.control = &soc.control[i];
	capture->feed.size = DATA;
	capture->feed.data = calloc(1, DATA);
	capture->feed.ended = true;
	capture->feed.interval = capture->feed.pace = 1000000;
	path->capture = capture;
}

/* A sink's own memory has the last trace before the stop, after a gap. */
static bool is_tail(const u8 *data, size_t size, size_t memory)
{
	const u8 *end = reference.bytes + reference.size;
	size_t have = size - 1;

	if (have != memory || data[0] != NTRACE_RESERVED_BYTE)
		return fails("%zu bytes of a memory of %zu, from 0x%02x on", size, memory, data[0]);
	/* The last granule may be filled with idle bytes. */
	while (data[have] == 0xff)
		have--;
	if (have > reference.size || memcmp(data + 1, end - have, have))
		return fails("the memory does not have the last %zu bytes of %zu", have,
			     reference.size);
	tails++;
	return true;
}

/* The data area has what the encoder of the report sends, or says that trace is lost. */
static bool is_exact(unsigned int i, bool stops)
{
	const struct ntrace_control *control = &soc.control[i];
	const struct ram_sink *sink = &hw.sink[sink_of(i)];
	const u8 *data = soc.capture[i].feed.data;
	size_t size = control->head, same = 0;

	while (same < size && same < reference.size && data[same] == reference.bytes[same])
		same++;
	if (control->loss & NTRACE_LOSS_SINK_FULL && stops) {
		/* The buffer has the first trace, then idle bytes and the mark of the gap. */
		while (size > same &&
		       (data[size - 1] == 0xff || data[size - 1] == NTRACE_RESERVED_BYTE))
			size--;
		if (same < size)
			return fails("full: byte %zu of %zu is wrong, of %zu", same, size,
				     reference.size);
		full++;
		return true;
	}
	if (control->loss == NTRACE_LOSS_LAPPED && !sink->smem)
		return is_tail(data, size, sink->parameters.sram_size);
	if (control->loss || control->gaps)
		return hw.lost ?
			       true :
			       fails("a loss 0x%x is reported, and there was none", control->loss);
	if (hw.lost)
		return fails("a loss is not reported");
	/* What remains may be idle bytes. */
	while (same == reference.size && size > same && data[size - 1] == 0xff)
		size--;
	if (same == size && same == reference.size) {
		exact++;
		wraps += size > RING;
		return true;
	}
	return fails("%zu bytes, expected %zu; byte %zu is wrong", size, reference.size, same);
}

static bool trace(unsigned int i, const struct ntrace_config *config, unsigned int blocks)
{
	struct ntrace_capture *capture = &soc.capture[i];
	struct ntrace_path *path = &soc.path[i];
	int error;

	hw.lost = false;
	hw.sink[sink_of(i)].software_errors = 0;
	*machine_log = '\0';
	error = ntrace_path_program(path, config);
	if (error)
		return fails("accepted, and then refused (%d): %s", error, machine_log);
	*machine_log = '\0';
	on_hart(i);
	error = ntrace_path_enable(path);
	if (!error)
		error = ntrace_encoder_enable(&soc.encoder[i]);
	if (error)
		return is_refusal("enabled", error);
	ntrace_encoder_trace(&soc.encoder[i]);
	if (!begin_reference(config, i))
		return false;
	run_hart(i, config, blocks);
	ntrace_encoder_time(&reference.encoder, timestamp_value(&hw.encoder[i].timestamp));
	driver_encoder_stop(&soc.encoder[i]);
	ntrace_encoder_stop(&reference.encoder, NTRACE_EVCODE_TRACE_DISABLE);
	in_process();
	*machine_log = '\0';
	error = ntrace_path_disable(capture, 0);
	if (error)
		return is_refusal("disabled", error);
	return is_exact(i, config->flags & NTRACE_CONFIG_STOP_ON_WRAP);
}

/* Some of what the driver offers, one after the other, on each hart. */
static bool use(void)
{
	struct ntrace_config config, before;

	for (unsigned int n = 0; n < CONFIGS * HARTS; n++) {
		unsigned int i = n % HARTS;
		bool good;
		int error;

		in_process();
		sleep();
		choose_config(&config, i);
		before = config;
		*machine_log = '\0';
		error = ntrace_encoder_check(&soc.encoder[i], &config);
		if (error && !is_refusal("what the driver offers", error))
			return false;
		if (error)
			continue;
		if (config.sync_max != before.sync_max || config.sync_mode != before.sync_mode ||
		    config.mode != before.mode)
			return fails("a configuration is changed in silence");
		make_capture(i, &config);
		*machine_log = '\0';
		error = ntrace_path_attach(&soc.path[i], &soc.capture[i]);
		good = error ? is_sinks_refusal(error) :
			       trace(i, &config, n ? BLOCKS : BLOCKS_LONG);
		if (!error)
			ntrace_path_detach(&soc.path[i], &soc.capture[i]);
		free(soc.capture[i].feed.data);
		if (!good || !is_harmless("a capture")) {
			size_t end = strlen(verdict);

			snprintf(verdict + end, sizeof(verdict) - end,
				 " (hart %u, mode %u, sync %u max %u, features 0x%x, privilege "
				 "0x%x, "
				 "timestamps %u, flags 0x%x)",
				 i, config.mode, config.sync_mode, config.sync_max, config.features,
				 config.privilege, config.timestamps, config.flags);
			return false;
		}
	}
	return true;
}

/* Return: whether the driver copes with a variant: exact, or refused. */
static bool copes(const char *text, u64 seed, enum wiring wiring)
{
	struct variant variant;
	char error[VARIANT_ERROR_MAX];
	int refused;

	*verdict = '\0';
	if (!variant_parse(&variant, text, error))
		return fails("%s", error);
	random_begin(seed, 1);
	make_hardware(&variant, wiring);
	for (unsigned int i = 0; i < HARTS; i++)
		if (hw.encoder[i].parameters.running && !hw.encoder[i].debugger)
			find_running(i);
	refused = probe_all();
	hw.old = false;
	if (refused)
		return is_refusal("probed", refused) && is_harmless("probed");
	return is_harmless("probed") && use();
}

/* The values of a variant that has failed. */
static void print_values(const char *text)
{
	struct variant variant;
	char values[VARIANT_ERROR_MAX + 8192];

	if (!variant_parse(&variant, text, values))
		return;
	for (unsigned int i = 0; i < HARTS; i++) {
		variant_print(&variant, VARIANT_ENCODER, i, &hw.encoder[i].parameters, values,
			      sizeof(values));
		diag("%s", values);
		variant_print(&variant, VARIANT_RAM_SINK, i, &hw.sink[i].parameters, values,
			      sizeof(values));
		diag("%s", values);
	}
	for (unsigned int i = 0; i < FUNNELS; i++) {
		variant_print(&variant, VARIANT_FUNNEL, i, &hw.funnel[i].parameters, values,
			      sizeof(values));
		diag("%s", values);
	}
}

/* Return: the seed that fails first of @count, or @count */
static u64 first_failure(const char *names, u64 seed, unsigned int count)
{
	char text[4096];

	for (unsigned int n = 0; n < count; n++) {
		snprintf(text, sizeof(text), "%llu%s%s", (unsigned long long)(seed + n),
			 *names ? "+" : "", names);
		if (!copes(text, seed + n, n % WIRINGS))
			return n;
	}
	return count;
}

static const char *const wirings[WIRINGS] = { "direct", "funnel", "fork" };

int main(void)
{
	const char *text = getenv("TEXT"), *names = getenv("NAMES"), *number = getenv("VARIANTS");
	unsigned int count = number ? (unsigned int)strtoul(number, NULL, 0) : 2000;
	u64 seed = random_seed(1), n;

	if (text) {
		for (unsigned int i = 0; i < WIRINGS; i++)
			if (!ok(copes(text, strtoull(text, NULL, 0), i), "%s, %s: %s", text,
				wirings[i], verdict))
				print_values(text);
		return done_testing();
	}
	if (names && !*names) {
		for (unsigned int i = 0; variant_name(i); i++) {
			n = first_failure(variant_name(i), seed, 100);
			ok(n == 100, "TEXT=%llu+%s: %s", (unsigned long long)(seed + n),
			   variant_name(i), n == 100 ? "" : verdict);
		}
		return done_testing();
	}
	if (!names)
		names = "";
	n = first_failure(names, seed, count);
	ok(n == count, "%u variants are exact or refused%s", count, n == count ? "" : ":");
	diag("%u captures are exact, %u of them filled the ring; %u stopped when it was full; %u "
	     "are "
	     "ends in memory of the sink; %u refusals",
	     exact, wraps, full, tails, refusals);
	ok(n < count || (exact > count && wraps > count / 50 && tails > count / 50),
	   "many of them are exact");
	if (n < count)
		diag("TEXT=%llu%s%s (%s): %s", (unsigned long long)(seed + n), *names ? "+" : "",
		     names, wirings[n % WIRINGS], verdict);
	return done_testing();
}
