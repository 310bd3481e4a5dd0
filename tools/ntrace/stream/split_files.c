// SPDX-License-Identifier: GPL-2.0-only
/* Files of ntrace split. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/command.h"
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
	if (asprintf(&file->path, "%s/%s", files->directory, name) < 0) {
		file->path = NULL;
		return fail("out of memory");
	}
	return EXIT_OK;
}

static int open_file(const struct split_files *files, struct split_file *file)
{
	if (!files->force && !access(file->path, F_OK))
		return fail("%s: the file exists: --force replaces it, -o DIR writes elsewhere",
			    file->path);
	return output_file_stream(&file->file, file->path, files->force);
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
	if (fwrite(bytes, 1, size, file->file.stream) != size)
		return fail("%s: %s", file->path, strerror(errno));
	file->bytes += size;
	return EXIT_OK;
}

int split_file_gap(struct split_file *file, bool aligned)
{
	static const uint8_t mark[] = { GAP, MESSAGE_END };

	file->gaps++;
	return split_file_put(file, mark, aligned ? 2 : 1);
}

int split_files_finish(struct split_files *files, bool keep)
{
	int error = keep ? EXIT_OK : EXIT_FAILED;
	unsigned int i;

	/* The first file gets its name when all are written. */
	for (i = 0; i < files->count && !error; i++)
		if (fflush(files->files[i].file.stream))
			error = fail("%s: %s", files->files[i].path, strerror(errno));
	for (i = 0; i < files->count; i++)
		error = output_file_close(&files->files[i].file, error);
	if (error && files->made_directory)
		rmdir(files->directory);
	return keep ? error : EXIT_OK;
}

void split_files_free(struct split_files *files)
{
	unsigned int i;

	for (i = 0; i < files->count; i++)
		free(files->files[i].path);
	files->count = 0;
}
