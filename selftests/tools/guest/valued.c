// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose system calls are known, to check `ntrace record --values`: getppid(2), which takes no arguments, is
 * called with its number in a1 and the tag of its caller in a2. Both are in the registers when the call returns.
 *
 *	tag	caller					calls
 *	1	the program				1000
 *	2	its thread				500
 *	3	its child				300
 *	4	the program that the child executes	200
 *
 * With an argument, it is the last one, with as many calls as its second argument says.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(long count, long tag)
{
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid, 0, i, tag);
}

static void *run_thread(void *unused)
{
	call(500, 2);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int status = -1;
	pid_t child;

	if (argc > 2) {
		call(atol(argv[2]), 4);
		return 0;
	}
	call(1000, 1);
	if (pthread_create(&thread, NULL, run_thread, NULL) || pthread_join(thread, NULL))
		return 1;
	child = fork();
	if (!child) {
		call(300, 3);
		execl("/proc/self/exe", "valued-again", "the third word", "200", (char *)NULL);
		_exit(1);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status;
}
