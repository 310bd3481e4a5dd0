// SPDX-License-Identifier: GPL-2.0-only
/* Options of `ntrace record`. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/isa.h>

#include "common/command.h"
#include "common/inputs.h"
#include "common/ui.h"
#include "cpus.h"
#include "features.h"
#include "filter.h"
#include "options.h"
#include "trigger.h"

const struct option_spec record_options_table[] = {
	{ OPTION_OUTPUT, "output", "DIR",
	  "directory of the recording (default " RECORD_DIRECTORY_DEFAULT
	  "), or with --live file" },
	{ OPTION_ALL, "all", NULL, "system-wide: trace all CPUs" },
	{ OPTION_CPU, "cpu", "LIST", "system-wide: trace only these CPUs, e.g. 0,2-3" },
	{ OPTION_TASK, "task", NULL, "trace the command and its children (default)" },
	{ OPTION_PID, "pid", "LIST", "trace these processes and their children" },
	{ OPTION_TID, "tid", "LIST", "trace these threads and their children" },
	{ OPTION_PER_THREAD, "per-thread", NULL, "do not trace children" },
	{ OPTION_SNAPSHOT, "snapshot", NULL,
	  "per-process: save only the buffer, at each SIGUSR2 and at the end" },
	{ OPTION_STROBE, "strobe", "ON,OFF",
	  "per-process: trace for ON microseconds, pause for OFF" },
	{ OPTION_CONTEXT, "context", NULL,
	  "put task ids into the trace (system-wide default without the kernel)" },
	{ OPTION_MODE, "mode", "btm|htm",
	  "branch or history trace mode (default: htm if supported)" },
	{ OPTION_PRIVILEGE, "privilege", "LETTERS",
	  "privileges to trace: any of u, s, m, vu, vs (default us)" },
	{ OPTION_AUX_SIZE, "aux-size", "SIZE",
	  "per-process: buffer between kernel and recorder, per CPU or thread" },
	{ OPTION_SINK_SIZE, "sink-size", "SIZE",
	  "system-wide: trace buffer of the hardware, per CPU" },
	{ OPTION_DATA_SIZE, "data-size", "SIZE",
	  "system-wide: buffer between kernel and recorder, per CPU" },
	{ OPTION_SYNC, "sync", "KIND[:N]",
	  "synchronize every N messages, cycles or parcels; or off" },
	{ OPTION_TIMESTAMPS, "timestamps", "KIND[:N]",
	  "timestamps: any, external, system, core or shared; every N ticks" },
	{ OPTION_ENCODER, "encoder", "LIST",
	  "features of the encoder: best (default), none, or names like implicit-return,stall" },
	{ OPTION_FILTER, "filter", "FUNCTION[@FILE]",
	  "trace only this (FILE: per-process); or START/SIZE[@FILE], or *@FILE; may be repeated" },
	{ OPTION_TRAPS, "traps", "KIND[:CAUSE,...]",
	  "system-wide: trace only handlers of exceptions or interrupts" },
	{ OPTION_MARK, "mark", "FUNCTION",
	  "system-wide: mark each call of this kernel function, or ADDRESS; may be repeated" },
	{ OPTION_FROM, "from", "FUNCTION",
	  "system-wide: each CPU is traced from each call of this kernel function, or ADDRESS" },
	{ OPTION_UNTIL, "until", "FUNCTION",
	  "system-wide: each CPU is traced up to the next call of this one, or ADDRESS" },
	{ OPTION_ONLY_CONTEXT, "only-context", "TID",
	  "system-wide: the encoders trace this thread only" },
	{ OPTION_TRIGGER_IN, "trigger-in", "N=ACTION",
	  "external input N starts (on), stops (off) or marks (notify) the trace" },
	{ OPTION_TRIGGER_OUT, "trigger-out", "N=WHEN",
	  "external output N fires at start (on), stop (off) or both" },
	{ OPTION_DEBUG_TRIGGERS, "debug-triggers", NULL,
	  "use debug triggers of the CPU, set by a debugger, like inputs" },
	{ OPTION_ARMED, "armed", NULL, "start the trace by a trigger" },
	{ OPTION_VALUES, "values", NULL,
	  "record the registers of user space at system calls, and the stack of new programs" },
	{ OPTION_COMPRESS, "compress", NULL, "compress the trace (zstd)" },
	{ OPTION_COMPRESSION_LEVEL, "compression-level", "N",
	  "zstd level, 1 (default) to 22; implies --compress" },
	{ OPTION_LIVE, "live", NULL,
	  "system-wide: count while tracing; write a counts file (ntrace.counts), no trace" },
	{ OPTION_HOLD, "hold", NULL,
	  "with --live: stop the command while its trace is decoded, so that none is lost" },
	{ OPTION_QUIET, "quiet", NULL, "no summary" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/* The driver numbers privileges as the library does. */
_Static_assert(NTRACE_PRIVILEGE_U == 1u << NTRACE_PRIV_U &&
		       NTRACE_PRIVILEGE_S == 1u << NTRACE_PRIV_S &&
		       NTRACE_PRIVILEGE_M == 1u << NTRACE_PRIV_M &&
		       NTRACE_PRIVILEGE_VU == 1u << NTRACE_PRIV_VU &&
		       NTRACE_PRIVILEGE_VS == 1u << NTRACE_PRIV_VS,
	       "privileges of linux/ntrace.h and ntrace/isa.h");

int record_privilege_check(uint32_t wanted, uint32_t filter)
{
	const uint32_t all = NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S | NTRACE_PRIVILEGE_M;

	if (!filter)
		return !wanted || (wanted & all) == all ?
			       EXIT_OK :
			       fail("the encoder has no filter for privileges (trTeInstFilters is "
				    "0) and traces all: leave out --privilege");
	return wanted & ~filter ? fail("the filter of the encoder has not all of these privileges "
				       "(trTeFilterMatchPrivilege): --privilege") :
				  EXIT_OK;
}

void record_privilege_warn(void)
{
	warn("an encoder has no filter for privileges (trTeInstFilters is 0): the trace contains "
	     "firmware (M-mode) and guests as well; 'ntrace report --firmware ELF' decodes the "
	     "firmware");
}

/* "messages:4096": the hardware supports powers of two from 16. */
static int take_sync(struct record_options *record, const char *text)
{
	static const char *const kinds[] = {
		[NTRACE_SYNC_OFF] = "off",
		[NTRACE_SYNC_MESSAGES] = "messages",
		[NTRACE_SYNC_CYCLES] = "cycles",
		[NTRACE_SYNC_PARCELS] = "parcels",
	};
	size_t length = strcspn(text, ":");
	uint64_t interval = UINT64_C(1) << (RECORD_SYNC_MAX_DEFAULT + 4);
	unsigned int i;
	const char *end;

	record->sync_given = true;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i]) == length && !strncmp(kinds[i], text, length))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return usage_error(
			record->command,
			"option --sync: '%s' is not one of messages, cycles, parcels, off", text);
	record->wanted.sync_mode = i;
	if (i == NTRACE_SYNC_OFF)
		return text[length] ? usage_error(record->command, "option --sync: off has no "
								   "interval") :
				      EXIT_OK;
	if (text[length]) {
		if (!number_parse(text + length + 1, &end, 10, &interval) || *end ||
		    interval < 16 || interval & (interval - 1) || interval > UINT64_C(1) << 32)
			return usage_error(
				record->command,
				"option --sync: '%s' is not a power of two of at least 16",
				text + length + 1);
	}
	record->wanted.sync_max = (uint32_t)__builtin_ctzll(interval) - 4;
	return EXIT_OK;
}

static int take_strobe(struct record_options *record, const char *text)
{
	uint64_t on, off;
	const char *end;

	if (!number_parse(text, &end, 10, &on) || *end != ',' ||
	    !number_parse(end + 1, &end, 10, &off) || *end || !on || !off || on > UINT32_MAX ||
	    off > UINT32_MAX)
		return usage_error(
			record->command,
			"option --strobe: '%s' is not a pair of microseconds like 100,900", text);
	record->strobe_on = (uint32_t)on;
	record->strobe_off = (uint32_t)off;
	return EXIT_OK;
}

/* "system:16": internal time can be divided by powers of four. */
static int take_timestamps(struct record_options *record, const char *text)
{
	static const struct {
		const char *name;
		uint32_t mode;
	} kinds[] = {
		{ "off", NTRACE_TIMESTAMPS_OFF },	{ "external", NTRACE_TIMESTAMPS_EXTERNAL },
		{ "system", NTRACE_TIMESTAMPS_SYSTEM }, { "core", NTRACE_TIMESTAMPS_CORE },
		{ "shared", NTRACE_TIMESTAMPS_SHARED }, { "any", RECORD_TIMESTAMPS_ANY },
	};
	size_t length = strcspn(text, ":");
	unsigned int i, prescale;
	uint64_t divisor;
	const char *end;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == length && !strncmp(kinds[i].name, text, length))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return usage_error(record->command,
				   "option --timestamps: '%s' is not one of any, external, system, "
				   "core, shared, off",
				   text);
	record->wanted.timestamps = kinds[i].mode;
	if (!text[length])
		return EXIT_OK;
	if (!number_parse(text + length + 1, &end, 10, &divisor) || *end)
		divisor = 0;
	for (prescale = 0; prescale <= NTRACE_PRESCALE_MAX; prescale++)
		if (divisor == UINT64_C(1) << 2 * prescale)
			break;
	if (prescale > NTRACE_PRESCALE_MAX ||
	    (kinds[i].mode != NTRACE_TIMESTAMPS_SYSTEM && kinds[i].mode != NTRACE_TIMESTAMPS_CORE))
		return usage_error(record->command,
				   "option --timestamps: '%s': system and core can be divided by "
				   "4, 16 and 64",
				   text);
	record->wanted.timestamp_prescale = prescale;
	return EXIT_OK;
}

/* "12,345" */
static int take_ids(struct record_options *record, struct id_list *ids, const char *option,
		    const char *text)
{
	const char *at = text;
	const char *end;
	pid_t *more;
	uint64_t id;

	for (;;) {
		if (!number_parse(at, &end, 10, &id) || !id || id > INT32_MAX ||
		    (*end && *end != ','))
			return usage_error(record->command,
					   "option --%s: '%s' is not a list like 12,345", option,
					   text);
		more = realloc(ids->ids, (ids->count + 1) * sizeof(*more));
		if (!more)
			return fail("out of memory");
		ids->ids = more;
		ids->ids[ids->count++] = (pid_t)id;
		if (!*end)
			return EXIT_OK;
		at = end + 1;
	}
}

static int take_option(struct record_options *record, struct options *options, int option)
{
	uint64_t number;

	switch (option) {
	case OPTION_OUTPUT:
		record->directory = options->value;
		return *options->value ? EXIT_OK :
					 usage_error(record->command, "option --output: no name");
	case OPTION_MODE:
		if (!strcmp(options->value, "btm"))
			record->wanted.mode = NTRACE_MODE_BTM;
		else if (!strcmp(options->value, "htm"))
			record->wanted.mode = NTRACE_MODE_HTM;
		else
			return usage_error(record->command,
					   "option --mode: '%s' is neither btm "
					   "nor htm",
					   options->value);
		return EXIT_OK;
	case OPTION_CPU:
		record->select_cpus = true;
		if (!*options->value || !cpu_mask_parse(&record->cpus, options->value))
			return usage_error(record->command,
					   "option --cpu: '%s' is not a list like 0,2-3",
					   options->value);
		return EXIT_OK;
	case OPTION_ALL:
		record->all = true;
		return EXIT_OK;
	case OPTION_TASK:
		record->task = true;
		return EXIT_OK;
	case OPTION_PID:
		return take_ids(record, &record->pids, "pid", options->value);
	case OPTION_TID:
		return take_ids(record, &record->tids, "tid", options->value);
	case OPTION_PER_THREAD:
		record->per_thread = true;
		return EXIT_OK;
	case OPTION_SNAPSHOT:
		record->snapshot = true;
		return EXIT_OK;
	case OPTION_STROBE:
		return take_strobe(record, options->value);
	case OPTION_CONTEXT:
		record->wanted.flags |= NTRACE_CONFIG_CONTEXT;
		return EXIT_OK;
	case OPTION_PRIVILEGE:
		return option_privileges(options, "privilege", &record->wanted.privilege) ?
			       EXIT_OK :
			       EXIT_USAGE;
	case OPTION_AUX_SIZE:
		if (!option_size(options, "aux-size", 4096, UINT64_C(1) << 40, &record->aux_size))
			return EXIT_USAGE;
		if (record->aux_size & (record->aux_size - 1))
			return usage_error(record->command,
					   "option --aux-size: not a power of two");
		return EXIT_OK;
	case OPTION_SINK_SIZE:
		if (!option_size(options, "sink-size", 1, UINT64_C(1) << 40, &number))
			return EXIT_USAGE;
		record->wanted.sink_size = number;
		return EXIT_OK;
	case OPTION_DATA_SIZE:
		if (!option_size(options, "data-size", 1, UINT64_C(1) << 40, &number))
			return EXIT_USAGE;
		record->wanted.data_size = number;
		return EXIT_OK;
	case OPTION_SYNC:
		return take_sync(record, options->value);
	case OPTION_TIMESTAMPS:
		return take_timestamps(record, options->value);
	case OPTION_ENCODER:
		return record_features_take(record->command, options->value, &record->wanted);
	case OPTION_FILTER:
		return record_filter_take(record, options->value);
	case OPTION_TRAPS:
		return record_filter_take_traps(record, options->value);
	case OPTION_MARK:
		return record_filter_take_mark(record, options->value);
	case OPTION_FROM:
		record->wanted.flags |= NTRACE_CONFIG_FROM;
		return record_filter_find_address(record, "from", options->value,
						  &record->wanted.from);
	case OPTION_UNTIL:
		record->wanted.flags |= NTRACE_CONFIG_UNTIL;
		return record_filter_find_address(record, "until", options->value,
						  &record->wanted.until);
	case OPTION_ONLY_CONTEXT:
		if (!option_number(options, "only-context", 1, INT32_MAX, &number))
			return EXIT_USAGE;
		record->wanted.task = (uint32_t)number;
		record->wanted.flags |= NTRACE_CONFIG_CONTEXT;
		return EXIT_OK;
	case OPTION_TRIGGER_IN:
		return record_trigger_take_in(record, options->value);
	case OPTION_TRIGGER_OUT:
		return record_trigger_take_out(record, options->value);
	case OPTION_DEBUG_TRIGGERS:
		record->wanted.flags |= NTRACE_CONFIG_DEBUG_TRIGGERS;
		return EXIT_OK;
	case OPTION_ARMED:
		record->wanted.flags |= NTRACE_CONFIG_ARMED;
		return EXIT_OK;
	case OPTION_COMPRESS:
		if (!record->compress)
			record->compress = 1;
		return EXIT_OK;
	case OPTION_COMPRESSION_LEVEL:
		if (!option_number(options, "compression-level", 1, 22, &number))
			return EXIT_USAGE;
		record->compress = (unsigned int)number;
		return EXIT_OK;
	case OPTION_LIVE:
		record->live = true;
		return EXIT_OK;
	case OPTION_HOLD:
		record->hold = true;
		return EXIT_OK;
	case OPTION_VALUES:
		record->values = true;
		return EXIT_OK;
	case OPTION_QUIET:
		record->quiet = true;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

bool record_options_any(const struct record_options *record)
{
	return record->argc || record->pids.count || record->tids.count;
}

bool record_options_tasks(const struct record_options *record)
{
	return record->task || record->per_thread || record->pids.count || record->tids.count ||
	       record->snapshot || record->strobe_on || record->filter_files;
}

bool record_options_cpus(const struct record_options *record)
{
	const struct ntrace_config *wanted = &record->wanted;

	return record->all || record->select_cpus || record->live || wanted->sink_size ||
	       wanted->data_size || wanted->traps || wanted->mark_count || wanted->task ||
	       wanted->flags & RECORD_WINDOW ||
	       wanted->privilege & ~(NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S);
}

/* Decoding needs all of the kernel's code to tell the tasks of a CPU. */
static int check_live(const struct record_options *record)
{
	if (record_options_tasks(record))
		return usage_error(
			record->command,
			"--live counts whole CPUs (--all, --cpu), not processes (--task, "
			"--pid, --tid, --per-thread, --snapshot, --strobe, --filter with "
			"a file)");
	if (record->compress)
		return usage_error(record->command,
				   "--live saves no trace that could be compressed (--compress)");
	if (record->values)
		return usage_error(record->command, "--live counts instructions: nothing reads "
						    "registers then (--values)");
	if (record->wanted.privilege && !(record->wanted.privilege & NTRACE_PRIVILEGE_S))
		return usage_error(record->command,
				   "--live needs the trace of the kernel to tell the tasks: "
				   "--privilege without s hides it");
	if (record->filter || record->wanted.range_count || record->wanted.traps ||
	    record->wanted.task || record->wanted.flags & RECORD_WINDOW)
		return usage_error(record->command,
				   "--live needs the trace of the kernel to tell the tasks: "
				   "--filter, --traps, --from, --until and --only-context hide it");
	if (record->wanted.trigger_in ||
	    record->wanted.flags & (NTRACE_CONFIG_ARMED | NTRACE_CONFIG_DEBUG_TRIGGERS))
		return usage_error(record->command,
				   "--live starts and stops the trace: --armed, --trigger-in and "
				   "--debug-triggers do, too");
	if (record->hold && !record->argc)
		return usage_error(record->command, "--hold stops a command: there is none");
	if (record->hold && record->wanted.data_size &&
	    record->wanted.data_size < RECORD_HOLD_DATA_MIN)
		return usage_error(record->command,
				   "--hold needs a data area of at least 1M (--data-size)");
	if (record->argc && output_is_standard(record->directory))
		return usage_error(record->command, "--live: standard output is the command's: "
						    "--output needs a file");
	return EXIT_OK;
}

/* Rejects options that exclude each other. */
static int check_options(const struct record_options *record)
{
	bool tasks = record_options_tasks(record);

	if (tasks && (record->all || record->select_cpus))
		return usage_error(record->command,
				   "per-process and system-wide tracing exclude each other "
				   "(--task, --pid, --tid, --per-thread, --snapshot, --strobe, "
				   "--filter with a file; --all, --cpu)");
	if (tasks && (record->wanted.sink_size || record->wanted.data_size))
		return usage_error(record->command, "--sink-size and --data-size are system-wide "
						    "options; per-process: --aux-size");
	if (record->snapshot && record->sync_given && !record->wanted.sync_mode)
		return usage_error(
			record->command,
			"--snapshot: decoding cannot start without synchronization (--sync)");
	if (record_options_cpus(record) && record->aux_size)
		return usage_error(record->command,
				   "--aux-size is a per-process option; system-wide: --data-size");
	if (tasks && record->wanted.traps)
		return usage_error(record->command, "--traps is a system-wide option");
	if (tasks && (record->wanted.mark_count || record->wanted.task ||
		      record->wanted.flags & RECORD_WINDOW))
		return usage_error(record->command, "--mark, --from, --until and --only-context "
						    "are system-wide options");
	if (tasks && record->wanted.privilege & ~(NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S))
		return usage_error(
			record->command,
			"option --privilege: m, vu and vs can only be traced system-wide");
	if (!record->live && output_is_standard(record->directory))
		return usage_error(record->command,
				   "option --output: a recording is a directory and cannot go to "
				   "standard output");
	if (record->hold && !record->live)
		return usage_error(record->command, "--hold stops the command while its trace is "
						    "decoded: only --live decodes");
	if (record->live) {
		int error = check_live(record);

		if (error)
			return error;
	}
	return record_trigger_check(record);
}

int record_options_read(struct record_options *record, const struct command *command, int argc,
			char **argv, int (*more)(void *data, struct options *options, int option),
			void *data)
{
	struct options options;
	int option, error;

	*record = (struct record_options){ .command = command,
					   .wanted.features = RECORD_FEATURES_BEST };
	options_init(&options, command, argc, argv, false);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return OPTIONS_HELP;
		error = more ? more(data, &options, option) : RECORD_OPTION_OTHER;
		if (error == RECORD_OPTION_OTHER)
			error = take_option(record, &options, option);
		if (error)
			return error;
	}
	record->argc = argc - options.index;
	record->argv = argv + options.index;
	if (!record->directory)
		record->directory = record->live ? RECORD_COUNTS_DEFAULT : RECORD_DIRECTORY_DEFAULT;
	return check_options(record);
}

void record_options_sync(const struct record_options *options, uint32_t sync_modes,
			 uint32_t sync_max, struct ntrace_config *config)
{
	static const uint32_t order[] = { NTRACE_SYNC_MESSAGES, NTRACE_SYNC_PARCELS,
					  NTRACE_SYNC_CYCLES };
	size_t i = 0;

	if (options->sync_given)
		return;
	while (i < sizeof(order) / sizeof(order[0]) && !(sync_modes >> order[i] & 1))
		i++;
	/* None: the driver has a default, too. */
	if (i == sizeof(order) / sizeof(order[0]))
		return;
	config->sync_mode = order[i];
	config->sync_max = options->snapshot ? RECORD_SYNC_MAX_SNAPSHOT : RECORD_SYNC_MAX_DEFAULT;
	/* A message reports 32 parcels or so. */
	if (config->sync_mode != NTRACE_SYNC_MESSAGES)
		config->sync_max += 5;
	if (config->sync_max > sync_max)
		config->sync_max = sync_max;
}

void record_options_timestamps(uint32_t modes, struct ntrace_config *config)
{
	/*
	 * Clocks that CPUs share come first, and of them the one that the driver starts itself. The
	 * encoder's own counters start at CONFIGURE, on each CPU at another time.
	 */
	static const uint32_t best[] = { NTRACE_TIMESTAMPS_SHARED, NTRACE_TIMESTAMPS_EXTERNAL,
					 NTRACE_TIMESTAMPS_SYSTEM, NTRACE_TIMESTAMPS_CORE };
	unsigned int i;

	for (i = 0; config->timestamps == RECORD_TIMESTAMPS_ANY && i < 4; i++)
		if (modes >> best[i] & 1)
			config->timestamps = best[i];
}

bool record_options_still_there(struct record_options *options)
{
	struct id_list *pids = &options->pids;
	unsigned int i, kept = 0;

	if (options->all || options->select_cpus)
		return true;
	for (i = 0; i < pids->count; i++)
		if (!kill(pids->ids[i], 0) || errno != ESRCH)
			pids->ids[kept++] = pids->ids[i];
	pids->count = kept;
	return kept;
}

void record_options_free(struct record_options *record)
{
	free(record->filter);
	free(record->pids.ids);
	free(record->tids.ids);
}
