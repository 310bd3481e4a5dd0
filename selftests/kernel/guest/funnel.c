// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two harts that share a sink: each device delivers the complete trace of both in the same order,
 * and a perf event only that of its own hart. Usage: funnel TYPE SRC_BITS|frames; TYPE: of the PMU;
 * frames: the sink writes CoreSight frames
 */
#include <pthread.h>
#include <sys/wait.h>

#include "events.h"

#define HARTS 2
#define PROG_TRACE_CORRELATION 33

static unsigned int src_bits;
static bool frames;
static struct ntrace_info infos[HARTS];
static int fds[HARTS];
static struct area areas[HARTS];

/* The messages of one hart in a stream. */
struct walk {
	uint64_t messages;
	uint64_t foreign;	/* messages of other sources */
	uint64_t marks;		/* gap marks */
	unsigned int first;	/* TCODE of the first and last messages */
	unsigned int last;
	bool whole;		/* the stream ends at the end of a message */
};

/* A position in messages. */
struct walker {
	struct walk walk;
	unsigned int place;
	unsigned int tcode;
	bool skip;
};

static void mark_gap(struct walker *walker)
{
	walker->walk.marks++;
	walker->skip = true;
	walker->place = 0;
}

static void count_message(struct walker *walker)
{
	walker->walk.last = walker->tcode;
	if (!walker->walk.messages++)
		walker->walk.first = walker->tcode;
}

/*
 * A message begins with 6 bits of TCODE and SRC. The low two bits of a byte tell whether it ends
 * the message.
 */
static void take(struct walker *walker, uint8_t byte, const struct ntrace_info *info)
{
	if ((byte & 3) == 2) {
		mark_gap(walker);
		return;
	}
	walker->walk.whole = (byte & 3) == 3;
	if (!walker->skip && walker->place == 0) {
		walker->tcode = byte >> 2;
		if (!info->src_bits)
			count_message(walker);
	} else if (!walker->skip && walker->place == 1 && info->src_bits) {
		if ((byte >> 2 & ((1u << info->src_bits) - 1)) != info->src)
			walker->walk.foreign++;
		else
			count_message(walker);
	}
	walker->place = walker->walk.whole ? 0 : walker->place + 1;
	walker->skip = walker->skip && !walker->walk.whole;
}

static struct walk walk_bytes(volatile const uint8_t *data, uint64_t from, uint64_t head,
			      uint64_t size, const struct ntrace_info *info)
{
	struct walker walker = { .walk.whole = true };
	uint64_t position;

	for (position = from; position < head; position++)
		take(&walker, data[position & (size - 1)], info);
	return walker.walk;
}

/*
 * The bytes of a frame, and the ID of each (ARM IHI 0029, "Trace formatter"): an odd even byte is
 * an ID, for the next byte or the one after it; the last byte has bits 0 of the even ones.
 */
static unsigned int take_frame(const uint8_t *frame, unsigned int *id, uint8_t *bytes,
			       unsigned int *ids)
{
	unsigned int count = 0, i;

	for (i = 0; i < 15; i += 2) {
		unsigned int old = *id, bit = frame[15] >> i / 2 & 1;

		if (frame[i] & 1) {
			*id = frame[i] >> 1;
		} else {
			ids[count] = *id;
			bytes[count++] = frame[i] | bit;
		}
		if (i == 14)
			break;
		ids[count] = frame[i] & 1 && bit ? old : *id;
		bytes[count++] = frame[i + 1];
	}
	return count;
}

/* The same for frames: those of other IDs are foreign. */
static struct walk walk_frames(const struct area *area, const struct ntrace_info *info,
			       uint64_t from)
{
	static const uint8_t sync[] = { 0xff, 0xff, 0xff, 0x7f };
	struct walker own = { .walk.whole = true }, other = { .walk.whole = true };
	unsigned int id = 0, ids[16], count, i;
	uint8_t frame[16], bytes[16];
	uint64_t position;

	for (position = from; position < head_of(area); position += sizeof(frame)) {
		for (i = 0; i < sizeof(frame); i++)
			frame[i] = byte_at(area, position + i);
		if (!memcmp(frame, sync, sizeof(sync))) {
			mark_gap(&own);
			mark_gap(&other);
			id = 0;
			continue;
		}
		count = take_frame(frame, &id, bytes, ids);
		for (i = 0; i < count; i++)
			if (ids[i])
				take(ids[i] == info->atid ? &own : &other, bytes[i], info);
	}
	own.walk.foreign = other.walk.messages;
	return own.walk;
}

static struct walk walk(const struct area *area, const struct ntrace_info *info, uint64_t from)
{
	if (info->framing)
		return walk_frames(area, info, from);
	return walk_bytes(area->data, from, head_of(area), area->control->data_size, info);
}

/* Encoders of version 0 trace all privileges, and have no BTM. */
static void suit(struct ntrace_config *config, const struct ntrace_info *info)
{
	config->privilege = fitting_privilege();
	if (!info->privilege)
		config->privilege = EVERYTHING;
	if (!(info->modes & 1u << config->mode))
		config->mode = 0;
}

static void open_both(const struct ntrace_config *wanted)
{
	char name[32];
	int i;

	for (i = 0; i < HARTS; i++) {
		struct ntrace_config config = *wanted;

		snprintf(name, sizeof(name), "/dev/ntrace%d", i);
		fds[i] = open_device(name, 0);
		infos[i] = info_of(fds[i]);
		suit(&config, &infos[i]);
		configure(fds[i], &config);
		areas[i] = map(fds[i], &config);
	}
}

static void close_both(void)
{
	int i;

	for (i = 0; i < HARTS; i++) {
		unmap(&areas[i]);
		close(fds[i]);
	}
}

static void order(int hart, unsigned int number, const char *name)
{
	if (ioctl(fds[hart], number))
		bail(name);
}

static void *work_on(void *argument)
{
	run_on((uintptr_t)argument);
	work(100000);
	return NULL;
}

/* Both harts work at the same time. */
static void work_both(void)
{
	pthread_t threads[HARTS];
	uintptr_t i;

	for (i = 0; i < HARTS; i++)
		if (pthread_create(&threads[i], NULL, work_on, (void *)i))
			bail("pthread_create");
	for (i = 0; i < HARTS; i++)
		pthread_join(threads[i], NULL);
}

static void check_stream(int hart, const char *what)
{
	struct walk seen = walk(&areas[hart], &infos[hart], 0);
	bool lossy = is_flooded(&infos[hart]) && areas[hart].control->loss;

	ok(seen.messages > 1000, "%s: hart %d: %llu messages, %llu of others", what, hart,
	   (unsigned long long)seen.messages, (unsigned long long)seen.foreign);
	ok(lossy || (seen.first == PROG_TRACE_SYNC >> 2 && seen.last == PROG_TRACE_CORRELATION &&
		     seen.whole),
	   "%s: hart %d: from the first synchronization to the end", what, hart);
	if (!ok(lossy ? seen.marks > 0 :
			!areas[hart].control->loss && !areas[hart].control->lost && !seen.marks,
		"%s: hart %d: %s", what, hart, lossy ? "losses are marked" : "nothing lost"))
		ksft_print_msg("loss %u lost %llu gaps %u, %llu bytes\n", areas[hart].control->loss,
			       areas[hart].control->lost, areas[hart].control->gaps,
			       (unsigned long long)head_of(&areas[hart]));
}

/* Tells whether @later is the end of @earlier, byte by byte. */
static bool is_end_of(const struct area *later, const struct area *earlier)
{
	uint64_t position, size = head_of(later), ahead = head_of(earlier) - size;

	for (position = 0; position < size; position++)
		if (byte_at(later, position) != byte_at(earlier, ahead + position))
			return false;
	return head_of(earlier) >= size;
}

static void test_both(void)
{
	struct ntrace_config config = { .mode = 0 };
	int i;

	open_both(&config);
	ok(infos[0].src_bits == src_bits && infos[1].src_bits == src_bits &&
		   (frames || infos[0].src + infos[1].src == 1),
	   "INFO: SRC 0 and 1 in %u bits", src_bits);
	ok(frames ? infos[0].framing == NTRACE_FRAMING_CORESIGHT && infos[0].atid % 2 &&
			    infos[0].atid + infos[1].atid == 4 :
		    !infos[0].framing && !infos[0].atid && !infos[1].atid,
	   "INFO: %s", frames ? "frames with ATIDs 1 and 3" : "no frames");
	for (i = 0; i < HARTS; i++)
		order(i, NTRACE_IOC_START, "START");
	work_both();
	order(0, NTRACE_IOC_STOP, "STOP");
	order(1, NTRACE_IOC_STOP, "STOP");
	for (i = 0; i < HARTS; i++) {
		ok(areas[i].control->state == NTRACE_STATE_STOPPED, "hart %d has stopped", i);
		check_stream(i, "both");
	}
	ok(walk(&areas[0], &infos[0], 0).foreign > 1000, "both: each has the trace of both");
	ok(is_end_of(&areas[1], &areas[0]), "both: the same, since the second came");
	close_both();
}

static void test_one_stops(void)
{
	struct ntrace_config config = { .mode = NTRACE_MODE_BTM };
	uint64_t head;
	int i;

	open_both(&config);
	for (i = 0; i < HARTS; i++)
		order(i, NTRACE_IOC_START, "START");
	work_both();
	order(0, NTRACE_IOC_STOP, "STOP");
	ok(areas[0].control->state == NTRACE_STATE_RUNNING && areas[0].control->stop_ns,
	   "one stops: there is more to come");
	run_on(1);
	head = head_of(&areas[1]);
	work(100000);
	order(1, NTRACE_IOC_FLUSH, "FLUSH");
	ok(head_of(&areas[1]) > head, "one stops: the other continues");
	order(1, NTRACE_IOC_STOP, "STOP");
	for (i = 0; i < HARTS; i++) {
		ok(areas[i].control->state == NTRACE_STATE_STOPPED, "hart %d has stopped", i);
		check_stream(i, "one stops");
	}

	head = head_of(&areas[0]);
	order(0, NTRACE_IOC_START, "START");
	run_on(0);
	work(1000);
	order(0, NTRACE_IOC_STOP, "STOP");
	ok(head_of(&areas[0]) > head && areas[0].control->state == NTRACE_STATE_STOPPED,
	   "one alone continues and stops");
	ok(walk(&areas[0], &infos[0], head).first == PROG_TRACE_SYNC >> 2,
	   "one alone: it begins with a synchronization");
	close_both();
}

static void test_one_closes(void)
{
	struct ntrace_config config = { .mode = 0 };
	uint64_t head;

	open_both(&config);
	order(0, NTRACE_IOC_START, "START");
	order(1, NTRACE_IOC_START, "START");
	work_both();
	unmap(&areas[0]);
	close(fds[0]);
	head = head_of(&areas[1]);
	work_both();
	order(1, NTRACE_IOC_STOP, "STOP");
	ok(head_of(&areas[1]) > head, "one closes: the other continues");
	check_stream(1, "one closes");
	unmap(&areas[1]);
	close(fds[1]);
}

static void test_lapped(void)
{
	struct ntrace_config config = { .sink_size = 4096, .drain_us = 10000000 };
	int i;

	open_both(&config);
	for (i = 0; i < HARTS; i++)
		order(i, NTRACE_IOC_START, "START");
	work_both();
	for (i = 0; i < HARTS; i++)
		order(i, NTRACE_IOC_STOP, "STOP");
	for (i = 0; i < HARTS; i++) {
		struct walk seen = walk(&areas[i], &infos[i], 0);
		volatile const struct ntrace_control *control = areas[i].control;
		uint64_t stored = head_of(&areas[i]) - control->gaps * (frames ? 16 : 1);

		ok(control->loss & NTRACE_LOSS_LAPPED && control->gaps,
		   "lapped: hart %d reports it", i);
		/* Up to a granule of the ring may be stored after the lap: it is not lost. */
		if (!ok(seen.marks == control->gaps && control->lost >= 4096 - infos[i].granule &&
				control->lost + stored >= 4096,
			"lapped: hart %d: %u gaps, each marked", i, control->gaps))
			ksft_print_msg("%llu marks, %llu bytes lost, %llu stored\n",
				       (unsigned long long)seen.marks, control->lost,
				       (unsigned long long)stored);
	}
	close_both();
}

static void test_refused(void)
{
	struct ntrace_config config = { .sink_size = 65536, .data_size = 65536 };
	int other = open_device("/dev/ntrace1", 0);

	fds[0] = open_device("/dev/ntrace0", 0);
	suit(&config, &infos[0]);
	configure(fds[0], &config);
	config = (struct ntrace_config){ .size = sizeof(config), .sink_size = 1 << 20 };
	suit(&config, &infos[0]);
	fails_with(ioctl(other, NTRACE_IOC_CONFIGURE, &config), EBUSY,
		   "CONFIGURE: another size of the sink's buffer while it is in use");
	config = (struct ntrace_config){ .size = sizeof(config) };
	suit(&config, &infos[0]);
	ok(!ioctl(other, NTRACE_IOC_CONFIGURE, &config) && config.sink_size == 65536,
	   "CONFIGURE: without a wish, the one that there is");
	close(other);
	close(fds[0]);
}

static void test_no_data(void)
{
	struct ntrace_config config = { .flags = NTRACE_CONFIG_NO_DATA };
	struct ntrace_config all = { .mode = 0 };
	struct walk seen;
	char byte;

	suit(&config, &infos[0]);
	suit(&all, &infos[0]);
	fds[0] = open_device("/dev/ntrace0", 0);
	fds[1] = open_device("/dev/ntrace1", 0);
	configure(fds[0], &all);
	areas[0] = map(fds[0], &all);
	configure(fds[1], &config);
	areas[1] = map(fds[1], &config);
	order(0, NTRACE_IOC_START, "START");
	order(1, NTRACE_IOC_START, "START");
	work_both();
	order(1, NTRACE_IOC_STOP, "STOP");
	order(0, NTRACE_IOC_STOP, "STOP");
	seen = walk(&areas[0], &infos[1], 0);
	ok(seen.messages > 1000 && seen.foreign > 1000 &&
		   ((is_flooded(&infos[0]) && seen.marks) ||
		    (seen.first == PROG_TRACE_SYNC >> 2 && seen.last == PROG_TRACE_CORRELATION)),
	   "no data: one device has the trace of both");
	ok(head_of(&areas[1]) == 0 && areas[1].control->stop_ns > areas[1].control->start_ns &&
		   read(fds[1], &byte, 1) == 0,
	   "no data: the other one only its times");
	close_both();
	config = (struct ntrace_config){ .size = sizeof(config), .flags = 1u << 31 };
	suit(&config, &infos[0]);
	fds[0] = open_device("/dev/ntrace0", 0);
	fails_with(ioctl(fds[0], NTRACE_IOC_CONFIGURE, &config), EINVAL, "CONFIGURE: unknown flag");
	config = (struct ntrace_config){ .size = sizeof(config), .features = 1 };
	suit(&config, &infos[0]);
	fails_with(ioctl(fds[0], NTRACE_IOC_CONFIGURE, &config), EINVAL,
		   "CONFIGURE: unknown feature");
	close(fds[0]);
}

/* What the encoders can leave out is left out, except the kernel if it is wanted. */
static int open_event(int cpu, bool kernel)
{
	struct perf_event_attr attr = attributes();

	attr.disabled = 0;
	attr.exclude_hv = !!infos[0].privilege;
	attr.exclude_kernel = !kernel && infos[0].privilege;
	return event_open(&attr, -1, cpu);
}

static void test_perf(void)
{
	struct ntrace_config config = { .size = sizeof(config) };
	int first, second, status;
	uint64_t count = 0;
	pid_t child;

	suit(&config, &infos[0]);
	first = open_event(0, false);
	ok(first >= 0, "perf: an event on hart 0");
	child = fork();
	if (!child)
		_exit(open_event(1, false) < 0 && errno == EBUSY ? 0 : 1);
	waitpid(child, &status, 0);
	ok(!status, "perf: one of another process on hart 1: EBUSY");
	fds[1] = open_device("/dev/ntrace1", 0);
	fails_with(ioctl(fds[1], NTRACE_IOC_CONFIGURE, &config), EBUSY,
		   "CONFIGURE of the other hart while perf has the sink");
	/* Linux allows one event of this kind on a hart. */
	second = open_event(1, true);
	ok(second >= 0, "perf: one of the same process that wants the kernel, too");
	close(second);
	second = open_event(1, false);
	ok(second >= 0, "perf: one of the same process on hart 1");
	work_both();
	ok(read(second, &count, sizeof(count)) == sizeof(count) && count > 1000,
	   "perf: it counts %llu bytes", (unsigned long long)count);
	close(second);
	close(first);
	/* The devices become free a moment later. */
	ok(!configure_when_free(fds[1], &config), "CONFIGURE when perf has gone");
	fails_with(open_event(0, false), EBUSY, "perf: an event while a file has the sink");
	close(fds[1]);
}

/*
 * Drains by read() until hardly any trace is left: a read() itself makes some KiB of it. Counts the
 * bytes of each event.
 */
static void drain_both(const struct aux_area *aux, uint64_t *counts)
{
	const unsigned int most = 1000, little = 16384;
	uint64_t count, grown = little;
	unsigned int i, hart;

	for (i = 0; i < most && grown >= little; i++) {
		grown = 0;
		for (hart = 0; hart < HARTS; hart++) {
			if (read(aux[hart].fd, &count, sizeof(count)) != sizeof(count))
				bail("read");
			grown += count - counts[hart];
			counts[hart] = count;
		}
	}
	ok(grown < little, "perf, kernel: drained when the harts have worked");
}

/*
 * The drain separates the trace of harts whose kernel is traced, and is not in it. At the end of an
 * event, it has a limited time: what the kernel did after the last read() may be lost then, and the
 * record tells.
 */
static void test_kernel(void)
{
	struct perf_event_attr attr = attributes();
	uint64_t head, flags, counts[HARTS] = { 0 };
	struct aux_area aux[HARTS];
	int i;

	attr.exclude_kernel = 0;
	attr.exclude_hv = !!infos[0].privilege;
	for (i = 0; i < HARTS; i++)
		aux[i] = aux_area_open(&attr, -1, i, 1 << 24, false);
	for (i = 0; i < HARTS; i++)
		ioctl(aux[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	work_both();
	drain_both(aux, counts);
	for (i = 0; i < HARTS; i++)
		ioctl(aux[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (i = 0; i < HARTS; i++) {
		struct walk seen, end;

		head = aux_head(&aux[i]);
		/* Without the causes of losses, which are above perf's own flags. */
		flags = aux_flags(&aux[i]) & 0xffff;
		seen = walk_bytes(aux[i].aux, 0, counts[i], aux[i].aux_size, &infos[i]);
		end = walk_bytes(aux[i].aux, counts[i], head, aux[i].aux_size, &infos[i]);
		ok(head < aux[i].aux_size && seen.messages > 1000 && !seen.foreign,
		   "perf, kernel: hart %d: %llu messages, none of the other", i,
		   (unsigned long long)seen.messages);
		ok(seen.first == PROG_TRACE_SYNC >> 2 && !seen.marks,
		   "perf, kernel: hart %d: nothing lost up to the last read", i);
		if (!ok(!(flags & ~PERF_AUX_FLAG_PARTIAL) && (!end.marks || flags),
			"perf, kernel: hart %d: no loss at the end, or the record tells", i))
			ksft_print_msg("flags 0x%llx, %llu marks, %llu of %llu bytes read\n",
				       (unsigned long long)flags, (unsigned long long)end.marks,
				       (unsigned long long)counts[i], (unsigned long long)head);
		aux_area_close(&aux[i]);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		usage("funnel TYPE SRC_BITS|frames");
	type = (unsigned int)strtoul(argv[1], NULL, 0);
	frames = !strcmp(argv[2], "frames");
	src_bits = frames ? 0 : (unsigned int)strtoul(argv[2], NULL, 0);
	begin(on_debug_kernel() ? 46 : 53);
	test_both();
	test_one_stops();
	test_one_closes();
	test_lapped();
	test_no_data();
	test_refused();
	test_perf();
	if (!on_debug_kernel())
		test_kernel();
	ksft_finished();
}
