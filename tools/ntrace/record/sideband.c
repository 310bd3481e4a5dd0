// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sideband: perf records about mappings, names, forks, exits and switches while the trace runs,
 * and synthesized records, like those of `perf record`, for the state before.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <ntrace/perf.h>
#include <ntrace/recording.h>

#include "common/command.h"
#include "common/ui.h"
#include "contents.h"
#include "cpus.h"
#include "sideband.h"
#include "values.h"

/* Per CPU. A switch is 64 bytes: room for thousands while the recorder waits for a CPU. */
#define RING_SIZE (1u << 20)
/* With a sample of 304 bytes for each system call. */
#define VALUES_RING_SIZE (4u << 20)

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	size_t size;
};

struct sideband {
	struct ntrace_perf_writer *writer;
	char *path;
	int file; /* for sync_file_range() */
	unsigned int count;
	bool own; /* the events were opened here and are closed here */
	int *fds;
	int *cpus; /* of the rings */
	uint64_t *ids;
	struct ring *rings;
	size_t ring_size; /* of the largest ring */
	uint8_t *linear; /* ring_size bytes: records that wrap round */
	struct values *values; /* NULL: not recorded */
	struct contents *contents; /* the same */
	int *value_fds; /* VALUES_EVENTS per ring, opened here */
	unsigned int value_count;
	void (*look)(void *data, const struct perf_event_header *record);
	void *look_data;
	int (*divert)(void *data, const void *bytes, size_t count);
	void *divert_data;
	struct ntrace_keeper *keeper;
	uint64_t lost;
};

static int write_failed(const struct sideband *sideband, int error)
{
	if (error == NTRACE_ERR_IO && errno == ENOSPC)
		return fail("%s: disk full", sideband->path);
	return fail("%s: %s", sideband->path, error_text(error));
}

void sideband_attr(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	/* Large enough; a perf older than these headers refuses a larger one. */
	attr->size = PERF_ATTR_SIZE_VER5;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_IDENTIFIER;
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->context_switch = 1;
	attr->ksymbol = 1;
	attr->bpf_event = 1;
	attr->build_id = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = RING_SIZE / 4;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

static int open_failed(void)
{
	switch (errno) {
	case EACCES:
	case EPERM:
		return fail("no permission for perf events of the whole system: needs root or "
			    "CAP_PERFMON (kernel.perf_event_paranoid)");
	case ENOSYS:
		return fail("the kernel has no perf events");
	case EMFILE:
		return fail("too many open files: a higher limit is needed (ulimit -n)");
	default:
		return fail("perf event for the sideband: %s", strerror(errno));
	}
}

struct perf_event_mmap_page *sideband_ring(struct sideband *sideband, int fd, int cpu, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring *ring;
	void *map;

	if (sideband->count == CPUS_MAX) {
		errno = EMFILE;
		return NULL;
	}
	map = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return NULL;
	sideband->fds[sideband->count] = fd;
	sideband->cpus[sideband->count] = cpu;
	ring = &sideband->rings[sideband->count++];
	ring->page = map;
	ring->data = (const uint8_t *)map + page;
	ring->size = size;
	return map;
}

int sideband_event(struct sideband *sideband, const struct perf_event_attr *attr,
		   const uint64_t *ids, size_t count, const char *name)
{
	int error = ntrace_perf_writer_event(sideband->writer, attr, ids, count, name);

	return error ? write_failed(sideband, error) : EXIT_OK;
}

const struct values *sideband_values(const struct sideband *sideband)
{
	return sideband->values;
}

/* The samples of a CPU go to the ring of its other records, so that all are in one order. */
static int open_values(struct sideband *sideband, unsigned int cpu)
{
	int ring = sideband->fds[sideband->count - 1];

	for (unsigned int i = 0; sideband->values && i < VALUES_EVENTS; i++) {
		int fd = (int)syscall(SYS_perf_event_open, &sideband->values->attrs[i], -1,
				      (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			return open_failed();
		sideband->value_fds[sideband->value_count++] = fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring))
			return open_failed();
	}
	return EXIT_OK;
}

static int declare_values(struct sideband *sideband)
{
	uint64_t ids[CPUS_MAX];
	int error = EXIT_OK;

	for (unsigned int event = 0; !error && sideband->values && event < VALUES_EVENTS; event++) {
		for (unsigned int i = 0; i < sideband->count; i++)
			if (ioctl(sideband->value_fds[i * VALUES_EVENTS + event], PERF_EVENT_IOC_ID,
				  &ids[i]))
				return open_failed();
		error = sideband_event(sideband, &sideband->values->attrs[event], ids,
				       sideband->count, values_name(event));
	}
	return error;
}

int sideband_contents(struct sideband *sideband, const struct tid_list *tids)
{
	struct perf_event_attr attr;
	const uint64_t *ids;

	if (!sideband->values)
		return EXIT_OK;
	if (sideband->count && sideband->cpus[0] < 0) {
		warn("what system calls write to memory is not recorded with --per-thread, and "
		     "will be unknown");
		return EXIT_OK;
	}
	sideband->contents = contents_open(sideband->values->tracefs, sideband->fds, sideband->cpus,
					   sideband->count, tids);
	if (!sideband->contents) {
		warn("what system calls write to memory is not recorded, and will be unknown: BPF "
		     "programs of the kernel: %s",
		     strerror(errno));
		return EXIT_OK;
	}
	ids = contents_event(sideband->contents, &attr);
	return sideband_event(sideband, &attr, ids, sideband->count, CONTENTS_NAME);
}

int sideband_enable_values(struct sideband *sideband, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	if (sideband->contents && contents_enable(sideband->contents, on))
		return open_failed();

	for (unsigned int i = 0; i < sideband->value_count; i++)
		if (ioctl(sideband->value_fds[i], request, 0))
			return open_failed();
	return EXIT_OK;
}

static int open_cpu(struct sideband *sideband, const struct perf_event_attr *attr, unsigned int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return open_failed();
	if (!sideband_ring(sideband, fd, (int)cpu, sideband->ring_size) ||
	    ioctl(fd, PERF_EVENT_IOC_ID, &sideband->ids[sideband->count - 1])) {
		if (!sideband->count || sideband->fds[sideband->count - 1] != fd)
			close(fd);
		return open_failed();
	}
	return open_values(sideband, cpu);
}

int sideband_cpus(struct sideband *sideband)
{
	struct perf_event_attr attr;
	struct cpu_mask online;
	unsigned int cpu, i;
	int error = EXIT_OK;

	sideband->own = true;
	if (!cpu_mask_online(&online))
		return fail("/sys/devices/system/cpu/online cannot be read");
	sideband_attr(&attr);
	attr.mmap_data = sideband->values != NULL;
	attr.wakeup_watermark = (uint32_t)sideband->ring_size / 4;
	for (cpu = 0; !error && cpu < CPUS_MAX; cpu++) {
		if (!cpu_mask_has(&online, cpu))
			continue;
		error = open_cpu(sideband, &attr, cpu);
	}
	if (error)
		return error;
	error = sideband_event(sideband, &attr, sideband->ids, sideband->count, "dummy:HG");
	if (!error)
		error = declare_values(sideband);
	if (!error)
		error = sideband_contents(sideband, NULL);
	if (error)
		return error;
	for (i = 0; i < sideband->count; i++)
		if (ioctl(sideband->fds[i], PERF_EVENT_IOC_ENABLE, 0))
			return open_failed();
	return EXIT_OK;
}

static int find_values(struct sideband *sideband)
{
	sideband->values = calloc(1, sizeof(*sideband->values));
	sideband->value_fds = calloc(CPUS_MAX * VALUES_EVENTS, sizeof(*sideband->value_fds));
	if (!sideband->values || !sideband->value_fds)
		return fail("out of memory");
	return values_open(sideband->values);
}

int sideband_open(struct sideband **result, const char *path, bool values)
{
	struct sideband *sideband = calloc(1, sizeof(*sideband));
	int error;

	*result = sideband;
	if (!sideband)
		return fail("out of memory");
	sideband->file = -1;
	sideband->path = strdup(path);
	sideband->fds = calloc(CPUS_MAX, sizeof(*sideband->fds));
	sideband->cpus = calloc(CPUS_MAX, sizeof(*sideband->cpus));
	sideband->ids = calloc(CPUS_MAX, sizeof(*sideband->ids));
	sideband->rings = calloc(CPUS_MAX, sizeof(*sideband->rings));
	sideband->ring_size = values ? VALUES_RING_SIZE : RING_SIZE;
	sideband->linear = malloc(sideband->ring_size);
	if (!sideband->path || !sideband->fds || !sideband->cpus || !sideband->ids ||
	    !sideband->rings || !sideband->linear)
		return fail("out of memory");
	error = ntrace_perf_writer_open(&sideband->writer, path);
	if (error) {
		sideband->writer = NULL;
		return write_failed(sideband, error);
	}
	return values ? find_values(sideband) : EXIT_OK;
}

void sideband_look(struct sideband *sideband,
		   void (*look)(void *data, const struct perf_event_header *record), void *data)
{
	sideband->look = look;
	sideband->look_data = data;
}

int sideband_divert(struct sideband *sideband,
		    int (*take)(void *data, const void *bytes, size_t count), void *data)
{
	int error = ntrace_perf_writer_flush(sideband->writer);

	if (error)
		return write_failed(sideband, error);
	sideband->divert = take;
	sideband->divert_data = data;
	return EXIT_OK;
}

unsigned int sideband_fds(const struct sideband *sideband, const int **fds)
{
	*fds = sideband->fds;
	return sideband->count;
}

/* The records between tail and head as one piece of memory. */
static const uint8_t *ring_records(struct sideband *sideband, const struct ring *ring,
				   uint64_t tail, size_t size)
{
	size_t at = tail & (ring->size - 1), first = ring->size - at;

	if (size <= first)
		return ring->data + at;
	memcpy(sideband->linear, ring->data + at, first);
	memcpy(sideband->linear + first, ring->data, size - first);
	return sideband->linear;
}

/* Examines the records for the recorder; they are aligned to 8 bytes. */
static void look_at(struct sideband *sideband, const uint8_t *records, size_t size)
{
	struct perf_event_header header;
	uint64_t lost;
	size_t at;

	for (at = 0; at + sizeof(header) <= size; at += header.size) {
		memcpy(&header, records + at, sizeof(header));
		if (header.size < sizeof(header))
			break;
		/* struct { header; u64 id; u64 lost; } */
		if (header.type == PERF_RECORD_LOST && header.size >= 24) {
			memcpy(&lost, records + at + 16, sizeof(lost));
			sideband->lost += lost;
		}
		/* Only without memory: the recording goes on. */
		if (sideband->keeper)
			(void)ntrace_keeper_record(sideband->keeper, records + at, header.size);
		if (sideband->look)
			sideband->look(
				sideband->look_data,
				(const struct perf_event_header *)(const void *)(records + at));
	}
}

int sideband_drain(struct sideband *sideband)
{
	const uint8_t *records;
	uint64_t head, tail;
	struct ring *ring;
	unsigned int i;
	int error;

	for (i = 0; i < sideband->count; i++) {
		ring = &sideband->rings[i];
		head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		tail = ring->page->data_tail;
		if (head == tail)
			continue;
		records = ring_records(sideband, ring, tail, (size_t)(head - tail));
		look_at(sideband, records, (size_t)(head - tail));
		error = sideband->divert ? sideband->divert(sideband->divert_data, records,
							    (size_t)(head - tail)) :
					   ntrace_perf_writer_records(sideband->writer, records,
								      (size_t)(head - tail));
		__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
		if (error)
			return write_failed(sideband, error);
	}
	error = sideband->divert ? 0 : ntrace_perf_writer_finish_round(sideband->writer);
	return error ? write_failed(sideband, error) : EXIT_OK;
}

int sideband_save(struct sideband *sideband)
{
	int error = sideband_drain(sideband);

	if (error || sideband->divert)
		return error;
	error = ntrace_perf_writer_flush(sideband->writer);
	if (error)
		return write_failed(sideband, error);
	if (sideband->file < 0)
		sideband->file = open(sideband->path, O_RDONLY | O_CLOEXEC);
	if (sideband->file >= 0)
		sync_file_range(sideband->file, 0, 0, SYNC_FILE_RANGE_WRITE);
	return EXIT_OK;
}

/* ---- state at the start of the recording ---- */

/* A module or a kind of generated code; state while /proc/kallsyms is read. */
struct region {
	char module[64]; /* "" = the kernel itself */
	uint64_t first;
	uint64_t last;
};

struct kernel_symbols {
	struct sideband *sideband;
	uint64_t page;
	uint64_t start;
	uint64_t end;
	struct region region;
	char pending_name[256]; /* BPF program whose end is not known yet */
	uint64_t pending;
	int error;
};

static void put(struct kernel_symbols *symbols, const struct ntrace_sideband *record)
{
	int error = ntrace_perf_writer_sideband(symbols->sideband->writer, record);

	if (error && !symbols->error)
		symbols->error = error;
}

static void put_mapping(struct kernel_symbols *symbols, uint64_t address, uint64_t length,
			uint64_t offset, const char *name)
{
	struct ntrace_sideband record = {
		.type = NTRACE_SIDEBAND_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.cpumode_kernel = true,
		.executable = true,
		.pid = -1,
		.tid = 0,
		.address = address,
		.length = length,
		.offset = offset,
		.name = name,
	};

	put(symbols, &record);
}

/* A BPF program ends where the next one starts, or with its page. */
static void put_program(struct kernel_symbols *symbols, uint64_t next)
{
	uint64_t end = (symbols->pending | (symbols->page - 1)) + 1;
	struct ntrace_sideband record = {
		.type = NTRACE_SIDEBAND_KSYMBOL,
		.misc = PERF_RECORD_MISC_KERNEL,
		.code = PERF_RECORD_KSYMBOL_TYPE_BPF,
		.address = symbols->pending,
		.name = symbols->pending_name,
	};

	if (!symbols->pending)
		return;
	record.length = (next > symbols->pending && next < end ? next : end) - symbols->pending;
	symbols->pending = 0;
	put(symbols, &record);
}

static void end_region(struct kernel_symbols *symbols)
{
	const struct region *region = &symbols->region;
	char name[80];

	/* Code that the kernel generates has symbols, but is no module. */
	if (*region->module && strcmp(region->module, "bpf") &&
	    strncmp(region->module, "__builtin__", 11)) {
		snprintf(name, sizeof(name), "[%.64s]", region->module);
		put_mapping(symbols, region->first & ~(symbols->page - 1),
			    (region->last | (symbols->page - 1)) + 1 -
				    (region->first & ~(symbols->page - 1)),
			    0, name);
	}
	symbols->region.module[0] = '\0';
}

static void take_symbol(struct kernel_symbols *symbols, uint64_t address, const char *name,
			const char *module)
{
	struct region *region = &symbols->region;

	if (!strcmp(module, "bpf")) {
		put_program(symbols, address);
		symbols->pending = address;
		snprintf(symbols->pending_name, sizeof(symbols->pending_name), "%s", name);
	}
	if (strcmp(region->module, module)) {
		end_region(symbols);
		snprintf(region->module, sizeof(region->module), "%s", module);
		region->first = address;
		region->last = address;
	}
	if (address < region->first)
		region->first = address;
	if (address > region->last)
		region->last = address;
}

/*
 * One line: "ffffffff80002000 T name\t[module]". Most of the hundreds of
 * thousands are of no interest here and must not cost much.
 */
static void take_line(struct kernel_symbols *symbols, char *line)
{
	char *type = strchr(line, ' '), *name, *module;
	uint64_t address;

	if (!type || !type[1] || type[2] != ' ')
		return;
	name = type + 3;
	module = strchr(name, '[');
	if (!module && strncmp(name, "_stext", 6) && strncmp(name, "_etext", 6))
		return;
	address = strtoull(line, NULL, 16);
	name[strcspn(name, "\t\n")] = '\0';
	if (!module) {
		if (!strcmp(name, "_stext"))
			symbols->start = address;
		else if (!strcmp(name, "_etext"))
			symbols->end = address;
	} else if (address && (type[1] | 0x20) == 't') {
		module[strcspn(module, "]")] = '\0';
		take_symbol(symbols, address, name, module + 1);
	}
}

int sideband_kernel(struct sideband *sideband, const char *kallsyms)
{
	struct kernel_symbols symbols = {
		.sideband = sideband,
		.page = (uint64_t)sysconf(_SC_PAGESIZE),
	};
	char line[1024];
	FILE *file = fopen(kallsyms, "re");

	if (!file)
		return fail("%s: %s", kallsyms, strerror(errno));
	while (fgets(line, sizeof(line), file))
		take_line(&symbols, line);
	fclose(file);
	put_program(&symbols, 0);
	end_region(&symbols);
	if (!symbols.start || symbols.end <= symbols.start)
		return fail("%s does not say where the kernel's text is", kallsyms);
	put_mapping(&symbols, symbols.start, symbols.end - symbols.start, symbols.start,
		    "[kernel.kallsyms]_stext");
	return symbols.error ? write_failed(sideband, symbols.error) : EXIT_OK;
}

int sideband_tasks(struct sideband *sideband, pid_t pid)
{
	int error = pid ? ntrace_perf_write_task(sideband->writer, NULL, pid) :
			  ntrace_perf_write_tasks(sideband->writer, NULL);

	if (!error && sideband->keeper)
		error = ntrace_keeper_tasks(sideband->keeper, pid);
	return error ? write_failed(sideband, error) : EXIT_OK;
}

int sideband_keep(struct sideband *sideband, const char *directory)
{
	struct perf_event_attr attr;
	struct ntrace_keeper_options options = { .size = sizeof(options) };
	int error;

	sideband_attr(&attr);
	options.sample_type = attr.sample_type;
	options.data = sideband->values != NULL;
	error = ntrace_keeper_open(&sideband->keeper, directory, &options);
	return error ? fail("%s", error_text(error)) : EXIT_OK;
}

/* ---- end ---- */

static void end_keeper(struct sideband *sideband)
{
	struct ntrace_keeper_counts counts = { .size = sizeof(counts) };
	char number[UI_NUMBER_SIZE];

	if (!sideband->keeper || ntrace_keeper_close(sideband->keeper, &counts))
		return;
	sideband->keeper = NULL;
	if (counts.failed)
		warn("%s programs could not be copied into the recording (%s): their code will be "
		     "unknown",
		     ui_number(number, counts.failed), strerror(counts.error));
	if (counts.too_large)
		warn("%s programs or pieces of memory are too large to be copied into the "
		     "recording: code in them may be unknown: run ntrace archive while they are "
		     "here",
		     ui_number(number, counts.too_large));
	if (counts.gone_memory)
		warn("%s pieces of memory were executed and unmapped before they could be copied "
		     "into the recording, the first by process %" PRId32
		     ": code in them will be unknown",
		     ui_number(number, counts.gone_memory), counts.gone_pid);
	if (counts.unknown_data)
		warn("%s mapped data files are not copied into the recording, as they are larger "
		     "than 16 MiB, or were changed while it was made: values that come from them "
		     "will be unknown",
		     ui_number(number, counts.unknown_data));
}

static void write_features(struct sideband *sideband, int argc, char **argv)
{
	struct ntrace_perf_features features = {
		.size = sizeof(features),
		.version = "ntrace " NTRACE_TOOL_VERSION,
		.cpus_available = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.cpus_online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.argc = (uint32_t)argc,
		.argv = (const char *const *)argv,
	};
	struct timespec resolution;
	struct utsname names;

	if (!uname(&names)) {
		features.hostname = names.nodename;
		features.release = names.release;
		features.arch = names.machine;
	}
	if (!clock_getres(CLOCK_MONOTONIC, &resolution))
		features.clock_resolution_ns = (uint64_t)resolution.tv_nsec;
	if (sideband->values) {
		features.tracepoints = sideband->values->formats;
		features.tracepoints_size = sideband->values->formats_size;
	}
	ntrace_perf_writer_features(sideband->writer, &features);
}

int sideband_close(struct sideband *sideband, int argc, char **argv, uint64_t *lost)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int error = EXIT_OK, written;
	unsigned int i;

	if (!sideband)
		return EXIT_OK;
	for (i = 0; sideband->own && i < sideband->count; i++)
		ioctl(sideband->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	for (i = 0; i < sideband->value_count; i++)
		close(sideband->value_fds[i]);
	contents_close(sideband->contents);
	if (sideband->writer) {
		error = sideband_drain(sideband);
		write_features(sideband, argc, argv);
		written = ntrace_perf_writer_close(sideband->writer);
		if (written && !error)
			error = write_failed(sideband, written);
	}
	end_keeper(sideband);
	for (i = 0; i < sideband->count; i++) {
		munmap(sideband->rings[i].page, page + sideband->rings[i].size);
		if (sideband->own)
			close(sideband->fds[i]);
	}
	*lost = sideband->lost;
	if (sideband->file >= 0)
		close(sideband->file);
	free(sideband->path);
	free(sideband->fds);
	free(sideband->cpus);
	free(sideband->ids);
	free(sideband->rings);
	free(sideband->linear);
	free(sideband->value_fds);
	if (sideband->values)
		values_close(sideband->values);
	free(sideband->values);
	free(sideband);
	return error;
}
