// SPDX-License-Identifier: GPL-2.0-only
/* Calls that /dev/ntraceN accepts and refuses. Usage: abi [DEVICE], by default /dev/ntrace0 */
#include <linux/capability.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

static const char *device;
/* The trace is in frames of a CoreSight formatter. */
static bool framed;
/* The privileges of a configuration that names none; an encoder without a filter traces all or nothing. */
static __u32 unasked;

static void test_info(void)
{
	struct {
		struct ntrace_info info;
		uint8_t more[64];
	} large;
	struct ntrace_info info;
	int fd = open_device(device, 0);

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	ok(!ioctl(fd, NTRACE_IOC_INFO, &info), "INFO");
	ok(info.size == sizeof(info) && info.abi_version == NTRACE_ABI_VERSION && info.xlen == 64,
	   "INFO: size, ABI version, xlen");
	/* Linux may number the harts in any order; the device is named after the CPU. */
	ok(info.cpu == (unsigned int)atoi(device + strlen("/dev/ntrace")) && info.hartid < 64,
	   "INFO: CPU %u is hart %llu", info.cpu, info.hartid);
	ok(info.modes == (1u << NTRACE_MODE_BTM | 1u << NTRACE_MODE_HTM), "INFO: BTM and HTM");
	ok(info.sync_modes & 1u << NTRACE_SYNC_MESSAGES && info.sync_max == 15,
	   "INFO: periodic sync");
	ok(!info.privilege || (info.privilege & 0xb) == 0xb, "INFO: a filter for %s",
	   info.privilege ? "U, S and M" : "nothing");
	unasked = info.privilege ? 0 : EVERYTHING;
	framed = info.framing == NTRACE_FRAMING_CORESIGHT;
	ok((info.encoder_impl & 0xf0f) == 0x101 &&
		   (framed ? (info.sink_impl & 0xf0f) == 0x900 && info.atid :
			     (info.sink_impl & 0xf0f) == 0x901 && !info.atid),
	   "INFO: types");
	ok(info.granule >= 4 && !(info.granule & (info.granule - 1)), "INFO: granule %u",
	   info.granule);
	ok(info.sink_size_max >= 4 << 20, "INFO: sink buffers up to %llu", info.sink_size_max);
	ok(info.module_version[0] >= '0' && info.module_version[0] <= '9', "INFO: version %s",
	   info.module_version);

	memset(&info, 0xaa, sizeof(info));
	info.size = 8;
	ok(!ioctl(fd, NTRACE_IOC_INFO, &info) && info.size == sizeof(info) &&
		   info.abi_version == NTRACE_ABI_VERSION && info.cpu == 0xaaaaaaaa,
	   "INFO: a caller of 8 bytes gets 8 bytes and the size the kernel knows");

	memset(&large, 0, sizeof(large));
	large.info.size = sizeof(large);
	ok(!ioctl(fd, NTRACE_IOC_INFO, &large) && large.info.size == sizeof(large.info),
	   "INFO: a larger struct of zeros");
	large.info.size = sizeof(large);
	large.more[63] = 1;
	fails_with(ioctl(fd, NTRACE_IOC_INFO, &large), E2BIG,
		   "INFO: a field unknown to the kernel");
	info.size = 0;
	fails_with(ioctl(fd, NTRACE_IOC_INFO, &info), EINVAL, "INFO: no size");
	info.size = 1 << 20;
	fails_with(ioctl(fd, NTRACE_IOC_INFO, &info), E2BIG, "INFO: absurd size");
	fails_with(ioctl(fd, NTRACE_IOC_INFO, NULL), EFAULT, "INFO: NULL");
	fails_with(ioctl(fd, _IO(NTRACE_IOC_MAGIC, 99), NULL), ENOTTY, "unknown number");
	fails_with(ioctl(fd, _IO(0xbb, 0), NULL), ENOTTY, "other magic");
	ok(!ioctl(fd, _IOWR(NTRACE_IOC_MAGIC, 0, uint64_t), &(uint64_t){ 8 }),
	   "the size in the command does not count");
	close(fd);
}

static void test_not_configured(void)
{
	struct pollfd poll_fd = { .events = POLLIN };
	int fd = open_device(device, 0);
	char byte;

	fails_with(ioctl(fd, NTRACE_IOC_START), EINVAL, "START before CONFIGURE");
	fails_with(ioctl(fd, NTRACE_IOC_STOP), EINVAL, "STOP before CONFIGURE");
	fails_with(ioctl(fd, NTRACE_IOC_FLUSH), EINVAL, "FLUSH before CONFIGURE");
	fails_with(consume(fd, 0), EINVAL, "CONSUME before CONFIGURE");
	fails_with(read(fd, &byte, 1), EINVAL, "read before CONFIGURE");
	fails_with(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0, EINVAL,
		   "mmap before CONFIGURE");
	poll_fd.fd = fd;
	ok(poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & POLLERR, "poll before CONFIGURE");
	close(fd);
}

static void refused(int fd, struct ntrace_config config, int error, const char *what)
{
	config.size = sizeof(config);
	if (!config.privilege)
		config.privilege = unasked;
	fails_with(ioctl(fd, NTRACE_IOC_CONFIGURE, &config), error, what);
}

#define REFUSED(fd, error, ...) \
	refused(fd, (struct ntrace_config){ __VA_ARGS__ }, error, "CONFIGURE " #__VA_ARGS__)

static void test_configure(void)
{
	struct ntrace_info info = { .size = sizeof(info) };
	struct ntrace_config config = { .size = sizeof(config), .privilege = unasked };
	int fd = open_device(device, 0);
	__u32 features;

	ioctl(fd, NTRACE_IOC_INFO, &info);
	REFUSED(fd, EOPNOTSUPP, .mode = 5);
	REFUSED(fd, EINVAL, .mode = 8);
	REFUSED(fd, EOPNOTSUPP, .sync_mode = NTRACE_SYNC_CYCLES);
	REFUSED(fd, EINVAL, .sync_mode = 4);
	REFUSED(fd, EINVAL, .sync_mode = NTRACE_SYNC_MESSAGES, .sync_max = 16);
	REFUSED(fd, EINVAL, .privilege = 1u << 2);
	REFUSED(fd, EINVAL, .privilege = 1u << 31);
	REFUSED(fd, EINVAL, .data_size = 3 * 4096);
	REFUSED(fd, EINVAL, .data_size = 2048);
	REFUSED(fd, EINVAL, .data_size = 1ull << 31);
	REFUSED(fd, EINVAL, .data_size = 1ull << 63);
	REFUSED(fd, ENOMEM, .data_size = 1ull << 30);
	REFUSED(fd, EINVAL, .sink_size = 1ull << 33);
	REFUSED(fd, EINVAL, .drain_us = 4000000000u);
	REFUSED(fd, EINVAL, .flags = NTRACE_CONFIG_STALL | NTRACE_CONFIG_STOP_ON_WRAP);
	REFUSED(fd, EINVAL, .features = 1);
	REFUSED(fd, EINVAL, .features = NTRACE_FEATURE_IMPLICIT_RETURN | NTRACE_FEATURE_ALL_JUMPS);
	REFUSED(fd, EOPNOTSUPP, .features = NTRACE_FEATURE_SEQUENTIAL_JUMP);
	if (info.stall) {
		config.flags = NTRACE_CONFIG_STALL;
		ok(!ioctl(fd, NTRACE_IOC_CONFIGURE, &config) && config.flags == NTRACE_CONFIG_STALL,
		   "CONFIGURE with NTRACE_CONFIG_STALL");
		close(fd);
		fd = open_device(device, 0);
		config = (struct ntrace_config){ .size = sizeof(config), .privilege = unasked };
	} else {
		REFUSED(fd, EOPNOTSUPP, .flags = NTRACE_CONFIG_STALL);
	}
	fails_with(ioctl(fd, NTRACE_IOC_START), EINVAL, "START after a refused CONFIGURE");

	features = info.inst_features &
		   (NTRACE_FEATURE_IMPLICIT_RETURN | NTRACE_FEATURE_REPEATED_HISTORY);
	config.features = features;
	ok(!ioctl(fd, NTRACE_IOC_CONFIGURE, &config) && config.features == features,
	   "CONFIGURE with features");
	config = (struct ntrace_config){ .size = sizeof(config), .privilege = unasked };
	ok(!ioctl(fd, NTRACE_IOC_CONFIGURE, &config), "CONFIGURE with defaults");
	ok(config.mode == NTRACE_MODE_HTM && config.privilege == (unasked ?: 3) &&
		   config.sync_mode == 0 && config.drain_us && config.sink_size == 4 << 20 &&
		   config.data_size == 16 << 20,
	   "CONFIGURE returns the values in effect");
	config = (struct ntrace_config){ .size = 8, .mode = NTRACE_MODE_BTM };
	if (unasked)
		fails_with(ioctl(fd, NTRACE_IOC_CONFIGURE, &config), EOPNOTSUPP,
			   "CONFIGURE again, short struct without privileges");
	else
		ok(!ioctl(fd, NTRACE_IOC_CONFIGURE, &config) && config.size == sizeof(config) &&
			   config.mode == NTRACE_MODE_BTM && !config.data_size,
		   "CONFIGURE again, short struct");
	config = (struct ntrace_config){ .size = sizeof(config),
					 .sink_size = 5000,
					 .sync_mode = NTRACE_SYNC_MESSAGES,
					 .sync_max = 4,
					 .privilege = unasked ?: NTRACE_PRIVILEGE_U };
	ok(!ioctl(fd, NTRACE_IOC_CONFIGURE, &config) && config.sink_size == 8192 &&
		   config.sync_max == 4 && config.privilege == (unasked ?: NTRACE_PRIVILEGE_U),
	   "CONFIGURE rounds up");
	close(fd);
}

static void test_one_owner(void)
{
	struct ntrace_config config = { .size = sizeof(config), .privilege = unasked };
	int first = open_device(device, 0), second = open_device(device, 0);

	configure(first, &config);
	fails_with(ioctl(second, NTRACE_IOC_CONFIGURE, &config), EBUSY,
		   "CONFIGURE of a second file");
	fails_with(ioctl(second, NTRACE_IOC_START), EINVAL, "START of a second file");
	ok(!ioctl(first, NTRACE_IOC_START), "START");
	fails_with(ioctl(first, NTRACE_IOC_START), EBUSY, "START while running");
	fails_with(ioctl(first, NTRACE_IOC_CONFIGURE, &config), EBUSY, "CONFIGURE while running");
	ok(!ioctl(first, NTRACE_IOC_STOP), "STOP");
	ok(!ioctl(first, NTRACE_IOC_STOP), "STOP again");
	close(first);
	config = (struct ntrace_config){ .size = sizeof(config), .privilege = unasked };
	ok(!ioctl(second, NTRACE_IOC_CONFIGURE, &config),
	   "CONFIGURE when the first file is closed");
	close(second);
}

static long map_error(int fd, size_t size, int protection, int flags, off_t offset)
{
	void *address = mmap(NULL, size, protection, flags, fd, offset);

	if (address == MAP_FAILED)
		return -1;
	munmap(address, size);
	return 0;
}

static void test_mmap(void)
{
	struct ntrace_config config = { .data_size = 1 << 16, .sink_size = 1 << 16 };
	struct ntrace_config again = { .size = sizeof(again), .privilege = unasked };
	int fd = open_device(device, 0), other = open_device(device, 0);
	struct area area;
	uint64_t head;
	uint8_t first;
	pid_t child;
	int status;

	configure(fd, &config);
	fails_with(map_error(fd, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0), EACCES,
		   "mmap PROT_WRITE, shared");
	fails_with(map_error(fd, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0), EACCES,
		   "mmap PROT_WRITE, private");
	fails_with(map_error(fd, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, 0), EACCES,
		   "mmap PROT_EXEC");
	fails_with(map_error(fd, (1 << 16) + 8192, PROT_READ, MAP_SHARED, 0), EINVAL,
		   "mmap of more than there is");
	fails_with(map_error(fd, 4096, PROT_READ, MAP_SHARED, (1 << 16) + 4096), EINVAL,
		   "mmap after the end");
	area = map(fd, &config);
	fails_with(mprotect((void *)area.control, 4096, PROT_READ | PROT_WRITE), EACCES,
		   "mprotect PROT_WRITE");
	ok(area.control->abi_version == NTRACE_ABI_VERSION &&
		   area.control->state == NTRACE_STATE_CONFIGURED &&
		   area.control->data_offset == 4096 && area.control->data_size == 1 << 16,
	   "control page");
	for (head = 0; head < 1 << 16 && !byte_at(&area, head); head++)
		;
	ok(head == 1 << 16, "data area is zeroed");

	run_on(0);
	ok(!ioctl(fd, NTRACE_IOC_START), "START");
	work(2000);
	ok(!ioctl(fd, NTRACE_IOC_STOP), "STOP");
	head = head_of(&area);
	fails_with(consume(fd, head + 1), EINVAL, "CONSUME beyond head");
	fails_with(ioctl(fd, NTRACE_IOC_CONSUME,
			 &(struct ntrace_consume){ .size = 16, .reserved = 1 }),
		   EINVAL, "CONSUME with a reserved bit");
	ok(!consume(fd, head / 2) && area.control->tail == head / 2, "CONSUME");
	fails_with(consume(fd, head / 2 - 1), EINVAL, "CONSUME backwards");
	fails_with(consume(fd, UINT64_MAX), EINVAL, "CONSUME of all of it");

	child = fork();
	if (!child) {
		/* Mappings are not inherited: this access faults. */
		first = byte_at(&area, 0);
		_exit(first ? 1 : 2);
	}
	waitpid(child, &status, 0);
	ok(WIFSIGNALED(status), "a child does not inherit the mapping");

	first = byte_at(&area, 0);
	close(fd);
	ok(head && (framed || first == PROG_TRACE_SYNC) && byte_at(&area, 0) == first &&
		   head_of(&area) == head,
	   "mapping is alive after close");
	fails_with(ioctl(other, NTRACE_IOC_CONFIGURE, &again), EBUSY,
		   "CONFIGURE of another file while it is mapped");
	unmap(&area);
	ok(!ioctl(other, NTRACE_IOC_CONFIGURE, &again), "CONFIGURE after munmap");
	close(other);
}

static void set_capabilities(uint64_t mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = mask, .permitted = mask },
		{ .effective = mask >> 32, .permitted = mask >> 32 },
	};

	if (prctl(PR_SET_KEEPCAPS, 1) || setuid(65534) || syscall(SYS_capset, &header, data))
		bail("giving up privileges");
}

/* Runs in a child without privileges, which reports a failure by its exit status. */
static int as_nobody(uint64_t capabilities, rlim_t memlock, uint64_t data_size)
{
	struct rlimit limit = { memlock, memlock };
	struct ntrace_config config = { .size = sizeof(config),
					.privilege = unasked,
					.data_size = data_size,
					.sink_size = 4096 };
	pid_t child = fork();
	int status, fd;

	if (!child) {
		setrlimit(RLIMIT_MEMLOCK, &limit);
		set_capabilities(capabilities);
		fd = open(device, O_RDWR);
		if (fd < 0)
			_exit(errno);
		_exit(ioctl(fd, NTRACE_IOC_CONFIGURE, &config) ? errno : 0);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static void test_privilege(void)
{
	const uint64_t perfmon = UINT64_C(1) << CAP_PERFMON;

	ok(as_nobody(0, RLIM_INFINITY, 4096) == EACCES, "open without capability: EACCES");
	ok(as_nobody(UINT64_C(1) << CAP_SYS_PTRACE, RLIM_INFINITY, 4096) == EACCES,
	   "open with another capability: EACCES");
	ok(as_nobody(perfmon, 1 << 20, 1 << 16) == 0, "CAP_PERFMON is enough");
	ok(as_nobody(perfmon, 1 << 20, 1 << 20) == EPERM, "RLIMIT_MEMLOCK holds: EPERM");
	ok(as_nobody(perfmon | UINT64_C(1) << CAP_IPC_LOCK, 1 << 20, 1 << 20) == 0,
	   "CAP_IPC_LOCK lifts it");
	ok(as_nobody(perfmon, 1 << 20, 1 << 16) == 0, "the charged memory has been returned");
}

static atomic_int reader_thread;
static ssize_t reader_result;

static void *read_device(void *data)
{
	char bytes[64];

	reader_thread = (int)syscall(SYS_gettid);
	reader_result = read(*(int *)data, bytes, sizeof(bytes));
	return NULL;
}

static bool is_sleeping(int thread)
{
	char path[64], line[512], *end;
	bool sleeping = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	file = fopen(path, "r");
	if (!file)
		return false;
	/* The name is in parentheses, then the state. */
	if (fgets(line, sizeof(line), file)) {
		end = strrchr(line, ')');
		sleeping = end && end[1] == ' ' && end[2] == 'S';
	}
	fclose(file);
	return sleeping;
}

/* A thread waits for trace of a capture that another thread replaces. */
static void test_replaced(void)
{
	struct ntrace_config config = { .size = sizeof(config), .privilege = unasked };
	int fd = open_device(device, 0);
	pthread_t thread;

	configure(fd, &config);
	if (pthread_create(&thread, NULL, read_device, &fd))
		bail("thread");
	while (!reader_thread || !is_sleeping(reader_thread))
		sched_yield();
	config.size = sizeof(config);
	ok(!ioctl(fd, NTRACE_IOC_CONFIGURE, &config), "CONFIGURE while a thread reads");
	pthread_join(thread, NULL);
	ok(reader_result == 0, "it gets the end of the old capture");
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 2)
		usage("abi [DEVICE]");
	device = argc > 1 ? argv[1] : "/dev/ntrace0";
	if (access(device, F_OK))
		ksft_exit_skip("no %s\n", device);
	begin(86);
	test_info();
	test_not_configured();
	test_configure();
	test_one_owner();
	test_mmap();
	test_privilege();
	test_replaced();
	ksft_finished();
}
