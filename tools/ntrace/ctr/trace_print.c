// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace ctr trace: prints hits as text or JSON.
 *
 * The ring also records the probes. The printer removes their transfers, from the jump
 * into the trampoline of a traced function to the jump from there to the function or back
 * to its caller, and prints how many it removed.
 */
#ifdef NTRACE_BPF
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace_print.h"

/**
 * struct shown - a transfer to print
 * @entry: entry of the ring
 * @skipped: removed transfers of a probe between the previous one and this one
 */
struct shown {
	const struct perf_branch_entry *entry;
	unsigned int skipped;
};

/**
 * struct way - the transfers that lead to a hit, oldest first
 * @count: number of @shown
 * @read: transfers read from the ring
 * @probe: the newest of them, which belong to the probe that read the ring
 */
struct way {
	struct shown shown[CTR_TRACE_ENTRIES];
	unsigned int count;
	unsigned int read;
	unsigned int probe;
};

/* ---- probes ---- */

static bool is_bpf(const struct ctr_trace_printer *printer, uint64_t address)
{
	return kernel_symbols_is_bpf(printer->symbols, address);
}

/* Compiled BPF code that is not a program: it calls the programs and the function. */
static bool is_trampoline(const struct ctr_trace_printer *printer, uint64_t address)
{
	return is_bpf(printer, address) && !ctr_trace_own(printer->trace, address);
}

/* Functions that trampolines call before and after a program. */
static bool is_helper(const struct ctr_trace_printer *printer, uint64_t address)
{
	const struct kernel_symbol *symbol = kernel_symbols_find(printer->symbols, address);

	return symbol && !strncmp(symbol->name, "__bpf_", 6);
}

/* An interrupt in a probe returns into the probe. */
static bool is_trap(const struct perf_branch_entry *entry)
{
	return entry->type == PERF_BR_UNKNOWN || entry->type == PERF_BR_IRQ ||
	       entry->type == PERF_BR_ERET || entry->type == PERF_BR_SYSCALL;
}

/* A jump to ftrace_caller, which newer kernels have between a function and its trampoline. */
static bool to_ftrace(const struct ctr_trace_printer *printer,
		      const struct perf_branch_entry *entry)
{
	const struct kernel_symbol *symbol = kernel_symbols_find(printer->symbols, entry->to);

	return symbol && !strncmp(symbol->name, "ftrace_caller", 13);
}

/*
 * Tells whether a probe begins with entry @at: it begins with a jump into a trampoline, at the
 * entry or the end of a function. Entries with a lower index are newer.
 */
static bool begins(const struct ctr_trace_printer *printer, const struct perf_branch_entry *entries,
		   unsigned int at)
{
	if (is_bpf(printer, entries[at].from) || is_trap(&entries[at]) ||
	    is_helper(printer, entries[at].from))
		return false;
	/* ftrace_caller also calls functions that have no trampoline. */
	while (at && to_ftrace(printer, &entries[at]))
		at--;
	return is_trampoline(printer, entries[at].to);
}

static bool ends(const struct ctr_trace_printer *printer, const struct perf_branch_entry *entry)
{
	return is_trampoline(printer, entry->from) && !is_bpf(printer, entry->to) &&
	       !is_trap(entry) && !is_helper(printer, entry->to);
}

/* Tells whether the oldest entries belong to a probe whose beginning is no longer in the ring. */
static bool begins_inside(const struct ctr_trace_printer *printer,
			  const struct perf_branch_entry *entries, unsigned int count)
{
	while (count--) {
		if (begins(printer, entries, count))
			return false;
		if (ends(printer, &entries[count]))
			return true;
	}
	/* The newest entries are always those of a probe: an interrupt in it evicted the others. */
	return true;
}

/* @entries: newest first. */
static void find_way(const struct ctr_trace_printer *printer, struct way *way,
		     const struct perf_branch_entry *entries, unsigned int count)
{
	bool inside = !printer->raw && begins_inside(printer, entries, count);
	unsigned int skipped = 0;

	way->read = count;
	way->count = 0;
	while (count--) {
		const struct perf_branch_entry *entry = &entries[count];

		if (!inside && !printer->raw && begins(printer, entries, count)) {
			inside = true;
			/* The return of the traced function is shown. */
			if (entry->type != PERF_BR_RET) {
				skipped++;
				continue;
			}
		} else if (inside) {
			skipped++;
			inside = !ends(printer, entry);
			continue;
		}
		way->shown[way->count++] = (struct shown){ entry, skipped };
		skipped = 0;
	}
	way->probe = skipped;
}

/* ---- text ---- */

static const char *type_name(const struct perf_branch_entry *entry)
{
	static const char *const names[] = {
		[PERF_BR_UNKNOWN] = "trap",  [PERF_BR_COND] = "branch",
		[PERF_BR_UNCOND] = "jump",   [PERF_BR_IND] = "indirect jump",
		[PERF_BR_CALL] = "call",     [PERF_BR_IND_CALL] = "indirect call",
		[PERF_BR_RET] = "return",    [PERF_BR_SYSCALL] = "system call",
		[PERF_BR_ERET] = "trap return", [PERF_BR_IRQ] = "interrupt",
	};
	const char *name = NULL;

	if (entry->type < sizeof(names) / sizeof(names[0]))
		name = names[entry->type];
	return name ? name : "other";
}

#define PLACE_SIZE 640

/* "function+0x12 [module]" */
static const char *place(const struct ctr_trace_printer *printer, uint64_t address, char *text)
{
	const struct kernel_symbol *symbol = kernel_symbols_find(printer->symbols, address);

	if (!address)
		snprintf(text, PLACE_SIZE, "user mode");
	else if (symbol)
		snprintf(text, PLACE_SIZE, "%s+0x%" PRIx64 "%s%s%s", symbol->name,
			 address - symbol->address, symbol->module[0] ? " [" : "", symbol->module,
			 symbol->module[0] ? "]" : "");
	else
		snprintf(text, PLACE_SIZE, "0x%" PRIx64 "%s", address,
			 is_bpf(printer, address) ? " [bpf]" : "");
	return text;
}

/* Return: the errno that @value represents, or 0. */
static int error_of(const struct ctr_trace_function *function, uint64_t value)
{
	int64_t number = (int64_t)value;

	if (function->value == CTR_TRACE_VOID || number >= 0 || number < -4095)
		return 0;
	return (int)-number;
}

static void print_value(struct output *output, const struct ctr_trace_function *function,
			uint64_t value)
{
	int error = error_of(function, value);
	/* The register is wider than the type of the value. */
	unsigned int unused = function->bits < 64 ? 64 - function->bits : 0;

	if (function->value == CTR_TRACE_VOID)
		return;
	if (error && strerrorname_np(error))
		output_printf(output, " %d (%s: %s)", -error, strerrorname_np(error),
			      strerror(error));
	else if (function->value == CTR_TRACE_POINTER)
		output_printf(output, " 0x%" PRIx64, value);
	else if (function->value == CTR_TRACE_SIGNED)
		output_printf(output, " %" PRId64, (int64_t)(value << unused) >> unused);
	else
		output_printf(output, " %" PRIu64, value << unused >> unused);
}

static void print_text_transfer(const struct ctr_trace_printer *printer, const struct shown *shown)
{
	const struct perf_branch_entry *entry = shown->entry;
	struct output *output = printer->output;
	char text[PLACE_SIZE];

	if (shown->skipped)
		output_printf(output, "  ... %u transfers of a probe\n", shown->skipped);
	output_text(output, "  ");
	output_padded(output, type_name(entry), 14);
	output_padded(output, place(printer, entry->from, text), 38);
	output_text(output, " -> ");
	output_name(output, place(printer, entry->to, text));
	if (entry->cycles)
		output_printf(output, "  %u cycles", (unsigned int)entry->cycles);
	if (entry->mispred)
		output_text(output, "  mispredicted");
	output_char(output, '\n');
}

static void print_text(const struct ctr_trace_printer *printer, const struct ctr_trace_hit *hit,
		       const struct ctr_trace_function *function, const struct way *way)
{
	unsigned int first = way->count > printer->entries ? way->count - printer->entries : 0;
	struct output *output = printer->output;

	output_printf(output, "%llu.%06llu CPU %u, %u/%u %s: %s %s", hit->time / 1000000000,
		      hit->time / 1000 % 1000000, hit->cpu, hit->pid, hit->tid, hit->comm,
		      function->name, hit->cookie & 1 ? "returned" : "entered");
	if (hit->cookie & 1)
		print_value(output, function, hit->value);
	output_char(output, '\n');
	if (hit->bytes < 0)
		output_printf(output, "  not recorded: %s\n", strerror(-hit->bytes));
	else if (!way->count)
		output_text(output, "  lost: an interrupt in the probe overwrote the ring\n");
	for (unsigned int i = first; i < way->count; i++)
		print_text_transfer(printer, &way->shown[i]);
}

/* ---- JSON ---- */

static void print_json_end(const struct ctr_trace_printer *printer, const char *name,
			   uint64_t address)
{
	char text[PLACE_SIZE];

	output_printf(printer->output, "\"%s\":\"0x%" PRIx64 "\",\"%s_place\":", name, address,
		      name);
	output_json(printer->output, place(printer, address, text));
}

static void print_json_transfer(const struct ctr_trace_printer *printer, const struct shown *shown)
{
	const struct perf_branch_entry *entry = shown->entry;
	struct output *output = printer->output;

	output_char(output, '{');
	print_json_end(printer, "from", entry->from);
	output_char(output, ',');
	print_json_end(printer, "to", entry->to);
	output_printf(output, ",\"type\":\"%s\"", type_name(entry));
	if (shown->skipped)
		output_printf(output, ",\"skipped\":%u", shown->skipped);
	if (entry->cycles)
		output_printf(output, ",\"cycles\":%u", (unsigned int)entry->cycles);
	if (entry->mispred || entry->predicted)
		output_printf(output, ",\"mispredicted\":%s", entry->mispred ? "true" : "false");
	output_char(output, '}');
}

static void print_json(const struct ctr_trace_printer *printer, const struct ctr_trace_hit *hit,
		       const struct ctr_trace_function *function, const struct way *way)
{
	unsigned int first = way->count > printer->entries ? way->count - printer->entries : 0;
	struct output *output = printer->output;
	bool exit = hit->cookie & 1;

	output_printf(output,
		      "{\"time\":%llu,\"cpu\":%u,\"pid\":%u,\"tid\":%u,\"comm\":", hit->time,
		      hit->cpu, hit->pid, hit->tid);
	output_json(output, hit->comm);
	output_text(output, ",\"function\":");
	output_json(output, function->name);
	output_printf(output, ",\"event\":\"%s\"", exit ? "return" : "entry");
	if (exit && function->value != CTR_TRACE_VOID) {
		const char *name = strerrorname_np(error_of(function, hit->value));

		output_text(output, ",\"value\":\"");
		output_printf(output, "0x%llx\"", hit->value);
		if (error_of(function, hit->value) && name)
			output_printf(output, ",\"error\":\"%s\"", name);
	}
	if (hit->bytes < 0)
		output_printf(output, ",\"not_recorded\":\"%s\"", strerror(-hit->bytes));
	output_printf(output, ",\"read\":%u,\"probe\":%u,\"transfers\":[", way->read, way->probe);
	for (unsigned int i = first; i < way->count; i++) {
		if (i > first)
			output_char(output, ',');
		print_json_transfer(printer, &way->shown[i]);
	}
	output_text(output, "]}\n");
}

void ctr_trace_print(const struct ctr_trace_printer *printer, const struct ctr_trace_hit *hit)
{
	const struct ctr_trace_function *function =
		ctr_trace_function(printer->trace, hit->cookie / 2);
	unsigned int count = 0;
	static struct way way;

	if (hit->bytes > 0)
		count = (unsigned int)hit->bytes / sizeof(hit->entries[0]);
	find_way(printer, &way, hit->entries, count);
	if (printer->json)
		print_json(printer, hit, function, &way);
	else
		print_text(printer, hit, function, &way);
}
#endif /* NTRACE_BPF */
