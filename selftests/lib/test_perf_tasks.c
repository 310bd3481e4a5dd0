// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of tasks that are already running, from a hand-made /proc: its threads and mappings, and
 * no others.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/perf.h>

#include "scratch.h"
#include "tap.h"

static char said[8192];

static int say(void *data, const struct ntrace_sideband *sideband)
{
	size_t used = strlen(said);

	(void)data;
	switch (sideband->type) {
	case NTRACE_SIDEBAND_COMM:
		snprintf(said + used, sizeof(said) - used, "comm %d/%d %s|", sideband->pid,
			 sideband->tid, sideband->name);
		break;
	case NTRACE_SIDEBAND_FORK:
		snprintf(said + used, sizeof(said) - used, "fork %d/%d of %d/%d|", sideband->pid,
			 sideband->tid, sideband->other_pid, sideband->other_tid);
		break;
	case NTRACE_SIDEBAND_MMAP2:
		snprintf(said + used, sizeof(said) - used, "map %d/%d %llx+%llx@%llx %s|",
			 sideband->pid, sideband->tid, (unsigned long long)sideband->address,
			 (unsigned long long)sideband->length, (unsigned long long)sideband->offset,
			 sideband->name);
		break;
	default:
		snprintf(said + used, sizeof(said) - used, "type %u|", sideband->type);
	}
	return 0;
}

/* The entries of @proc for @pid, 0 = for all, as one string. */
static const char *told(const char *proc, int32_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
	};
	struct ntrace_perf_writer *writer;
	struct ntrace_perf_file *file;

	said[0] = 0;
	if (ntrace_perf_writer_open(&writer, in("data")) ||
	    ntrace_perf_writer_event(writer, &attr, NULL, 0, NULL))
		return "no writer";
	if (pid ? ntrace_perf_write_task(writer, proc, pid) : ntrace_perf_write_tasks(writer, proc))
		return "no records";
	if (ntrace_perf_writer_close(writer) || ntrace_perf_file_open(&file, in("data")))
		return "no file";
	ntrace_perf_file_sideband(file, say, NULL, NULL);
	ntrace_perf_file_close(file);
	return said;
}

static void test_tasks(void)
{
	const char *proc = in("proc");
	char *one;

	run("cd %s && mkdir -p proc/100/task/100 proc/100/task/101 proc/100/task/x "
	    "proc/100/task/102 "
	    "proc/self/task/100 proc/12x/task/12 proc/4294967396/task/4294967396 && "
	    "echo main >proc/100/task/100/comm && echo 'a thread' >proc/100/task/101/comm && "
	    "printf %%s '10000-12000 r-xp 00001000 08:01 5   /bin/program\n"
	    "12000-13000 r--p 00003000 08:01 5 /bin/program\n"
	    "13000-14000 rw-p 00000000 00:00 0\n"
	    "20000-21000 r-xp 00000000 00:00 0 \n"
	    "30000-31000 --xp 00000000 08:01 6  /lib/with space.so\n"
	    "50000-50000 r-xp 00000000 08:01 6  /lib/empty.so\n"
	    "60000-5f000 r-xp 00000000 08:01 6  /lib/backwards.so\n"
	    "not a line\n"
	    "7fff0000-7fff1000 r-xp 00000000 00:00 0  [vdso]' >proc/100/maps",
	    directory);
	is_str(told(proc, 100),
	       "comm 100/100 main|fork 100/101 of 100/100|comm 100/101 a thread|"
	       "map 100/100 10000+2000@1000 /bin/program|map 100/100 20000+1000@0 //anon|"
	       "map 100/100 30000+1000@0 /lib/with space.so|map 100/100 7fff0000+1000@0 [vdso]|",
	       "names, threads and executable mappings of one process");
	one = strdup(said);
	is_str(told(proc, 0), one, "all processes: the only process");
	free(one);
	one = strdup(told(proc, 100));
	run("mkdir %s/proc/101 && printf 'Name:\\tx\\nTgid:\\t100\\n' >%s/proc/101/status && ln -s "
	    "../100/maps %s/proc/101/maps",
	    directory, directory, directory);
	is_str(told(proc, 101), one, "a thread: its process");
	free(one);
	run("rm -r %s/proc/101", directory);
	is_str(told(proc, 7), "", "a process that has ended has no records");
	is_u64(ntrace_perf_write_tasks(NULL, in("nothing")), NTRACE_ERR_IO, "no /proc");
	run(": >%s/proc/100/task/100/comm; rm -r %s/proc/100/task/101", directory, directory);
	ok(!strncmp(told(proc, 100), "comm 100/100 |map", 17), "an empty name");
}

/* Each kind of record may be the one that does not fit. */
static void test_full_disk(void)
{
	static const char *const kinds[] = { "name", "thread", "mapping" };

	run("cd %s && mkdir -p proc/1/task/1 proc/2/task/2 proc/2/task/3 proc/3/task && "
	    "echo x >proc/1/task/1/comm && echo x >proc/2/task/3/comm && "
	    "echo '1000-2000 r-xp 0 0:0 0 x' >proc/3/maps",
	    directory);
	for (int32_t pid = 1; pid <= 3; pid++) {
		struct perf_event_attr attr = { .size = PERF_ATTR_SIZE_VER5 };
		struct ntrace_perf_writer *writer;
		int error = 0;

		if (access("/dev/full", W_OK) || ntrace_perf_writer_open(&writer, "/dev/full") ||
		    ntrace_perf_writer_event(writer, &attr, NULL, 0, NULL)) {
			ok(false, "/dev/full");
			return;
		}
		for (unsigned int i = 0; i < 100000 && !error; i++)
			error = ntrace_perf_write_task(writer, in("proc"), pid);
		is_u64(error, NTRACE_ERR_IO, "a full disk is reported: %s", kinds[pid - 1]);
		ntrace_perf_writer_close(writer);
	}
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_tasks();
	test_full_disk();
	scratch_remove();
	return done_testing();
}
