// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Links in a recording. A recording may come from a stranger: a link that leads out of it would show a file of
 * this machine as its trace, sideband or code. The directory itself may be a link, and links may stay inside.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recording.h"

/* A link to nothing inside is that of a missing file; what cannot be followed is not known to stay inside. */
static bool leads_out(int directory, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	int fd = (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));

	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	close(fd);
	return false;
}

static int open_directory(const char *directory)
{
	return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Other directories than images/ have nothing that is read; the archive has rules of its own. */
static bool is_unread(const FTSENT *entry)
{
	return entry->fts_info == FTS_D && entry->fts_level == 1 &&
	       strcmp(entry->fts_name, "images") != 0;
}

/* Return: the path in the recording of the first link that leads out, or NULL */
static const char *find_link(FTS *tree, int root)
{
	size_t above = 0;
	FTSENT *entry;

	while ((entry = fts_read(tree))) {
		const char *name = entry->fts_path + above;

		if (entry->fts_level == 0)
			above = entry->fts_pathlen + 1;
		else if (is_unread(entry))
			fts_set(tree, entry, FTS_SKIP);
		else if ((entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE) &&
			 strcmp(name, RECORDING_ARCHIVE) != 0 && leads_out(root, name))
			return name;
	}
	return NULL;
}

bool recording_find_link(const char *directory, char *found, size_t size)
{
	char *const paths[] = { (char *)(uintptr_t)directory, NULL };
	int fd = open_directory(directory), saved = errno;
	const char *name = NULL;
	FTS *tree = NULL;

	if (fd >= 0)
		tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	if (tree)
		name = find_link(tree, fd);
	if (name)
		snprintf(found, size, "%s", name);
	if (tree)
		fts_close(tree);
	if (fd >= 0)
		close(fd);
	errno = saved;
	return name;
}

bool recording_leads_out(const char *directory, const char *name)
{
	int fd = open_directory(directory), saved = errno;
	struct stat status;
	bool out = fd >= 0 && !fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) &&
		   S_ISLNK(status.st_mode) && leads_out(fd, name);

	if (fd >= 0)
		close(fd);
	errno = saved;
	return out;
}
