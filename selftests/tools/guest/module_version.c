// SPDX-License-Identifier: GPL-2.0-only
/*
 * module_version N COMMAND...: runs the command as if the module had version N of the interface, by
 * altering the first result of NTRACE_IOC_INFO. Exits with the command's status, or with 2 if the
 * command did not call it. After that, system calls no longer stop: a recording makes thousands.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ntrace.h>
/* After <sys/ptrace.h>, which has a structure of the same name as the kernel's header. */
struct syscall_info {
	uint8_t op; /* 1: entry, 2: exit */
	uint8_t reserved[3];
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t stack_pointer;
	union {
		struct {
			uint64_t nr;
			uint64_t args[6];
		} entry;
		struct {
			int64_t rval;
			uint8_t is_error;
		} exit;
	};
};

static void die(const char *text)
{
	perror(text);
	exit(2);
}

/* A system call begins or ends. Return: 1 if a result was altered. */
static int look(pid_t pid, uint32_t version)
{
	static uint64_t answer;
	struct syscall_info info = { 0 };
	struct iovec from = { &version, sizeof(version) }, to = { NULL, sizeof(version) };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
		die("PTRACE_GET_SYSCALL_INFO");
	if (info.op == 1) {
		answer = info.entry.nr == SYS_ioctl && info.entry.args[1] == NTRACE_IOC_INFO ?
				 info.entry.args[2] :
				 0;
		return 0;
	}
	if (info.op != 2 || !answer || info.exit.rval)
		return 0;
	to.iov_base = (void *)(uintptr_t)(answer + offsetof(struct ntrace_info, abi_version));
	if (process_vm_writev(pid, &from, 1, &to, 1, 0) != sizeof(version))
		die("process_vm_writev");
	return 1;
}

int main(int argc, char **argv)
{
	int status, signal, altered = 0;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: module_version N COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die("waitpid");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD))
		die("PTRACE_SETOPTIONS");
	for (signal = 0;;) {
		if (ptrace(altered ? PTRACE_CONT : PTRACE_SYSCALL, pid, NULL, signal))
			die("ptrace");
		if (waitpid(pid, &status, 0) != pid)
			die("waitpid");
		if (!WIFSTOPPED(status))
			break;
		signal = WSTOPSIG(status);
		if (signal == (SIGTRAP | 0x80))
			altered += look(pid, (uint32_t)strtoul(argv[1], NULL, 0));
		if (signal == (SIGTRAP | 0x80) || signal == SIGTRAP)
			signal = 0;
	}
	if (!altered)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
