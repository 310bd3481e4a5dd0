// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writes the fields of a tandem stream. */
#include "layout.h"

static unsigned int put(uint8_t *at, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
	return bytes;
}

static bool fits(uint64_t value, unsigned int bytes)
{
	return !(value & ~tandem_mask(bytes));
}

static int write_register(const struct ntrace_tandem_params *params,
			  const struct ntrace_tandem_field *field, uint8_t *bytes)
{
	unsigned int width = params->xlen / 8;

	if (field->id >= NTRACE_TANDEM_REGISTERS)
		return NTRACE_ERR_INVALID;
	if (field->id >= NTRACE_TANDEM_FPR)
		width = params->flen / 8;
	if (!width)
		return NTRACE_ERR_INVALID;
	put(bytes + 1, field->id, 2);
	if (field->type == NTRACE_TANDEM_ADD) {
		if (field->value != (uint64_t)(int8_t)field->value)
			return NTRACE_ERR_INVALID;
		bytes[3] = (uint8_t)field->value;
		return 4;
	}
	if (field->type == NTRACE_TANDEM_OR)
		width = 1;
	if (!fits(field->value, width))
		return NTRACE_ERR_INVALID;
	return 3 + (int)put(bytes + 3, field->value, width);
}

static int write_request(const struct ntrace_tandem_params *params,
			 const struct ntrace_tandem_field *field, uint8_t *bytes)
{
	unsigned int mlen = tandem_mlen_bytes(params), width;

	if (field->op >= NTRACE_TANDEM_OPS || field->size > 3 || !fits(field->address, mlen))
		return NTRACE_ERR_INVALID;
	width = tandem_request_has_data(field->op) ? 1u << field->size : 0;
	if (!fits(field->value, width))
		return NTRACE_ERR_INVALID;
	put(bytes + 1, field->address, mlen);
	bytes[1 + mlen] = (uint8_t)(field->size << 4 | field->op);
	return 2 + (int)(mlen + put(bytes + 2 + mlen, field->value, width));
}

static int write_response(const struct ntrace_tandem_params *params,
			  const struct ntrace_tandem_field *field, uint8_t *bytes)
{
	unsigned int failed = field->size & NTRACE_TANDEM_FAILED;
	unsigned int size = field->size & ~NTRACE_TANDEM_FAILED, width;

	if (field->op >= NTRACE_TANDEM_OPS || size > 3)
		return NTRACE_ERR_INVALID;
	width = tandem_response_has_data(field->op, failed, params->flags) ? 1u << size : 0;
	if (!fits(field->value, width))
		return NTRACE_ERR_INVALID;
	bytes[1] = (uint8_t)(failed | size);
	return 2 + (int)put(bytes + 2, field->value, width);
}

static int write_state(const struct ntrace_tandem_params *params,
		       const struct ntrace_tandem_field *field, uint8_t *bytes)
{
	unsigned int width;

	width = tandem_state_bytes(field->id, params->xlen / 8, tandem_mlen_bytes(params));
	if (!width || !fits(field->value, width))
		return NTRACE_ERR_INVALID;
	bytes[1] = (uint8_t)field->id;
	return 2 + (int)put(bytes + 2, field->value, width);
}

int ntrace_tandem_write(const struct ntrace_tandem_params *params,
			const struct ntrace_tandem_field *field, uint8_t *bytes)
{
	bytes[0] = field->type;
	switch (field->type) {
	case NTRACE_TANDEM_BEGIN:
	case NTRACE_TANDEM_END:
	case NTRACE_TANDEM_NEXT_PC:
	case NTRACE_TANDEM_RESET:
	case NTRACE_TANDEM_INIT:
		return 1;
	case NTRACE_TANDEM_REGISTER:
	case NTRACE_TANDEM_ADD:
	case NTRACE_TANDEM_OR:
		return write_register(params, field, bytes);
	case NTRACE_TANDEM_STATE:
		return write_state(params, field, bytes);
	case NTRACE_TANDEM_REQUEST:
		return write_request(params, field, bytes);
	case NTRACE_TANDEM_RESPONSE:
		return write_response(params, field, bytes);
	case NTRACE_TANDEM_INSN16:
		return fits(field->value, 2) ? 1 + (int)put(bytes + 1, field->value, 2) :
					       NTRACE_ERR_INVALID;
	case NTRACE_TANDEM_INSN32:
		return fits(field->value, 4) ? 1 + (int)put(bytes + 1, field->value, 4) :
					       NTRACE_ERR_INVALID;
	default:
		return NTRACE_ERR_INVALID;
	}
}
