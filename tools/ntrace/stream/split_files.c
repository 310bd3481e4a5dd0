// SPDX-License-Identifier: GPL-2.0-only
/* Files of ntrace split. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/command.h"
#include "common/output_file.h"
#include "common/ui.h"
#include "split_files.h"

/* MSEO 2 is reserved; MSEO 3 ends a message. */
#define GAP 0x02
#define MESSAGE_END 0x03

static int make_directory(struct split_files *files)
{
	struct stat status;

	if (!mkdir(files->directory, 0777)) {
		files->made_directory = true;
		return EXIT_OK;
	}
	if (errno != EEXIST)
		return fail("%s: %s", files->directory, strerror(errno));
	if (stat(files->directory, &status))
		return fail("%s: %s", files->directory, strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return fail("%s: not a directory: -o names the directory of the new files",
			    files->directory);
	return EXIT_OK;
}

static int name_file(const struct split_files *files, struct split_file *file)
{
	char name[64];

	/* The format is a constant of this program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(name, sizeof(name), files->format, file->source);
#pragma GCC diagnostic pop
	if (asprintf(&file->path, "%s/%s", files->directory, name) < 0)
		file->path = NULL;
	else if (asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0)
		file->temporary = NULL;
	if (file->path && file->temporary)
		return EXIT_OK;
	fail("out of memory");
	return EXIT_FAILED;
}

static int open_file(const struct split_files *files, struct split_file *file)
{
	int fd;

	if (!files->force && !access(file->path, F_OK))
		return fail("%s: the file exists: --force replaces it, -o DIR writes elsewhere",
			    file->path);
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd >= 0 && !fchmod(fd, output_file_mode()))
		file->file = fdopen(fd, "wb");
	if (file->file)
		return EXIT_OK;
	fail("%s: %s", file->temporary, strerror(errno));
	if (fd >= 0) {
		close(fd);
		unlink(file->temporary);
	}
	return EXIT_FAILED;
}

static int add_file(struct split_files *files, unsigned int source, struct split_file **file)
{
	int error = files->count ? EXIT_OK : make_directory(files);

	if (error)
		return error;
	if (files->count == files->limit)
		return fail("more than %u sources (0x%x): do the options match the trace?",
			    files->limit, source);
	*file = &files->files[files->count++];
	**file = (struct split_file){ .source = source };
	error = name_file(files, *file);
	return error ? error : open_file(files, *file);
}

int split_files_get(struct split_files *files, unsigned int source, struct split_file **file)
{
	unsigned int i;

	for (i = 0; i < files->count; i++) {
		*file = &files->files[i];
		if ((*file)->source == source)
			return EXIT_OK;
	}
	return add_file(files, source, file);
}

int split_file_put(struct split_file *file, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, file->file) != size)
		return fail("%s: %s", file->temporary, strerror(errno));
	file->bytes += size;
	return EXIT_OK;
}

int split_file_gap(struct split_file *file, bool aligned)
{
	static const uint8_t mark[] = { GAP, MESSAGE_END };

	file->gaps++;
	return split_file_put(file, mark, aligned ? 2 : 1);
}

static int name_at_last(const struct split_files *files, const struct split_file *file)
{
	int error = renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path,
			      files->force ? 0 : RENAME_NOREPLACE);

	/* Not every file system can refuse to replace a file; it was checked at creation. */
	if (error && (errno == EINVAL || errno == ENOSYS))
		error = rename(file->temporary, file->path);
	if (error && errno == EEXIST)
		return fail("%s: the file exists now: --force replaces it", file->path);
	return error ? fail("%s: %s", file->path, strerror(errno)) : EXIT_OK;
}

int split_files_finish(struct split_files *files, bool keep)
{
	int error = EXIT_OK;
	unsigned int i;

	for (i = 0; i < files->count; i++) {
		struct split_file *file = &files->files[i];

		if (!file->file)
			continue;
		if (fclose(file->file) && keep && !error)
			error = fail("%s: %s", file->temporary, strerror(errno));
	}
	keep = keep && !error;
	for (i = 0; i < files->count; i++) {
		struct split_file *file = &files->files[i];

		if (keep && !error)
			error = name_at_last(files, file);
		if (file->file && (!keep || error))
			unlink(file->temporary);
		file->file = NULL;
	}
	if (!keep && files->made_directory)
		rmdir(files->directory);
	return error;
}

void split_files_free(struct split_files *files)
{
	unsigned int i;

	for (i = 0; i < files->count; i++) {
		free(files->files[i].path);
		free(files->files[i].temporary);
	}
	files->count = 0;
}
