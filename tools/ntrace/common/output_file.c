// SPDX-License-Identifier: GPL-2.0-only
/* Output files that appear under their name only when complete, and never in place of an input. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
static const char *no_file;

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

static bool is_standard_output(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
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
	/* The shell has made the file, wherever that is. */
	if (is_standard_output(path))
		return false;
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

void output_no_input(const char *value)
{
	no_file = value;
}

static bool is_in(const char *text, const char *word)
{
	return text >= word && text <= word + strlen(word);
}

/* "FILE", "--option=FILE", "FILE@ADDRESS", without the word that @path is in. */
static bool is_word_input(const char *path, const char *word)
{
	const char *parts[] = { word, strchr(word, '=') };
	bool found = false;

	if (is_in(path, word) || (no_file && is_in(no_file, word)))
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

/* Standard input needs no word of the command line. */
static bool is_standard_input(const char *path)
{
	struct stat input, output;

	return !fstat(STDIN_FILENO, &input) && S_ISREG(input.st_mode) && !stat(path, &output) &&
	       is_same(&input, &output);
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

static bool is_any_input(const char *path)
{
	bool found = is_standard_input(path);

	for (size_t i = 0; i < named_count && !found; i++)
		found = is_input(path, named[i]);
	for (int i = 0; i < word_count && !found; i++)
		found = is_word_input(path, words[i]);
	return found;
}

int output_refuse_input(const char *path)
{
	if (is_any_input(path))
		return fail("%s: the output is also an input", path);
	/* A recording names programs, and those name debug files; no output is an ELF file. */
	if (is_elf_file(path))
		return fail("%s: the output would replace a program (an ELF file): choose another "
			    "name",
			    path);
	return EXIT_OK;
}

/* ---- signals ---- */

/* Their default action does not end a process. */
static bool is_harmless(int number)
{
	return number == SIGCHLD || number == SIGCONT || number == SIGSTOP || number == SIGTSTP ||
	       number == SIGTTIN || number == SIGTTOU || number == SIGURG || number == SIGWINCH;
}

static void remove_and_end(int number)
{
	ntrace_output_abandon();
	signal(number, SIG_DFL);
	raise(number);
}

/* State while /proc/self/maps is read, byte by byte. */
struct mapping {
	uintptr_t numbers[2];	/* start and end */
	unsigned int field;	/* 0, 1: in these; 2: before the path; 3: in the path */
	size_t length;
	char path[PATH_MAX];
};

/* Return: whether @byte ends the line of @address. */
static bool read_mapping(struct mapping *mapping, char byte, uintptr_t address)
{
	if (byte == '\n') {
		mapping->path[mapping->length] = '\0';
		if (mapping->numbers[0] <= address && address < mapping->numbers[1])
			return true;
		mapping->numbers[0] = mapping->numbers[1] = mapping->field = 0;
		mapping->length = 0;
	} else if (mapping->field < 2 && (byte == '-' || byte == ' ')) {
		mapping->field++;
	} else if (mapping->field < 2) {
		mapping->numbers[mapping->field] =
			mapping->numbers[mapping->field] << 4 |
			(uintptr_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
	} else if (mapping->field == 3 || byte == '/') {
		mapping->field = 3;
		if (mapping->length + 1 < sizeof(mapping->path))
			mapping->path[mapping->length++] = byte;
	}
	return false;
}

/* Finds the file that is mapped at @address. Calls only what a signal handler may call. */
static bool find_mapping(struct mapping *mapping, uintptr_t address)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = false;
	char bytes[4096];
	ssize_t got;

	while (fd >= 0 && !found && (got = read(fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < got && !found; i++)
			found = read_mapping(mapping, bytes[i], address);
	if (fd >= 0)
		close(fd);
	return found && mapping->length;
}

static void write_text(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written;
}

/* A page of a mapped file cannot be read: another process has made the file shorter, or the disk fails. */
static void end_at_page(int number, siginfo_t *info, void *context)
{
	static struct mapping mapping;
	bool found = info->si_code == BUS_ADRERR &&
		     find_mapping(&mapping, (uintptr_t)info->si_addr);

	(void)context;
	ntrace_output_abandon();
	if (!found) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	write_text("ntrace: error: ");
	write_text(mapping.path);
	write_text(": a part of the file cannot be read: it became shorter meanwhile, or the disk "
		   "failed\n");
	_exit(EXIT_FAILED);
}

void output_words(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = remove_and_end }, before;
	const struct sigaction page = { .sa_sigaction = end_at_page, .sa_flags = SA_SIGINFO };

	words = argv;
	word_count = argc;
	/* SIGKILL, and the signals that the C library keeps for itself, cannot be handled. */
	for (int number = 1; number <= SIGRTMAX; number++)
		if (!is_harmless(number) && !sigaction(number, NULL, &before) &&
		    before.sa_handler == SIG_DFL)
			sigaction(number, &action, NULL);
	sigaction(SIGBUS, &page, NULL);
}

/* ---- files ---- */

static int failed(const struct output_file *file, int error)
{
	errno = error;
	return path_failed(file->path, NTRACE_ERR_IO);
}

static int begin(struct output_file *file, const char *path, bool replace, int *fd)
{
	struct stat status;
	int error;

	memset(file, 0, sizeof(*file));
	if (!path || !strcmp(path, "-")) {
		file->path = "standard output";
		file->name = "/dev/stdout";
		*fd = STDOUT_FILENO;
		/* main() opened it because it was closed; a writer that takes the name would succeed. */
		if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
			return fail("%s: %s", file->path, strerror(EBADF));
		/* Output appended to an input would be read as input. */
		if (!fstat(STDOUT_FILENO, &status) && S_ISREG(status.st_mode) &&
		    is_any_input(file->name))
			return fail("%s: the output is also an input", file->path);
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
