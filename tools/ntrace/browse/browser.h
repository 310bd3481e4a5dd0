/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the browser, which its files share. */
#ifndef NTRACE_TOOL_BROWSE_BROWSER_H
#define NTRACE_TOOL_BROWSE_BROWSER_H

#include "common/input.h"
#include "walk.h"

#define BROWSER_TEXT 400
#define BROWSER_MARKS 26

/**
 * struct lane_choice - a hart or a thread that can be shown
 * @name: "CPU 0", "thread 1234 name", "hart 3"
 * @note: instructions or bytes
 */
struct lane_choice {
	char name[80];
	char note[80];
	unsigned int stream;
	int32_t pid;
	int32_t tid;
	unsigned int src;
};

/**
 * struct browser - the state
 * @walk: the trace that is shown
 * @base: what all traces of this input have in common
 * @recording: NULL for a raw trace
 * @path: of the input
 * @choices: harts, and threads once they are known
 * @complete: the choices have the threads, or all harts of a raw trace
 * @list_more: makes the choices complete; returns WALK_OK, WALK_STOPPED or WALK_FAILED
 * @shown: name of the choice that is shown
 * @message: last line of the screen
 * @time_known, @first_time: of the trace
 * @drawing: no key stops decoding
 * @shown_at: when progress was shown last, or the key was read
 * @colours: the terminal has colours
 */
struct browser {
	struct walk walk;
	struct code code;
	struct ntrace_cursor_config base;
	struct recording *recording;
	const char *path;
	struct lane_choice *choices;
	size_t choice_count;
	size_t choice_room;
	bool complete;
	enum walk_result (*list_more)(struct browser *browser);
	void *input;
	char shown[80];
	char message[BROWSER_TEXT + 200];
	bool alarm;
	bool time_known;
	uint64_t first_time;
	bool source;
	bool stack;
	bool registers;
	bool drawing;
	bool colours;
	bool quit;
	char search[BROWSER_TEXT];
	bool search_back;
	uint64_t count;
	struct ntrace_cursor_mark mark[BROWSER_MARKS];
	bool marked[BROWSER_MARKS];
	size_t notes;
	double shown_at;
};

/* Keys that stop a move, besides KEY_ values. */
enum {
	KEY_STOP_C = 3,		/* Ctrl-C: the terminal is in raw mode */
	KEY_STOP_G = 7,
	KEY_ESCAPE = 27,
};

/* cmd_browse.c */
/** browser_choose - show another hart or thread. Return: as walk_open() */
enum walk_result browser_choose(struct browser *browser, const struct lane_choice *choice);
/** browser_choice - a new choice at the end. Return: NULL when out of memory */
struct lane_choice *browser_add_choice(struct browser *browser);

/* screen.c */
/** screen_open - Return: EXIT_OK, or EXIT_FAILED after an error message */
int screen_open(struct browser *browser);
void screen_close(void);
/** screen_draw - all of it */
void screen_draw(struct browser *browser);
/** screen_help - shows the keys until a key is pressed */
void screen_help(struct browser *browser);
/** screen_choose - lets the user choose a hart or thread. Return: NULL if he does not */
const struct lane_choice *screen_choose(struct browser *browser);
/** screen_ask - reads a line of text. Return: false if it is cancelled or empty */
bool screen_ask(struct browser *browser, const char *question, char *text, size_t size);
/** screen_key - the next key; ERR at the end of the input */
int screen_key(struct browser *browser);
/** screen_page - instructions on the screen */
unsigned int screen_page(const struct browser *browser);
/** screen_stop - for ntrace_cursor_config.stop: shows the position; true if a key stops the move */
bool screen_stop(void *data, unsigned int stream, uint64_t position);

/* keys.c */
/** browser_say - the message; @alarm: it is an error */
void browser_say(struct browser *browser, bool alarm, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** browser_moved - the message about a move that has ended */
void browser_moved(struct browser *browser, enum walk_result result, bool back);
/**
 * browser_time - go to a time as moment_parse() takes it
 * @result: as walk_time()
 *
 * Return: false after a message: @text is no time.
 */
bool browser_time(struct browser *browser, const char *text, enum walk_result *result);
/** browser_time_text - time of a place, for users. Return: @text */
char *browser_time_text(struct browser *browser, const struct ntrace_cursor_place *place,
			char *text, size_t size);
/** browser_run - take keys until the end */
void browser_run(struct browser *browser);

/** browser_help_line - line of the help, NULL after the last one */
const char *browser_help_line(size_t line);

#endif /* NTRACE_TOOL_BROWSE_BROWSER_H */
