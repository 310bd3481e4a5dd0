// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Conversion of sideband records from bytes to fields (linux/perf_event.h, enum perf_event_type).
 */
#include <string.h>

#include "record.h"

/* Reads the trailer that ends at @end; missing fields are not changed. */
static void parse_trailer(const uint8_t *trailer, uint64_t sample_type,
			  struct ntrace_sideband *sideband)
{
	bool is_aux = sideband->type == NTRACE_SIDEBAND_AUX ||
		      sideband->type == NTRACE_SIDEBAND_ITRACE_START;
	bool has_no_task = sideband->type == NTRACE_SIDEBAND_SWITCH ||
			   sideband->type == NTRACE_SIDEBAND_SWITCH_CPU_WIDE ||
			   sideband->type == NTRACE_SIDEBAND_AUX;

	if (sample_type & PERF_SAMPLE_TID) {
		if (has_no_task) {
			memcpy(&sideband->pid, trailer, 4);
			memcpy(&sideband->tid, trailer + 4, 4);
		}
		trailer += 8;
	}
	if (sample_type & PERF_SAMPLE_TIME) {
		memcpy(&sideband->time, trailer, 8);
		trailer += 8;
	}
	if (sample_type & PERF_SAMPLE_ID) {
		if (is_aux)
			memcpy(&sideband->id, trailer, 8);
		trailer += 8;
	}
	if (sample_type & PERF_SAMPLE_STREAM_ID)
		trailer += 8;
	if (sample_type & PERF_SAMPLE_CPU) {
		memcpy(&sideband->cpu, trailer, 4);
		trailer += 8;
	}
	if (is_aux && sample_type & PERF_SAMPLE_IDENTIFIER)
		memcpy(&sideband->id, trailer, 8);
}

/* A string that must end within its @size bytes. */
static int take_name(struct ntrace_sideband *sideband, const uint8_t *body, size_t size)
{
	if (!memchr(body, 0, size))
		return NTRACE_ERR_TRUNCATED;
	sideband->name = (const char *)body;
	return 0;
}

static void take_mapping(struct ntrace_sideband *sideband, const struct record_mmap *record)
{
	sideband->pid = (int32_t)record->pid;
	sideband->tid = (int32_t)record->tid;
	sideband->address = record->address;
	sideband->length = record->length;
	sideband->offset = record->offset;
}

static int parse_mmap(struct ntrace_sideband *sideband, const uint8_t *body, size_t size)
{
	struct record_mmap record;

	if (size < sizeof(record))
		return NTRACE_ERR_TRUNCATED;
	memcpy(&record, body, sizeof(record));
	take_mapping(sideband, &record);
	/* The bit means a data mapping: memory that is not executable. */
	sideband->executable = !(sideband->misc & MISC_BIT_13);
	return take_name(sideband, body + sizeof(record), size - sizeof(record));
}

static int parse_mmap2(struct ntrace_sideband *sideband, const uint8_t *body, size_t size)
{
	struct record_mmap2 record;

	if (size < sizeof(record))
		return NTRACE_ERR_TRUNCATED;
	memcpy(&record, body, sizeof(record));
	take_mapping(sideband, &record.mmap);
	sideband->executable = record.prot & PROT_EXEC_BIT;
	sideband->writable = record.prot & PROT_WRITE_BIT;
	sideband->shared = record.flags & MAP_SHARED_BIT;
	if (!(sideband->misc & MISC_BIT_14)) {
		sideband->device_major = record.major;
		sideband->device_minor = record.minor;
		sideband->inode = record.inode;
		sideband->inode_generation = record.generation;
	} else if (record.build_id_size <= sizeof(record.build_id)) {
		sideband->build_id_size = record.build_id_size;
		memcpy(sideband->build_id, record.build_id, record.build_id_size);
	}
	return take_name(sideband, body + sizeof(record), size - sizeof(record));
}

static int parse_task(struct ntrace_sideband *sideband, const uint8_t *body, size_t size)
{
	struct record_task record;

	if (size < sizeof(record))
		return NTRACE_ERR_TRUNCATED;
	memcpy(&record, body, sizeof(record));
	sideband->pid = (int32_t)record.pid;
	sideband->tid = (int32_t)record.tid;
	sideband->other_pid = (int32_t)record.ppid;
	sideband->other_tid = (int32_t)record.ptid;
	if (!sideband->time)
		sideband->time = record.time;
	return 0;
}

static int parse_ksymbol(struct ntrace_sideband *sideband, const uint8_t *body, size_t size)
{
	struct record_ksymbol record;

	if (size < sizeof(record))
		return NTRACE_ERR_TRUNCATED;
	memcpy(&record, body, sizeof(record));
	sideband->address = record.address;
	sideband->length = record.length;
	sideband->code = record.type;
	sideband->unregister = record.flags & KSYMBOL_UNREGISTER;
	return take_name(sideband, body + sizeof(record), size - sizeof(record));
}

static int parse_text_poke(struct ntrace_sideband *sideband, const uint8_t *body, size_t size)
{
	struct record_text_poke record;

	if (size < RECORD_TEXT_POKE_SIZE)
		return NTRACE_ERR_TRUNCATED;
	memcpy(&record, body, RECORD_TEXT_POKE_SIZE);
	if ((size_t)record.old_length + record.new_length > size - RECORD_TEXT_POKE_SIZE)
		return NTRACE_ERR_TRUNCATED;
	sideband->address = record.address;
	sideband->old_length = record.old_length;
	sideband->new_length = record.new_length;
	sideband->old_bytes = body + RECORD_TEXT_POKE_SIZE;
	sideband->new_bytes = sideband->old_bytes + record.old_length;
	return 0;
}

static int parse_aux(struct ntrace_sideband *sideband, const uint8_t *body, size_t size)
{
	struct record_aux record;

	if (size < sizeof(record))
		return NTRACE_ERR_TRUNCATED;
	memcpy(&record, body, sizeof(record));
	sideband->offset = record.offset;
	sideband->length = record.size;
	sideband->code = (uint32_t)record.flags;
	return 0;
}

static int parse_small(struct ntrace_sideband *sideband, const uint8_t *body, size_t size)
{
	uint64_t value[2] = { 0 };
	struct record_bpf bpf;
	int32_t pids[2];

	switch (sideband->type) {
	case NTRACE_SIDEBAND_COMM:
		if (size < sizeof(pids))
			return NTRACE_ERR_TRUNCATED;
		memcpy(pids, body, sizeof(pids));
		sideband->pid = pids[0];
		sideband->tid = pids[1];
		sideband->exec = sideband->misc & MISC_BIT_13;
		return take_name(sideband, body + sizeof(pids), size - sizeof(pids));
	case NTRACE_SIDEBAND_LOST:
		if (size < sizeof(value))
			return NTRACE_ERR_TRUNCATED;
		memcpy(value, body, sizeof(value));
		sideband->id = value[0];
		sideband->count = value[1];
		return 0;
	case NTRACE_SIDEBAND_LOST_SAMPLES:
		if (size < sizeof(value[0]))
			return NTRACE_ERR_TRUNCATED;
		memcpy(value, body, sizeof(value[0]));
		sideband->count = value[0];
		return 0;
	case NTRACE_SIDEBAND_ITRACE_START:
		if (size < sizeof(pids))
			return NTRACE_ERR_TRUNCATED;
		memcpy(pids, body, sizeof(pids));
		sideband->pid = pids[0];
		sideband->tid = pids[1];
		return 0;
	case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
		if (size < sizeof(pids))
			return NTRACE_ERR_TRUNCATED;
		memcpy(pids, body, sizeof(pids));
		sideband->other_pid = pids[0];
		sideband->other_tid = pids[1];
		return 0;
	case NTRACE_SIDEBAND_BPF_EVENT:
		if (size < sizeof(bpf))
			return NTRACE_ERR_TRUNCATED;
		memcpy(&bpf, body, sizeof(bpf));
		sideband->code = bpf.type;
		sideband->id = bpf.id;
		return 0;
	default: /* SWITCH has no body */
		return 0;
	}
}

static bool is_sideband(uint32_t type)
{
	switch (type) {
	case NTRACE_SIDEBAND_MMAP:
	case NTRACE_SIDEBAND_LOST:
	case NTRACE_SIDEBAND_COMM:
	case NTRACE_SIDEBAND_EXIT:
	case NTRACE_SIDEBAND_FORK:
	case NTRACE_SIDEBAND_MMAP2:
	case NTRACE_SIDEBAND_AUX:
	case NTRACE_SIDEBAND_ITRACE_START:
	case NTRACE_SIDEBAND_LOST_SAMPLES:
	case NTRACE_SIDEBAND_SWITCH:
	case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
	case NTRACE_SIDEBAND_KSYMBOL:
	case NTRACE_SIDEBAND_BPF_EVENT:
	case NTRACE_SIDEBAND_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

int record_parse(const struct ntrace_perf_record *record, uint64_t sample_type,
		 struct ntrace_sideband *sideband)
{
	const uint8_t *body = record->data + sizeof(struct perf_event_header);
	size_t size = record->size - sizeof(struct perf_event_header);
	size_t trailer = trailer_size(sample_type);

	memset(sideband, 0, sizeof(*sideband));
	sideband->type = record->type;
	sideband->misc = record->misc;
	sideband->cpu = NTRACE_SIDEBAND_NO_CPU;
	sideband->pid = -1;
	sideband->tid = -1;
	sideband->other_pid = -1;
	sideband->other_tid = -1;
	sideband->name = "";
	sideband->position = record->position;
	if (!is_sideband(record->type))
		return NTRACE_ERR_UNSUPPORTED;
	if (size < trailer)
		return NTRACE_ERR_TRUNCATED;
	size -= trailer;
	parse_trailer(body + size, sample_type, sideband);
	sideband->cpumode_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
				   PERF_RECORD_MISC_KERNEL;
	switch (record->type) {
	case NTRACE_SIDEBAND_MMAP:
		return parse_mmap(sideband, body, size);
	case NTRACE_SIDEBAND_MMAP2:
		return parse_mmap2(sideband, body, size);
	case NTRACE_SIDEBAND_FORK:
	case NTRACE_SIDEBAND_EXIT:
		return parse_task(sideband, body, size);
	case NTRACE_SIDEBAND_KSYMBOL:
		return parse_ksymbol(sideband, body, size);
	case NTRACE_SIDEBAND_TEXT_POKE:
		return parse_text_poke(sideband, body, size);
	case NTRACE_SIDEBAND_AUX:
		return parse_aux(sideband, body, size);
	case NTRACE_SIDEBAND_SWITCH:
	case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
		sideband->out = record->misc & MISC_BIT_13;
		sideband->preempt = record->misc & MISC_BIT_14;
		return parse_small(sideband, body, size);
	default:
		return parse_small(sideband, body, size);
	}
}

/* ---- from fields to bytes ---- */

struct builder {
	uint8_t *bytes;
	size_t used;
	size_t room;
	bool full;
};

static void put(struct builder *builder, const void *data, size_t size)
{
	if (size > builder->room - builder->used) {
		builder->full = true;
		return;
	}
	memcpy(builder->bytes + builder->used, data, size);
	builder->used += size;
}

/* Bodies of records are padded with zero bytes to 8. */
static void pad(struct builder *builder)
{
	static const uint8_t zero[8];

	put(builder, zero, -builder->used & 7);
}

static void put_name(struct builder *builder, const char *name)
{
	put(builder, name, strlen(name) + 1);
	pad(builder);
}

static void put_trailer(struct builder *builder, const struct ntrace_sideband *sideband,
			uint64_t sample_type, uint64_t id)
{
	int32_t pids[2] = { sideband->pid, sideband->tid };
	uint32_t cpu[2] = { sideband->cpu, 0 };

	if (sample_type & PERF_SAMPLE_TID)
		put(builder, pids, sizeof(pids));
	if (sample_type & PERF_SAMPLE_TIME)
		put(builder, &sideband->time, 8);
	if (sample_type & PERF_SAMPLE_ID)
		put(builder, &id, 8);
	if (sample_type & PERF_SAMPLE_STREAM_ID)
		put(builder, &id, 8);
	if (sample_type & PERF_SAMPLE_CPU)
		put(builder, cpu, sizeof(cpu));
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		put(builder, &id, 8);
}

static void put_mapping(struct builder *builder, const struct ntrace_sideband *sideband)
{
	struct record_mmap2 record = {
		.mmap.pid = (uint32_t)sideband->pid,
		.mmap.tid = (uint32_t)sideband->tid,
		.mmap.address = sideband->address,
		.mmap.length = sideband->length,
		.mmap.offset = sideband->offset,
		.prot = 1u | (sideband->executable ? PROT_EXEC_BIT : 0) |
			(sideband->writable ? PROT_WRITE_BIT : 0),
		.flags = sideband->shared ? MAP_SHARED_BIT : MAP_PRIVATE_BIT,
	};

	if (sideband->type == NTRACE_SIDEBAND_MMAP2) {
		if (sideband->build_id_size) {
			record.build_id_size = sideband->build_id_size;
			memcpy(record.build_id, sideband->build_id, sizeof(record.build_id));
		} else {
			record.major = sideband->device_major;
			record.minor = sideband->device_minor;
			record.inode = sideband->inode;
			record.generation = sideband->inode_generation;
		}
		put(builder, &record, sizeof(record));
	} else {
		/* MMAP starts with the same fields. */
		put(builder, &record.mmap, sizeof(record.mmap));
	}
	put_name(builder, sideband->name);
}

static void put_text_poke(struct builder *builder, const struct ntrace_sideband *sideband)
{
	struct record_text_poke record = {
		.address = sideband->address,
		.old_length = sideband->old_length,
		.new_length = sideband->new_length,
	};

	put(builder, &record, RECORD_TEXT_POKE_SIZE);
	put(builder, sideband->old_bytes, sideband->old_length);
	put(builder, sideband->new_bytes, sideband->new_length);
	pad(builder);
}

static void put_task(struct builder *builder, const struct ntrace_sideband *sideband)
{
	struct record_task record = {
		.pid = (uint32_t)sideband->pid,
		.ppid = (uint32_t)sideband->other_pid,
		.tid = (uint32_t)sideband->tid,
		.ptid = (uint32_t)sideband->other_tid,
		.time = sideband->time,
	};

	put(builder, &record, sizeof(record));
}

static bool put_body(struct builder *builder, const struct ntrace_sideband *sideband)
{
	const int32_t own[2] = { sideband->pid, sideband->tid };
	const int32_t other[2] = { sideband->other_pid, sideband->other_tid };
	struct record_ksymbol ksymbol = {
		.address = sideband->address,
		.length = (uint32_t)sideband->length,
		.type = (uint16_t)sideband->code,
		.flags = sideband->unregister ? KSYMBOL_UNREGISTER : 0,
	};
	struct record_bpf bpf = { .type = (uint16_t)sideband->code, .id = (uint32_t)sideband->id };
	struct record_aux aux = { sideband->offset, sideband->length, sideband->code };

	switch (sideband->type) {
	case NTRACE_SIDEBAND_MMAP:
	case NTRACE_SIDEBAND_MMAP2:
		put_mapping(builder, sideband);
		return true;
	case NTRACE_SIDEBAND_COMM:
		put(builder, own, sizeof(own));
		put_name(builder, sideband->name);
		return true;
	case NTRACE_SIDEBAND_FORK:
	case NTRACE_SIDEBAND_EXIT:
		put_task(builder, sideband);
		return true;
	case NTRACE_SIDEBAND_LOST:
		put(builder, &sideband->id, 8);
		put(builder, &sideband->count, 8);
		return true;
	case NTRACE_SIDEBAND_LOST_SAMPLES:
		put(builder, &sideband->count, 8);
		return true;
	case NTRACE_SIDEBAND_SWITCH:
		return true;
	case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
		put(builder, other, sizeof(other));
		return true;
	case NTRACE_SIDEBAND_KSYMBOL:
		put(builder, &ksymbol, sizeof(ksymbol));
		put_name(builder, sideband->name);
		return true;
	case NTRACE_SIDEBAND_AUX:
		put(builder, &aux, sizeof(aux));
		return true;
	case NTRACE_SIDEBAND_ITRACE_START:
		put(builder, own, sizeof(own));
		return true;
	case NTRACE_SIDEBAND_BPF_EVENT:
		put(builder, &bpf, sizeof(bpf));
		return true;
	case NTRACE_SIDEBAND_TEXT_POKE:
		put_text_poke(builder, sideband);
		return true;
	default:
		return false;
	}
}

static uint16_t made_misc(const struct ntrace_sideband *sideband)
{
	uint16_t misc = sideband->misc;

	switch (sideband->type) {
	case NTRACE_SIDEBAND_MMAP:
	case NTRACE_SIDEBAND_MMAP2:
		if (!(misc & PERF_RECORD_MISC_CPUMODE_MASK))
			misc |= sideband->cpumode_kernel ? PERF_RECORD_MISC_KERNEL :
							   PERF_RECORD_MISC_USER;
		if (!sideband->executable)
			misc |= MISC_BIT_13;
		if (sideband->type == NTRACE_SIDEBAND_MMAP2 && sideband->build_id_size)
			misc |= MISC_BIT_14;
		break;
	case NTRACE_SIDEBAND_COMM:
		if (sideband->exec)
			misc |= MISC_BIT_13;
		break;
	case NTRACE_SIDEBAND_SWITCH:
	case NTRACE_SIDEBAND_SWITCH_CPU_WIDE:
		if (sideband->out)
			misc |= MISC_BIT_13;
		if (sideband->preempt)
			misc |= MISC_BIT_14;
		break;
	}
	return misc;
}

size_t record_build(const struct ntrace_sideband *sideband, uint64_t sample_type, uint64_t id,
		    uint8_t *bytes, size_t room)
{
	struct perf_event_header header = { .type = sideband->type };
	struct builder builder = { .bytes = bytes, .room = room };

	put(&builder, &header, sizeof(header));
	if (sideband->build_id_size > sizeof(sideband->build_id) || !put_body(&builder, sideband))
		return 0;
	put_trailer(&builder, sideband, sample_type, id);
	if (builder.full || builder.used > UINT16_MAX)
		return 0;
	header.misc = made_misc(sideband);
	header.size = (uint16_t)builder.used;
	memcpy(bytes, &header, sizeof(header));
	return builder.used;
}
