// SPDX-License-Identifier: GPL-2.0-only
/* The recorded command: found, forked, held before exec, waited for. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "common/command.h"
#include "common/ui.h"

/* Exit statuses of shells for commands that cannot run. */
#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND 127

/* 0 or errno. */
static int executable(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

static int search_path(const char *name)
{
	const char *path = getenv("PATH"), *end;
	int result = ENOENT, error;
	char *file;

	for (path = path ? path : "/bin:/usr/bin"; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		if (asprintf(&file, "%.*s%s%s", (int)(end - path), path, end > path ? "/" : "",
			     name) < 0)
			return ENOMEM;
		error = executable(file);
		free(file);
		if (!error)
			return 0;
		if (error != ENOENT && error != ENOTDIR && error != EISDIR)
			result = error;
	}
	return result;
}

int command_find(const char *name)
{
	int error = strchr(name, '/') ? executable(name) : search_path(name);

	if (!error)
		return EXIT_OK;
	if (error == ENOENT) {
		fail("%s: no such command", name);
		return STATUS_NOT_FOUND;
	}
	fail("%s: cannot be executed: %s", name, strerror(error));
	return STATUS_NOT_EXECUTABLE;
}

static void child_main(const struct child *child, char **argv)
{
	sigset_t none;
	char byte;
	int error;

	/* Undo for the command: main() ignores SIGPIPE and SIGXFSZ, and the recorder blocks signals. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* End of file without a byte: the recorder has given up. */
	while (read(child->go, &byte, 1) != 1)
		if (errno != EINTR)
			_exit(EXIT_FAILED);
	execvp(argv[0], argv);
	error = errno;
	if (write(child->failed, &error, sizeof(error)) < 0)
		_exit(STATUS_NOT_FOUND);
	_exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

int child_fork(struct child *child, char **argv)
{
	struct child end;
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC))
		return fail("pipe: %s", strerror(errno));
	if (pipe2(failed, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return fail("pipe: %s", strerror(errno));
	}
	*child = (struct child){ .go = go[1], .failed = failed[0] };
	end = (struct child){ .go = go[0], .failed = failed[1] };
	child->pid = fork();
	if (!child->pid) {
		/* Close the child's copies, or it would never see the recorder's end. */
		close(go[1]);
		close(failed[0]);
		child_main(&end, argv);
	}
	close(go[0]);
	close(failed[1]);
	if (child->pid > 0)
		return EXIT_OK;
	close(go[1]);
	close(failed[0]);
	child->pid = 0;
	return fail("fork: %s", strerror(errno));
}

int child_go(const struct child *child, const char *name)
{
	if (write(child->go, "", 1) != 1)
		return fail("%s: the process ended before it could start", name);
	return EXIT_OK;
}

bool child_tried(const struct child *child, int milliseconds)
{
	struct pollfd poller = { .fd = child->failed, .events = POLLIN };

	return poll(&poller, 1, milliseconds) > 0;
}

int child_started(const struct child *child, const char *name)
{
	int error = 0;
	ssize_t got;

	do {
		got = read(child->failed, &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(error) ? fail("%s: %s", name, strerror(error)) : EXIT_OK;
}

bool child_ended(struct child *child)
{
	if (!child->ended && child->pid > 0 && waitpid(child->pid, &child->status, WNOHANG) > 0)
		child->ended = true;
	return child->ended;
}

int child_wait(struct child *child)
{
	if (child->pid <= 0)
		return EXIT_FAILED;
	close(child->go);
	close(child->failed);
	while (!child->ended) {
		if (waitpid(child->pid, &child->status, 0) >= 0)
			child->ended = true;
		else if (errno != EINTR)
			return EXIT_FAILED;
	}
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}
