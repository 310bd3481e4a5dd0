// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include <ntrace/trace_control.h>

#include "tmc.h"

#define PART 0x961
/* Memory interfaces of 64 bits. */
#define WIDTH 3

#define FORMATTING (TMC_FFCR_ENABLE_FORMATTING | TMC_FFCR_ENABLE_TRIGGERS)

/* Consecutive links of a table; an endless list of them is an error. */
#define LINKS_MAX 64

static bool is_etr(const struct tmc *tmc)
{
	return tmc->parameters.type == TMC_DEVID_TYPE_ETR;
}

void tmc_power_up(struct tmc *tmc)
{
	const struct coresight_identity identity = {
		.part = PART,
		.revision = 1,
		.device_type = is_etr(tmc) ? CS_DEVTYPE_TRACE_SINK : CS_DEVTYPE_TRACE_FIFO,
		.device_id = tmc->parameters.type << TMC_DEVID_TYPE_SHIFT |
			     WIDTH << TMC_DEVID_WIDTH_SHIFT,
		.authentication = CS_AUTHSTATUS_NSID_ENABLED,
	};
	const struct tmc fresh = {
		.parameters = tmc->parameters,
		.ops = tmc->ops,
		.out = tmc->out,
		.opaque = tmc->opaque,
		.fault = { .mask = tmc->parameters.faults },
		.rsz = is_etr(tmc) ? 0 : tmc->parameters.ram_size / 4,
	};

	*tmc = fresh;
	coresight_init(&tmc->coresight, &identity);
	formatter_init(&tmc->formatter);
}

void tmc_init(struct tmc *tmc, const struct tmc_parameters *parameters, const struct tmc_ops *ops,
	      void *opaque, const struct trace_port *out)
{
	tmc->parameters = *parameters;
	tmc->ops = ops;
	tmc->opaque = opaque;
	tmc->out = out;
	tmc_power_up(tmc);
}

static uint32_t status(const struct tmc *tmc)
{
	bool drained = tmc->state == TMC_DISABLED || tmc->state == TMC_STOPPED;
	bool ready = drained && !(tmc->fault.mask & FAULT_NO_READY);

	return (tmc->full ? TMC_STS_FULL : 0) | (ready ? TMC_STS_READY : 0) |
	       (drained ? TMC_STS_FT_EMPTY : 0) | (tmc->written ? 0 : TMC_STS_EMPTY) |
	       (tmc->memory_error ? TMC_STS_MEM_ERR : 0);
}

static bool scatters(const struct tmc *tmc)
{
	return tmc->axictl & TMC_AXICTL_SCATTER_GATHER;
}

/* RWP as software reads it. */
static uint64_t write_pointer(const struct tmc *tmc)
{
	if (!(tmc->fault.mask & FAULT_POINTER_OUTSIDE))
		return tmc->rwp;
	/* The table is no part of the buffer. */
	return scatters(tmc) ? tmc->dba : tmc->dba + 4 * (uint64_t)tmc->rsz + 0x1000;
}

static uint64_t read_pointer(const struct tmc *tmc)
{
	return tmc->full ? tmc->rwp : tmc->rrp;
}

/* Registers that tell about the flow of trace. Return: false if @offset is none of them. */
static bool read_flow(const struct tmc *tmc, uint32_t offset, uint32_t *value)
{
	switch (offset) {
	case TMC_STS:
		*value = status(tmc);
		return true;
	case TMC_RRD:
		*value = TMC_RRD_NONE;
		return true;
	case TMC_RRP:
		*value = (uint32_t)read_pointer(tmc);
		return true;
	case TMC_RRPHI:
		*value = read_pointer(tmc) >> 32;
		return true;
	case TMC_RWP:
		*value = (uint32_t)write_pointer(tmc);
		return true;
	case TMC_RWPHI:
		*value = write_pointer(tmc) >> 32;
		return true;
	case TMC_FFSR:
		*value = (tmc->flushing ? TMC_FFSR_FLUSHING : 0) |
			 (tmc->state == TMC_RUNNING ? 0 : TMC_FFSR_STOPPED);
		return true;
	default:
		return false;
	}
}

uint32_t tmc_read(const struct tmc *tmc, uint32_t offset)
{
	uint32_t value;

	if (read_flow(tmc, offset, &value))
		return value;
	switch (offset) {
	case TMC_RSZ:
		return tmc->rsz;
	case TMC_TRG:
		return tmc->trg;
	case TMC_CTL:
		return tmc->capture;
	case TMC_MODE:
		return tmc->mode;
	case TMC_BUFWM:
		return tmc->bufwm;
	case TMC_AXICTL:
		return tmc->axictl;
	case TMC_DBALO:
		return (uint32_t)tmc->dba;
	case TMC_DBAHI:
		return tmc->dba >> 32;
	case TMC_FFCR:
		return tmc->ffcr | (tmc->flushing ? TMC_FFCR_FLUSH : 0);
	case FAULT_REGISTER:
		return tmc->fault.mask;
	default:
		/* The levels of the buffer, LBUFLEVEL and CBUFLEVEL, are 0. */
		return coresight_read(&tmc->coresight, offset);
	}
}

/* The bus answered with an error: capture ends here. */
static void fail(struct tmc *tmc)
{
	tmc->memory_error = true;
	tmc->state = TMC_STOPPED;
}

static uint32_t from_bytes(const uint8_t bytes[4])
{
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Goes to the next page of the table. Return: whether there is one. */
static bool next_page(struct tmc *tmc)
{
	if (tmc->last)
		tmc->entry = tmc->dba;
	for (unsigned int links = 0; links < LINKS_MAX; links++) {
		uint8_t bytes[4];
		uint32_t entry;

		if (!tmc->ops->read_memory(tmc->opaque, tmc->entry, bytes, sizeof(bytes)))
			return false;
		entry = from_bytes(bytes);
		tmc->entry += sizeof(bytes);
		switch (entry & TMC_SG_TYPE_MASK) {
		case TMC_SG_TABLE:
			tmc->entry = TMC_SG_ADDRESS(entry);
			continue;
		case TMC_SG_LAST:
		case TMC_SG_PAGE:
			tmc->last = (entry & TMC_SG_TYPE_MASK) == TMC_SG_LAST;
			tmc->rwp = TMC_SG_ADDRESS(entry);
			tmc->end = tmc->rwp + TMC_SG_PAGE_BYTES;
			return true;
		default:
			return false;
		}
	}
	return false;
}

/* Moves RWP after a frame. */
static void step(struct tmc *tmc)
{
	tmc->written = true;
	tmc->rwp += TMC_FRAME_BYTES;
	if (tmc->rwp != tmc->end)
		return;
	if (!scatters(tmc)) {
		tmc->rwp = tmc->dba;
		tmc->full = true;
		return;
	}
	tmc->full |= tmc->last;
	if (!next_page(tmc))
		fail(tmc);
}

static void write_frame(struct tmc *tmc, const uint8_t frame[FORMATTER_FRAME])
{
	if (tmc->fault.mask & FAULT_MEMORY_ERROR ||
	    !tmc->ops->write_memory(tmc->opaque, tmc->rwp, frame, FORMATTER_FRAME)) {
		fail(tmc);
		return;
	}
	step(tmc);
}

static bool legal_setup(const struct tmc *tmc)
{
	uint64_t size = 4 * (uint64_t)tmc->rsz;

	if (!(tmc->ffcr & FORMATTING))
		return false;
	if (!is_etr(tmc))
		return tmc->mode == TMC_MODE_HARDWARE_FIFO;
	return tmc->mode == TMC_MODE_CIRCULAR && size && !(size % TMC_FRAME_BYTES) &&
	       !(tmc->dba % TMC_FRAME_BYTES);
}

static void open_buffer(struct tmc *tmc)
{
	tmc->ops->open(tmc->opaque, tmc->dba);
	tmc->last = false;
	tmc->entry = tmc->dba;
	tmc->rwp = tmc->dba;
	tmc->end = tmc->dba + 4 * (uint64_t)tmc->rsz;
	if (scatters(tmc) && !next_page(tmc))
		fail(tmc);
	tmc->rrp = tmc->rwp;
}

static void write_control(struct tmc *tmc, bool capture)
{
	if (capture == tmc->capture)
		return;
	tmc->capture = capture;
	tmc->flushing = false;
	if (!capture) {
		tmc->state = TMC_DISABLED;
		return;
	}
	tmc->state = TMC_RUNNING;
	tmc->full = false;
	tmc->written = false;
	tmc->memory_error = false;
	tmc->idle = !legal_setup(tmc);
	formatter_init(&tmc->formatter);
	if (tmc->idle)
		tmc->software_errors++;
	else if (is_etr(tmc))
		open_buffer(tmc);
}

static void write_ffcr(struct tmc *tmc, uint32_t value)
{
	uint32_t changed = value ^ tmc->ffcr;

	/* Software may flush and stop a TMC that runs, but not change its format. */
	if (tmc->capture && changed & FORMATTING) {
		tmc->software_errors++;
		return;
	}
	tmc->ffcr = value & TMC_FFCR_MASK & ~TMC_FFCR_FLUSH;
	if (value & TMC_FFCR_FLUSH && tmc->state == TMC_RUNNING)
		tmc->flushing = true;
}

static uint64_t set_low(uint64_t old, uint32_t value)
{
	return (old >> 32) << 32 | value;
}

static uint64_t set_high(uint64_t old, uint32_t value)
{
	return (uint64_t)(value & TMC_ADDRESS_HIGH_MASK) << 32 | (uint32_t)old;
}

/* Registers that are frozen while TraceCaptEn is 1. */
static void write_setup(struct tmc *tmc, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case TMC_RSZ:
		tmc->rsz = is_etr(tmc) ? value : tmc->rsz;
		break;
	case TMC_RRP:
		tmc->rrp = set_low(tmc->rrp, value);
		break;
	case TMC_RRPHI:
		tmc->rrp = set_high(tmc->rrp, value);
		break;
	case TMC_RWP:
		tmc->rwp = set_low(tmc->rwp, value);
		break;
	case TMC_RWPHI:
		tmc->rwp = set_high(tmc->rwp, value);
		break;
	case TMC_TRG:
		tmc->trg = value;
		break;
	case TMC_MODE:
		tmc->mode = value & TMC_MODE_MASK;
		break;
	case TMC_BUFWM:
		tmc->bufwm = value;
		break;
	case TMC_AXICTL:
		tmc->axictl = is_etr(tmc) ? value & TMC_AXICTL_MASK : 0;
		break;
	case TMC_DBALO:
		tmc->dba = is_etr(tmc) ? set_low(tmc->dba, value) : 0;
		break;
	case TMC_DBAHI:
		tmc->dba = is_etr(tmc) ? set_high(tmc->dba, value) : 0;
		break;
	}
}

void tmc_write(struct tmc *tmc, uint32_t offset, uint32_t value)
{
	if (offset == FAULT_REGISTER) {
		tmc->fault.mask = value & FAULT_ALL;
		return;
	}
	if (!tmc->coresight.unlocked && offset != CS_LAR) {
		tmc->software_errors++;
		return;
	}
	if (coresight_write(&tmc->coresight, offset, value))
		return;
	if (offset == TMC_CTL)
		write_control(tmc, value & TMC_CTL_CAPTURE);
	else if (offset == TMC_FFCR)
		write_ffcr(tmc, value);
	else if (tmc->capture)
		tmc->software_errors++;
	else
		write_setup(tmc, offset, value);
}

void tmc_advance(struct tmc *tmc)
{
	uint8_t frame[FORMATTER_FRAME];

	if (tmc->state == TMC_STOPPING && !--tmc->drain)
		tmc->state = TMC_STOPPED;
	if (!tmc->flushing || tmc->fault.mask & FAULT_NO_FLUSH)
		return;
	tmc->flushing = false;
	if (tmc->state == TMC_RUNNING && formatter_flush(&tmc->formatter, frame))
		write_frame(tmc, frame);
	if (tmc->state == TMC_RUNNING && tmc->ffcr & TMC_FFCR_STOP_ON_FLUSH) {
		tmc->state = TMC_STOPPING;
		tmc->drain = TMC_DRAIN;
	}
}

static bool captures(const struct tmc *tmc)
{
	return tmc->state == TMC_RUNNING && !tmc->idle;
}

bool tmc_ready(const struct tmc *tmc)
{
	return !captures(tmc) || is_etr(tmc) || trace_port_ready(tmc->out);
}

static void format(struct tmc *tmc, uint8_t id, const uint8_t *data, size_t size)
{
	uint8_t frame[FORMATTER_FRAME];

	for (size_t i = 0; i < size; i++) {
		bool frames = captures(tmc);

		*(frames ? &tmc->bytes : &tmc->dropped) += 1;
		if (frames && formatter_put(&tmc->formatter, id, data[i], frame))
			write_frame(tmc, frame);
	}
}

bool tmc_put(struct tmc *tmc, uint8_t id, const uint8_t *data, size_t size)
{
	bool taken;

	if (!captures(tmc) || id < TR_ATB_ID_MIN || id > TR_ATB_ID_MAX) {
		tmc->dropped += size;
		return true;
	}
	if (is_etr(tmc)) {
		format(tmc, id, data, size);
		return true;
	}
	taken = trace_port_put(tmc->out, id, data, size);
	*(taken ? &tmc->bytes : &tmc->dropped) += size;
	return taken;
}
