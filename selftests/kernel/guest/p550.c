// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pre-ratification SiFive encoders that send to a funnel, as in a P550. Usage: p550 FUNNEL;
 * FUNNEL: address of the funnel's registers
 */
#include "version0.h"

#define OWNERSHIP 2

static void test_info(int fd)
{
	struct ntrace_info info = info_of(fd);

	ok(!(info.encoder_impl & 0xf) && info.modes == 1u << NTRACE_MODE_HTM && !info.privilege,
	   "INFO: version 0, HTM, no filters");
	ok(info.src_bits == 2 && info.src == 0 && info.granule >= 8,
	   "INFO: SRC 0 of 2 bits, 8 bytes at once or more");
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

/* Ownership messages of an area: that of the first one, and how many have this process's id. */
struct owners {
	uint64_t first;
	uint64_t own;
	uint64_t others;
};

static struct owners count_owners(const struct area *area)
{
	uint64_t position, head = head_of(area);
	struct owners owners = { 0 };
	bool start = true;

	for (position = 0; position < head; position++) {
		uint8_t byte = byte_at(area, position);

		if (start && byte >> 2 == OWNERSHIP) {
			uint64_t id = process_at(area, position);

			if (!owners.own && !owners.others)
				owners.first = id;
			owners.own += id == (uint64_t)getpid();
			owners.others += id != (uint64_t)getpid();
		}
		start = (byte & 3) == 3;
	}
	return owners;
}

static void test_owner(int fd)
{
	struct ntrace_config config = { .privilege = EVERYTHING, .flags = NTRACE_CONFIG_CONTEXT };
	struct owners owners;
	struct area area;
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
	owners = count_owners(&area);
	ok(owners.first == (uint64_t)getpid(),
	   "context: the first Ownership has the id of this process");
	ok(owners.own >= 6 && owners.others >= 5,
	   "context: it is sent at each switch: %llu, of others %llu",
	   (unsigned long long)owners.own, (unsigned long long)owners.others);
	ok(!area.control->loss && !area.control->gaps, "context: nothing is lost");
	unmap(&area);
	config.flags = 0;
	configure(fd, &config);
	area = map(fd, &config);
	run(fd, 1000);
	owners = count_owners(&area);
	ok(!owners.own && !owners.others, "without context: no Ownership");
	unmap(&area);
}

/* The sink has failed; configured again, it works. */
static void test_again(int fd)
{
	struct ntrace_config config = { .privilege = EVERYTHING };
	struct area area;

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
	begin(13);
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
	test_again(fd);
	close(fd);
	ksft_finished();
}
