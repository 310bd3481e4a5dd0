// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What was lost while a stream was recorded, in words. All commands take the sentence from here: a
 * kind of loss that one of them left out would make a lossy recording look whole.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <linux/ntrace.h>
#include <ntrace/recording.h>

/* Causes and remedies. Those of perf differ: its areas and options are others. */
static const struct {
	uint64_t loss;
	const char *file;
	const char *perf;
} causes[] = {
	{ NTRACE_LOSS_LAPPED,
	  "the sink overwrote trace before the kernel copied it (larger: --sink-size)",
	  "the sink overwrote trace before the kernel copied it" },
	{ NTRACE_LOSS_DATA_FULL,
	  "the recorder was too slow, the data area was full (larger: --data-size)",
	  "the recorder was too slow, the AUX area was full (larger: --aux-size)" },
	{ NTRACE_LOSS_ENCODER, "the encoder overflowed", "the encoder overflowed" },
	{ NTRACE_LOSS_SINK_FULL, "the sink was full", "the sink was full" },
	{ NTRACE_LOSS_DEBUGGER, "a debugger took the encoder", "a debugger took the encoder" },
	{ NTRACE_LOSS_SWITCH, "",
	  "a task was switched out before the kernel had copied its trace" },
	{ NTRACE_LOSS_SHARED, "",
	  "the end of a task's trace was held back in a sink that CPUs share" },
};

struct text {
	char *at;
	size_t size, length;
};

/* Appends, and counts what has no room. */
static void put(struct text *text, const char *format, ...)
{
	const size_t used = text->length < text->size ? text->length : text->size;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->size ? text->at + used : NULL, text->size - used, format,
			   arguments);
	va_end(arguments);
	text->length += length > 0 ? (size_t)length : 0;
}

size_t ntrace_stream_losses(const struct ntrace_stream *stream, char *text, size_t size)
{
	struct text made = { .at = text, .size = size };
	const char *separator = ": ";
	size_t i;

	if (size)
		text[0] = '\0';
	if (!stream->lost && !stream->gaps && !stream->loss)
		return 0;
	if (stream->cpu != NTRACE_STREAM_NO_CPU)
		put(&made, "CPU %u: ", stream->cpu);
	if (stream->lost)
		put(&made, "%s%" PRIu64 " bytes of ", stream->lost_exact ? "" : "at least ",
		    stream->lost);
	put(&made, "trace lost while recording");
	if (stream->gaps)
		put(&made, ", in %" PRIu64 " place%s", stream->gaps, stream->gaps == 1 ? "" : "s");
	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (!(stream->loss & causes[i].loss))
			continue;
		put(&made, "%s%s", separator, stream->event ? causes[i].perf : causes[i].file);
		separator = "; ";
	}
	return made.length;
}

void ntrace_stream_add_losses(struct ntrace_stream *sum, const struct ntrace_stream *stream)
{
	sum->lost += stream->lost;
	sum->lost_exact &= stream->lost_exact || !ntrace_stream_losses(stream, NULL, 0);
	sum->gaps += stream->gaps;
	sum->loss |= stream->loss;
	sum->event |= stream->event;
}
