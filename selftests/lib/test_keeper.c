// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a recorder keeps of processes that run: the file that is mapped, not the one that has its path now;
 * nothing of what can be found later.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <ntrace/perf.h>
#include <ntrace/recording.h>

#include "build_id.h"
#include "scratch.h"
#include "tap.h"

static struct ntrace_keeper_counts counts;

/* Keeps code of @pid in the recording @name, with the limit @bytes of all files. */
static void keep(const char *name, int32_t pid, const char *proc, uint64_t bytes)
{
	struct ntrace_keeper_options options = { .size = sizeof(options),
						 .proc = proc,
						 .all_bytes = bytes };
	struct ntrace_keeper *keeper;

	counts = (struct ntrace_keeper_counts){ .size = sizeof(counts) };
	run("rm -rf %s && mkdir -p %s/images", in(name), in(name));
	if (ntrace_keeper_open(&keeper, in(name), &options) || ntrace_keeper_tasks(keeper, pid) ||
	    ntrace_keeper_close(keeper, &counts))
		ok(false, "keeps");
}

/* Runs @path, which does nothing until it is killed. */
static pid_t begin(const char *path)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe2(ends, 02000000 /* O_CLOEXEC */))
		return -1;
	pid = fork();
	if (!pid) {
		execl(path, "sleep", "1000", NULL);
		_exit(1);
	}
	close(ends[1]);
	/* The exec closes the pipe. The mappings of the dynamic linker may come later. */
	while (read(ends[0], &byte, 1) > 0)
		;
	close(ends[0]);
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool same_kept(const char *name, const char *file, const char *original)
{
	return !run("cmp -s %s/images/files/*/%s %s", in(name), file, original);
}

static char mapped[512];	/* "name build-id-size" of the program's mapping in the records */

static int find_mapping(void *data, const struct ntrace_sideband *record)
{
	if (record->type == NTRACE_SIDEBAND_MMAP2 && strstr(record->name, data))
		snprintf(mapped, sizeof(mapped), "%s %d %s", strrchr(record->name, '/') + 1,
			 record->build_id_size != 0, record->inode ? "inode" : "-");
	return 0;
}

/* What the records of tasks that run say of a file. */
static const char *record_of(pid_t pid, const char *file)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = PERF_ATTR_SIZE_VER5 };
	struct ntrace_perf_writer *writer;
	struct ntrace_perf_file *data;

	mapped[0] = '\0';
	if (!ntrace_perf_writer_open(&writer, in("data")) &&
	    !ntrace_perf_writer_event(writer, &attr, NULL, 0, NULL) &&
	    !ntrace_perf_write_task(writer, NULL, pid) && !ntrace_perf_writer_close(writer) &&
	    !ntrace_perf_file_open(&data, in("data"))) {
		ntrace_perf_file_sideband(data, find_mapping, (void *)(uintptr_t)file, NULL);
		ntrace_perf_file_close(data);
	}
	return mapped;
}

static void test_programs(void)
{
	pid_t pid;

	run("cp /bin/sleep %s; cp /bin/sleep %s; objcopy -R .note.gnu.build-id %s", in("program"),
	    in("bare"), in("bare"));
	pid = begin(in("program"));
	is_str(record_of(pid, "/program"), "program 1 -", "a record with the build-id");
	keep("found", pid, NULL, 0);
	ok(counts.files == 0, "nothing of a program that its path leads to");
	run("mv %s %s", in("bare"), in("program"));
	is_str(record_of(pid, "/program"), "program (deleted) 1 -",
	       "the build-id of a replaced one");
	keep("replaced", pid, NULL, 0);
	ok(counts.files == 1 && same_kept("replaced", "program", "/bin/sleep"), "the replaced one");
	keep("large", pid, NULL, 1000);
	ok(counts.files == 0 && counts.too_large == 1, "no file larger than the limit");
	finish(pid);
	pid = begin(in("program"));
	is_str(record_of(pid, "/program"), "program 0 inode", "a record with the inode");
	keep("bare", pid, NULL, 0);
	ok(counts.files == 1 && same_kept("bare", "program", in("program")),
	   "one without build-id");
	finish(pid);
	keep("gone", pid, NULL, 0);
	ok(!counts.files && !counts.failed, "nothing of a process that has ended");
}

/* Another root directory, from a hand-made /proc: the file is found below it. */
static void test_root(void)
{
	struct stat status;

	run("cd %s && mkdir -p proc/100/root/opt proc/100/task/100 && cp /bin/sleep "
	    "proc/100/root/opt/app",
	    directory);
	if (stat(in("proc/100/root/opt/app"), &status))
		return;
	run("echo '1000-2000 r-xp 00000000 08:01 %ju   /opt/app' >%s", (uintmax_t)status.st_ino,
	    in("proc/100/maps"));
	keep("container", 100, in("proc"), 0);
	ok(counts.files == 1 && same_kept("container", "app", "/bin/sleep"),
	   "the file of a container");
	run("cp /bin/cat %s && mv %s %s", in("cat"), in("cat"), in("proc/100/root/opt/app"));
	keep("other", 100, in("proc"), 0);
	ok(!counts.files, "not another file of that path");
}

/* Memory that a JIT compiler has unmapped when its record is read. */
static void test_gone(uint64_t address, uint64_t size)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, length, offset, device, inode, generation;
		uint32_t prot, flags;
		char name[8];
	} record = { .header = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(record) },
		     .pid = (uint32_t)getpid(),
		     .tid = (uint32_t)getpid(),
		     .address = address,
		     .length = size,
		     .prot = PROT_READ | PROT_EXEC,
		     .flags = MAP_PRIVATE,
		     .name = "//anon" };
	struct ntrace_keeper_counts gone = { .size = sizeof(gone) };
	struct ntrace_keeper *keeper;

	if (!ok(!run("mkdir -p %s/images", in("gone")) &&
			!ntrace_keeper_open(&keeper, in("gone"), NULL),
		"keeper opens"))
		return;
	is_u64(ntrace_keeper_record(keeper, &record, sizeof(record)), 0, "a record");
	is_u64(ntrace_keeper_close(keeper, &gone), 0, "closes");
	ok(gone.gone_memory == 1 && gone.gone_pid == getpid() && !gone.failed && !gone.files,
	   "memory that is unmapped is not a program that could not be copied");
	ok(run("ls %s/images/files/*/memory >/dev/null 2>&1", in("gone")), "and has no copy");
}

static void test_memory(void)
{
	size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ntrace_keeper_options options = { .size = sizeof(options) };
	struct ntrace_keeper *keeper;
	char command[256];

	memset(memory, 0x13, size);
	mprotect(memory, size, PROT_READ | PROT_EXEC);
	keep("memory", getpid(), NULL, 0);
	snprintf(command, sizeof(command),
		 "test $(stat -c %%s %s/images/files/%d-%" PRIxPTR "-0/memory) = %zu", in("memory"),
		 getpid(), (uintptr_t)memory, size);
	ok(!run("%s", command), "executable memory");
	counts = (struct ntrace_keeper_counts){ .size = sizeof(counts) };
	run("mkdir -p %s", in("changed/images"));
	if (ntrace_keeper_open(&keeper, in("changed"), &options) ||
	    ntrace_keeper_tasks(keeper, getpid()))
		ok(false, "keeps");
	mprotect(memory, size, PROT_READ | PROT_WRITE);
	memory[size - 1] ^= 1;
	mprotect(memory, size, PROT_READ | PROT_EXEC);
	ntrace_keeper_close(keeper, &counts);
	ok(!counts.files && run("ls %s/images/files/*/memory >/dev/null 2>&1", in("changed")),
	   "not memory that has changed since");
	mprotect(memory, size, PROT_READ | PROT_WRITE | PROT_EXEC);
	keep("writable", getpid(), NULL, 0);
	ok(!counts.files, "not memory that the process can write");
	munmap(memory, size);
	test_gone((uintptr_t)memory, size);
}

/* Records of the kernel: of an ended process there is nothing to keep, damaged ones are left out. */
static void test_records(void)
{
	uint8_t bytes[256] = { 0 };
	struct perf_event_header header = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 };
	struct ntrace_keeper *keeper;

	if (!ok(!ntrace_keeper_open(&keeper, in("records"), NULL), "opens"))
		return;
	for (header.size = 0; header.size < sizeof(bytes); header.size += 8) {
		memcpy(bytes, &header, sizeof(header));
		if (ntrace_keeper_record(keeper, bytes, header.size) ||
		    ntrace_keeper_record(keeper, bytes, header.size / 2))
			ok(false, "a record of %u bytes", header.size);
	}
	is_u64(ntrace_keeper_close(keeper, NULL), 0, "damaged records");
}

/* In record_mapping(); a time is read if the keeper expects one. */
static bool by_build_id;
static uint64_t record_time;

/* What a record tells of a mapping of the file @path by a process that has ended. */
static void record_mapping(struct ntrace_keeper *keeper, const char *path, uint32_t prot,
			   uint32_t flags)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, length, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
		char name[4096];
		uint64_t time;
	} record = { .time = record_time,
		     .header = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(record) },
		     .pid = INT32_MAX,
		     .tid = INT32_MAX,
		     .length = 4096,
		     .prot = prot,
		     .flags = flags };
	struct stat status;

	if (stat(path, &status)) {
		ok(false, "%s", path);
		return;
	}
	record.major = major(status.st_dev);
	record.minor = minor(status.st_dev);
	record.inode = status.st_ino;
	if (by_build_id) {
		int fd = open(path, O_RDONLY);
		uint8_t identity[24] = { 0 };

		identity[0] = (uint8_t)build_id_of_file(fd, identity + 4);
		memcpy(&record.major, identity, sizeof(identity));
		record.header.misc |= 1 << 14; /* PERF_RECORD_MISC_MMAP_BUILD_ID */
		close(fd);
	}
	snprintf(record.name, sizeof(record.name), "%s", path);
	if (ntrace_keeper_record(keeper, &record, sizeof(record)))
		ok(false, "a record");
}

static bool is_kept(const char *name)
{
	return !run("find %s/images -name %s | grep -q . && cmp -s %s %s/images/files/*/%s",
		    in("data"), name, in(name), in("data"), name);
}

/* The contents that private mappings show: of files that stay as they are. */
static void test_data(void)
{
	struct ntrace_keeper_options options = { .size = sizeof(options), .data = true };
	struct ntrace_keeper_counts data = { .size = sizeof(data) };
	struct ntrace_keeper *keeper;

	run("cd %s && for name in old changed replaced shared; do echo $name >of_$name; done && "
	    "cp /bin/true of_elf && truncate -s 17M of_large && rm -rf data && mkdir -p "
	    "data/images",
	    in(""));
	/* Times of files are those of the last second and earlier: they must be before the keeper. */
	sleep(3);
	if (!ok(!ntrace_keeper_open(&keeper, in("data"), &options), "opens"))
		return;
	run("echo new >%s", in("of_new"));
	record_mapping(keeper, in("of_old"), PROT_READ, MAP_PRIVATE);
	record_mapping(keeper, in("of_old"), PROT_READ | PROT_WRITE, MAP_PRIVATE);
	record_mapping(keeper, in("of_new"), PROT_READ, MAP_PRIVATE);
	record_mapping(keeper, in("of_changed"), PROT_READ, MAP_PRIVATE);
	record_mapping(keeper, in("of_replaced"), PROT_READ, MAP_PRIVATE);
	record_mapping(keeper, in("of_shared"), PROT_READ, MAP_SHARED);
	record_mapping(keeper, in("of_elf"), PROT_READ, MAP_PRIVATE);
	record_mapping(keeper, in("of_large"), PROT_READ, MAP_PRIVATE);
	run("cd %s && echo CHANGED >of_changed && cp of_replaced of_copy && mv of_copy of_replaced",
	    in(""));
	is_u64(ntrace_keeper_close(keeper, &data), 0, "closes");
	ok(is_kept("of_old"), "a file that is mapped");
	ok(!is_kept("of_new"), "not one that is new");
	ok(!run("! test -e %s/images/files/*/of_changed", in("data")),
	   "not one that is changed later");
	ok(!run("! test -e %s/images/files/*/of_replaced", in("data")), "not one that is replaced");
	ok(!is_kept("of_shared"), "not what others may write");
	ok(!is_kept("of_elf"), "not a program");
	ok(!is_kept("of_large"), "not a large file");
	is_u64(data.files, 1, "files");
	is_u64(data.unknown_data, 4, "files whose contents are unknown");
	is_u64(data.too_large, 0, "code that is too large");
	run("rm -r %s/images/files", in("data"));
	if (!ok(!ntrace_keeper_open(&keeper, in("data"), NULL), "opens without data"))
		return;
	record_mapping(keeper, in("of_old"), PROT_READ, MAP_PRIVATE);
	ntrace_keeper_close(keeper, NULL);
	ok(!is_kept("of_old"), "only if it is asked for");
}

/* Programs change while they are recorded: a copy is what was mapped, or an empty one says that this is unknown. */
static void test_changed(void)
{
	struct ntrace_keeper_counts known = { .size = sizeof(known) };
	struct ntrace_keeper *keeper;

	run("cd %s && cp /bin/true with_id && cp with_id removed && cp with_id written && "
	    "cp with_id restored && "
	    "objcopy -R .note.gnu.build-id /bin/true same && cp same plain && cp same gone && "
	    "rm -rf data && mkdir -p data/images",
	    in(""));
	if (!ok(!ntrace_keeper_open(&keeper, in("data"), NULL), "opens"))
		return;
	by_build_id = true;
	record_mapping(keeper, in("with_id"), PROT_EXEC, MAP_PRIVATE);
	record_mapping(keeper, in("removed"), PROT_EXEC, MAP_PRIVATE);
	record_mapping(keeper, in("written"), PROT_EXEC, MAP_PRIVATE);
	record_mapping(keeper, in("restored"), PROT_EXEC, MAP_PRIVATE);
	by_build_id = false;
	record_mapping(keeper, in("plain"), PROT_EXEC, MAP_PRIVATE);
	record_mapping(keeper, in("same"), PROT_EXEC, MAP_PRIVATE);
	ok(is_kept("plain") && is_kept("same"), "programs without build-id");
	run("cd %s && rm removed && cat /bin/false >written && touch same && "
	    "cat /bin/false >restored && cat /bin/true >restored && chmod 700 with_id && "
	    "objcopy -R .note.gnu.build-id /bin/false content && cat content >plain",
	    in(""));
	record_mapping(keeper, in("plain"), PROT_EXEC, MAP_PRIVATE);
	record_mapping(keeper, in("same"), PROT_EXEC, MAP_PRIVATE);
	is_u64(ntrace_keeper_close(keeper, &known), 0, "closes");
	ok(!run("test -f %s/images/files/*/plain -a ! -s %s/images/files/*/plain", in("data"),
		in("data")),
	   "an empty copy of one that was written");
	ok(is_kept("same"), "the copy of one that has the same contents");
	ok(!run("cmp -s /bin/true %s/images/files/*/removed", in("data")), "one that was removed");
	ok(run("test -e %s/images/files/*/with_id", in("data")), "not one that its path leads to");
	ok(run("test -e %s/images/files/*/written", in("data")), "not one that was written");
	ok(!run("test -f %s/images/files/*/restored -a ! -s %s/images/files/*/restored", in("data"),
		in("data")),
	   "an empty copy of one that was written, and has its build-id again");
	is_u64(known.files, 2, "copies");
	is_u64(known.failed, 1, "programs that could not be copied");
}

/* A program that was written after it was mapped, before there was a copy. */
static void test_late(void)
{
	struct ntrace_keeper_options options = { .size = sizeof(options),
						 .sample_type = PERF_SAMPLE_TIME };
	struct ntrace_keeper *keeper;
	struct timespec now;

	run("cd %s && cp same early && cp same late && cp same future && touch -d tomorrow future "
	    "&& "
	    "cp with_id late_with_id && cp with_id early_with_id && rm -rf data && mkdir -p "
	    "data/images",
	    in(""));
	if (!ok(!ntrace_keeper_open(&keeper, in("data"), &options), "opens with times"))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	record_time = (uint64_t)(now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
	record_mapping(keeper, in("early"), PROT_EXEC, MAP_PRIVATE);
	record_mapping(keeper, in("future"), PROT_EXEC, MAP_PRIVATE);
	by_build_id = true;
	record_mapping(keeper, in("early_with_id"), PROT_EXEC, MAP_PRIVATE);
	record_time -= UINT64_C(1000000000);
	record_mapping(keeper, in("late_with_id"), PROT_EXEC, MAP_PRIVATE);
	by_build_id = false;
	record_mapping(keeper, in("late"), PROT_EXEC, MAP_PRIVATE);
	ntrace_keeper_close(keeper, NULL);
	ok(is_kept("early"), "a program that was there before");
	ok(run("test -e %s/images/files/*/early_with_id", in("data")), "with build-id: no copy");
	ok(!run("test -f %s/images/files/*/late_with_id -a ! -s %s/images/files/*/late_with_id",
		in("data"), in("data")),
	   "the same with build-id");
	ok(is_kept("future"), "one whose time is still to come");
	ok(!run("test -f %s/images/files/*/late -a ! -s %s/images/files/*/late", in("data"),
		in("data")),
	   "an empty copy of one that was written later");
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_programs();
	test_root();
	test_memory();
	test_records();
	test_data();
	test_changed();
	test_late();
	scratch_remove();
	return done_testing();
}
