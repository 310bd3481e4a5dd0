// SPDX-License-Identifier: GPL-2.0-only
/* The process, or the harts, that a debugger sees. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/text.h>

#include "common/command.h"
#include "common/place_name.h"
#include "common/ui.h"
#include "target.h"

void target_free(struct target *target)
{
	for (size_t i = 0; i < target->files; i++) {
		ntrace_object_put(target->file[i].object);
		free(target->file[i].path);
		elf_file_close(target->file[i].elf);
	}
	free(target->file);
	free(target->module);
	free(target->thread);
	*target = (struct target){ 0 };
}

/* ---- files ---- */

/* GDB opens the files itself, where they are now. */
static const char *path_of(const struct ntrace_object *object)
{
	const char *path = ntrace_object_path(object);

	return path ? path : ntrace_object_name(object);
}

static int64_t add_file(struct target *target, struct ntrace_object *object, const char *path)
{
	struct target_file *file;
	size_t i;

	for (i = 0; object && i < target->files; i++)
		if (target->file[i].object == object)
			return (int64_t)i;
	if (!history_grow(&target->file, target->files, &target->file_room, sizeof(*target->file)))
		return -1;
	file = &target->file[target->files];
	*file = (struct target_file){ 0 };
	file->path = realpath(path, NULL);
	if (!file->path)
		file->path = strdup(path);
	if (!file->path)
		return -1;
	file->object = ntrace_object_get(object);
	file->elf = elf_file_open(file->path);
	return (int64_t)target->files++;
}

static int64_t add_module(struct target *target, struct ntrace_object *object, const char *path,
			  uint64_t bias)
{
	int64_t file = add_file(target, object, path);
	size_t i;

	if (file < 0)
		return -1;
	for (i = 0; i < target->modules; i++)
		if (target->module[i].file == (size_t)file && target->module[i].bias == bias)
			return (int64_t)i;
	if (!history_grow(&target->module, target->modules, &target->module_room,
			  sizeof(*target->module)))
		return -1;
	target->module[target->modules] =
		(struct target_module){ .file = (size_t)file, .bias = bias };
	return (int64_t)target->modules++;
}

static int add_modules(struct target *target)
{
	const struct history *history = target->history;
	uint64_t most = 0;

	target->exec = -1;
	for (size_t i = 0; i < history->module_count; i++) {
		const struct history_module *of = &history->module[i];
		const struct elf_file *elf;
		int64_t module;

		if (of->pid != target->pid || !of->instructions)
			continue;
		module = add_module(target, of->object, path_of(of->object), of->bias);
		if (module < 0)
			return fail("out of memory");
		target->module[module].instructions += of->instructions;
		elf = target->file[target->module[module].file].elf;
		if (elf && elf->program && of->instructions > most) {
			most = of->instructions;
			target->exec = module;
		}
	}
	return EXIT_OK;
}

int target_set_exec(struct target *target, const char *path, uint64_t bias)
{
	target->exec = add_module(target, NULL, path, bias);
	if (target->exec < 0)
		return fail("out of memory");
	if (target->file[target->module[target->exec].file].elf)
		return EXIT_OK;
	return fail("%s: %s", path, access(path, R_OK) ? strerror(errno) : "not an ELF file");
}

/* ---- threads ---- */

/* Of a process: the number of its first thread, and the sum of all. */
struct process {
	int32_t pid;
	size_t first;
	uint64_t instructions;
};

static int by_pid(const void *left, const void *right)
{
	const struct process *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/*
 * The process with most instructions, of equal ones the first; the idle task and unknown tasks only if
 * there is no other.
 */
static int32_t largest_process(const struct history *history)
{
	struct process *all = calloc(history->thread_count + 1, sizeof(*all)), best = { .pid = -1 };
	size_t count = 0, end, i;

	if (!all)
		return -1;
	for (i = 0; i < history->thread_count; i++)
		if (history->thread[i].pid > 0)
			all[count++] = (struct process){ history->thread[i].pid, i,
							 history->thread[i].instructions };
	if (count)
		qsort(all, count, sizeof(*all), by_pid);
	for (i = 0; i < count; i = end) {
		for (end = i + 1; end < count && all[end].pid == all[i].pid; end++)
			all[i].instructions += all[end].instructions;
		if (all[i].instructions > best.instructions ||
		    (all[i].instructions && all[i].instructions == best.instructions &&
		     all[i].first < best.first))
			best = all[i];
	}
	free(all);
	return best.pid;
}

int64_t target_around(const struct history *history, uint64_t wanted)
{
	const struct history_thread *best = NULL;
	int32_t pid = largest_process(history);

	for (size_t i = 0; i < history->thread_count; i++) {
		const struct history_thread *thread = &history->thread[i];

		if (thread->tid <= 0 || thread->calls < wanted)
			continue;
		/* Threads of the process that is shown otherwise come first, then those with more. */
		if (!best || (thread->pid == pid) > (best->pid == pid) ||
		    ((thread->pid == pid) == (best->pid == pid) &&
		     thread->instructions > best->instructions))
			best = thread;
	}
	return best ? best->tid : 0;
}

static int choose_process(struct target *target, int64_t tid)
{
	const struct history *history = target->history;

	target->pid = largest_process(history);
	if (!tid)
		return EXIT_OK;
	for (size_t i = 0; i < history->thread_count; i++) {
		if (history->thread[i].tid == tid && history->thread[i].instructions) {
			target->pid = history->thread[i].pid;
			return EXIT_OK;
		}
	}
	return EXIT_SHOWN;
}

/* The threads of the chosen process; @tid: the first one, 0 = that with most instructions. */
static int take_process(struct target *target, int64_t tid)
{
	const struct history *history = target->history;
	uint64_t most = 0;

	target->process = target->pid > 0;
	target->thread = calloc(history->thread_count + 1, sizeof(*target->thread));
	if (!target->thread)
		return fail("out of memory");
	for (size_t i = 0; i < history->thread_count; i++) {
		const struct history_thread *thread = &history->thread[i];

		if (thread->pid != target->pid || !thread->instructions)
			continue;
		if (tid ? thread->tid == tid : thread->instructions > most) {
			most = thread->instructions;
			target->current = target->threads;
		}
		target->thread[target->threads++] = (uint32_t)i;
	}
	if (!target->threads)
		return EXIT_SHOWN;
	return add_modules(target);
}

int target_init(struct target *target, struct history *history, int64_t tid)
{
	int error;

	*target = (struct target){ .history = history, .xlen = 64, .exec = -1 };
	error = choose_process(target, tid);
	return error ? error : take_process(target, tid);
}

int target_nothing(int64_t tid)
{
	if (!tid)
		return fail("the trace has no instructions to show");
	return fail("no instruction of thread %" PRId64 " is in the trace", tid);
}

uint64_t target_tid(const struct target *target, size_t index)
{
	const struct history_thread *thread = &target->history->thread[target->thread[index]];

	/* 0 and -1 have a meaning in the protocol. */
	return thread->tid > 0 ? (uint64_t)thread->tid : INT32_MAX;
}

/* ---- memory ---- */

static struct elf_file *find_elf(struct target *target, struct ntrace_object *object)
{
	int64_t file = add_file(target, object, path_of(object));

	return file < 0 ? NULL : target->file[file].elf;
}

/* Bytes at @address that are mapped as code; @available is set. */
static const uint8_t *read_mapped(struct target *target, const struct ntrace_space *space,
				  uint64_t address, uint64_t *available)
{
	struct ntrace_location location;
	const struct elf_file *elf;
	const uint8_t *data;
	size_t mapped;

	if (!space || ntrace_space_read(space, address, &data, &mapped) ||
	    ntrace_space_locate(space, address, &location))
		return NULL;
	*available = mapped;
	elf = location.object ? find_elf(target, location.object) : NULL;
	if (!elf)
		return data;
	/* The bytes of the space: code of the kernel may be patched. */
	if (!elf_file_read(elf, location.link_address, false, available))
		return NULL;
	if (*available > mapped)
		*available = mapped;
	return data;
}

/* Recordings know the mappings of code only: data comes from the same files. */
static const uint8_t *read_data(const struct target *target, uint64_t address, bool fresh,
				uint64_t *available)
{
	const uint8_t *data;

	for (size_t i = 0; i < target->modules; i++) {
		const struct target_module *module = &target->module[i];
		const struct elf_file *elf = target->file[module->file].elf;

		data = elf ? elf_file_read(elf, address - module->bias, fresh, available) : NULL;
		if (data)
			return data;
	}
	return NULL;
}

size_t target_read(struct target *target, const struct ntrace_space *space, uint64_t address,
		   uint8_t *data, size_t size)
{
	size_t done = 0, part;
	const uint8_t *from;
	uint64_t available;

	while (done < size) {
		available = 0;
		from = read_mapped(target, space, address + done, &available);
		if (!from)
			from = read_data(target, address + done, false, &available);
		if (!from || !available)
			break;
		part = available < size - done ? (size_t)available : size - done;
		memcpy(data + done, from, part);
		done += part;
	}
	return done;
}

bool target_read_file(const struct target *target, uint64_t address, bool fresh, uint8_t *byte)
{
	uint64_t available;
	const uint8_t *from = read_data(target, address, fresh, &available);

	if (from)
		*byte = *from;
	return from;
}

/* ---- names ---- */

size_t target_functions(const struct target *target, const char *name, uint64_t **address)
{
	size_t count = 0, room = 0;
	uint64_t *found = NULL;

	for (size_t i = 0; i < target->modules; i++) {
		const struct target_module *module = &target->module[i];
		struct ntrace_object *object = target->file[module->file].object;
		const char *symbol;
		uint64_t at;

		for (size_t k = 0; object && (symbol = ntrace_object_function(object, k, &at));
		     k++) {
			if (!*symbol || !ntrace_symbol_matches(symbol, name))
				continue;
			if (!history_grow(&found, count, &room, sizeof(*found)))
				break;
			found[count++] = at + module->bias;
		}
	}
	*address = found;
	return count;
}

char *target_place_name(const struct target *target, const struct history_place *place, char *text,
			size_t size)
{
	const struct ntrace_space *space = history_at(target->history, place)->flow->space;
	uint64_t pc = history_pc(target->history, place);
	struct ntrace_location location;

	if (!space || ntrace_space_locate(space, pc, &location) || !location.object)
		return place_name(text, size, NULL, pc);
	return place_name(text, size, location.object, location.link_address);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct elf_file *exec_file(const struct target *target)
{
	return target->exec < 0 ? NULL : target->file[target->module[target->exec].file].elf;
}

int64_t target_interpreter(const struct target *target)
{
	const struct elf_file *program = exec_file(target);
	uint64_t most = 0;
	int64_t found = -1;

	for (size_t i = 0; program && *program->interpreter && i < target->modules; i++) {
		const struct target_module *module = &target->module[i];

		/* A process that executes a second program has had two. */
		if (module->instructions > most &&
		    !strcmp(file_name(target->file[module->file].path),
			    file_name(program->interpreter))) {
			most = module->instructions;
			found = (int64_t)i;
		}
	}
	return found;
}

unsigned int target_float_size(const struct target *target)
{
	const struct elf_file *program = exec_file(target);

	if (target->history->replay)
		return replay_params(target->history->replay)->flen / 8;
	return program ? program->float_size : 0;
}

/* The number makes the name unique: no other name that the debugger is told has an empty component. */
char *target_file_name(const struct target *target, size_t index)
{
	const char *path = target->file[index].path;
	char *name = NULL, *room;
	const char *clean = ntrace_text_clean(path, &room);

	if (!strcmp(clean, path))
		name = strdup(path);
	else if (asprintf(&name, TARGET_READS "/%zu/%s", index, clean) < 0)
		name = NULL;
	free(room);
	return name;
}

/* Whether the debugger opens a file under @name, without the prefix. */
static bool is_name(const struct target *target, size_t index, const char *name)
{
	char *told = target_file_name(target, index);
	size_t prefix = strlen(TARGET_READS);
	bool same = told &&
		    !strcmp(strncmp(told, TARGET_READS, prefix) ? told : told + prefix, name);

	free(told);
	return same;
}

const char *target_file_path(const struct target *target, const char *name)
{
	const struct elf_file *program = exec_file(target);
	int64_t interpreter = target_interpreter(target);

	for (size_t i = 0; i < target->files; i++)
		if (target->file[i].elf && is_name(target, i, name))
			return target->file[i].path;
	if (interpreter >= 0 && !strcmp(program->interpreter, name))
		return target->file[target->module[interpreter].file].path;
	return NULL;
}
