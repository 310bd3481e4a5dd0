// SPDX-License-Identifier: GPL-2.0-only
/*
 * The signals of RVFI in a waveform, by their names. All stand in one scope; each holds a value for
 * each channel, so that the width of rvfi_valid is the number of channels. A cycle is sampled just
 * before the clock rises, as a register sees it. Bits of a CSR that no mask selects may be unknown.
 */
#include "from_rvfi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "common/wave_file.h"

#define CSRS_MAX 96
#define CLOCKS_MAX 256
#define CHANNELS_MAX 16

struct clock {
	char *path;
	int signal;
};

struct csr {
	unsigned int id;
	int part[RVFI_PARTS];
};

/**
 * struct wave - a conversion
 * @scope: path of the scope of the signals, with a dot at its end; NULL: none is found yet
 * @signal: index of each signal of the reader, -1 = not there
 * @csr: registers, and the signals of their parts
 * @clocks: signals that may be the clock
 * @other: another scope that has the signals
 * @started: an instruction has retired: rvfi_valid must be known
 */
struct wave {
	struct retiring *retiring;
	struct vcd vcd;
	char *scope, *other;
	int signal[RVFI_SIGNAL_COUNT];
	struct csr csr[CSRS_MAX];
	unsigned int csrs;
	struct clock clocks[CLOCKS_MAX];
	unsigned int clock_count;
	int clock;
	unsigned int channels;
	bool ready, started;
};

/* ---- the header ---- */

static int track(struct wave *wave, const char *path, const char *id, unsigned int width,
		 int *signal)
{
	*signal = vcd_track(&wave->vcd, id, width);
	return *signal >= 0 ? 0 :
			      fail("%s: line %" PRIu64 ": %s cannot be read: the waveform has too "
				   "many signals of RVFI, or one of two widths",
				   wave->retiring->convert->options->path, wave->vcd.line, path);
}

static bool is_clock_name(const char *name)
{
	static const char *const known[] = { "clk",	"clock", "clk_i",    "clock_i",	  "i_clk",
					     "i_clock", "CLK",	 "rvfi_clk", "rvfi_clock" };

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i]))
			return true;
	return false;
}

static int take_clock(struct wave *wave, const char *path, const char *name, const char *id)
{
	const char *given = wave->retiring->convert->options->clock;
	int signal, error;

	if (given ? strcmp(path, given) : !is_clock_name(name) || wave->clock_count == CLOCKS_MAX)
		return 0;
	error = track(wave, path, id, 1, &signal);
	if (error)
		return error;
	wave->clocks[wave->clock_count].path = strdup(path);
	if (!wave->clocks[wave->clock_count].path)
		return fail("out of memory");
	wave->clocks[wave->clock_count++].signal = signal;
	return 0;
}

static int take_csr(struct wave *wave, const char *path, const struct rvfi_name *name,
		    const char *id, unsigned int width)
{
	unsigned int i = 0;

	while (i < wave->csrs && wave->csr[i].id != name->id)
		i++;
	if (i == CSRS_MAX)
		return fail("%s: more than %d CSRs", wave->retiring->convert->options->path,
			    CSRS_MAX);
	if (i == wave->csrs) {
		wave->csrs++;
		wave->csr[i].id = name->id;
		for (unsigned int part = 0; part < RVFI_PARTS; part++)
			wave->csr[i].part[part] = -1;
	}
	return track(wave, path, id, width, &wave->csr[i].part[name->part]);
}

/* Whether the path is in a scope that has been chosen, or is chosen now. */
static int choose_scope(struct wave *wave, const char *path, size_t length, bool *chosen)
{
	const char *given = wave->retiring->convert->options->scope;

	*chosen = false;
	if (given && (strlen(given) + 1 != length || strncmp(path, given, length - 1)))
		return 0;
	if (!wave->scope)
		wave->scope = strndup(path, length);
	if (!wave->scope)
		return fail("out of memory");
	*chosen = strlen(wave->scope) == length && !strncmp(path, wave->scope, length);
	/* A module within the scope may have the same signals: they are the same wires. */
	if (!*chosen && !wave->other && !strcmp(path + length, "rvfi_valid") &&
	    strncmp(path, wave->scope, strlen(wave->scope))) {
		wave->other = strndup(path, length - 1);
		if (!wave->other)
			return fail("out of memory");
	}
	return 0;
}

/* Callback of the reader: a variable. */
static int take_var(void *data, const char *path, unsigned int width, unsigned int low,
		    const char *id)
{
	struct wave *wave = data;
	const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
	struct rvfi_name found;
	bool chosen;
	int error = 0;

	(void)low;
	if (width == 1)
		error = take_clock(wave, path, name, id);
	if (error || strncmp(name, "rvfi_", 5) || !rvfi_find(name + 5, &found))
		return error;
	error = choose_scope(wave, path, (size_t)(name - path), &chosen);
	if (error || !chosen)
		return error;
	return found.csr ? take_csr(wave, path, &found, id, width) :
			   track(wave, path, id, width, &wave->signal[found.id]);
}

/* The clock of the scope itself, or of the nearest one around it. */
static int choose_clock(struct wave *wave)
{
	const struct tandem_options *options = wave->retiring->convert->options;
	size_t best = 0;

	wave->clock = -1;
	for (unsigned int i = 0; i < wave->clock_count; i++) {
		const char *path = wave->clocks[i].path, *dot = strrchr(path, '.');
		size_t length = dot ? (size_t)(dot - path) + 1 : 0;

		if (!options->clock && strncmp(path, wave->scope, length))
			continue;
		if (wave->clock < 0 || length > best) {
			wave->clock = wave->clocks[i].signal;
			best = length;
		}
	}
	if (wave->clock >= 0)
		return EXIT_OK;
	return options->clock ? fail("%s: no signal %s of one bit", options->path, options->clock) :
				fail("%s: no clock named clk, clock, clk_i, ... in %.*s or around "
				     "it: option "
				     "--clock",
				     options->path, (int)strlen(wave->scope) - 1, wave->scope);
}

static int check_width(const struct wave *wave)
{
	const struct tandem_options *options = wave->retiring->convert->options;
	unsigned int width = wave->vcd.signal[wave->signal[RVFI_PC_RDATA]].width / wave->channels;

	if (wave->channels > CHANNELS_MAX)
		return fail("%s: rvfi_valid has %u channels, more than %d", options->path,
			    wave->channels, CHANNELS_MAX);
	return width == options->params.xlen ?
		       EXIT_OK :
		       fail("%s: rvfi_pc_rdata has %u bits, and the trace xlen %u: option --xlen",
			    options->path, width, options->params.xlen);
}

static int compare_csrs(const void *a, const void *b)
{
	const struct csr *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

/* All variables are known when the first value changes. */
static int check_found(struct wave *wave)
{
	static const enum rvfi_signal needed[] = { RVFI_VALID, RVFI_INSN, RVFI_PC_RDATA,
						   RVFI_RD_ADDR, RVFI_RD_WDATA };
	const struct tandem_options *options = wave->retiring->convert->options;
	int error;

	wave->ready = true;
	if (!wave->scope)
		return options->scope ? fail("%s: no rvfi_* signals in scope %s", options->path,
					     options->scope) :
					fail("%s: no rvfi_* signals: RVFI is compiled in only with "
					     "the core's own macro or parameter",
					     options->path);
	if (wave->other)
		return fail("%s: rvfi_valid is in %.*s and in %s: option --scope", options->path,
			    (int)strlen(wave->scope) - 1, wave->scope, wave->other);
	for (unsigned int i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (wave->signal[needed[i]] < 0)
			return fail("%s: no rvfi_%s in scope %.*s", options->path,
				    rvfi_signal_name(needed[i]), (int)strlen(wave->scope) - 1,
				    wave->scope);
	wave->channels = wave->vcd.signal[wave->signal[RVFI_VALID]].width;
	/* The trace does not depend on the order in the waveform. */
	qsort(wave->csr, wave->csrs, sizeof(wave->csr[0]), compare_csrs);
	error = check_width(wave);
	return error ? error : choose_clock(wave);
}

/* ---- a cycle ---- */

static struct rvfi_bits sample(const struct wave *wave, int signal, unsigned int channel)
{
	struct rvfi_bits bits = { 0, 0 };
	const struct vcd_signal *from;
	unsigned int width;

	if (signal < 0)
		return bits;
	from = &wave->vcd.signal[signal];
	width = from->width / wave->channels;
	for (unsigned int i = 0; i < width && i < 64; i++) {
		char bit = from->now[channel * width + i];

		if (bit == '1')
			bits.value |= UINT64_C(1) << i;
		else if (bit != '0')
			bits.unknown |= UINT64_C(1) << i;
	}
	return bits;
}

static int retire_signals(struct wave *wave, unsigned int channel)
{
	struct rvfi_bits all[RVFI_SIGNAL_COUNT];
	bool has[RVFI_SIGNAL_COUNT];

	for (unsigned int i = 0; i < RVFI_SIGNAL_COUNT; i++) {
		has[i] = wave->signal[i] >= 0;
		all[i] = sample(wave, wave->signal[i], channel);
	}
	return retiring_set_all(wave->retiring, all, has);
}

static int retire_csrs(struct wave *wave, unsigned int channel)
{
	static const char *const parts[] = { "rmask", "wmask", "rdata", "wdata" };
	int error = EXIT_OK;

	for (unsigned int i = 0; i < wave->csrs && !error; i++) {
		struct rvfi_bits all[RVFI_PARTS];
		char csr[NTRACE_TANDEM_NAME_MAX], text[64];

		for (unsigned int part = 0; part < RVFI_PARTS; part++)
			all[part] = sample(wave, wave->csr[i].part[part], channel);
		if (!all[RVFI_RMASK].value && !all[RVFI_WMASK].value && !all[RVFI_RMASK].unknown &&
		    !all[RVFI_WMASK].unknown)
			continue;
		for (unsigned int part = 0; part < RVFI_PARTS && !error; part++) {
			struct rvfi_name name = { true, wave->csr[i].id, part };
			uint64_t needed = part < RVFI_RDATA ? UINT64_MAX :
							      all[part - RVFI_RDATA].value;

			snprintf(text, sizeof(text), "csr_%s_%s",
				 ntrace_tandem_register_name(wave->csr[i].id, csr), parts[part]);
			error = all[part].unknown & needed ?
					retiring_unknown(wave->retiring, text, "") :
					retiring_set(wave->retiring, &name, all[part].value);
		}
	}
	return error;
}

/* Channels of one cycle may be in any order: those that retire, by rvfi_order. */
static unsigned int list_channels(const struct wave *wave, uint64_t valid, unsigned int *channels)
{
	uint64_t orders[CHANNELS_MAX];
	unsigned int count = 0, at;

	for (unsigned int channel = 0; channel < wave->channels; channel++) {
		uint64_t order = sample(wave, wave->signal[RVFI_ORDER], channel).value;

		if (!(valid >> channel & 1))
			continue;
		for (at = count++; at && orders[at - 1] > order; at--) {
			orders[at] = orders[at - 1];
			channels[at] = channels[at - 1];
		}
		orders[at] = order;
		channels[at] = channel;
	}
	return count;
}

static int take_edge(struct wave *wave)
{
	unsigned int channels[CHANNELS_MAX], count;
	uint64_t valid = 0;
	int error = EXIT_OK;

	for (unsigned int channel = 0; channel < wave->channels; channel++) {
		struct rvfi_bits bit = sample(wave, wave->signal[RVFI_VALID], channel);

		/* Before and during reset, nothing need be known. */
		if (bit.unknown && wave->started)
			return retiring_unknown(wave->retiring, "valid", "");
		valid |= (bit.value & 1) << channel;
	}
	count = list_channels(wave, valid, channels);
	for (unsigned int i = 0; i < count && !error; i++) {
		wave->started = true;
		wave->retiring->channel = channels[i];
		retiring_clear(wave->retiring);
		error = retire_signals(wave, channels[i]);
		if (!error)
			error = retire_csrs(wave, channels[i]);
		if (!error)
			error = retiring_put(wave->retiring);
	}
	return error;
}

/* Callback of the reader: the end of a time step. */
static int take_step(void *data)
{
	struct wave *wave = data;
	int error = wave->ready ? EXIT_OK : check_found(wave);

	if (error || !wave->vcd.signal[wave->clock].rose || wave->retiring->ended)
		return error;
	wave->retiring->at = wave->vcd.time;
	return take_edge(wave);
}

int convert_rvfi_wave(struct retiring *retiring)
{
	static struct wave wave;
	int error;

	retiring->place = "time";
	wave.retiring = retiring;
	for (unsigned int i = 0; i < RVFI_SIGNAL_COUNT; i++)
		wave.signal[i] = -1;
	vcd_init(&wave.vcd);
	wave.vcd.var = take_var;
	wave.vcd.step = take_step;
	wave.vcd.data = &wave;
	error = wave_read(&wave.vcd, retiring->convert->options->path);
	if (!error && !wave.ready)
		error = check_found(&wave);
	vcd_free(&wave.vcd);
	for (unsigned int i = 0; i < wave.clock_count; i++)
		free(wave.clocks[i].path);
	free(wave.scope);
	free(wave.other);
	return error;
}
