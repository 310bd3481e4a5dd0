// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Configurations of the encoder: defaults, refusals with their reasons, and derived values. */
#include <string.h>

#include "state.h"
#include "struct_size.h"

/* Greatest width of HREPEAT and B-CNT (N-Trace 1.0). */
#define REPEAT_BITS_MAX 18

void ntrace_encoder_config_init(struct ntrace_encoder_config *config)
{
	memset(config, 0, sizeof(*config));
	config->size = sizeof(*config);
	config->icnt_bits = 22;
	config->hist_bits = 31;
	config->priv_mask = ~0u;
	config->itype_bits = 4;
	config->implicit_return_depth = NTRACE_RETURN_DEPTH_MAX;
	config->return_compare_bits = 63;
	config->hrepeat_bits = REPEAT_BITS_MAX;
	config->bcnt_bits = REPEAT_BITS_MAX;
}

/* Parameters of the stream. */
static const char *refuse_params(const struct ntrace_encoder_config *config)
{
	const struct ntrace_params *params = config->params;

	if (params->mode != NTRACE_MODE_BRANCH && params->mode != NTRACE_MODE_HISTORY)
		return "mode is neither btm nor htm";
	if (params->xlen != 32 && params->xlen != 64)
		return "xlen is neither 32 nor 64";
	if (params->src_bits > NTRACE_SRC_BITS_MAX)
		return "SRC has more than 12 bits";
	if (config->src >> params->src_bits)
		return "SRC does not fit in its field";
	if (params->address_bits > 63)
		return "addresses have more than 63 bits";
	if (params->implicit_return > 3)
		return "implicit return mode is not 0 to 3";
	if (params->timestamp_bits > 64)
		return "timestamps have more than 64 bits";
	if ((unsigned int)config->timestamps > NTRACE_TIMESTAMPS_ALL)
		return "unknown choice of messages with timestamps";
	if (config->timestamps && !params->timestamp_bits)
		return "timestamps need tsbits (timestamp_bits) of 1 to 64";
	return NULL;
}

static const char *refuse_limits(const struct ntrace_encoder_config *config)
{
	if (config->icnt_bits < 1 || config->icnt_bits > 32)
		return "I-CNT has 1 to 32 bits";
	if (config->icnt_full > (UINT64_C(1) << config->icnt_bits) - 1)
		return "the limit of I-CNT is more than I-CNT can hold";
	if (config->hist_bits < 1 || config->hist_bits > 31)
		return "HIST holds 1 to 31 branches";
	if (config->hrepeat_bits < 1 || config->hrepeat_bits > REPEAT_BITS_MAX)
		return "HREPEAT has 1 to 18 bits";
	if (config->bcnt_bits < 1 || config->bcnt_bits > REPEAT_BITS_MAX)
		return "B-CNT has 1 to 18 bits";
	if (config->implicit_return_depth < 1 ||
	    config->implicit_return_depth > NTRACE_RETURN_DEPTH_MAX)
		return "the return stack must have 1 to 32 entries";
	if (config->return_compare_bits < 1 || config->return_compare_bits > 63)
		return "the address bits compared at a return must be 1 to 63";
	if (config->sync_mode > 3)
		return "periodic sync mode is not 0 to 3";
	if (config->sync_max > 15)
		return "periodic sync interval is above 2^19";
	if (config->itype_bits != 3 && config->itype_bits != 4)
		return "itype must have 3 or 4 bits";
	if (config->range_count > NTRACE_ENCODER_RANGES_MAX)
		return "more address ranges than comparators";
	for (unsigned int i = 0; i < config->range_count; i++) {
		if (config->range[i].first > config->range[i].last)
			return "an address range ends before it begins";
	}
	if (config->fifo_bytes && config->fifo_bytes < NTRACE_ENCODER_FIFO_MIN)
		return "the queue cannot hold two of the longest messages";
	return NULL;
}

/* Options that exclude each other. */
static const char *refuse_options(const struct ntrace_encoder_config *config)
{
	const struct ntrace_params *params = config->params;
	bool history = params->mode == NTRACE_MODE_HISTORY;

	if (params->all_jumps && params->implicit_return)
		return "all jumps are reported as branches, which hides the calls that implicit "
		       "return needs";
	if (params->implicit_return && config->itype_bits != 4)
		return "implicit return needs a 4-bit itype";
	if (config->repeated_history && !history)
		return "repeated history needs mode htm";
	if (config->sync4_for_icnt && history && params->dialect != NTRACE_DIALECT_RC7)
		return "SYNC 4 for a full I-CNT is for btm (htm in the rc7 dialect only)";
	if (config->hypervisor && !config->context)
		return "hcontext needs Ownership messages, which context turns on";
	if (config->stall && !config->fifo_bytes)
		return "stall needs a queue";
	if (config->fifo_bytes && !config->fifo_drain)
		return "the queue is never drained";
	if (config->zc_accesses && config->itype_bits != 4)
		return "a 3-bit itype does not distinguish repeated accesses from loops";
	return NULL;
}

/* The caller's configuration, completed with defaults; @full->params is set to @params. */
static bool complete(struct ntrace_encoder_config *full, struct ntrace_params *params,
		     const struct ntrace_encoder_config *config)
{
	ntrace_encoder_config_init(full);
	ntrace_params_init(params);
	params->mode = NTRACE_MODE_HISTORY;
	if (STRUCT_TAKE(full, config) || (full->params && STRUCT_TAKE(params, full->params)))
		return false;
	full->params = params;
	return true;
}

static const char *refuse(const struct ntrace_encoder_config *config)
{
	const char *reason = refuse_params(config);

	if (!reason)
		reason = refuse_limits(config);
	if (!reason)
		reason = refuse_options(config);
	if (!reason && !config->write)
		reason = "there is no callback for messages";
	return reason;
}

const char *ntrace_encoder_refusal(const struct ntrace_encoder_config *config)
{
	struct ntrace_encoder_config full;
	struct ntrace_params params;

	return complete(&full, &params, config) ?
		       refuse(&full) :
		       "size: a field that this version does not know is not 0";
}

static uint32_t options_of(const struct ntrace_encoder_config *config)
{
	return (config->params->all_jumps ? OPTION_ALL_JUMPS : 0) |
	       (config->params->implicit_return ? OPTION_RETURNS : 0) |
	       (config->sequential_jumps ? OPTION_SEQUENTIAL : 0) |
	       (config->repeated_history ? OPTION_REPEATED_HISTORY : 0) |
	       (config->repeat_branch ? OPTION_REPEAT_BRANCH : 0) |
	       (config->fifo_bytes ? OPTION_FIFO : 0) |
	       (config->timestamps ? OPTION_TIMESTAMPS : 0) |
	       (config->trap_btype ? OPTION_TRAP_BTYPE : 0) |
	       (config->empty_fields ? OPTION_EMPTY_FIELDS : 0);
}

/* Mode 1 counts calls and compares no address. */
static uint64_t return_mask_of(const struct ntrace_encoder_config *config)
{
	switch (config->params->implicit_return) {
	case 2:
		return (UINT64_C(2) << config->return_compare_bits) - 2;
	case 3:
		return UINT64_MAX;
	default:
		return 0;
	}
}

static uint32_t attention_of(const struct ntrace_encoder_config *config)
{
	return ATTENTION_UNSYNCED | (config->range_count ? ATTENTION_RANGES : 0) |
	       (config->context ? ATTENTION_CONTEXT : 0) |
	       (config->zc_accesses ? ATTENTION_ACCESSES : 0);
}

int ntrace_encoder_init(struct ntrace_encoder *encoder, const struct ntrace_encoder_config *config)
{
	const struct ntrace_params *params;

	memset(encoder, 0, sizeof(*encoder));
	if (!complete(&encoder->config, &encoder->params, config) || refuse(&encoder->config)) {
		memset(encoder, 0, sizeof(*encoder));
		return NTRACE_ERR_INVALID;
	}
	config = &encoder->config;
	params = config->params;
	encoder->icnt_max = (UINT64_C(1) << config->icnt_bits) - 1;
	encoder->icnt_full = config->icnt_full ? config->icnt_full : encoder->icnt_max;
	encoder->hist_full = 1u << config->hist_bits;
	encoder->hist = 1;
	encoder->interval = config->sync_mode ? UINT64_C(1) << (config->sync_max + 4) : 0;
	encoder->address_mask = params->xlen == 32 ? UINT32_MAX : UINT64_MAX;
	encoder->sent_mask = encoder->address_mask;
	if (params->address_bits && params->address_bits < params->xlen)
		encoder->sent_mask = (UINT64_C(2) << params->address_bits) - 1;
	encoder->src = config->src << 6;
	encoder->fixed_bits = (uint8_t)(6 + params->src_bits);
	encoder->history = params->mode == NTRACE_MODE_HISTORY;
	encoder->return_mask = return_mask_of(config);
	encoder->options = options_of(config);
	encoder->attention = attention_of(config);
	encoder->priv_mask = config->priv_mask & PRIV_VALID & ~(1u << NTRACE_PRIV_D);
	/* 3-bit port: itypes 0..6; 4-bit port: all itypes except 6 and 7. */
	encoder->itypes = config->itype_bits == 3 ? 0x007f : 0xff3f;
	if (params->dialect == NTRACE_DIALECT_RC7)
		encoder->itypes |= 1u << ITYPE_RC7_DIRECT_JUMP;
	encoder->time_mask = params->timestamp_bits ? UINT64_MAX >> (64 - params->timestamp_bits) :
						      0;
	encoder->priv = PRIV_UNTOLD;
	/* The caller may move the encoder and free its strings. */
	encoder->config.params = NULL;
	encoder->params.isa = NULL;
	return 0;
}
