// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Loads SQLite. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "sqlite_library.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sqlite_library loaded;	/* constant after @once */
static bool complete;

/* The library stays loaded: other threads may execute it. */
static void load(void)
{
	static const struct {
		const char *name;
		size_t at;
	} functions[] = {
		{ "sqlite3_open_v2", offsetof(struct sqlite_library, open_v2) },
		{ "sqlite3_close", offsetof(struct sqlite_library, close) },
		{ "sqlite3_exec", offsetof(struct sqlite_library, exec) },
		{ "sqlite3_prepare_v2", offsetof(struct sqlite_library, prepare_v2) },
		{ "sqlite3_bind_int64", offsetof(struct sqlite_library, bind_int64) },
		{ "sqlite3_bind_text", offsetof(struct sqlite_library, bind_text) },
		{ "sqlite3_bind_null", offsetof(struct sqlite_library, bind_null) },
		{ "sqlite3_column_int64", offsetof(struct sqlite_library, column_int64) },
		{ "sqlite3_column_text", offsetof(struct sqlite_library, column_text) },
		{ "sqlite3_step", offsetof(struct sqlite_library, step) },
		{ "sqlite3_reset", offsetof(struct sqlite_library, reset) },
		{ "sqlite3_finalize", offsetof(struct sqlite_library, finalize) },
		{ "sqlite3_system_errno", offsetof(struct sqlite_library, system_errno) },
	};
	void *library = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_LOCAL);
	size_t i;

	complete = library;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]) && complete; i++) {
		void *function = dlsym(library, functions[i].name);

		*(void **)((char *)&loaded + functions[i].at) = function;
		complete = function;
	}
	if (library && !complete)
		dlclose(library);
}

const struct sqlite_library *sqlite_library(void)
{
	pthread_once(&once, load);
	return complete ? &loaded : NULL;
}
