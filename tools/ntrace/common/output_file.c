// SPDX-License-Identifier: GPL-2.0-only
/* Output files that appear under their name only when complete, and never in place of an input. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "input.h"
#include "output_file.h"
#include "ui.h"

/* Inputs that no word of the command line names. */
static char **named;
static size_t named_count;
static char **words;
static int word_count;

/* ---- inputs ---- */

void output_input(const char *path)
{
	char **more = reallocarray(named, named_count + 1, sizeof(*more));

	if (!more)
		return;
	named = more;
	named[named_count] = strdup(path);
	named_count += !!named[named_count];
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool has_params(const char *directory)
{
	char *params;
	bool found = false;

	if (asprintf(&params, "%s/params", directory) >= 0) {
		found = !access(params, F_OK);
		free(params);
	}
	return found;
}

/* The directory that has or gets the file @path. Return: its name, to be freed, or NULL */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory;

	return asprintf(&directory, "%.*s.", slash ? (int)(slash + 1 - path) : 0, path) < 0 ?
		       NULL :
		       directory;
}

/* Whether @path is the file @input, or a file of the recording @input. */
static bool is_input(const char *path, const char *input)
{
	struct stat status, at;
	char *target, *end, *directory;
	bool found = false;

	if (stat(input, &status) || (S_ISDIR(status.st_mode) && !has_params(input)))
		return false;
	if (S_ISREG(status.st_mode))
		return !stat(path, &at) && is_same(&status, &at);
	/* A file that does not exist yet may be one that the command makes or looks for. */
	directory = directory_of(path);
	target = S_ISDIR(status.st_mode) ? realpath(path, NULL) : NULL;
	if (!target && S_ISDIR(status.st_mode) && directory)
		target = realpath(directory, NULL);
	free(directory);
	while (target && !found && *target) {
		found = !stat(target, &at) && is_same(&status, &at);
		end = strrchr(target, '/');
		if (!end)
			break;
		*end = '\0';
	}
	free(target);
	return found;
}

/* "FILE", "--option=FILE", "FILE@ADDRESS", without the word that @path is in. */
static bool is_word_input(const char *path, const char *word)
{
	const char *parts[] = { word, strchr(word, '=') };
	bool found = false;

	if (path >= word && path <= word + strlen(word))
		return false;
	for (size_t i = 0; i < 2 && parts[i] && !found; i++) {
		char *copy = strdup(parts[i] + i), *at;

		if (!copy)
			break;
		found = is_input(path, copy);
		at = strrchr(copy, '@');
		if (at)
			*at = '\0';
		found |= at && is_input(path, copy);
		free(copy);
	}
	return found;
}

static bool is_standard_output(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

bool output_is_same(const char *path, const char *other)
{
	struct stat first, second;
	const char *name = strrchr(path, '/'), *other_name = strrchr(other, '/');
	char *directory, *other_directory;
	bool same;

	if (is_standard_output(path) && is_standard_output(other))
		return true;
	if (!stat(path, &first))
		return S_ISREG(first.st_mode) && !stat(other, &second) && is_same(&first, &second);
	directory = directory_of(path);
	other_directory = directory_of(other);
	same = directory && other_directory && !stat(directory, &first) &&
	       !stat(other_directory, &second) && is_same(&first, &second) &&
	       !strcmp(name ? name + 1 : path, other_name ? other_name + 1 : other);
	free(directory);
	free(other_directory);
	return same;
}

int output_refuse_input(const char *path)
{
	bool found = false;

	for (size_t i = 0; i < named_count && !found; i++)
		found = is_input(path, named[i]);
	for (int i = 0; i < word_count && !found; i++)
		found = is_word_input(path, words[i]);
	if (found)
		return fail("%s: the output is also an input", path);
	/* A recording names programs, and those name debug files; no output is an ELF file. */
	if (is_elf_file(path))
		return fail("%s: the output would replace a program (an ELF file): choose another "
			    "name",
			    path);
	return EXIT_OK;
}

/* ---- signals ---- */

static void remove_and_end(int number)
{
	ntrace_output_abandon();
	signal(number, SIG_DFL);
	raise(number);
}

void output_words(int argc, char **argv)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ };
	struct sigaction action = { .sa_handler = remove_and_end }, before;

	words = argv;
	word_count = argc;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

/* ---- files ---- */

static int failed(const struct output_file *file, int error)
{
	/* A reader that closed the pipe is not an error. */
	return error == EPIPE ? EXIT_FAILED : fail("%s: %s", file->path, strerror(error));
}

static int begin(struct output_file *file, const char *path, bool replace, int *fd)
{
	int error;

	memset(file, 0, sizeof(*file));
	if (!path || !strcmp(path, "-")) {
		file->path = "standard output";
		file->name = "/dev/stdout";
		*fd = STDOUT_FILENO;
		/* main() opened it because it was closed; a writer that takes the name would succeed. */
		if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
			return fail("%s: %s", file->path, strerror(EBADF));
		return EXIT_OK;
	}
	file->path = path;
	if (output_refuse_input(path))
		return EXIT_FAILED;
	error = ntrace_output_open(&file->file, path, replace);
	if (error)
		return fail("%s: %s", path, error_text(error));
	*fd = ntrace_output_fd(file->file);
	file->name = ntrace_output_name(file->file);
	return EXIT_OK;
}

int output_file_open(struct output_file *file, const char *path)
{
	int fd = -1, error = begin(file, path, true, &fd);

	if (!error) {
		file->output = malloc(sizeof(*file->output));
		if (file->output)
			output_init(file->output, fd);
		else
			error = output_file_close(file, fail("out of memory"));
	}
	return error;
}

int output_file_stream(struct output_file *file, const char *path, bool replace)
{
	int fd = -1, error = begin(file, path, replace, &fd), copy;

	if (error)
		return error;
	/* Closing it must not close standard output. */
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	file->stream = copy < 0 ? NULL : fdopen(copy, "w");
	if (file->stream)
		return EXIT_OK;
	error = failed(file, errno);
	if (copy >= 0)
		close(copy);
	return output_file_close(file, error);
}

int output_file_named(struct output_file *file, const char *path)
{
	int fd;

	return begin(file, path, true, &fd);
}

int output_file_close(struct output_file *file, int status)
{
	bool whole = status == EXIT_OK || status == EXIT_GAPS;
	int error = 0;

	if (!file->name)
		return status;
	if (file->output)
		error = output_flush(file->output);
	if (file->stream && ferror(file->stream))
		error = errno ? errno : EIO;
	if (file->stream && fclose(file->stream) && !error)
		error = errno;
	if (error && whole)
		status = failed(file, error);
	else if (whole && file->file && output_refuse_input(file->path))
		status = EXIT_FAILED;
	whole = status == EXIT_OK || status == EXIT_GAPS;
	if (ntrace_output_close(file->file, whole))
		status = failed(file, errno);
	free(file->output);
	memset(file, 0, sizeof(*file));
	return status;
}
