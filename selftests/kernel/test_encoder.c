// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of an encoder's trace, and the flag with which it reports a loss. Some encoders keep the
 * flag until they are enabled again, some clear it with trTeEnable, and some set it while they empty
 * their queue. Rule: "Draining and loss" in Documentation/trace/ntrace.rst.
 */
#include <tap.h>

#include "../../kernel/ntrace/encoder.c"

#define OVERFLOW TR_TE_CONTROL_INST_STALL_OR_OVERFLOW

/* What encoder.c needs for probing and programming, which this test does not. */
__attribute__((used)) int nothing(void);

int nothing(void)
{
	return 0;
}

#define NOTHING(name) __asm__(".globl " #name "\n.set " #name ", nothing\n")
NOTHING(host_log);
NOTHING(ntrace_component_has);
NOTHING(ntrace_component_refuse);
NOTHING(ntrace_component_refuse_foreign);
NOTHING(ntrace_component_wait_enabled);
NOTHING(ntrace_component_warl);
NOTHING(ntrace_context_store_to);
NOTHING(ntrace_filter_check);
NOTHING(ntrace_filter_init);
NOTHING(ntrace_filter_program);
NOTHING(ntrace_ramsink_note_full);
NOTHING(ntrace_timestamp_check);
NOTHING(ntrace_timestamp_init);
NOTHING(ntrace_timestamp_program);
NOTHING(ntrace_trigger_check);
NOTHING(ntrace_trigger_init);
NOTHING(ntrace_trigger_is_used);
NOTHING(ntrace_trigger_program);
NOTHING(of_cpu_node_to_id);
NOTHING(of_node_put);
NOTHING(of_parse_phandle);
NOTHING(of_property_read_reg);

/* The field that a configuration was refused for. */
static const char *lacked;

int ntrace_component_lacks(const struct ntrace_component *component, const char *field, u64 value)
{
	lacked = field;
	return -EOPNOTSUPP;
}

static u8 page[TR_COMPONENT_SIZE];
static u32 control;
static bool forgets;

u32 readl(const void *address)
{
	u32 value;

	memcpy(&value, address, sizeof(value));
	return address == page ? control : value;
}

void writel(u32 value, void *address)
{
	if (address != page) {
		memcpy(address, &value, sizeof(value));
		return;
	}
	if (value & OVERFLOW || (forgets && !(value & TR_CONTROL_ENABLE)) ||
	    (value & TR_CONTROL_ENABLE && !(control & TR_CONTROL_ENABLE)))
		control &= ~OVERFLOW;
	control = (control & OVERFLOW) | (value & ~OVERFLOW);
}

/* What a reset leaves undefined is 0 before the encoder is enabled, if the encoder has it. */
static void test_baseline(void)
{
	struct ntrace_component component = { .base = page, .encoder = { .comparators = 5 } };

	memset(page, 0xff, sizeof(page));
	ntrace_encoder_write_baseline(&component);
	is_hex(ntrace_read(&component, TR_TE_DATA_CONTROL), 0, "no data trace");
	is_hex(ntrace_read(&component, TR_TE_DATA_FILTERS), 0, "no filters for it");
	is_hex(ntrace_read(&component, TR_TE_INST_FILTERS), 0, "no filters");
	is_hex(ntrace_read(&component, TR_TE_TRIG_DBG_CONTROL), 0, "no debug triggers");
	is_hex(ntrace_read(&component, TR_TE_TRIG_EXT_IN_CONTROL), 0, "no trigger inputs");
	is_hex(ntrace_read(&component, TR_TE_TRIG_EXT_OUT_CONTROL), 0, "no trigger outputs");
	is_hex(ntrace_read(&component, TR_TE_COMP_CONTROL(2)), 0, "comparators do nothing");
	is_hex(ntrace_read(&component, TR_TE_COMP_CONTROL(1)), U32_MAX,
	       "one that does not exist is not accessed");
	component.encoder.absent = ~0;
	memset(page, 0xff, sizeof(page));
	ntrace_encoder_write_baseline(&component);
	is_hex(ntrace_read(&component, TR_TE_DATA_CONTROL), U32_MAX, "nor is a register");
}

#define RETURNS NTRACE_FEATURE_IMPLICIT_RETURN
#define JUMPS NTRACE_FEATURE_ALL_JUMPS
#define MODE(mode) FIELD_PREP(TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK, mode)

/* Features that are hard-wired are in effect. Those that mislead a decoder must be asked for. */
static void test_wired(void)
{
	static const struct {
		const char *what;
		u32 features, on, asked;
		const char *refused; /* or NULL: @asked and @on are in effect */
	} table[] = {
		{ "returns of compared addresses", RETURNS | MODE(3), RETURNS, 0, NULL },
		{ "returns by level", RETURNS | MODE(1), RETURNS, 0, "trTeInstEnImplicitReturn" },
		{ "returns by level, asked for", RETURNS | MODE(1), RETURNS, RETURNS, NULL },
		{ "returns by level, not wired", RETURNS | MODE(1), 0, 0, NULL },
		{ "returns by a part of the address", RETURNS | MODE(2), RETURNS, 0,
		  "trTeInstEnImplicitReturn" },
		{ "all jumps", JUMPS, JUMPS, 0, NULL },
		{ "all jumps, and returns asked for", JUMPS | RETURNS | MODE(3), JUMPS, RETURNS,
		  "trTeInstEnImplicitReturn" },
		{ "returns, and all jumps asked for", JUMPS | RETURNS | MODE(3), RETURNS, JUMPS,
		  "trTeInstEnAllJumps" },
		{ "both", JUMPS | RETURNS | MODE(3), JUMPS | RETURNS, 0,
		  "trTeInstEnImplicitReturn" },
	};
	struct ntrace_component component = { .base = page };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct ntrace_config config = { .features = table[i].asked };
		int error;

		component.encoder.features = table[i].features;
		component.encoder.features_on = table[i].on;
		lacked = NULL;
		error = ntrace_encoder_check_features(&component, &config);
		if (table[i].refused)
			ok(error == -EOPNOTSUPP && lacked && !strcmp(lacked, table[i].refused),
			   "hard-wired: %s: refused by name", table[i].what);
		else
			ok(!error && config.features == (table[i].asked | table[i].on),
			   "hard-wired: %s: in effect", table[i].what);
	}
}

int main(void)
{
	struct ntrace_component component = {
		.base = page,
		.encoder = { .control = TR_CONTROL_ACTIVE, .losses = OVERFLOW },
	};

	for (unsigned int i = 0; i < 2; i++) {
		forgets = i;
		ntrace_encoder_enable(&component);
		ntrace_encoder_trace(&component);
		ntrace_encoder_stop(&component);
		is_u64(component.encoder.noted, 0, "no loss: none is noted");
		ntrace_encoder_enable(&component);
		ntrace_encoder_trace(&component);
		control |= OVERFLOW;
		ntrace_encoder_pause(&component);
		ok(control & OVERFLOW, "a pause keeps the flag");
		ntrace_encoder_stop(&component);
		ok(!(control & (TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING)) &&
			   !(control & OVERFLOW) == forgets,
		   "stopped: the encoder %s its flag", forgets ? "has cleared" : "keeps");
		is_u64(component.encoder.noted, OVERFLOW, "the loss is noted");
		ntrace_encoder_enable(&component);
		is_u64(component.encoder.noted | (control & OVERFLOW), 0,
		       "enabled again: it is not reported twice");
		ntrace_encoder_stop(&component);
	}
	test_baseline();
	test_wired();
	return done_testing();
}
