// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pre-ratification SiFive encoders that send to a funnel, as in a P550. Usage: p550 FUNNEL;
 * FUNNEL: address of the funnel's registers
 */
#include "guest.h"

#define OWNERSHIP 2
#define CONTROL_ENABLE 2
/* Register of faults, and the bit of SinkError: see tools/vsoc/model/fault.h. */
#define FAULTS (0xe00 / 4)
#define FAULT_SINK_ERROR 0x400

static void test_info(int fd)
{
	struct ntrace_info info = { .size = sizeof(info) };

	if (ioctl(fd, NTRACE_IOC_INFO, &info))
		bail("NTRACE_IOC_INFO");
	ok(!(info.encoder_impl & 0xf) && info.modes == 1u << NTRACE_MODE_HTM && !info.privilege,
	   "INFO: version 0, HTM, no filters");
	ok(info.src_bits == 2 && info.src == 0 && info.granule == 8,
	   "INFO: SRC 0 of 2 bits, 8 bytes at once");
	ok(info.timestamp_modes == 1u << NTRACE_TIMESTAMPS_SHARED && info.timestamp_bits == 40,
	   "INFO: only the funnel's time, of 40 bits");
}

/* PROCESS of the message at a position: it begins after TCODE and two bits of SRC. */
static uint64_t process_at(const struct area *area, uint64_t position)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = byte_at(area, ++position);
		value |= (uint64_t)(byte >> 2) << shift;
		shift += 6;
	} while (!(byte & 3) && shift < 60);
	return value >> 2;
}

static void test_owner(int fd)
{
	struct ntrace_config config = { .privilege = EVERYTHING, .flags = NTRACE_CONFIG_CONTEXT };
	uint64_t position, head, own = 0, others = 0, first = 0;
	struct area area;
	bool start = true;
	int i;

	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	for (i = 0; i < 5; i++) {
		work(100);
		usleep(1000);
	}
	if (ioctl(fd, NTRACE_IOC_STOP))
		bail("STOP");
	head = head_of(&area);
	for (position = 0; position < head; position++) {
		uint8_t byte = byte_at(&area, position);

		if (start && byte >> 2 == OWNERSHIP) {
			uint64_t id = process_at(&area, position);

			first = first ? first : id;
			own += id == (uint64_t)getpid();
			others += id != (uint64_t)getpid();
		}
		start = (byte & 3) == 3;
	}
	ok(first == (uint64_t)getpid(), "context: the first Ownership has the id of this process");
	ok(own >= 6 && others >= 5, "context: it is sent at each switch: %llu, of others %llu",
	   (unsigned long long)own, (unsigned long long)others);
	ok(!area.control->loss && !area.control->gaps, "context: nothing is lost");
	unmap(&area);
	config.flags = 0;
	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 1000);
	head = head_of(&area);
	own = 0;
	for (position = 0, start = true; position < head; position++) {
		uint8_t byte = byte_at(&area, position);

		own += start && byte >> 2 == OWNERSHIP;
		start = (byte & 3) == 3;
	}
	ok(!own, "without context: no Ownership");
	unmap(&area);
}

static void test_full(int fd)
{
	struct ntrace_config config = { .privilege = EVERYTHING,
					.flags = NTRACE_CONFIG_STOP_ON_WRAP,
					.sink_size = 65536 };
	struct area area;

	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 100000);
	ok(area.control->loss & NTRACE_LOSS_SINK_FULL && head_of(&area) == config.sink_size + 1,
	   "stop when full: all that it took, and the mark: %llu bytes",
	   (unsigned long long)head_of(&area));
	unmap(&area);
}

static void test_sink_fails(int fd, volatile uint32_t *funnel)
{
	struct ntrace_config config = { .privilege = EVERYTHING };
	struct area area;
	int i;

	configure(fd, &config);
	area = map(fd, &config);
	if (ioctl(fd, NTRACE_IOC_START))
		bail("START");
	work(1000);
	funnel[FAULTS] = FAULT_SINK_ERROR;
	for (i = 0; i < 10000 && area.control->state != NTRACE_STATE_DEAD; i++)
		usleep(1000);
	ok(area.control->state == NTRACE_STATE_DEAD && area.control->loss & NTRACE_LOSS_ENCODER,
	   "SinkError while it runs: dead, and something was lost");
	ok(!(funnel[0] & CONTROL_ENABLE), "SinkError while it runs: the funnel is off");
	fails_with(ioctl(fd, NTRACE_IOC_STOP), EIO, "SinkError: STOP: EIO");
	unmap(&area);
	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 1000);
	ok(head_of(&area) > 1000 && !area.control->loss, "configured again, it works");
	unmap(&area);
}

int main(int argc, char **argv)
{
	volatile uint32_t *funnel;
	int fd;

	if (argc != 2)
		usage("p550 FUNNEL");
	begin(12);
	run_on(0);
	funnel = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		      open("/dev/mem", O_RDWR | O_SYNC), strtoul(argv[1], NULL, 0));
	if (funnel == MAP_FAILED)
		bail("/dev/mem");
	fd = open_device("/dev/ntrace0", 0);
	test_info(fd);
	test_owner(fd);
	test_full(fd);
	test_sink_fails(fd, funnel);
	close(fd);
	ksft_finished();
}
