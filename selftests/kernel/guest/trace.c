// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that trace arrives and is drained, and that losses are reported. Usage: trace DEVICE CPU
 * SINK_ADDRESS; SINK_ADDRESS: address of the sink's registers
 */
#include <signal.h>
#include <sys/wait.h>

#include "guest.h"

/*
 * Registers of a RAM sink: trRamStartLow, and trRamWPLow, whose bit 0 is the wrap bit; of version
 * 0: SinkBase and SinkWP.
 */
#define TR_RAM_START_LOW 0x10
#define TR_RAM_WP_LOW 0x20
#define V0_SINK_WP 0x1c
#define TR_RAM_WP_LOW_WRAP 1
/* Those of an ETR: STS with the bit Full, RWP and DBALO. */
#define ETR_STS 0xc
#define ETR_STS_FULL 1
#define ETR_RWP 0x18
#define ETR_DBALO 0x118

/* A frame of a CoreSight formatter (ARM IHI 0029): the last byte has bits 0 of the even bytes. */
#define FRAME 16
#define FRAME_BITS 15

static const char *device;
static unsigned int cpu;
static volatile uint32_t *sink;
static unsigned int wp = TR_RAM_WP_LOW, start = TR_RAM_START_LOW, src_bits;
/* ID of the hart's messages in frames; 0: the trace has no frames. */
static unsigned int atid;
static bool flooded;

/* Tells whether the driver's mark of a gap is at a position. */
static bool is_mark(const struct area *area, uint64_t position)
{
	static const uint8_t word[4] = { 0xff, 0xff, 0xff, 0x7f };

	if (!atid)
		return (byte_at(area, position) & 3) == RESERVED_BYTE;
	for (unsigned int i = 0; i < FRAME; i++)
		if (byte_at(area, position + i) != word[i % sizeof(word)])
			return false;
	return true;
}

/*
 * The messages between two positions without a gap, where the encoder starts and stops.
 * Return: number of bytes; the last byte is stored in *@last, the others up to @room in @bytes.
 */
static uint64_t messages(const struct area *area, uint64_t from, uint64_t to, uint8_t *bytes,
			 uint64_t room, uint8_t *last)
{
	unsigned int id = 0, next, byte, i;
	uint64_t count = 0;

	for (; from < to; from += atid ? FRAME : 1) {
		for (i = 0; i < (atid ? FRAME_BITS : 1); i++) {
			bool bit = byte_at(area, from + FRAME_BITS) >> i / 2 & 1;

			byte = byte_at(area, from + i);
			if (atid && !(i & 1) && byte & 1) {
				/* The bit delays the ID by a byte. */
				next = byte >> 1;
				if (!bit || i + 1 == FRAME_BITS) {
					id = next;
					continue;
				}
				byte = byte_at(area, from + ++i);
			} else {
				byte |= atid && !(i & 1) && bit;
				next = id;
			}
			if (id == atid) {
				if (count < room)
					bytes[count] = (uint8_t)byte;
				*last = (uint8_t)byte;
				count++;
			}
			id = next;
		}
	}
	return count;
}

/* Tells whether a trace begins at a position, with a ProgTraceSync. */
static bool begins_at(const struct area *area, uint64_t position)
{
	uint8_t bytes[2], last;

	return messages(area, position, head_of(area), bytes, sizeof(bytes), &last) > 1 &&
	       bytes[0] == PROG_TRACE_SYNC && (bytes[1] >> (2 + src_bits) & 0xf) == 5;
}

/* The driver marks each gap with bytes that no encoder and no formatter sends. */
static void check_clean(const struct area *area, const char *what)
{
	uint64_t position, head = head_of(area), marks = 0;
	uint64_t first = head > area->control->data_size ? head - area->control->data_size : 0;

	for (position = first; position < head; position += atid ? FRAME : 1)
		marks += is_mark(area, position);
	if (!ok(first ? marks <= area->control->gaps : marks == area->control->gaps,
		"%s: no reserved byte but the gap marks", what))
		ksft_print_msg("%llu marks, %u gaps\n", (unsigned long long)marks,
			       area->control->gaps);
}

static void show(const struct area *area)
{
	ksft_print_msg(
		"state %u head %llu tail %llu lost %llu loss %u gaps %u gap_head %llu, %llu us\n",
		area->control->state, area->control->head, area->control->tail, area->control->lost,
		area->control->loss, area->control->gaps, area->control->gap_head,
		(area->control->stop_ns - area->control->start_ns) / 1000);
}

static void test_start_stop(uint32_t mode, const char *name)
{
	struct ntrace_config config = { .mode = mode, .privilege = fitting_privilege() };
	int fd = open_device(device, 0);
	struct area area;
	uint64_t before, between, middle;
	uint8_t last = 0;

	configure(fd, &config);
	area = map(fd, &config);
	before = now_ns();
	ok(!ioctl(fd, NTRACE_IOC_START) && area.control->state == NTRACE_STATE_RUNNING &&
		   !area.control->stop_ns,
	   "%s: START", name);
	between = now_ns();
	work(10000);
	ok(!ioctl(fd, NTRACE_IOC_STOP) && area.control->state == NTRACE_STATE_STOPPED, "%s: STOP",
	   name);
	ok(before <= area.control->start_ns && area.control->start_ns <= between &&
		   between <= area.control->stop_ns && area.control->stop_ns <= now_ns(),
	   "%s: times of start and stop", name);
	middle = head_of(&area);
	ok(middle > 1000 && !area.control->loss && !area.control->lost && !area.control->gaps,
	   "%s: %llu bytes, none lost", name, (unsigned long long)middle);
	ok(begins_at(&area, 0), "%s: begins with a ProgTraceSync, reason trace enable", name);
	ok(messages(&area, 0, middle, NULL, 0, &last) && (last & 3) == 3,
	   "%s: ends with the end of a message", name);

	ok(!ioctl(fd, NTRACE_IOC_START), "%s: START continues", name);
	work(1000);
	ok(!ioctl(fd, NTRACE_IOC_STOP) && head_of(&area) > middle, "%s: the same stream", name);
	ok(begins_at(&area, middle), "%s: with a ProgTraceSync", name);
	check_clean(&area, name);
	show(&area);
	unmap(&area);
	close(fd);
}

/* On the debug kernel, a drain that separates messages may be slower than the program that is traced. */
static void check_losses(const struct area *area, const char *name)
{
	volatile const struct ntrace_control *control = area->control;
	bool lossy = on_debug_kernel();

	ok(lossy ? !control->lost || (control->loss && control->gaps) :
		   !control->loss && !control->lost && !control->gaps,
	   "%s: %s", name, lossy ? "losses are counted" : "nothing lost");
}

/*
 * Whether this process goes before the usual tasks of its hart. What they do is traced as well, and
 * while one of them runs for milliseconds, nobody consumes and the data area fills up.
 */
static void go_first(bool first)
{
	struct sched_param param = { .sched_priority = first };

	if (sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &param))
		bail("sched_setscheduler");
}

static void test_drain(uint32_t mode, const char *name)
{
	/* The driver chooses the timer interval. */
	struct ntrace_config config = { .mode = mode,
					.privilege = fitting_privilege(),
					.sink_size = 1 << 16,
					.data_size = 1 << 18 };
	struct pollfd poll_fd = { .events = POLLIN };
	int fd = open_device(device, 0);
	struct area area;
	uint64_t head, end, sink_size;
	int polls = 0, quiet = 0;

	configure(fd, &config);
	sink_size = config.sink_size;
	area = map(fd, &config);
	poll_fd.fd = fd;
	ok(poll(&poll_fd, 1, 0) == 0, "%s: nothing to poll for before START", name);
	go_first(true);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	end = now_ns() + 60 * UINT64_C(1000000000);
	while ((head = head_of(&area)) < 17 * sink_size && now_ns() < end) {
		work(1000);
		if (poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & POLLIN) {
			polls++;
			consume(fd, head_of(&area));
		} else {
			quiet++;
		}
	}
	/* Check before printing anything, because printing is traced as well. */
	consume(fd, head_of(&area));
	if (ioctl(fd, NTRACE_IOC_STOP))
		bail("STOP");
	go_first(false);
	ok(head >= 17 * sink_size, "%s: drained while running, %llu times the sink's buffer", name,
	   (unsigned long long)(head / sink_size));
	ok(polls >= 3 && quiet > polls, "%s: POLLIN at a quarter of the data area", name);
	check_losses(&area, name);
	check_clean(&area, name);
	show(&area);
	unmap(&area);
	close(fd);
}

static void test_sleeping_reader(void)
{
	struct ntrace_config config = { .data_size = 1 << 18 };
	struct pollfd poll_fd = { .events = POLLIN };
	int fd = open_device(device, 0);
	uint8_t buffer[65536];
	uint64_t total = 0;
	ssize_t got = 0;
	pid_t child;

	configure(fd, &config);
	poll_fd.fd = fd;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	fails_with(read(fd, buffer, sizeof(buffer)), EAGAIN, "read, nonblocking, nothing there");
	fcntl(fd, F_SETFL, 0);

	/* A child on the traced hart makes the trace; this process sleeps on another hart. */
	child = fork();
	if (!child) {
		run_on(cpu);
		for (;;)
			work(1000);
	}
	run_on(!cpu);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	ok(poll(&poll_fd, 1, 20000) == 1 && poll_fd.revents == POLLIN, "poll wakes");
	while (total < 1 << 20 && (got = read(fd, buffer, sizeof(buffer))) > 0)
		total += got;
	ok(total >= 1 << 20, "read: %llu bytes through a data area of 256 KiB",
	   (unsigned long long)total);
	if (ioctl(fd, NTRACE_IOC_STOP))
		bail("STOP");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & POLLIN, "poll after STOP: the rest");
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		total += got;
	ok(got == 0, "read after STOP ends with 0");
	ok(poll(&poll_fd, 1, 0) == 1 && poll_fd.revents == POLLHUP, "poll at the end: POLLHUP");
	close(fd);
	run_on(cpu);
}

static void test_flush(void)
{
	struct ntrace_config config = { .drain_us = 10000000, .privilege = fitting_privilege() };
	int fd = open_device(device, 0);
	struct area area;
	uint64_t head;

	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	work(1000);
	ok(head_of(&area) == 0, "nothing drained yet");
	ok(!ioctl(fd, NTRACE_IOC_FLUSH) && (head = head_of(&area)) > 0, "FLUSH drains");
	work(1000);
	ok(!ioctl(fd, NTRACE_IOC_FLUSH) && head_of(&area) > head, "FLUSH again");
	if (ioctl(fd, NTRACE_IOC_STOP))
		bail("STOP");
	check_losses(&area, "FLUSH");
	check_clean(&area, "FLUSH");
	unmap(&area);
	close(fd);
}

/* Returns the bytes that the sink has written since START, if it has not wrapped (bit 0). */
static uint64_t sink_bytes(void)
{
	uint32_t bytes = sink[wp / 4] - sink[start / 4];

	return atid ? bytes | (sink[ETR_STS / 4] & ETR_STS_FULL) : bytes;
}

#define TESTS_OF_FULL 6

/* Makes the sink larger than the complete trace. */
static void test_full(bool reader)
{
	struct ntrace_config config = { .data_size = 1 << 16,
					.sink_size = 4 << 20,
					.privilege = fitting_privilege() };
	const char *name = reader ? "full now and then" : "full";
	int fd = open_device(device, 0);
	struct area area;
	uint64_t produced;
	int round;

	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	for (round = 0; round < 15; round++) {
		work(20000);
		if (reader && round % 5 == 4)
			consume(fd, head_of(&area));
	}
	if (ioctl(fd, NTRACE_IOC_STOP))
		bail("STOP");
	produced = sink_bytes();
	show(&area);
	ok(!(produced & TR_RAM_WP_LOW_WRAP) && produced > 2 << 16, "%s: sink holds all %llu bytes",
	   name, (unsigned long long)produced);
	ok(area.control->loss == NTRACE_LOSS_DATA_FULL, "%s: loss has the cause", name);
	ok(head_of(&area) - area.control->gaps * (atid ? FRAME : 1) + area.control->lost ==
		   produced,
	   "%s: lost is exact", name);
	ok(reader ? area.control->gaps > 1 : area.control->gaps == 1 && head_of(&area) == 1 << 16,
	   "%s: %u gaps", name, area.control->gaps);
	/* The reader keeps up, so more trace than the data area holds may follow the last gap. */
	ok((reader && head_of(&area) - area.control->gap_head > config.data_size) ||
		   is_mark(&area, area.control->gap_head),
	   "%s: marked at gap_head", name);
	check_clean(&area, name);
	unmap(&area);
	close(fd);
}

/* Measures how many bytes of trace some work makes, with a sink that holds all of it. */
static uint64_t bytes_of_work(unsigned int rounds)
{
	struct ntrace_config config = { .sink_size = 4 << 20, .privilege = fitting_privilege() };
	int fd = open_device(device, 0);
	uint64_t bytes;

	configure(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	work(rounds);
	if (ioctl(fd, NTRACE_IOC_STOP))
		bail("STOP");
	bytes = sink_bytes();
	close(fd);
	return bytes & TR_RAM_WP_LOW_WRAP ? 0 : bytes;
}

static void test_lapped(const char *name, uint32_t drain_us, bool flush, int rounds)
{
	struct ntrace_config config = { .sink_size = 4096,
					.drain_us = drain_us,
					.privilege = fitting_privilege() };
	uint64_t bytes = bytes_of_work(rounds * 10000);
	int fd = open_device(device, 0);
	struct area area;
	int round;

	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	for (round = 0; round < rounds; round++) {
		work(10000);
		if (flush)
			ioctl(fd, NTRACE_IOC_FLUSH);
	}
	if (ioctl(fd, NTRACE_IOC_STOP))
		bail("STOP");
	show(&area);
	ok(area.control->loss == NTRACE_LOSS_LAPPED, "%s: loss has the cause", name);
	ok(area.control->lost >= 4096 && area.control->gaps >= 1, "%s: at least a round lost",
	   name);
	/*
	 * The number of interrupts differs between runs, but does not double the trace. The debug
	 * kernel can make more than the sink that measured it holds.
	 */
	ok((flooded && !bytes) || area.control->lost + head_of(&area) < 2 * bytes,
	   "%s: not more lost than there was (%llu bytes)", name, (unsigned long long)bytes);
	ok(is_mark(&area, area.control->gap_head), "%s: marked at gap_head", name);
	check_clean(&area, name);
	unmap(&area);
	close(fd);
}

static void test_cycles(void)
{
	struct ntrace_config config = { .mode = 0 };
	int fd = open_device(device, 0);
	struct area area;
	uint64_t begun;
	int i, bad = 0;

	configure(fd, &config);
	area = map(fd, &config);
	begun = now_ns();
	for (i = 0; i < 200; i++) {
		uint64_t head = head_of(&area);

		if (ioctl(fd, NTRACE_IOC_START) || ioctl(fd, NTRACE_IOC_STOP) ||
		    head_of(&area) <= head || !begins_at(&area, head))
			bad++;
		consume(fd, head_of(&area));
	}
	ok(!bad && !area.control->loss, "200 starts and stops, each with trace");
	ksft_print_msg("%llu ns each\n", (unsigned long long)((now_ns() - begun) / 200));
	unmap(&area);
	close(fd);
}

static void map_sink(off_t address)
{
	int fd = open("/dev/mem", O_RDONLY | O_SYNC);

	if (fd < 0)
		bail("/dev/mem");
	sink = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, address);
	if (sink == MAP_FAILED)
		bail("registers of the sink");
	close(fd);
}

int main(int argc, char **argv)
{
	struct ntrace_info info;
	bool btm, whole = argc == 4;

	if (argc != 4 && (argc != 5 || strcmp(argv[4], "short")))
		usage("trace DEVICE CPU SINK_ADDRESS [short]");
	device = argv[1];
	info = info_of(open_device(device, 0));
	btm = info.modes & 1u << NTRACE_MODE_BTM;
	/* SYNC, four bits, comes after SRC. */
	src_bits = info.src_bits;
	flooded = is_flooded(&info);
	if (src_bits > 2)
		bail("SRC has more than two bits");
	atid = info.atid;
	if (atid) {
		wp = ETR_RWP;
		start = ETR_DBALO;
	} else if (!(info.sink_impl & 0xf)) {
		wp = V0_SINK_WP;
	}
	if (whole)
		begin((btm ? 69 : 54) - (flooded ? 2 * TESTS_OF_FULL : 0));
	else
		begin(btm ? 21 : 11);
	cpu = atoi(argv[2]);
	map_sink(strtoul(argv[3], NULL, 0));
	run_on(cpu);
	test_start_stop(NTRACE_MODE_HTM, "HTM");
	if (btm)
		test_start_stop(NTRACE_MODE_BTM, "BTM");
	if (!whole) {
		test_cycles();
		ksft_finished();
	}
	test_drain(NTRACE_MODE_HTM, "HTM");
	if (btm)
		test_drain(NTRACE_MODE_BTM, "BTM");
	test_sleeping_reader();
	test_flush();
	/* Only if the sink can hold the complete trace. */
	if (!flooded) {
		test_full(false);
		test_full(true);
	}
	test_lapped("lapped until STOP", 10000000, false, 10);
	test_lapped("lapped between timers", 5000, false, 40);
	test_lapped("lapped between FLUSHes", 10000000, true, 10);
	test_cycles();
	ksft_finished();
}
