// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what CPUs execute while their trace is made.
 *
 * Each stream has a thread that decodes it straight from the data area of its device. The bytes are
 * consumed when they have been decoded, so a thread that is too slow makes the area full, and the driver
 * drops trace and counts it. Nothing else waits in memory: the sideband is bounded, too
 * (live_sideband.c), and counts that exceed a limit are sorted on disk, as by `ntrace count`.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/membarrier.h>

#include <ntrace/live.h>

#include "common/command.h"
#include "common/counts_sum.h"
#include "common/input.h"
#include "common/output_file.h"
#include "common/ui.h"
#include "directory.h"
#include "hold.h"
#include "live.h"
#include "live_sideband.h"

/* Largest piece that is decoded before it is consumed. */
#define PIECE_MAX (64u << 10)
/* The kernel wakes readers of a data area that is a quarter full; less trace waits this long. */
#define TRACE_MS 100
/* To wait for another decoder of the same data area, which is slower. */
#define BEHIND_MS 10
/* Longer than a record takes from its time to its place in the ring; without membarrier(). */
#define RECORD_MS 20
/* As of `ntrace count`: 1 GiB for all streams, 72 bytes for a trace. */
#define TRACES_MAX ((UINT64_C(1) << 30) / 72)

/**
 * struct live_stream - one hart
 * @device: the hart's
 * @source: device that delivers the trace: itself, or the leader of a shared sink
 * @position: bytes before it have been decoded; UINT64_MAX: no more are needed
 * @given: bytes from @position on are being decoded
 * @available: bytes before it may be decoded
 * @until_ns: and were made before this time
 * @traces_max: counts move to the sum above this number of traces
 */
struct live_stream {
	struct live *live;
	const struct device *device;
	const struct device *source;
	unsigned int number;
	struct recording recording;
	struct ntrace_profile *profile;
	pthread_t thread;
	bool started;
	uint64_t position;
	uint64_t given;
	uint64_t available;
	uint64_t until_ns;
	uint64_t decoded;
	size_t traces_max;
	uint64_t gaps;
	int error;
	int saved_errno;
};

static void sleep_ms(long milliseconds)
{
	const struct timespec time = { .tv_nsec = milliseconds * 1000000 };

	nanosleep(&time, NULL);
}

/* ---- trace ---- */

/* Frees the bytes that all decoders of this data area have decoded. Return: 0 or errno. */
static int consume(struct live_stream *stream)
{
	struct ntrace_consume consume = { .size = sizeof(consume), .tail = UINT64_MAX };
	struct live *live = stream->live;
	unsigned int i;
	int error = 0;

	pthread_mutex_lock(&live->lock);
	stream->position += stream->given;
	stream->decoded += stream->given;
	stream->given = 0;
	for (i = 0; i < live->count; i++)
		if (live->streams[i].source == stream->source &&
		    live->streams[i].position < consume.tail)
			consume.tail = live->streams[i].position;
	if (consume.tail > stream->source->control->tail &&
	    ioctl(stream->source->fd, NTRACE_IOC_CONSUME, &consume))
		error = errno;
	pthread_mutex_unlock(&live->lock);
	return error;
}

/* Waits until there is enough trace, or for some time. Return: 0 or errno. */
static int wait_for_trace(const struct live_stream *stream)
{
	const struct ntrace_control *control = (const void *)(uintptr_t)stream->source->control;
	struct pollfd poller = { .fd = stream->source->fd, .events = POLLIN };
	uint64_t head = __atomic_load_n(&control->head, __ATOMIC_ACQUIRE);

	/* The command is still stopped, perhaps, and the rest of the quarter will not come. */
	if (stream->live->hold && head - stream->position >= hold_until(control->data_size))
		return 0;
	if (poll(&poller, 1, TRACE_MS) < 0 && errno != EINTR)
		return errno;
	if (poller.revents & POLLERR)
		return EIO;
	if (poller.revents && __atomic_load_n(&control->head, __ATOMIC_ACQUIRE) == stream->position)
		sleep_ms(BEHIND_MS);
	return 0;
}

static void note_available(struct live_stream *stream)
{
	const struct ntrace_control *control = (const void *)(uintptr_t)stream->source->control;

	stream->available = __atomic_load_n(&control->head, __ATOMIC_ACQUIRE);
	stream->until_ns = monotonic_ns();
}

/* Gives a piece of the data area. */
static void give(struct live_stream *stream, struct ntrace_live_trace *trace)
{
	uint64_t mask = stream->source->control->data_size - 1;
	uint64_t size = stream->available - stream->position;

	if (size > mask + 1 - (stream->position & mask))
		size = mask + 1 - (stream->position & mask);
	if (size > PIECE_MAX)
		size = PIECE_MAX;
	trace->bytes = stream->source->data + (stream->position & mask);
	trace->count = (size_t)size;
	trace->until_ns = stream->until_ns;
	stream->given = size;
}

static int give_trace(void *data, struct ntrace_live_trace *trace)
{
	struct live_stream *stream = data;
	bool ended = false;
	int error = consume(stream);

	if (!error && stream->position == stream->available) {
		/* Before the data: none comes after the end. */
		ended = __atomic_load_n(&stream->live->ended, __ATOMIC_ACQUIRE);
		if (!ended)
			error = wait_for_trace(stream);
		note_available(stream);
	}
	if (error) {
		errno = error;
		return NTRACE_ERR_IO;
	}
	give(stream, trace);
	trace->end = ended && !trace->count;
	if (trace->end)
		trace->stop_ns = stream->device->stop_ns;
	return 0;
}

static int give_records(void *data, bool wait, struct ntrace_live_records *records)
{
	struct live_stream *stream = data;

	return live_sideband_take(stream->live->sideband, stream->number, wait, records);
}

/* ---- counting ---- */

static int move_counts(struct live_stream *stream)
{
	struct live *live = stream->live;
	int error;

	pthread_mutex_lock(&live->lock);
	error = ntrace_counts_merger_add_profile(live->merger, stream->profile, "", live->kernel);
	pthread_mutex_unlock(&live->lock);
	ntrace_profile_forget_traces(stream->profile);
	return error;
}

static int spill_if_full(struct live_stream *stream, int error)
{
	if (error || ntrace_profile_trace_count(stream->profile) <= stream->traces_max)
		return error;
	return move_counts(stream);
}

static int count_event(void *data, const struct ntrace_session_event *event)
{
	struct live_stream *stream = data;

	return spill_if_full(stream, ntrace_profile_event(stream->profile, event));
}

static int count_segment(void *data, const struct ntrace_segment *segment)
{
	struct live_stream *stream = data;

	return spill_if_full(stream, ntrace_profile_segment(stream->profile, segment));
}

static int decode(struct live_stream *stream)
{
	struct ntrace_flow_stats stats = { 0 };
	const struct ntrace_decode_options options = {
		.size = sizeof(options),
		.stream = stream->number,
		.needs = NTRACE_NEEDS_SUMS,
		.event = count_event,
		.segment = count_segment,
		.data = stream,
		.stats = &stats,
	};
	const struct ntrace_live_source source = {
		.size = sizeof(source),
		.trace = give_trace,
		.records = give_records,
		.data = stream,
		.start_ns = stream->device->control->start_ns,
	};
	int error = ntrace_session_decode_live(stream->recording.session, &options, &source);

	stream->gaps = stats.gaps + stats.errors;
	if (!error)
		error = ntrace_profile_end(stream->profile);
	return error ? error : move_counts(stream);
}

static void *decode_thread(void *data)
{
	struct live_stream *stream = data;
	struct live *live = stream->live;
	const uint64_t one = 1;

	/* The trace of a decoder would be decoded, too. */
	if (live->pinned)
		pthread_setaffinity_np(pthread_self(), sizeof(live->cpus), &live->cpus);
	errno = 0;
	stream->error = decode(stream);
	stream->saved_errno = errno;
	live_sideband_leave(live->sideband, stream->number);
	/* Others must not wait for this one. */
	pthread_mutex_lock(&live->lock);
	stream->position = UINT64_MAX;
	pthread_mutex_unlock(&live->lock);
	if (stream->error && write(live->notify, &one, sizeof(one)) < 0)
		warn("eventfd: %s", strerror(errno));
	return NULL;
}

/* ---- begin ---- */

/* Fails before the trace begins, not when it has ended. */
static int check_output(const char *path)
{
	struct output_file file;
	int error;

	if (output_is_standard(path))
		return EXIT_OK;
	error = output_file_open(&file, path);
	if (!error)
		output_file_close(&file, EXIT_FAILED);
	return error;
}

/* The copies of kernel text of all recordings of a kernel have the same name, as in `ntrace count`. */
static int name_kernel(struct live *live)
{
	struct utsname names;

	if (asprintf(&live->kernel, "%s/kernel.start", uname(&names) ? "unknown" : names.release) >=
	    0)
		return EXIT_OK;
	live->kernel = NULL;
	return fail("out of memory");
}

int live_make(struct live *live, const struct command *command, const char *output)
{
	int error = check_output(output);

	live->command = command;
	live->output = output;
	pthread_mutex_init(&live->lock, NULL);
	if (!error)
		error = name_kernel(live);
	if (!error && ntrace_counts_merger_new(&live->merger, NULL))
		error = fail("out of memory");
	if (!error)
		error = temporary_make(live->base, sizeof(live->base), "ntrace-live");
	if (error)
		return error;
	snprintf(live->directory, sizeof(live->directory), "%s/start", live->base);
	return EXIT_OK;
}

bool live_cpus(const struct device_list *list, cpu_set_t *cpus)
{
	unsigned int i;

	if (sched_getaffinity(0, sizeof(*cpus), cpus))
		return false;
	for (i = 0; i < list->count; i++)
		if (list->devices[i].info.cpu < CPU_SETSIZE)
			CPU_CLR(list->devices[i].info.cpu, cpus);
	return CPU_COUNT(cpus);
}

static int open_stream(struct live *live, const struct device *device, unsigned int number)
{
	const struct recording_options options = { .live = true, .quiet = number };
	struct ntrace_profile_options selection = { .size = sizeof(selection),
						    .by_privilege = true };
	struct live_stream *stream = &live->streams[number];
	int error;

	stream->live = live;
	stream->number = number;
	stream->device = device;
	stream->source = device->leader ? device->leader : device;
	stream->traces_max = TRACES_MAX / live->count;
	error = recording_open(&stream->recording, live->command, live->directory, &options);
	if (error)
		return error;
	selection.session = stream->recording.session;
	return ntrace_profile_new(&stream->profile, &selection) ? fail("out of memory") : EXIT_OK;
}

int live_open(struct live *live, const struct device_list *list, struct sideband *sideband,
	      int notify)
{
	unsigned int i;
	int error;

	live->notify = notify;
	live->pinned = live_cpus(list, &live->cpus);
	live->streams = calloc(list->count, sizeof(*live->streams));
	if (!live->streams)
		return fail("out of memory");
	error = live_sideband_new(&live->sideband, list->count);
	if (!error)
		error = sideband_divert(sideband, live_sideband_add, live->sideband);
	live->count = list->count;
	for (i = 0; !error && i < list->count; i++) {
		error = open_stream(live, &list->devices[i], i);
		/* Opening takes its time, and the rings are small. */
		if (!error && !live_sideband_full(live->sideband))
			error = sideband_drain(sideband);
	}
	return error;
}

int live_start(struct live *live)
{
	unsigned int i;
	int error = 0;

	if (live->pinned)
		sched_setaffinity(0, sizeof(live->cpus), &live->cpus);
	for (i = 0; !error && i < live->count; i++) {
		error = pthread_create(&live->streams[i].thread, NULL, decode_thread,
				       &live->streams[i]);
		live->streams[i].started = !error;
	}
	return error ? fail("starting a thread: %s", strerror(error)) : EXIT_OK;
}

/* ---- while the trace is made ---- */

int live_fd(const struct live *live)
{
	return live_sideband_fd(live->sideband);
}

/*
 * A record has its time before it has its place in the ring. In between, the kernel does not leave the
 * CPU: when all CPUs have done so, the rings have all records with times before.
 */
static void settle(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		sleep_ms(RECORD_MS);
}

static int add_sideband(struct live *live, struct sideband *sideband)
{
	uint64_t complete = monotonic_ns();
	int error;

	settle();
	error = sideband_drain(sideband);
	if (!error)
		live_sideband_complete(live->sideband, complete);
	return error;
}

int live_round(struct live *live, struct sideband *sideband)
{
	return live_sideband_full(live->sideband) ? EXIT_OK : add_sideband(live, sideband);
}

/* ---- end ---- */

static int decoding_failed(const struct live_stream *stream)
{
	if (stream->error == NTRACE_ERR_IO && stream->saved_errno == EIO)
		return fail("%s: the trace hardware did not answer", stream->source->path);
	errno = stream->saved_errno;
	return sum_failed(stream->live->merger, stream->error, stream->device->path);
}

/* The driver's numbers of a device, which delivers the trace of all harts of its sink. */
static void add_losses(struct live *live, const struct device *device)
{
	const volatile struct ntrace_control *control = device->control;

	if (device->leader || !control)
		return;
	live->traced += control->head + control->lost;
	live->losses.lost += control->lost;
	/* Only what finds no room in the data area is counted exactly. */
	live->losses.at_least += (control->loss & ~NTRACE_LOSS_DATA_FULL) ||
				 (control->gaps && !control->lost);
}

static int join(struct live *live, struct live_stream *stream, int error)
{
	size_t i;

	if (!stream->started)
		return error;
	pthread_join(stream->thread, NULL);
	stream->started = false;
	for (i = 0; stream->number && i < stream->recording.note_count; i++)
		recording_note(&live->streams[0].recording, stream->recording.notes[i]);
	if (stream->error && !error)
		error = decoding_failed(stream);
	live->losses.gaps += stream->gaps;
	if (!stream->device->leader)
		live->decoded += stream->decoded;
	add_losses(live, stream->device);
	return error;
}

int live_finish(struct live *live, struct sideband *sideband, int error)
{
	unsigned int i;

	if (!error)
		error = add_sideband(live, sideband);
	live_sideband_complete(live->sideband, UINT64_MAX);
	if (error)
		live_sideband_stop(live->sideband);
	__atomic_store_n(&live->ended, true, __ATOMIC_RELEASE);
	for (i = 0; i < live->count; i++)
		error = join(live, &live->streams[i], error);
	return error;
}

int live_write(struct live *live, double seconds, bool quiet)
{
	char traced[UI_NUMBER_SIZE], decoded[UI_NUMBER_SIZE], lost[UI_NUMBER_SIZE];
	struct ntrace_counts_totals totals;
	int error;

	ntrace_counts_merger_add_losses(live->merger, &live->losses);
	error = sum_write(live->merger, live->output, &totals, false);
	if (error)
		return error;
	if (!quiet)
		say("%s bytes of trace from %u CPUs in %.1f s: %s decoded, %s%s lost",
		    ui_number(traced, live->traced), live->count, seconds,
		    ui_number(decoded, live->decoded),
		    live->losses.at_least && live->losses.lost ? "at least " : "",
		    live->losses.at_least && !live->losses.lost ?
			    "an unknown number" :
			    ui_number(lost, live->losses.lost));
	sum_say(live->output, &totals, quiet);
	return totals.entries ? EXIT_OK :
				fail("%s: no code was executed that could be decoded: the counts "
				     "are empty",
				     live->output);
}

void live_free(struct live *live)
{
	unsigned int i;

	for (i = 0; live->streams && i < live->count; i++) {
		ntrace_profile_free(live->streams[i].profile);
		recording_close(&live->streams[i].recording);
	}
	free(live->streams);
	live_sideband_free(live->sideband);
	ntrace_counts_merger_free(live->merger);
	free(live->kernel);
	if (!live->base[0])
		return;
	recording_discard(live->directory, false);
	if (rmdir(live->base))
		warn("%s: %s", live->base, strerror(errno));
}
