// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * One flow for each hart in a stream, by SRC, made when a message with it comes. For streams whose
 * harts are not known before; a session knows them, and has a flow for each.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/flow.h>

#include "struct_size.h"
#include "wire/params.h"

struct ntrace_demux {
	struct ntrace_flow_config config;	/* configuration of every flow, except src */
	struct ntrace_params params;		/* config.params points here */
	char *isa;				/* string of params */
	unsigned int sources;			/* 2^src_bits */
	unsigned int limit;			/* maximum number of flows */
	unsigned int count;
	uint64_t refused[(1u << NTRACE_SRC_BITS_MAX) / 64];	/* SRC with a warning */
	struct ntrace_flow *flows[];
};

/* The caller's configuration and parameters in this version's size. */
static int copy_config(struct ntrace_flow_config *config, struct ntrace_params *params,
		       const struct ntrace_flow_config *callers)
{
	memset(config, 0, sizeof(*config));
	ntrace_params_init(params);
	if (STRUCT_TAKE(config, callers) || (config->params && STRUCT_TAKE(params, config->params)))
		return NTRACE_ERR_INVALID;
	config->params = params;
	return NTRACE_OK;
}

int ntrace_demux_new(struct ntrace_demux **demux, const struct ntrace_flow_config *config,
		     unsigned int limit)
{
	struct ntrace_flow_config full;
	struct ntrace_params params;
	struct ntrace_demux *made;
	struct ntrace_flow *flow;
	unsigned int sources;
	int error;

	if (!demux || !config || !limit || copy_config(&full, &params, config))
		return NTRACE_ERR_INVALID;
	*demux = NULL;
	/* ntrace_flow_new() checks the remaining fields. */
	error = ntrace_flow_new(&flow, &full);
	if (error)
		return error;
	ntrace_flow_free(flow);
	sources = 1u << params.src_bits;
	made = calloc(1, sizeof(*made) + sources * sizeof(made->flows[0]));
	if (!made)
		return NTRACE_ERR_NOMEM;
	if (params_copy(&made->params, &made->isa, &params)) {
		free(made);
		return NTRACE_ERR_NOMEM;
	}
	made->config = full;
	made->config.params = &made->params;
	if (full.space)
		ntrace_space_get(full.space);
	made->sources = sources;
	made->limit = limit;
	*demux = made;
	return NTRACE_OK;
}

void ntrace_demux_free(struct ntrace_demux *demux)
{
	if (!demux)
		return;
	for (unsigned int src = 0; src < demux->sources; src++)
		ntrace_flow_free(demux->flows[src]);
	if (demux->config.space)
		ntrace_space_put(demux->config.space);
	free(demux->isa);
	free(demux);
}

struct ntrace_flow *ntrace_demux_flow(const struct ntrace_demux *demux, unsigned int src)
{
	return src < demux->sources ? demux->flows[src] : NULL;
}

int ntrace_demux_add(struct ntrace_demux *demux, unsigned int src,
		     const struct ntrace_flow_config *config)
{
	struct ntrace_flow_config own = demux->config;
	struct ntrace_params params;
	int error;

	if (src >= demux->sources || demux->flows[src] ||
	    (config && copy_config(&own, &params, config)) ||
	    own.params->src_bits != demux->params.src_bits)
		return NTRACE_ERR_INVALID;
	if (demux->count == demux->limit)
		return NTRACE_ERR_NOSPACE;
	own.src = src;
	error = ntrace_flow_new(&demux->flows[src], &own);
	if (!error)
		demux->count++;
	return error;
}

/* Warns once of a SRC beyond the limit. */
static int refuse(struct ntrace_demux *demux, unsigned int src, uint64_t offset)
{
	static const struct ntrace_context nothing;
	struct ntrace_flow_event event = {
		.type = NTRACE_FLOW_WARNING,
		.code = NTRACE_FLOW_ERROR_SOURCE,
		.dialect = (uint8_t)demux->params.dialect,
		.src = (uint16_t)src,
		.value = src,
		.offset = offset,
		.context = &nothing,
	};

	if (demux->refused[src / 64] >> src % 64 & 1)
		return 0;
	demux->refused[src / 64] |= UINT64_C(1) << src % 64;
	return demux->config.event(demux->config.data, &event);
}

/* Passes the message to every flow, since its SRC is unknown. */
static int to_all(struct ntrace_demux *demux, const struct ntrace_message *message)
{
	int result = 0;

	for (unsigned int src = 0; src < demux->sources && !result; src++) {
		if (!demux->flows[src])
			continue;
		result = ntrace_flow_message(demux->flows[src], message);
	}
	return result;
}

/* Reports bytes outside any message to every flow. @report: a function of flows */
static int report_to_all(struct ntrace_demux *demux, uint64_t offset,
			 int (*report)(struct ntrace_flow *flow, uint64_t offset))
{
	int result = 0;

	for (unsigned int src = 0; src < demux->sources && !result; src++) {
		if (demux->flows[src])
			result = report(demux->flows[src], offset);
	}
	return result;
}

int ntrace_demux_message(struct ntrace_demux *demux, const struct ntrace_message *message)
{
	unsigned int src = 0;
	int error;

	if (demux->params.src_bits) {
		if (!ntrace_message_has(message, NTRACE_FIELD_SRC))
			return to_all(demux, message);
		src = (unsigned int)message->field[NTRACE_FIELD_SRC] & (demux->sources - 1);
	}
	if (!demux->flows[src]) {
		error = ntrace_demux_add(demux, src, NULL);
		if (error == NTRACE_ERR_NOSPACE)
			return refuse(demux, src, message->offset);
		if (error)
			return error;
	}
	return ntrace_flow_message(demux->flows[src], message);
}

int ntrace_demux_wire_error(struct ntrace_demux *demux, uint64_t offset)
{
	return report_to_all(demux, offset, ntrace_flow_wire_error);
}

int ntrace_demux_break(struct ntrace_demux *demux, uint64_t offset)
{
	return report_to_all(demux, offset, ntrace_flow_break);
}

int ntrace_demux_flush(struct ntrace_demux *demux)
{
	int result = 0;

	for (unsigned int src = 0; src < demux->sources && !result; src++) {
		if (demux->flows[src])
			result = ntrace_flow_flush(demux->flows[src]);
	}
	return result;
}

int ntrace_demux_end(struct ntrace_demux *demux, uint64_t pending)
{
	int result = 0;

	for (unsigned int src = 0; src < demux->sources && !result; src++) {
		if (demux->flows[src])
			result = ntrace_flow_end(demux->flows[src], pending);
	}
	return result;
}
