/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Many messages at a time. */
#ifndef NTRACE_MESSAGES_H
#define NTRACE_MESSAGES_H

#include <ntrace/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ntrace_reader_batch - the next short messages of a chunk
 * @reader: reader set up by ntrace_reader_init()
 * @messages: room for @count messages. All bytes are 0 before the first call; afterwards only this
 *            function changes them
 * @count: maximum number of messages
 *
 * Reads messages of at most 8 bytes that begin at least 8 bytes before the end of the chunk. They are
 * the messages that ntrace_reader_next() would return, at a lower cost: only those fields are cleared
 * that the message in the same memory had before. Call it before each ntrace_reader_next(), which
 * reads any other message, and returns errors and the end of the chunk.
 *
 * Return: number of messages, 0 if the next one is not such a message.
 */
NTRACE_EXPERIMENTAL size_t ntrace_reader_batch(struct ntrace_reader *reader,
					       struct ntrace_message *messages, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_MESSAGES_H */
