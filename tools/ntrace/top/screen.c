// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terminal of `ntrace top`. Uses only a few escape sequences that every terminal supports;
 * without a terminal lines are written unchanged.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ntrace/text.h>

#include "common/ui.h"
#include "screen.h"

/* Alternate screen without a cursor, and back. */
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"
#define LINE_MAX_BYTES 1000
#define COMPLAINTS_MAX 4096

static void take_keys(struct top_screen *screen)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &screen->before))
		return;
	raw = screen->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	/* A stopped process would leave the terminal in this state. */
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	screen->keys = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

/* Keep messages until the end: they would garble the screen and disappear with it. */
static void hide_complaints(struct top_screen *screen)
{
	screen->complaints = memfd_create("complaints", MFD_CLOEXEC);
	screen->errors = dup(STDERR_FILENO);
	if (screen->complaints >= 0 && screen->errors >= 0)
		dup2(screen->complaints, STDERR_FILENO);
}

/* Keep the first ones: they explain the others. */
static void show_complaints(struct top_screen *screen)
{
	char text[COMPLAINTS_MAX];
	ssize_t got = 0;

	if (screen->errors >= 0) {
		dup2(screen->errors, STDERR_FILENO);
		close(screen->errors);
	}
	if (screen->complaints >= 0) {
		got = pread(screen->complaints, text, sizeof(text), 0);
		close(screen->complaints);
	}
	if (got > 0)
		fwrite(text, 1, (size_t)got, stderr);
}

/* Messages about one window are dropped when the next one comes. */
static void forget_complaints(const struct top_screen *screen)
{
	if (screen->complaints >= 0 && !ftruncate(screen->complaints, 0))
		lseek(screen->complaints, 0, SEEK_SET);
}

void top_screen_open(struct top_screen *screen, struct output *output, bool batch)
{
	const char *term = getenv("TERM");

	*screen = (struct top_screen){ .output = output };
	screen->active = !batch && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
	screen->colours = screen->active && ui_colours(stdout);
	if (!screen->active)
		return;
	take_keys(screen);
	hide_complaints(screen);
	output_text(output, ENTER);
	output_flush(output);
}

void top_screen_close(struct top_screen *screen)
{
	if (screen->active) {
		output_text(screen->output, LEAVE);
		output_flush(screen->output);
		show_complaints(screen);
	}
	if (screen->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
	screen->active = false;
	screen->keys = false;
}

void top_screen_begin(struct top_screen *screen)
{
	struct winsize size;

	screen->row = 0;
	if (!screen->active)
		return;
	forget_complaints(screen);
	screen->rows = 24;
	screen->columns = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
		screen->rows = size.ws_row;
		screen->columns = size.ws_col;
	}
	output_text(screen->output, "\033[H");
}

/* Do not cut within a character. */
static void cut(char *text, size_t columns)
{
	size_t length = strlen(text);

	if (length <= columns)
		return;
	while (columns && ((unsigned char)text[columns] & 0xc0) == 0x80)
		columns--;
	text[columns] = '\0';
}

void top_screen_line(struct top_screen *screen, unsigned int style, const char *format, ...)
{
	char raw[LINE_MAX_BYTES], text[LINE_MAX_BYTES], *room;
	va_list args;

	if (screen->active && screen->row >= screen->rows)
		return;
	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	/* Names come from files and other users' processes. */
	snprintf(text, sizeof(text), "%s", ntrace_text_clean(raw, &room));
	free(room);
	if (screen->active) {
		cut(text, screen->columns);
		/* A newline after the last row would scroll. */
		output_text(screen->output, screen->row ? "\r\n" : "");
	}
	output_text(screen->output, ui_style_on(screen->colours, style));
	output_text(screen->output, text);
	output_text(screen->output, ui_style_off(screen->colours, style));
	output_text(screen->output, screen->active ? "\033[K" : "\n");
	screen->row++;
}

int top_screen_end(struct top_screen *screen)
{
	if (screen->active)
		output_text(screen->output, "\033[J");
	return output_flush(screen->output);
}

int top_screen_key(struct top_screen *screen)
{
	unsigned char key;

	return screen->keys && read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}
