// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers. Usage: triggers ENCODER_ADDRESS TYPE. ENCODER_ADDRESS: encoder of hart 0, whose
 * registers 0xe04 and 0xe08 raise inputs and report outputs, and whose register 0xe0c is a debug
 * trigger (tools/vsoc/model/trace_encoder.h). TYPE: type of the PMU
 */
#include "events.h"

#define PROG_TRACE_CORRELATION 33
#define ARMED (1 << 25)
#define DEBUG_TRIGGERS (1 << 26)
#define AUX_SIZE (1 << 20)

static volatile uint32_t *page;

static int ask(int fd, struct ntrace_config config)
{
	config.size = sizeof(config);
	return ioctl(fd, NTRACE_IOC_CONFIGURE, &config);
}

static void test_refused(int fd)
{
	struct ntrace_info info = { .size = sizeof(info) };

	ok(!ioctl(fd, NTRACE_IOC_INFO, &info) && info.triggers_in == 3 && info.triggers_out == 3,
	   "INFO: two inputs, two outputs");
	ok(info.triggers_debug == 1, "INFO: debug triggers");
	fails_with(ask(fd, (struct ntrace_config){ .trigger_in = 1 }), EINVAL, "no such action");
	fails_with(ask(fd, (struct ntrace_config){ .trigger_in = 5 << 4 }), EINVAL,
		   "an action of vendors");
	fails_with(ask(fd, (struct ntrace_config){ .trigger_out = 4 }), EINVAL,
		   "an output of vendors");
	fails_with(ask(fd, (struct ntrace_config){ .trigger_in = NTRACE_TRIGGER_ON << 8 }),
		   EOPNOTSUPP, "a third input");
	fails_with(ask(fd, (struct ntrace_config){ .trigger_out = NTRACE_TRIGGER_OUT_ON << 28 }),
		   EOPNOTSUPP, "an eighth output");
	fails_with(ask(fd, (struct ntrace_config){ .flags = NTRACE_CONFIG_ARMED }), EINVAL,
		   "armed, and nothing that could begin");
	fails_with(ask(fd, (struct ntrace_config){ .flags = NTRACE_CONFIG_ARMED,
						   .trigger_in = NTRACE_TRIGGER_OFF }),
		   EINVAL, "armed, and only an end");
}

static unsigned int count(const struct area *area, uint8_t first)
{
	unsigned int found = 0;
	bool start = true;
	uint64_t i;

	for (i = 0; i < head_of(area); i++) {
		found += start && byte_at(area, i) >> 2 == first;
		start = (byte_at(area, i) & 3) == 3;
	}
	return found;
}

/* Input 0 starts and input 1 stops the trace; both outputs report it. */
static void test_window(int fd)
{
	struct ntrace_config config = {
		.flags = NTRACE_CONFIG_ARMED,
		.privilege = NTRACE_PRIVILEGE_U,
		.trigger_in = NTRACE_TRIGGER_ON | NTRACE_TRIGGER_OFF << 4,
		.trigger_out = NTRACE_TRIGGER_OUT_ON | NTRACE_TRIGGER_OUT_OFF << 4,
	};
	uint64_t within;
	struct area area;

	configure(fd, &config);
	area = map(fd, &config);
	page[0xe08 / 4] = 3;
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	work(10000);
	ioctl(fd, NTRACE_IOC_FLUSH);
	ok(!head_of(&area) && area.control->state == NTRACE_STATE_RUNNING && !page[0xe08 / 4],
	   "armed: nothing is traced");
	page[0xe04 / 4] = 1;
	work(10000);
	ok(page[0xe08 / 4] == 1, "input 0: it begins, says output 0");
	page[0xe04 / 4] = 2;
	ok(page[0xe08 / 4] == 3, "input 1: it ends, says output 1");
	ioctl(fd, NTRACE_IOC_FLUSH);
	within = head_of(&area);
	work(100000);
	ok(!ioctl(fd, NTRACE_IOC_STOP) && within > 1000 && head_of(&area) < within + 256,
	   "what came between: %llu bytes, %llu after the stop", (unsigned long long)within,
	   (unsigned long long)head_of(&area));
	ok(byte_at(&area, 0) == PROG_TRACE_SYNC && (byte_at(&area, 1) >> 2 & 0xf) == 5,
	   "from a synchronization: trace enable");
	ok(count(&area, PROG_TRACE_CORRELATION) >= 1 && !area.control->loss,
	   "to the end, nothing lost");
	unmap(&area);
}

/* Marks the trace while tracing is on. */
static void test_notify(int fd)
{
	struct ntrace_config config = { .privilege = NTRACE_PRIVILEGE_U,
					.trigger_in = NTRACE_TRIGGER_NOTIFY << 4 };
	struct area area;
	uint64_t without;
	int i;

	configure(fd, &config);
	area = map(fd, &config);
	ioctl(fd, NTRACE_IOC_START);
	for (i = 0; i < 100; i++) {
		work(10);
		page[0xe04 / 4] = 1;
	}
	ioctl(fd, NTRACE_IOC_STOP);
	without = head_of(&area);
	ioctl(fd, NTRACE_IOC_START);
	for (i = 0; i < 100; i++) {
		work(10);
		page[0xe04 / 4] = 2;
	}
	ioctl(fd, NTRACE_IOC_STOP);
	ok(head_of(&area) - without > without + 100 * 4, "100 marks: %llu bytes, without %llu",
	   (unsigned long long)(head_of(&area) - without), (unsigned long long)without);
	unmap(&area);
}

/* Debug triggers of the hart: 2 starts, 4 marks, 3 stops the trace. */
static void test_debug(int fd)
{
	struct ntrace_config config = {
		.flags = NTRACE_CONFIG_ARMED | NTRACE_CONFIG_DEBUG_TRIGGERS,
		.privilege = NTRACE_PRIVILEGE_U,
	};
	unsigned int marks = 0;
	struct area area;
	uint64_t i;

	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	work(1000);
	ioctl(fd, NTRACE_IOC_FLUSH);
	ok(!head_of(&area), "debug triggers: armed");
	page[0xe0c / 4] = 2;
	work(1000);
	page[0xe0c / 4] = 4;
	work(1000);
	page[0xe0c / 4] = 3;
	work(1000);
	ioctl(fd, NTRACE_IOC_STOP);
	/* TCODE 9 in the first byte, SYNC 6 in the second. */
	for (i = 0; i + 1 < head_of(&area); i++)
		marks += byte_at(&area, i) == PROG_TRACE_SYNC &&
			 (byte_at(&area, i + 1) >> 2 & 0xf) == 6 &&
			 (!i || (byte_at(&area, i - 1) & 3) == 3);
	ok(head_of(&area) > 100 && marks == 1 && count(&area, PROG_TRACE_CORRELATION) >= 1,
	   "debug triggers: it begins, has %u mark, and ends", marks);
	unmap(&area);
}

static int try_event(uint64_t config, uint64_t config1, uint64_t config2)
{
	struct perf_event_attr attr = attributes();
	int fd;

	attr.config = config;
	attr.config1 = config1;
	attr.config2 = config2;
	fd = event_open(&attr, 0, 0);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static void test_perf_refused(void)
{
	uint64_t on = NTRACE_TRIGGER_ON;

	ok(!try_event(0, 0, on), "perf: input 0");
	fails_with(try_event(0, 0, on << 8), EOPNOTSUPP, "perf: a third input");
	fails_with(try_event(0, 0, 1), EINVAL, "perf: no such action");
	fails_with(try_event(0, 0, UINT64_C(4) << 32), EINVAL, "perf: no such output");
	fails_with(try_event(ARMED, 0, 0), EINVAL, "perf: armed, and nothing that could begin");
	ok(!try_event(ARMED | DEBUG_TRIGGERS, 0, 0), "perf: armed, with debug triggers");
	fails_with(try_event(0, 100 | UINT64_C(100) << 32, on), EINVAL, "perf: with strobing");
}

/* Returns the bytes that @rounds of work add to the AUX area while the event is enabled. */
static uint64_t traced(const struct aux_area *area, uint64_t rounds, uint32_t raise)
{
	uint64_t before = aux_head(area);

	ioctl(area->fd, PERF_EVENT_IOC_ENABLE, 0);
	if (raise)
		page[0xe04 / 4] = raise;
	work(rounds);
	ioctl(area->fd, PERF_EVENT_IOC_DISABLE, 0);
	return aux_head(area) - before;
}

/* An event of this task keeps its on or off state while the task is off the hart. */
static void test_perf_window(void)
{
	struct perf_event_attr attr = attributes();
	struct aux_area area;
	uint64_t got;

	attr.config = ARMED;
	attr.config2 = NTRACE_TRIGGER_ON | NTRACE_TRIGGER_OFF << 4 |
		       (uint64_t)(NTRACE_TRIGGER_OUT_ON | NTRACE_TRIGGER_OUT_OFF << 4) << 32;
	area = aux_area_open(&attr, 0, 0, AUX_SIZE, false);
	page[0xe08 / 4] = 3;
	ok(!traced(&area, 10000, 0) && !page[0xe08 / 4], "perf: armed: nothing is traced");
	got = traced(&area, 10000, 1);
	ok(got > 1000 && page[0xe08 / 4] & 1, "perf: input 0: it begins, %llu bytes",
	   (unsigned long long)got);
	ok(area.aux[0] == PROG_TRACE_SYNC, "perf: with a synchronization");
	got = traced(&area, 10000, 0);
	ok(got > 1000, "perf: tracing continues when scheduled again, %llu bytes",
	   (unsigned long long)got);
	got = traced(&area, 10000, 2);
	ok(got < 256, "perf: input 1: it ends, after %llu bytes", (unsigned long long)got);
	ok(!traced(&area, 10000, 0), "perf: and stays so");
	aux_area_close(&area);
}

int main(int argc, char **argv)
{
	int fd, memory = open("/dev/mem", O_RDWR | O_SYNC);

	if (argc != 3)
		usage("triggers ENCODER_ADDRESS TYPE");
	begin(31);
	type = (unsigned int)strtoul(argv[2], NULL, 0);
	run_on(0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory,
		    strtoul(argv[1], NULL, 0));
	if (page == MAP_FAILED)
		bail("/dev/mem");
	fd = open_device("/dev/ntrace0", 0);
	test_refused(fd);
	test_window(fd);
	test_notify(fd);
	test_debug(fd);
	close(fd);
	test_perf_refused();
	test_perf_window();
	ksft_finished();
}
