// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with a function that tells by its name which file it is, to check which file a mapping is taken for.
 *
 *	placed NAME [memfd|moved|moving]
 *
 * It is called NAME, writes "ready" to descriptor 3 and waits for the end of descriptor 4; calls right_code(), which has nine
 * instructions, $ROUNDS times; writes "ran" to 3 and waits for the end of 5. With memfd, it first executes a copy of itself
 * in a memfd. With moved, the page of right_code() is copied to anonymous memory at the same address before it is ready, with
 * moving after descriptor 4 has ended: programs move their code to huge pages in this way.
 *
 * host/placed.py makes builds with other names of right_code().
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

void right_code(void);

/* Alone in its page: it can be moved. */
__asm__(".option push\n"
	".option norvc\n"
	".option norelax\n"
	".text\n"
	".balign 4096\n"
	".type right_code, @function\n"
	".globl right_code\n"
	"right_code:\n"
	"	.rept 8\n"
	"	nop\n"
	"	.endr\n"
	"	ret\n"
	".size right_code, . - right_code\n"
	".balign 4096\n"
	".option pop\n");

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void say(const char *name, const char *what)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%s %s\n", name, what);

	if (write(3, line, (size_t)length) != length)
		fail("descriptor 3");
}

static void wait_for_end(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

static void move_code(void)
{
	char *page = (char *)(void *)right_code, copy[PAGE];

	memcpy(copy, page, PAGE);
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != page)
		fail("mmap");
	memcpy(page, copy, PAGE);
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		fail("mprotect");
	__builtin___clear_cache(page, page + PAGE);
}

static void execute_copy(char *name)
{
	char program[] = "placed", *arguments[] = { program, name, NULL };
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = memfd_create(name, MFD_CLOEXEC);
	struct stat status;

	if (from < 0 || to < 0 || fstat(from, &status) ||
	    sendfile(to, from, NULL, (size_t)status.st_size) != status.st_size)
		fail("memfd");
	fexecve(to, arguments, environ);
	fail("fexecve");
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("ROUNDS"), *how = argc > 2 ? argv[2] : "";

	if (argc < 2 || !rounds)
		return 2;
	if (!strcmp(how, "memfd"))
		execute_copy(argv[1]);
	prctl(PR_SET_NAME, argv[1]);
	if (!strcmp(how, "moved"))
		move_code();
	say(argv[1], "ready");
	wait_for_end(4);
	if (!strcmp(how, "moving"))
		move_code();
	for (long i = atol(rounds); i > 0; i--)
		right_code();
	say(argv[1], "ran");
	wait_for_end(5);
	return 0;
}
