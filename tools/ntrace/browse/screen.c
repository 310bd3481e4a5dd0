// SPDX-License-Identifier: GPL-2.0-only
/* The screen of the browser. */
#include <curses.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <ntrace/tandem.h>
#include <ntrace/text.h>

#include "browser.h"
#include "common/command.h"
#include "common/ui.h"

#define ROWS_MAX 1000
#define TEXT_SIZE 1024
#define STACK_ROWS 8
/* The heading, and x0 to x31 in columns. */
#define REGISTER_COLUMNS 4
#define REGISTER_ROWS	 (1 + 32 / REGISTER_COLUMNS)
/* Below this height there is no room for more than instructions. */
#define SOURCE_HEIGHT 12
#define STACK_HEIGHT 20
/* Progress of longer moves is shown so often. */
#define PROGRESS_SECONDS 0.2
/* Keys that were typed while a move was running. */
#define TYPED_MAX 64

/* Pairs of colours. */
enum {
	COLOUR_TITLE = 1,
	COLOUR_CURRENT,
	COLOUR_EVENT,
	COLOUR_ALARM,
	COLOUR_LINE,
};

static SCREEN *terminal;
static int typed[TYPED_MAX];
static size_t typed_count;

/* ---- terminal ---- */

static void start_colours(struct browser *browser)
{
	browser->colours = ui_colours(stdout) && has_colors() && start_color() == OK;
	if (!browser->colours)
		return;
	use_default_colors();
	init_pair(COLOUR_TITLE, COLOR_WHITE, COLOR_BLUE);
	init_pair(COLOUR_CURRENT, COLOR_BLACK, COLOR_CYAN);
	init_pair(COLOUR_EVENT, COLOR_YELLOW, -1);
	init_pair(COLOUR_ALARM, COLOR_RED, -1);
	init_pair(COLOUR_LINE, COLOR_BLUE, -1);
}

int screen_open(struct browser *browser)
{
	const char *name = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail("ntrace browse needs a terminal: ntrace decode prints to files and "
			    "pipes");
	/* Not LC_NUMERIC: times are typed and shown with a point everywhere. */
	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return fail("the terminal '%s' is not known: set TERM to one that is, such as "
			    "xterm or vt100",
			    name ? name : "");
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	start_colours(browser);
	browser->shown_at = monotonic_seconds();
	return EXIT_OK;
}

void screen_close(void)
{
	endwin();
	delscreen(terminal);
}

static chtype style(const struct browser *browser, int colour)
{
	if (browser->colours)
		return (chtype)COLOR_PAIR(colour) | (colour == COLOUR_ALARM ? A_BOLD : 0);
	switch (colour) {
	case COLOUR_TITLE:
	case COLOUR_CURRENT:
		return A_REVERSE;
	case COLOUR_ALARM:
	case COLOUR_LINE:
		return A_BOLD;
	default:
		return A_NORMAL;
	}
}

/* Text in one row, cut at the right edge; source files may contain anything. */
static void put(int row, int column, const char *text, chtype attributes, bool fill)
{
	mbstate_t state = { 0 };
	int at = column, width;
	wchar_t wide[2] = L"";
	size_t length;

	if (row < 0 || row >= LINES || column >= COLS)
		return;
	attrset((attr_t)attributes);
	move(row, column);
	while (*text && at < COLS) {
		length = mbrtowc(&wide[0], text, MB_CUR_MAX, &state);
		if (length == (size_t)-1 || length == (size_t)-2) {
			memset(&state, 0, sizeof(state));
			length = 1;
			wide[0] = L'?';
		}
		text += length;
		if (wide[0] == L'\t') {
			do
				addch(' ');
			while (++at < COLS && (at - column) % 8);
			continue;
		}
		width = wcwidth(wide[0]);
		if (width < 0 || ntrace_text_hidden((uint32_t)wide[0])) {
			wide[0] = L'?';
			width = 1;
		}
		if (at + width > COLS)
			break;
		addwstr(wide);
		at += width;
	}
	while (fill && at++ < COLS)
		addch(' ');
	attrset(A_NORMAL);
}

/* ---- keys ---- */

static int read_key(void)
{
	int key;

	do {
		errno = 0;
		key = getch();
	} while (key == ERR && errno == EINTR);
	return key;
}

int screen_key(struct browser *browser)
{
	int key;

	(void)browser;
	if (typed_count) {
		key = typed[0];
		memmove(typed, typed + 1, --typed_count * sizeof(*typed));
		return key;
	}
	return read_key();
}

bool screen_stop(void *data, unsigned int stream, uint64_t position)
{
	struct browser *browser = data;
	double now = monotonic_seconds();
	char text[100], size[UI_NUMBER_SIZE];
	bool stop = false;
	int key;

	(void)stream;
	if (!terminal || browser->drawing || now < browser->shown_at + PROGRESS_SECONDS)
		return false;
	browser->shown_at = now;
	snprintf(text, sizeof(text), "decoding: at %s of the trace; Ctrl-C stops",
		 ui_size(size, position));
	put(LINES - 1, 0, text, A_NORMAL, true);
	refresh();
	nodelay(stdscr, TRUE);
	while (!stop && typed_count < TYPED_MAX && (key = getch()) != ERR) {
		stop = key == KEY_STOP_C || key == KEY_STOP_G || key == KEY_ESCAPE;
		if (!stop)
			typed[typed_count++] = key;
	}
	nodelay(stdscr, FALSE);
	return stop;
}

/* ---- layout ---- */

struct layout {
	int source_row, source_rows;	/* the first row is its heading; 0 rows = not shown */
	int code_row, code_rows;
	int stack_row, stack_rows;
	int register_row, register_rows;
};

static struct layout layout_of(const struct browser *browser)
{
	struct layout layout = { .code_row = LINES > 2 };
	int rows = LINES - layout.code_row - 1;

	if (browser->registers && LINES >= STACK_HEIGHT)
		layout.register_rows = REGISTER_ROWS;
	rows -= layout.register_rows;
	if (browser->stack && rows >= STACK_HEIGHT - 2)
		layout.stack_rows = STACK_ROWS;
	if (browser->source && LINES >= SOURCE_HEIGHT)
		layout.source_rows = (rows - layout.stack_rows) * 2 / 5;
	layout.source_row = layout.code_row;
	layout.code_row += layout.source_rows;
	layout.code_rows = rows - layout.source_rows - layout.stack_rows;
	if (layout.code_rows < 1)
		layout.code_rows = LINES > 1 ? 1 : 0;
	if (layout.code_rows > ROWS_MAX)
		layout.code_rows = ROWS_MAX;
	layout.stack_row = layout.code_row + layout.code_rows;
	layout.register_row = layout.stack_row + layout.stack_rows;
	return layout;
}

unsigned int screen_page(const struct browser *browser)
{
	int rows = layout_of(browser).code_rows;

	return rows > 2 ? (unsigned int)rows - 2 : 1;
}

static void heading(const struct browser *browser, int row, const char *text)
{
	put(row, 0, text, style(browser, COLOUR_LINE) | A_UNDERLINE, true);
}

/* ---- parts ---- */

static void draw_title(struct browser *browser)
{
	const struct ntrace_cursor_place *place = walk_place(&browser->walk);
	char text[TEXT_SIZE], time[100] = "", owner[100] = "";
	const char *slash = strrchr(browser->path, '/');

	if (LINES < 3)
		return;
	if (place && place->tid >= 0)
		snprintf(owner, sizeof(owner), "  %d %s %s", place->tid, place->comm,
			 ntrace_priv_name(place->privilege));
	if (place)
		browser_time_text(browser, place, time, sizeof(time));
	snprintf(text, sizeof(text), " %.200s  %s%s%s%s",
		 slash && slash[1] ? slash + 1 : browser->path, browser->shown, owner,
		 *time ? "  " : "", time);
	put(0, 0, text, style(browser, COLOUR_TITLE), true);
}

static void draw_source(struct browser *browser, const struct layout *layout)
{
	const struct ntrace_cursor_place *place = walk_place(&browser->walk);
	const struct ntrace_line *line = place ? code_line(&browser->code, place) : NULL;
	char text[TEXT_SIZE], name[300] = "";
	const struct source_lines *source;
	int rows = layout->source_rows - 1;
	size_t first;

	if (!layout->source_rows)
		return;
	if (place)
		code_name(place, name, sizeof(name));
	if (!line) {
		snprintf(text, sizeof(text), " %s: no line numbers", name);
		heading(browser, layout->source_row, place ? text : " no instruction");
		return;
	}
	source = code_source(&browser->code, line->file);
	snprintf(text, sizeof(text), " %.300s:%u  %s%s", line->file, line->line, name,
		 code_source_is_newer(&browser->code, place) ? "  (source " SOURCE_NEWER ")" : "");
	heading(browser, layout->source_row, text);
	if (!source->count) {
		put(layout->source_row + 1, 0,
		    source->too_large ? " " SOURCE_TOO_LARGE :
					" this file cannot be read; --sysroot names another place",
		    A_NORMAL, false);
		return;
	}
	first = line->line > (size_t)rows / 2 + 1 ? line->line - (size_t)rows / 2 : 1;
	for (int i = 0; i < rows && first + (size_t)i <= source->count; i++) {
		size_t number = first + (size_t)i;
		bool current = number == line->line;

		snprintf(text, sizeof(text), "%s%6zu  ", current ? "=>" : "  ", number);
		put(layout->source_row + 1 + i, 0, text,
		    current ? style(browser, COLOUR_CURRENT) : A_NORMAL, current);
		put(layout->source_row + 1 + i, (int)strlen(text), source->lines[number - 1],
		    current ? style(browser, COLOUR_CURRENT) : A_NORMAL, current);
	}
}

static void draw_row(struct browser *browser, int row, bool current)
{
	const struct ntrace_cursor_place *place = walk_place(&browser->walk);
	bool loss = place->type == NTRACE_FLOW_GAP || place->type == NTRACE_FLOW_ERROR;
	char text[TEXT_SIZE];
	chtype attributes = current			    ? style(browser, COLOUR_CURRENT) :
			    place->type == NTRACE_FLOW_BLOCK ? A_NORMAL :
			    loss			     ? style(browser, COLOUR_ALARM) :
							       style(browser, COLOUR_EVENT);

	put(row, 0, current ? "=> " : "   ", attributes, current);
	code_text(&browser->code, place, text, sizeof(text));
	put(row, 3, text, attributes, current);
}

/* What was executed before and after the place. */
static void draw_code(struct browser *browser, const struct layout *layout)
{
	struct ntrace_cursor *cursor = browser->walk.cursor;
	int row = layout->code_row + layout->code_rows / 2;
	struct ntrace_cursor_mark mark;

	if (!walk_place(&browser->walk) || !layout->code_rows)
		return;
	ntrace_cursor_save(cursor, &mark);
	for (int at = row; at >= layout->code_row; at--) {
		draw_row(browser, at, at == row);
		if (ntrace_cursor_prev(cursor))
			break;
	}
	ntrace_cursor_restore(cursor, &mark);
	for (int at = row + 1; at < layout->code_row + layout->code_rows; at++) {
		if (ntrace_cursor_next(cursor))
			break;
		draw_row(browser, at, false);
	}
	ntrace_cursor_restore(cursor, &mark);
}

static void draw_stack(struct browser *browser, const struct layout *layout)
{
	static struct walk_frame frames[WALK_FRAMES];
	char text[TEXT_SIZE];
	const char *why;
	size_t count;
	int row = layout->stack_row;

	if (!layout->stack_rows)
		return;
	count = walk_stack(&browser->walk, frames, &why);
	snprintf(text, sizeof(text), " call stack (%zu frames, then: %s)", count, why);
	heading(browser, row++, text);
	for (size_t i = 0; i < count && row < layout->stack_row + layout->stack_rows; i++) {
		snprintf(text, sizeof(text), "#%-3zu 0x%0*" PRIx64 " %s", i,
			 (int)browser->code.digits, frames[i].address, frames[i].text);
		put(row++, 0, text, A_NORMAL, false);
	}
}

/* "a0 0x12", or "a0 ?" */
static void draw_register(struct ntrace_values *values, int row, int column, unsigned int number)
{
	struct ntrace_exec_value value = { 0, 0 };
	char name[NTRACE_TANDEM_NAME_MAX], bits[20] = "?", text[40];

	ntrace_values_register(values, NTRACE_EXEC_X + number, &value);
	if (value.known == UINT64_MAX)
		snprintf(bits, sizeof(bits), "0x%" PRIx64, value.bits);
	snprintf(text, sizeof(text), "%-5s%s",
		 ntrace_tandem_register_name(NTRACE_TANDEM_GPR + number, name), bits);
	put(row, column, text, A_NORMAL, false);
}

static void draw_registers(struct browser *browser, const struct layout *layout)
{
	struct ntrace_values *values;
	char text[TEXT_SIZE];
	const char *why;
	int row = layout->register_row;

	if (!layout->register_rows)
		return;
	values = walk_values(&browser->walk, &why);
	snprintf(text, sizeof(text), " registers before the instruction%s%s", values ? "" : ": ",
		 values ? "" : why);
	heading(browser, row++, text);
	for (unsigned int i = 0; values && i < 32; i++)
		draw_register(values, row + (int)(i / REGISTER_COLUMNS),
			      (int)(i % REGISTER_COLUMNS) * 25, i);
}

void screen_draw(struct browser *browser)
{
	struct layout layout = layout_of(browser);

	browser->drawing = true;
	erase();
	draw_title(browser);
	draw_source(browser, &layout);
	draw_code(browser, &layout);
	draw_stack(browser, &layout);
	draw_registers(browser, &layout);
	put(LINES - 1, 0, browser->message,
	    browser->alarm ? style(browser, COLOUR_ALARM) : A_NORMAL, false);
	browser->drawing = false;
	refresh();
}

/* ---- other screens ---- */

/* Moves in the help. Return: false if the key is for something else. */
static bool scroll_help(int key, size_t *first, size_t rows, size_t lines)
{
	switch (key) {
	case ' ':
	case 'f':
	case KEY_NPAGE:
		*first += *first + rows < lines ? rows : 0;
		return true;
	case 'j':
	case KEY_DOWN:
	case '\r':
		*first += *first + rows < lines;
		return true;
	case 'k':
	case KEY_UP:
		*first -= *first > 0;
		return true;
	case 'b':
	case KEY_PPAGE:
		*first = *first > rows ? *first - rows : 0;
		return true;
	default:
		return false;
	}
}

void screen_help(struct browser *browser)
{
	size_t first = 0, lines = 0, rows;
	int key;

	while (browser_help_line(lines))
		lines++;
	for (;;) {
		rows = LINES > 1 ? (size_t)LINES - 1 : 0;
		erase();
		for (size_t i = 0; i < rows && first + i < lines; i++)
			put((int)i, 0, browser_help_line(first + i), A_NORMAL, false);
		put(LINES - 1, 0,
		    first + rows < lines ? "SPACE: more keys; q: back to the trace" :
					   "q: back to the trace",
		    style(browser, COLOUR_LINE), false);
		refresh();
		key = screen_key(browser);
		if (!scroll_help(key, &first, rows, lines) && key != KEY_RESIZE)
			return;
	}
}

static void draw_choices(struct browser *browser, size_t chosen)
{
	size_t rows = LINES > 2 ? (size_t)LINES - 2 : 1, entries, first;
	char text[TEXT_SIZE];

	entries = browser->choice_count + !browser->complete;
	first = chosen >= rows ? chosen - rows + 1 : 0;
	erase();
	put(0, 0, " harts and threads: RETURN shows one, q goes back", style(browser, COLOUR_TITLE),
	    true);
	for (size_t i = 0; i < rows && first + i < entries; i++) {
		bool current = first + i == chosen;

		if (first + i < browser->choice_count)
			snprintf(text, sizeof(text), "%s %-40s %s", current ? "=>" : "  ",
				 browser->choices[first + i].name,
				 browser->choices[first + i].note);
		else
			snprintf(text, sizeof(text), "%s [read the whole trace to list %s]",
				 current ? "=>" : "  ",
				 browser->recording ? "threads" : "other harts");
		put((int)i + 1, 0, text, current ? style(browser, COLOUR_CURRENT) : A_NORMAL,
		    current);
	}
	put(LINES - 1, 0, browser->message,
	    browser->alarm ? style(browser, COLOUR_ALARM) : A_NORMAL, false);
	refresh();
}

const struct lane_choice *screen_choose(struct browser *browser)
{
	size_t chosen = 0, entries;
	int key;

	for (;;) {
		entries = browser->choice_count + !browser->complete;
		draw_choices(browser, chosen);
		key = screen_key(browser);
		if ((key == KEY_DOWN || key == 'j') && chosen + 1 < entries)
			chosen++;
		else if ((key == KEY_UP || key == 'k') && chosen)
			chosen--;
		else if (key == 'g' || key == KEY_HOME)
			chosen = 0;
		else if (key == 'G' || key == KEY_END)
			chosen = entries - 1;
		else if ((key == '\r' || key == '\n' || key == KEY_ENTER) &&
			 chosen < browser->choice_count)
			return &browser->choices[chosen];
		else if (key == '\r' || key == '\n' || key == KEY_ENTER)
			browser_moved(browser, browser->list_more(browser), false);
		else if (key == 'q' || key == KEY_ESCAPE || key == KEY_STOP_C ||
			 key == KEY_STOP_G || key == ERR)
			return NULL;
	}
}

bool screen_ask(struct browser *browser, const char *question, char *text, size_t size)
{
	size_t length = 0;
	bool done = false;
	char line[TEXT_SIZE];
	int key;

	text[0] = '\0';
	curs_set(1);
	while (!done) {
		screen_draw(browser);
		snprintf(line, sizeof(line), "%s%s", question, text);
		put(LINES - 1, 0, line, A_NORMAL, true);
		move(LINES - 1, (int)strlen(line) < COLS ? (int)strlen(line) : COLS - 1);
		refresh();
		key = screen_key(browser);
		if (key == '\r' || key == '\n' || key == KEY_ENTER) {
			done = true;
		} else if (key == KEY_ESCAPE || key == KEY_STOP_C || key == KEY_STOP_G ||
			   key == ERR) {
			length = 0;
			done = true;
		} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
			/* All bytes of a character. */
			while (length && (text[--length] & 0xc0) == 0x80)
				;
		} else if (key == 'U' - '@') {
			length = 0;
		} else if (key >= ' ' && key < 256 && length + 1 < size) {
			text[length++] = (char)key;
		}
		text[length] = '\0';
	}
	curs_set(0);
	return length;
}
