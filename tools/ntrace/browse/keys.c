// SPDX-License-Identifier: GPL-2.0-only
/* The keys of the browser. */
#include <curses.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "browser.h"
#include "common/moment.h"
#include "common/ui.h"

#define CONTROL(letter) ((letter) - '@')
#define COUNT_MAX 1000000000

static const char *const help[] = {
	" Keys of ntrace browse. A number before a key repeats it: 10j.",
	"",
	"   forwards      back",
	"   j i RETURN    k I       one instruction; arrow keys, too",
	"   s             S         one source line, into functions",
	"   o             O         one source line, over calls",
	"   x             X         one instruction, over calls and traps",
	"   u             U         out of the function: to its return, to its call",
	"   SPACE f       b         one screen; PageDown, PageUp, too",
	"   d             CTRL-U    half a screen",
	"   G             g         last, first instruction; End, Home, too",
	"   /             ?         to an execution of FUNCTION, 0xADDRESS or FILE:LINE",
	"   n             N         the same again, the same in the other direction",
	"   ]             [         to where code is missing",
	"",
	"   t             to a time: seconds since the first timestamp, 3ms, @TICKS",
	"   T             another hart or thread",
	"   m LETTER      remember the place; ' LETTER goes back there",
	"   =             where this is, in full",
	"   v  w  r       source, call stack, registers: show or hide",
	"   CTRL-C ESC    stop a move that takes long",
	"   CTRL-L        draw again",
	"   h             this help",
	"   q             quit",
	"",
	" Instructions are shown in the order of their execution; => is the current one.",
	" The source shows its line. Lines with -- are messages of the trace; a gap is",
	" where code is missing. A time is that of the message that reports the",
	" instruction; >= is a time before it.",
};

const char *browser_help_line(size_t line)
{
	return line < sizeof(help) / sizeof(help[0]) ? help[line] : NULL;
}

void browser_say(struct browser *browser, bool alarm, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(browser->message, sizeof(browser->message), format, arguments);
	va_end(arguments);
	browser->alarm = alarm;
}

void browser_moved(struct browser *browser, enum walk_result result, bool back)
{
	struct walk *walk = &browser->walk;

	switch (result) {
	case WALK_OK:
		if (walk->gaps)
			browser_say(browser, true, "code is missing here: %s", walk->gap);
		break;
	case WALK_END:
		browser_say(browser, false, back ? "beginning of the trace" : "end of the trace");
		break;
	case WALK_NONE:
		browser_say(browser, true,
			    back ? "not found before this place" : "not found after this place");
		break;
	case WALK_LOST:
		browser_say(browser, true, "stopped, as trace was lost here: %s", walk->gap);
		break;
	case WALK_STOPPED:
		browser_say(browser, false, "stopped");
		break;
	case WALK_FAILED:
		browser_say(browser, true, "error: %s", ntrace_strerror(walk->error));
		break;
	}
	walk->gaps = 0;
	walk->gap[0] = '\0';
}

/* ---- times ---- */

/* The first timestamp is known as soon as one was decoded. */
static void note_times(struct browser *browser)
{
	struct ntrace_cursor_extent extent = { .size = sizeof(extent) };

	ntrace_cursor_extent(browser->walk.cursor, &extent);
	browser->time_known = extent.time_known;
	browser->first_time = extent.first_time;
}

char *browser_time_text(struct browser *browser, const struct ntrace_cursor_place *place,
			char *text, size_t size)
{
	char number[UI_NUMBER_SIZE];

	note_times(browser);
	text[0] = '\0';
	if (place->time_kind != NTRACE_CURSOR_TIME_NONE)
		snprintf(text, size, "time %s%s (@%" PRIu64 ")",
			 place->time_kind == NTRACE_CURSOR_TIME_EARLIER ? ">= " : "",
			 ui_ticks(number, place->time - browser->first_time, browser->walk.hz),
			 place->time);
	return text;
}

bool browser_time(struct browser *browser, const char *text, enum walk_result *result)
{
	struct moment_scale scale;
	const char *wrong;
	uint64_t ticks;

	note_times(browser);
	scale = (struct moment_scale){ browser->time_known, browser->first_time, browser->walk.hz };
	wrong = moment_parse(text, &scale, &ticks);
	if (wrong) {
		browser_say(browser, true, "%s", wrong);
		return false;
	}
	*result = walk_time(&browser->walk, ticks);
	browser_moved(browser, *result, false);
	return true;
}

/* ---- moves ---- */

static enum walk_result line_into(struct walk *walk, bool back)
{
	return walk_line(walk, back, false);
}

static enum walk_result line_over(struct walk *walk, bool back)
{
	return walk_line(walk, back, true);
}

static void repeat(struct browser *browser, enum walk_result (*step)(struct walk *walk, bool back),
		   bool back, uint64_t times)
{
	uint64_t count = browser->count ? browser->count : 1;
	enum walk_result result = WALK_OK;

	for (count *= times; count && !result; count--)
		result = step(&browser->walk, back);
	browser_moved(browser, result, back);
}

static void search(struct browser *browser, bool back)
{
	uint64_t count = browser->count ? browser->count : 1;
	enum walk_result result = WALK_OK;

	if (!*browser->search) {
		browser_say(browser, true, "nothing was searched so far: / or ?");
		return;
	}
	while (count-- && !result)
		result = walk_find(&browser->walk, browser->search, back);
	browser_moved(browser, result, back);
	if (result == WALK_NONE)
		browser_say(browser, true, "'%s' is not executed %s this place", browser->search,
			    back ? "before" : "after");
}

static void ask_search(struct browser *browser, bool back)
{
	char text[BROWSER_TEXT];

	if (screen_ask(browser,
		       back ? "back to (FUNCTION, 0xADDRESS, FILE:LINE): " :
			      "to (FUNCTION, 0xADDRESS, FILE:LINE): ",
		       text, sizeof(text)))
		memcpy(browser->search, text, sizeof(text));
	else if (!*browser->search)
		return;
	browser->search_back = back;
	search(browser, back);
}

static void ask_time(struct browser *browser)
{
	enum walk_result result;
	char text[BROWSER_TEXT];

	if (screen_ask(browser, "time (seconds since the first timestamp, 3ms, @TICKS): ", text,
		       sizeof(text)))
		browser_time(browser, text, &result);
}

static void choose(struct browser *browser)
{
	const struct lane_choice *choice = screen_choose(browser);

	if (choice)
		browser_moved(browser, browser_choose(browser, choice), false);
}

/* ---- other keys ---- */

static void remember(struct browser *browser)
{
	int letter = screen_key(browser);

	if (letter < 'a' || letter > 'z') {
		browser_say(browser, true, "m: a letter from a to z is needed");
		return;
	}
	ntrace_cursor_save(browser->walk.cursor, &browser->mark[letter - 'a']);
	browser->marked[letter - 'a'] = true;
	browser_say(browser, false, "mark %c", letter);
}

static void go_back(struct browser *browser)
{
	int letter = screen_key(browser);

	if (letter < 'a' || letter > 'z' || !browser->marked[letter - 'a']) {
		browser_say(browser, true, "': there is no such mark");
		return;
	}
	browser->walk.error =
		ntrace_cursor_restore(browser->walk.cursor, &browser->mark[letter - 'a']);
	if (browser->walk.error < 0)
		browser_moved(browser,
			      browser->walk.error == NTRACE_CURSOR_STOPPED ? WALK_STOPPED :
									     WALK_FAILED,
			      false);
}

static void say_where(struct browser *browser)
{
	const struct ntrace_cursor_place *place = walk_place(&browser->walk);
	char name[300], time[100];

	if (!place) {
		browser_say(browser, false, "the trace has no instruction");
		return;
	}
	browser_say(browser, false, "0x%0*" PRIx64 " %s, CPU %u, offset 0x%" PRIx64 "%s%s",
		    (int)browser->code.digits, place->address, code_name(place, name, sizeof(name)),
		    place->cpu, place->offset, place->time_kind ? ", " : "",
		    browser_time_text(browser, place, time, sizeof(time)));
}

/* Notes of the library must not disturb the screen. */
static void show_notes(struct browser *browser)
{
	const struct recording *recording = browser->recording;

	if (!recording || recording->note_count <= browser->notes || *browser->message)
		return;
	browser->notes = recording->note_count;
	browser_say(browser, true, "note: %.400s", recording->notes[browser->notes - 1]);
}

static void stop_process(void)
{
	def_prog_mode();
	endwin();
	raise(SIGTSTP);
	reset_prog_mode();
}

/* Return: false if the key is not one of these. */
static bool move_key(struct browser *browser, int key)
{
	struct walk *walk = &browser->walk;
	unsigned int page = screen_page(browser);

	switch (key) {
	case 'j':
	case 'i':
	case '\r':
	case '\n':
	case KEY_ENTER:
	case KEY_DOWN:
		return repeat(browser, walk_step, false, 1), true;
	case 'k':
	case 'I':
	case 'y':
	case KEY_UP:
		return repeat(browser, walk_step, true, 1), true;
	case 's':
		return repeat(browser, line_into, false, 1), true;
	case 'S':
		return repeat(browser, line_into, true, 1), true;
	case 'o':
		return repeat(browser, line_over, false, 1), true;
	case 'O':
		return repeat(browser, line_over, true, 1), true;
	case 'x':
		return repeat(browser, walk_over, false, 1), true;
	case 'X':
		return repeat(browser, walk_over, true, 1), true;
	case 'u':
		return repeat(browser, walk_out, false, 1), true;
	case 'U':
		return repeat(browser, walk_out, true, 1), true;
	case ' ':
	case 'f':
	case CONTROL('F'):
	case CONTROL('V'):
	case KEY_NPAGE:
		return repeat(browser, walk_step, false, page), true;
	case 'b':
	case CONTROL('B'):
	case KEY_PPAGE:
		return repeat(browser, walk_step, true, page), true;
	case 'd':
	case CONTROL('D'):
		return repeat(browser, walk_step, false, (page + 1) / 2), true;
	case CONTROL('U'):
		return repeat(browser, walk_step, true, (page + 1) / 2), true;
	case ']':
		return repeat(browser, walk_gap, false, 1), true;
	case '[':
		return repeat(browser, walk_gap, true, 1), true;
	case 'g':
	case '<':
	case KEY_HOME:
		return browser_moved(browser, walk_first(walk), true), true;
	case 'G':
	case '>':
	case KEY_END:
		return browser_moved(browser, walk_last(walk), false), true;
	default:
		return false;
	}
}

static void other_key(struct browser *browser, int key)
{
	switch (key) {
	case '/':
	case '?':
		ask_search(browser, key == '?');
		break;
	case 'n':
		search(browser, browser->search_back);
		break;
	case 'N':
		search(browser, !browser->search_back);
		break;
	case 't':
		ask_time(browser);
		break;
	case 'T':
		choose(browser);
		break;
	case 'm':
		remember(browser);
		break;
	case '\'':
		go_back(browser);
		break;
	case '=':
	case CONTROL('G'):
		say_where(browser);
		break;
	case 'v':
		browser->source = !browser->source;
		break;
	case 'w':
		browser->stack = !browser->stack;
		break;
	case 'r':
		browser->registers = !browser->registers;
		break;
	case 'h':
	case KEY_F(1):
		screen_help(browser);
		break;
	case CONTROL('L'):
		clearok(curscr, TRUE);
		break;
	case CONTROL('Z'):
		stop_process();
		break;
	case KEY_RESIZE:
	case KEY_ESCAPE:
	case CONTROL('C'):
		break;
	case 'q':
	case 'Q':
	case ERR:
		browser->quit = true;
		break;
	default:
		browser_say(browser, false, "'%s': no such key; h shows the keys", keyname(key));
		break;
	}
}

void browser_run(struct browser *browser)
{
	while (!browser->quit) {
		int key;

		show_notes(browser);
		screen_draw(browser);
		key = screen_key(browser);
		browser->shown_at = monotonic_seconds();
		browser->message[0] = '\0';
		browser->alarm = false;
		if (key >= '0' && key <= '9' && (key != '0' || browser->count)) {
			browser->count = 10 * browser->count + (uint64_t)(key - '0');
			if (browser->count > COUNT_MAX)
				browser->count = COUNT_MAX;
			browser_say(browser, false, ":%" PRIu64, browser->count);
			continue;
		}
		if (!move_key(browser, key))
			other_key(browser, key);
		browser->count = 0;
	}
}
