/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names in files that only programs read: see ntrace/text.h. */
#ifndef NTRACE_OUTPUT_TEXT_H
#define NTRACE_OUTPUT_TEXT_H

#include <stdbool.h>

/* Whether a name has a control character, which no line of text can have. */
bool text_has_control(const char *name);

/* ntrace_text_clean() that replaces control characters and keeps all others. */
const char *text_for_programs(const char *name, char **room);

#endif
