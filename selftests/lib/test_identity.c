// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which file was a mapping? Identities in a recording, and what is at the path now: the very file is
 * decoded, or a note says why not. Another file never is, in silence.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/fs.h>

#include "test_session.h"

static uint8_t build_id[20];

struct way {
	const char *what;
	const char *name;	/* of the mapping; "": ROOT/app, which is another build of /aaa */
	bool known;		/* its build-id is recorded */
	uint64_t inode;		/* else, its inode */
	const char *kept;	/* copy of the recorder, below images/files */
	bool sysroot;		/* the reader gives one */
	const char *function;	/* that is decoded; NULL: errors */
	const char *note;
};

static const struct way ways[] = {
	{ "the file at the path", "/aaa", true, 0, NULL, true, "aaa", NULL },
	{ "writable", "/aaa", true, 0, NULL, true, "aaa",
	  "/aaa: process 100 could write to its code" },
	{ "replaced by another build", "/app", true, 0, NULL, true, NULL,
	  "(other build-id); code in it is not decoded: --sysroot names" },
	{ "rebuilt without build-id", "/bare", true, 0, NULL, true, NULL, "(other build-id)" },
	{ "replaced, and kept", "/app", true, 0, "ID/app", true, "aaa", NULL },
	{ "another directory's copy", "/app", true, 0, "ID/other", true, NULL, "(other build-id)" },
	{ "deleted", " (deleted)", false, 0, NULL, false, NULL, "was removed or replaced" },
	{ "deleted, with build-id", " (deleted)", true, 0, NULL, false, NULL, "(other build-id)" },
	{ "deleted, but the reader has it", "/aaa (deleted)", false, 0, NULL, true, "aaa",
	  "had been removed or replaced, and the recording has no build-id" },
	{ "deleted, and kept by inode", " (deleted)", false, 7, "8-1-7-3/app", false, "aaa", NULL },
	{ "a name that ends like that of a removed file", "/lit (deleted)", true, 0, NULL, true,
	  "aaa", NULL },
	{ "deleted, beside another of such a name", "/aaa (deleted)", true, 0, NULL, true, "aaa",
	  NULL },
	{ "kept by inode", "/app", false, 7, "8-1-7-3/app", true, "aaa", NULL },
	{ "kept, but written meanwhile", "/app", false, 7, "8-1-7-3/app", true, NULL,
	  "was written while it was recorded" },
	{ "another inode", "", false, 1, NULL, false, NULL,
	  "not the file that was traced (inode 1, now" },
	{ "another inode, but the reader has it", "/aaa", false, 1, NULL, true, "aaa", NULL },
	{ "memfd", "/memfd:jit (deleted)", false, 9, NULL, true, NULL, "was removed or replaced" },
	{ "memfd, kept", "/memfd:jit (deleted)", false, 9, "8-1-9-3/memfd:jit", true, "aaa", NULL },
	{ "below /dev, kept", "/dev/shm/app", false, 5, "8-1-5-3/app", true, "aaa", NULL },
	{ "below /dev", "/dev/shm/aaa", false, 0, NULL, true, "aaa", NULL },
	{ "a file with the begin of a name of memory, kept", "/dev/zeros", false, 5,
	  "8-1-5-3/zeros", true, "aaa", NULL },
	{ "shared memory, kept", "/SYSV00001234 (deleted)", false, 0, "100-10000-0/memory", true,
	  NULL, "process 100 (a) executed memory without a file" },
	{ "memory", "//anon", false, 0, NULL, true, NULL,
	  "without a file: code in it is not decoded" },
	{ "memory, kept", "//anon", false, 0, "100-10000-0/memory", true, NULL,
	  "process 100 (a) executed memory without a file" },
	{ "a long path", "//toolong", false, 0, NULL, true, NULL,
	  "a path that is too long for a record, of more than 4,096 bytes" },
	{ "a long path, kept", "//toolong", false, 0, "100-10000-0/memory", true, NULL,
	  "process 100 (a) executed a file whose path is too long" },
	{ "named memory, kept", "[anon:jit]", false, 0, "100-10000-0/memory", true, NULL,
	  "process 100 (a) executed memory without a file" },
};

/* Object of the code that was decoded last. */
static char decoded[256];

static int take_object(void *data, const struct ntrace_session_event *event)
{
	struct ntrace_location location = { 0 };

	if (event->flow->type == NTRACE_FLOW_BLOCK &&
	    !ntrace_space_locate(event->flow->space, event->flow->address, &location) &&
	    location.object && event->privilege == NTRACE_PRIV_U)
		snprintf(decoded, sizeof(decoded), "%s", ntrace_object_name(location.object));
	return take(data, event);
}

static void decode_as(const char *name, const char *sysroot)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = sysroot,
						  .note = take_note };
	struct ntrace_flow_stats stats = { 0 };
	struct ntrace_session *session;

	forget_results();
	notes[0] = 0;
	if (!ok(!ntrace_session_open(&session, in(name), &options), "%s opens", name))
		return;
	decode_stream(session, 0, take_object, NULL, NULL, &stats);
	ntrace_session_close(session);
}

static void check(const struct way *way)
{
	struct ntrace_sideband mapping = {
		.type = NTRACE_SIDEBAND_MMAP2,
		.pid = 100,
		.tid = 100,
		.executable = true,
		.writable = way->note && strstr(way->note, "could write"),
		.address = CODE,
		.length = 0x1000,
		.offset = 0x1000,
		.inode = way->inode,
		.inode_generation = way->inode ? 3 : 0,
		.device_major = 8,
		.device_minor = 1,
	};
	bool memory = way->kept && strstr(way->kept, "/memory");
	char path[700], name[700];

	snprintf(path, sizeof(path), "%s%s",
		 *way->name == '/' || *way->name == '[' ? "" : in("root/app"), way->name);
	mapping.name = path;
	if (way->known) {
		memcpy(mapping.build_id, build_id, sizeof(build_id));
		mapping.build_id_size = sizeof(build_id);
	}
	run("rm -rf %s", in("way"));
	start("way", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	put(mapping);
	switch_records(0, 100);
	work(CODE, 10);
	stop("way", 3);
	if (way->kept) {
		char key[64] = "";

		for (unsigned int i = 0; i < sizeof(build_id); i++)
			snprintf(key + 2 * i, sizeof(key) - 2 * i, "%02x", build_id[i]);
		snprintf(name, sizeof(name), "%s/%s%s", in("way/images/files"),
			 strncmp(way->kept, "ID", 2) ? way->kept : key,
			 strncmp(way->kept, "ID", 2) ? "" : way->kept + 2);
		run("mkdir -p $(dirname '%s') && %s %s >'%s'", name,
		    memory						   ? "tail -c +4097" :
		    way->note && strstr(way->note, "was written") ? "head -c 0" :
								    "cat",
		    in("root/aaa"), name);
	}
	decode_as("way", way->sysroot ? in("root") : NULL);
	if (way->function)
		ok(!errors && strstr(told, way->function), "%s: %s", way->what, way->function);
	else
		ok(memory ? !errors : errors > 0, "%s: %s", way->what,
		   memory ? "decoded" : "not decoded");
	ok(way->note ? strstr(notes, way->note) != NULL : !notes[0], "%s: %s", way->what,
	   way->note ? way->note : "no note");
	if (way->note ? !strstr(notes, way->note) : notes[0] != 0)
		diag("%s", notes);
}

/* The archive has what was decoded, or says that it has not. */
static void check_archive(const struct way *way)
{
	struct ntrace_session_options options = { .size = sizeof(options),
						  .sysroot = in("root"),
						  .note = take_note };
	struct ntrace_archive_counts counts;
	struct ntrace_session *session;

	if (!way->sysroot || !way->function)
		return;
	if (ntrace_session_open(&session, in("way"), &options)) {
		ok(false, "%s opens again", way->what);
		return;
	}
	ntrace_session_archive(session, &counts);
	ntrace_session_close(session);
	decode_as("way", NULL);
	ok(counts.missing ? !strstr(told, way->function) : strstr(told, way->function) != NULL,
	   "%s: archived, or missing: %s", way->what, told);
}

/* Memory of a process of one name and number, in two recordings, or one after the other. */
static void test_memory(void)
{
	const struct way *way = ways;
	char first[256];

	while (strcmp(way->what, "memory, kept") != 0)
		way++;
	check(way);
	snprintf(first, sizeof(first), "%s", decoded);
	ok(!strncmp(first, "[memory of a, 100: ", 19), "the name of memory: %s", first);
	check(way);
	is_str(decoded, first, "memory of the same contents has the same name");
	run("printf '\\1\\0' >>%s", in("way/images/files/100-10000-0/memory"));
	decode_as("way", in("root"));
	ok(!strncmp(decoded, first, 19) && strcmp(decoded, first) != 0,
	   "memory of other contents another: %s", decoded);
}

/* A sysroot is another machine: its links stay there. */
static void test_links(void)
{
	static const struct way
		link = { "a link of the sysroot", "/lib/aaa", false, 0, NULL, true, "aaa", NULL },
		out = { "a link out of the sysroot",	  "/out/aaa", false, 0, NULL, true, NULL,
			"a link leads out of the sysroot" },
		known = { "and with a build-id", "/out/aaa", true, 0, NULL, true, "aaa", NULL };

	run("cd %s/root && mkdir -p usr/lib && cp aaa usr/lib && ln -s /usr/lib lib && ln -s "
	    "%s/root out",
	    directory, directory);
	check(&link);
	check(&out);
	check(&known);
	check_archive(&known);
	run("rm %s && ln -s %s/root/aaa %s", in("way/archive/out/aaa"), directory,
	    in("way/archive/out/aaa"));
	decode_as("way", NULL);
	ok(strstr(notes, "a link leads out of the archive") != NULL,
	   "a link out of the archive is named so");
}

/* Two files of one path, as in two containers: each process has its own. */
static void test_containers(void)
{
	struct ntrace_sideband mapping = {
		.type = NTRACE_SIDEBAND_MMAP2,
		.pid = 100,
		.tid = 100,
		.executable = true,
		.address = CODE,
		.length = 0x1000,
		.offset = 0x1000,
		.name = "/prog",
		.inode = 3,
	};

	start("two", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	put(mapping);
	named(200, 0, false, "b");
	mapping.pid = mapping.tid = 200;
	mapping.inode = 4;
	put(mapping);
	switch_records(0, 100);
	work(CODE, 10);
	switches(100, 200, CODE);
	work(CODE, 10);
	stop("two", 3);
	run("cd %s && mkdir -p two/images/files/0-0-3-0 two/images/files/0-0-4-0 && "
	    "cp root/aaa two/images/files/0-0-3-0/prog && cp root/bbb "
	    "two/images/files/0-0-4-0/prog",
	    directory);
	decode_as("two", in("root"));
	is_str(told, "100 a aaa, 200 b bbb", "two files of one path");
	is_str(notes, "", "no note");
	run("cd %s && cp root/aaa root/prog && rm -r two/images/files/0-0-4-0", directory);
	decode_as("two", in("root"));
	ok(strstr(told, "100 a aaa") && !strstr(told, "200 b aaa"), "one was not copied: %s", told);
	ok(strstr(notes, "several files of this path were traced (inode 4, inode 3)") != NULL,
	   "and the one of a sysroot may be either: %s", notes);
}

/* The same, of which one has a build-id, and the file at the path is that one: whichever runs first. */
static void test_mixed(bool with_id_first, uint64_t inode)
{
	struct ntrace_sideband mapping = {
		.type = NTRACE_SIDEBAND_MMAP2,
		.executable = true,
		.address = CODE,
		.length = 0x1000,
		.offset = 0x1000,
		.name = "/prog",
	};
	int32_t with = with_id_first ? 100 : 200;

	run("rm -rf %s && cp %s %s", in("mixed"), in("root/aaa"), in("root/prog"));
	start("mixed", CODE, UINT32_MAX);
	for (int32_t pid = 100; pid <= 200; pid += 100) {
		bool known = pid == with;

		named(pid, 0, false, known ? "id" : "none");
		mapping.pid = mapping.tid = pid;
		mapping.inode = known ? 0 : inode;
		mapping.build_id_size = known ? sizeof(build_id) : 0;
		memcpy(mapping.build_id, build_id, sizeof(build_id));
		put(mapping);
	}
	switch_records(0, 100);
	work(CODE, 10);
	switches(100, 200, CODE);
	work(CODE, 10);
	stop("mixed", 3);
	decode_as("mixed", in("root"));
	ok(strstr(told, "id aaa") && !strstr(told, "none aaa"),
	   "the file with the build-id is not that of a mapping without: %s", told);
	ok(strstr(notes, inode ? "were traced (inode 4, one with a build-id)" :
				 "were traced (one unknown, one with a build-id)") != NULL,
	   "which a note says: %s", notes);
}

/* The process executes @name, which has no build-id; the recording knows @device and @generation of its inode. */
static void record_plain(const char *name, const struct stat *file, uint32_t device,
			 uint64_t generation)
{
	struct ntrace_sideband mapping = {
		.type = NTRACE_SIDEBAND_MMAP2,
		.pid = 100,
		.tid = 100,
		.executable = true,
		.address = CODE,
		.length = 0x1000,
		.offset = 0x1000,
		.name = name,
		.inode = file->st_ino,
		.inode_generation = generation,
		.device_major = major(file->st_dev),
		.device_minor = minor(file->st_dev) + device,
	};

	run("rm -rf %s", in("plain"));
	start("plain", CODE, UINT32_MAX);
	named(100, 0, false, "a");
	put(mapping);
	switch_records(0, 100);
	work(CODE, 10);
	stop("plain", 3);
	decode_as("plain", NULL);
}

static void is_refused(const char *why, const char *what)
{
	ok(errors > 0 && strstr(notes, why), "%s: not decoded: %s", what, notes);
}

/* Without a build-id, the inode, its device and generation, and the time when it was changed tell. */
static void test_plain(void)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	struct stat file, data;
	char name[512];
	long generation = 0;
	int fd;

	snprintf(name, sizeof(name), "%s", in("root/plain"));
	run("cd %s/root && cp bare plain", directory);
	fd = open(name, O_RDWR);
	if (!ok(fd >= 0 && !fstat(fd, &file), "a program without build-id"))
		return;
	record_plain(name, &file, 0, 0);
	ok(!errors && strstr(told, "aaa") && strstr(notes, "only its inode number tells"),
	   "the file at the path, of a file system without generations: %s", notes);
	record_plain(name, &file, 1, 0);
	is_refused("device ", "another device");
	run("cd %s/root && ln plain 'plain (deleted)' && cp bbb plain.new && mv plain.new plain",
	    directory);
	snprintf(name, sizeof(name), "%s", in("root/plain (deleted)"));
	record_plain(name, &file, 0, 0);
	ok(!errors && strstr(told, "aaa") && !strstr(notes, "removed"),
	   "a name that ends like that of a removed file: %s", notes);
	run("cd %s/root && mv 'plain (deleted)' plain", directory);
	snprintf(name, sizeof(name), "%s", in("root/plain"));
	fstat(fd, &file);
	/* tmpfs does not show it. */
	if (ioctl(fd, FS_IOC_GETVERSION, &generation))
		generation = 0;
	record_plain(name, &file, 0, (uint32_t)generation + 1);
	ok(generation ? strstr(notes, "has been used again") != NULL : !errors,
	   "another generation of the inode: %s", notes);
	record_plain(name, &file, 0, (uint32_t)generation);
	ok(!errors && !notes[0], "the same generation: %s", notes);
	/* The clock of file systems ticks a few hundred times a second. */
	times[1] = file.st_mtim;
	do {
		run("cat %s/root/bbb >%s", directory, name);
		futimens(fd, times);
	} while (!fstat(fd, &file) && !stat(in("plain/data"), &data) &&
		 file.st_ctim.tv_sec == data.st_mtim.tv_sec &&
		 file.st_ctim.tv_nsec <= data.st_mtim.tv_nsec);
	ok(file.st_mtim.tv_nsec == times[1].tv_nsec, "written over, with its old time");
	decode_as("plain", NULL);
	is_refused("changed after the recording", "written over");
	decode_as("plain", "/");
	ok(strstr(told, "bbb") && !notes[0], "unless the reader gives a sysroot: %s", notes);
	close(fd);
}

static void tests(void)
{
	struct ntrace_object *object;
	size_t size = 0;

	run("cd %s/root && mkdir -p dev/shm && cp aaa dev/shm && (cat bbb.s; echo c.nop) >app.s && "
	    "riscv64-linux-gnu-as -march=rv64gc app.s -o app.o && "
	    "riscv64-linux-gnu-ld --build-id -Ttext=0x10000 -e bbb app.o -o app && "
	    "cp app 'aaa (deleted)' && cp app lit && cp aaa 'lit (deleted)' && "
	    "riscv64-linux-gnu-objcopy -R .note.gnu.build-id aaa bare 2>/dev/null",
	    directory);
	if (!ntrace_object_open_elf(&object, in("root/aaa"))) {
		const uint8_t *id = ntrace_object_build_id(object, &size);

		if (size == sizeof(build_id))
			memcpy(build_id, id, size);
		ntrace_object_put(object);
	}
	if (!ok(size == sizeof(build_id), "a program with a build-id"))
		return;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		check(&ways[i]);
		check_archive(&ways[i]);
	}
	test_memory();
	test_links();
	test_containers();
	for (uint64_t inode = 0; inode <= 4; inode += 4) {
		test_mixed(true, inode);
		test_mixed(false, inode);
	}
	test_plain();
}

int main(void)
{
	return test_sessions(tests);
}
