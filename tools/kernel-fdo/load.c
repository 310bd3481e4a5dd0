// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work for the kernel, the same at each run: `load syscall ROUNDS` makes system calls of files, pipes and memory,
 * `load network ROUNDS` talks with another process over TCP and with itself over UDP, both through the loopback
 * interface. Prints how many instructions CPU 0, where all of this runs, executed in supervisor mode meanwhile.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define REQUESTS 16 /* of one connection */

/* A failed call would be less work, and the count of another load. */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			err(1, "%s", #call);                                                       \
	} while (0)

static char buffer[PAGE];

static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_user = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static void call_system(const char *path, const int ends[2])
{
	struct pollfd polled = { .fd = ends[0], .events = POLLIN };
	struct stat status;
	char *memory;
	int file, i;

	CHECK(file = open(path, O_RDWR | O_CREAT, 0600));
	CHECK(fstat(file, &status));
	for (i = 0; i < 4; i++) {
		CHECK(pwrite(file, buffer, 256, i * 256));
		CHECK(pread(file, buffer, 256, i * 256));
	}
	CHECK(close(file));
	CHECK(stat(path, &status));
	for (i = 0; i < 4; i++) {
		CHECK(write(ends[1], buffer, 64));
		CHECK(poll(&polled, 1, 0));
		CHECK(read(ends[0], buffer, 64));
		CHECK(syscall(SYS_getppid));
	}
	memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < 4; i++)
		memory[i * PAGE] = 1;
	CHECK(munmap(memory, 4 * PAGE));
}

static void load_syscall(unsigned long rounds)
{
	static const char path[] = "/dev/shm/load";
	int ends[2];

	CHECK(pipe(ends));
	while (rounds--)
		call_system(path, ends);
	CHECK(unlink(path));
}

static void receive_all(int fd, size_t size)
{
	ssize_t got;

	for (; size; size -= (size_t)got) {
		got = read(fd, buffer, size);
		if (got <= 0)
			err(1, "read");
	}
}

static int make_socket(int type, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd;

	CHECK(fd = socket(AF_INET, type, 0));
	CHECK(bind(fd, (struct sockaddr *)address, size));
	CHECK(getsockname(fd, (struct sockaddr *)address, &size));
	return fd;
}

/* Answers REQUESTS of each connection. */
static void serve(int listener, unsigned long rounds)
{
	int fd, i;

	while (rounds--) {
		CHECK(fd = accept(listener, NULL, NULL));
		for (i = 0; i < REQUESTS; i++) {
			receive_all(fd, 128);
			CHECK(write(fd, buffer, 1024));
		}
		CHECK(close(fd));
	}
}

static void load_network(unsigned long rounds)
{
	struct sockaddr_in local = { .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in server = local;
	int listener, datagrams, fd, one = 1, status;
	unsigned long i;
	pid_t child;

	listener = make_socket(SOCK_STREAM, &server);
	CHECK(listen(listener, 4));
	datagrams = make_socket(SOCK_DGRAM, &local);
	CHECK(connect(datagrams, (struct sockaddr *)&local, sizeof(local)));
	CHECK(child = fork());
	if (!child) {
		serve(listener, rounds);
		exit(0);
	}
	while (rounds--) {
		CHECK(fd = socket(AF_INET, SOCK_STREAM, 0));
		CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
		CHECK(connect(fd, (struct sockaddr *)&server, sizeof(server)));
		for (i = 0; i < REQUESTS; i++) {
			CHECK(write(fd, buffer, 128));
			receive_all(fd, 1024);
			CHECK(send(datagrams, buffer, 512, 0));
			CHECK(recv(datagrams, buffer, 512, 0));
		}
		CHECK(close(fd));
	}
	CHECK(waitpid(child, &status, 0));
	if (status)
		errx(1, "the server failed");
}

int main(int argc, char **argv)
{
	uint64_t before = 0, after = 0;
	unsigned long rounds;
	cpu_set_t cpus;
	int counter;

	if (argc != 3)
		errx(2, "usage: load syscall|network ROUNDS");
	rounds = strtoul(argv[2], NULL, 10);
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CHECK(sched_setaffinity(0, sizeof(cpus), &cpus));
	CHECK(counter = open_counter());
	CHECK(read(counter, &before, sizeof(before)));
	if (!strcmp(argv[1], "syscall"))
		load_syscall(rounds);
	else if (!strcmp(argv[1], "network"))
		load_network(rounds);
	else
		errx(2, "no load '%s'", argv[1]);
	CHECK(read(counter, &after, sizeof(after)));
	printf("%" PRIu64 "\n", after - before);
	return 0;
}
