/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of a client that its files share. */
#ifndef NTRACE_TOOL_GDB_REMOTE_PARTS_H
#define NTRACE_TOOL_GDB_REMOTE_PARTS_H

#include "remote.h"

/** remote_hex - number in hexadecimal digits; *@text is moved behind it. Return: false without a digit */
bool remote_hex(const char **text, uint64_t *number);

/** remote_unhex - bytes of pairs of digits. Return: number of bytes, at most @size - 1; 0-terminated */
size_t remote_unhex(const char *text, char *bytes, size_t size);

/** remote_error - reply with an error: its text is shown to the user */
void remote_error(struct remote *remote, const char *text);

/** remote_place - the instruction where the client's thread @index is */
struct history_place *remote_place(struct remote *remote, size_t index);

/** remote_thread_history - history of the client's thread @index */
const struct history_thread *remote_thread_history(const struct remote *remote, size_t index);

/* ---- registers.c ---- */

/* Number of pc in the target description. */
#define REMOTE_PC 32

/** remote_pc_bytes - pc of the current thread, as the protocol has it */
void remote_pc_bytes(struct remote *remote, uint8_t bytes[8]);

/** remote_registers - g; remote_register - p; remote_memory - m */
void remote_registers(struct remote *remote, char *text);
void remote_register(struct remote *remote, char *text);
void remote_memory(struct remote *remote, char *text);

/* ---- transfer.c ---- */

/** remote_transfer - qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH; @text is behind "qXfer:" */
void remote_transfer(struct remote *remote, char *text);

/* ---- branches.c ---- */

/** remote_branches_document - branch trace of a thread. Return: false if the client must ask for all of it */
bool remote_branches_document(struct remote *remote, size_t thread, const char *annex,
			      struct packet_output *document);

/* ---- files.c ---- */

/** remote_file - vFile:OPERATION:...; @text is behind "vFile:" */
void remote_file(struct remote *remote, char *text);
void remote_files_close(struct remote *remote);

/* ---- monitor.c ---- */

/** remote_monitor - run a monitor command. Return: false if it failed; @output says why */
bool remote_monitor(struct remote *remote, const char *command, struct packet_output *output);

#endif /* NTRACE_TOOL_GDB_REMOTE_PARTS_H */
