/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Messages: from bytes to fields and back (N-Trace 1.0 chapter "message layout"). Depends on
 * neither programs nor flow.
 */
#ifndef NTRACE_WIRE_H
#define NTRACE_WIRE_H

#include <ntrace/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/* TCODE */
enum ntrace_tcode {
	NTRACE_TCODE_OWNERSHIP = 2,
	NTRACE_TCODE_DIRECT_BRANCH = 3,
	NTRACE_TCODE_INDIRECT_BRANCH = 4,
	NTRACE_TCODE_ERROR = 8,
	NTRACE_TCODE_PROG_TRACE_SYNC = 9,
	NTRACE_TCODE_DIRECT_BRANCH_SYNC = 11,
	NTRACE_TCODE_INDIRECT_BRANCH_SYNC = 12,
	NTRACE_TCODE_RESOURCE_FULL = 27,
	NTRACE_TCODE_INDIRECT_BRANCH_HIST = 28,
	NTRACE_TCODE_INDIRECT_BRANCH_HIST_SYNC = 29,
	NTRACE_TCODE_REPEAT_BRANCH = 30,
	NTRACE_TCODE_PROG_TRACE_CORRELATION = 33,
};

/*
 * TCODEs of IEEE-ISTO 5001 that N-Trace 1.0 has no use for, and that encoders send beside it. They do
 * not belong to the program flow.
 */
enum ntrace_data_tcode {
	NTRACE_TCODE_DATA_WRITE = 5,
	NTRACE_TCODE_DATA_READ = 6,
	NTRACE_TCODE_DATA_ACQUISITION = 7,
	NTRACE_TCODE_DATA_WRITE_SYNC = 13,
	NTRACE_TCODE_DATA_READ_SYNC = 14,
};

/*
 * TCODEs of pre-ratification SiFive encoders. They are ordinary messages in
 * NTRACE_DIALECT_SIFIVE_V0 and NTRACE_MESSAGE_UNKNOWN in every other dialect.
 */
enum ntrace_sifive_tcode {
	NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE = 34,
	NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE_SYNC = 35,
};

/* Fields in the order of the message table. */
enum ntrace_field {
	NTRACE_FIELD_SRC,
	NTRACE_FIELD_SYNC,
	NTRACE_FIELD_BTYPE,
	NTRACE_FIELD_ETYPE,
	NTRACE_FIELD_EVCODE,
	NTRACE_FIELD_CDF,
	NTRACE_FIELD_RCODE,
	NTRACE_FIELD_ICNT,
	NTRACE_FIELD_FADDR,	/* address >> 1, as sent */
	NTRACE_FIELD_UADDR,	/* (address ^ reference) >> 1, as sent */
	NTRACE_FIELD_HIST,	/* with stop bit */
	NTRACE_FIELD_HREPEAT,
	NTRACE_FIELD_BCNT,
	NTRACE_FIELD_RDATA,	/* RDATA0 of a reserved or vendor RCODE */
	NTRACE_FIELD_ECODE,
	NTRACE_FIELD_PROCESS,
	NTRACE_FIELD_CKSRC,	/* this and the next three: NTRACE_DIALECT_SIFIVE_V0 */
	NTRACE_FIELD_CKDF,
	NTRACE_FIELD_CKDATA0,	/* an address as sent, or data */
	NTRACE_FIELD_CKDATA1,
	NTRACE_FIELD_IDTAG,	/* of SiFive's encoders: byte offset within the stimulus registers */
	NTRACE_FIELD_DQDATA,	/* data stored there */
	NTRACE_FIELD_DSZ,	/* size of a data access */
	NTRACE_FIELD_DADDR,	/* its address as sent: U-ADDR, or F-ADDR in a message with sync */
	NTRACE_FIELD_DATA,	/* the data */
	NTRACE_FIELD_TSTAMP,
	NTRACE_FIELD_COUNT,
};

/* SYNC */
enum ntrace_sync {
	NTRACE_SYNC_EXTERNAL_TRIGGER = 0,
	NTRACE_SYNC_RESET_EXIT = 1,
	NTRACE_SYNC_PERIODIC = 2,
	NTRACE_SYNC_DEBUG_EXIT = 3,
	NTRACE_SYNC_ICNT_FULL = 4,
	NTRACE_SYNC_TRACE_ENABLE = 5,
	NTRACE_SYNC_TRACE_EVENT = 6,
	NTRACE_SYNC_FIFO_OVERRUN = 7,
	NTRACE_SYNC_POWER_DOWN_EXIT = 9,
};

/* EVCODE of ProgTraceCorrelation */
enum ntrace_evcode {
	NTRACE_EVCODE_DEBUG_ENTRY = 0,
	NTRACE_EVCODE_LOW_POWER = 1,
	NTRACE_EVCODE_TRACE_DISABLE = 4,
};

/* ETYPE of Error */
enum ntrace_etype {
	NTRACE_ETYPE_OVERRUN = 0,
};

/* BTYPE */
enum ntrace_btype {
	NTRACE_BTYPE_JUMP = 0,
	NTRACE_BTYPE_TRAP = 1,
	NTRACE_BTYPE_EXCEPTION = 2,
	NTRACE_BTYPE_INTERRUPT = 3,
};

/* RCODE of ResourceFull */
enum ntrace_rcode {
	NTRACE_RCODE_ICNT = 0,
	NTRACE_RCODE_HIST = 1,
	NTRACE_RCODE_HIST_REPEAT = 2,
};

/* CKSRC of InCircuitTrace: why the message was sent. No capture shows 10, 11 and 13. */
enum ntrace_cksrc {
	NTRACE_CKSRC_CONTROL = 0,
	NTRACE_CKSRC_EXTERNAL_TRIGGER = 8,
	NTRACE_CKSRC_CALL = 9,
	NTRACE_CKSRC_EXCEPTION = 10,
	NTRACE_CKSRC_INTERRUPT = 11,
	NTRACE_CKSRC_COUNTERS = 12,
	NTRACE_CKSRC_CONTEXT = 13,
	NTRACE_CKSRC_WATCHPOINT = 14,
	NTRACE_CKSRC_PC_SAMPLE = 15,
};

/*
 * ntrace_message.flags
 * UNKNOWN: TCODE is reserved or a vendor's: only TCODE and SRC are decoded
 * TRUNCATED: a mandatory field is missing
 * EXTRA: more fields than the message table and TSTAMP account for
 * OVERSIZE: a field had more than 64 significant bits: the rest was dropped
 * FIELDS: UNKNOWN with several variable fields, of which the last one may be a TSTAMP
 */
#define NTRACE_MESSAGE_UNKNOWN (1u << 0)
#define NTRACE_MESSAGE_TRUNCATED (1u << 1)
#define NTRACE_MESSAGE_EXTRA (1u << 2)
#define NTRACE_MESSAGE_OVERSIZE (1u << 3)
#define NTRACE_MESSAGE_FIELDS (1u << 4)

/**
 * struct ntrace_message - one message
 *
 * The raw bytes of every message are the @length bytes of the stream from @offset on, also for
 * unknown and vendor messages and for messages with a field wider than its value here.
 *
 * @tcode: enum ntrace_tcode or any other 6-bit value
 * @flags: NTRACE_MESSAGE_...
 * @present: bit n set: field n (enum ntrace_field) is in the message
 * @address_msb: top MDO bit of the last byte of F-ADDR or U-ADDR
 * @address_bytes: bytes that F-ADDR or U-ADDR took
 * @offset: position of the first byte in the stream
 * @length: bytes in the stream
 * @field: values, valid where @present has the field's bit, 0 elsewhere
 */
struct ntrace_message {
	uint8_t tcode;
	uint8_t flags;
	uint8_t address_msb;
	uint8_t address_bytes;
	uint32_t present;
	uint64_t offset;
	uint64_t length;
	uint64_t field[NTRACE_FIELD_COUNT];
};

/**
 * ntrace_message_has - whether a field is in a message
 * @message: a message
 * @field: enum ntrace_field
 *
 * Return: true if the message has the field.
 */
static inline bool ntrace_message_has(const struct ntrace_message *message, enum ntrace_field field)
{
	return message->present >> field & 1;
}

/**
 * ntrace_tcode_name - name of a TCODE in the specification's spelling
 * @tcode: TCODE, 0..63
 *
 * Return: "Vendor" for 56 to 62, "Reserved" for any other value without a name; a static string.
 */
NTRACE_API const char *ntrace_tcode_name(unsigned int tcode);

/**
 * ntrace_tcode_dialect_name - ntrace_tcode_name() with the names that a dialect adds
 * @tcode: TCODE, 0..63
 * @dialect: dialect of the stream
 *
 * Return: as ntrace_tcode_name().
 */
NTRACE_API const char *ntrace_tcode_dialect_name(unsigned int tcode, enum ntrace_dialect dialect);

/**
 * struct ntrace_layout_field - a field of a message
 * @field: enum ntrace_field
 * @bits: width of SRC and of a fixed field; 0: variable
 */
struct ntrace_layout_field {
	uint8_t field;
	uint8_t bits;
};

/* Maximum number of fields listed by ntrace_message_layout(). */
#define NTRACE_LAYOUT_MAX 7

/**
 * ntrace_message_layout - fields of a message between TCODE and TSTAMP, in the order sent
 * @tcode: row of the message table
 * @field: NTRACE_FIELD_COUNT values, of which only fixed fields are read: RCODE, CDF and CKDF
 *         decide which variable fields follow
 * @params: src_bits and dialect are used: SRC is listed unless src_bits is 0
 * @layout: room for NTRACE_LAYOUT_MAX entries; owned by the caller
 *
 * N-Trace 1.0, "messages". TSTAMP may follow in every message and is not listed. For a TCODE
 * outside the table only SRC is known.
 *
 * Return: number of entries; NTRACE_ERR_UNSUPPORTED for a TCODE outside the table of the dialect;
 * NTRACE_ERR_INVALID for a TCODE of more than 6 bits, invalid @params, or a value that its fixed
 * field cannot hold.
 */
NTRACE_API int ntrace_message_layout(unsigned int tcode, const uint64_t *field,
				     const struct ntrace_params *params,
				     struct ntrace_layout_field *layout);

/**
 * ntrace_value_name - name of a value of a fixed field
 * @field: NTRACE_FIELD_SYNC, BTYPE, ETYPE, EVCODE, RCODE or CKSRC
 * @value: its value
 * @dialect: SiFive v0 has names for some vendor or reserved values
 *
 * N-Trace 1.0, "messages".
 *
 * Return: an English phrase, "reserved", "vendor", or NULL for another field or a value that the
 * field cannot hold.
 */
NTRACE_API const char *ntrace_value_name(enum ntrace_field field, uint64_t value,
					 enum ntrace_dialect dialect);

/**
 * ntrace_field_name - the specification's name of a field without separators
 * @field: enum ntrace_field
 *
 * Return: "ICNT" and so on, "?" for any other value; a static string.
 */
NTRACE_API const char *ntrace_field_name(enum ntrace_field field);

/**
 * ntrace_message_address - the address that a message with F-ADDR or U-ADDR reports
 * @message: a message with F-ADDR or U-ADDR
 * @params: xlen, extend_address, address_bits
 * @reference: address of the last message of this SRC that reported one; only U-ADDR needs it
 *
 * N-Trace 1.0, "addresses".
 *
 * Return: the address, bits above XLEN are 0.
 */
NTRACE_API uint64_t ntrace_message_address(const struct ntrace_message *message,
					   const struct ntrace_params *params, uint64_t reference);

/**
 * ntrace_message_circuit_address - the address that an InCircuitTrace message reports
 * @message: of NTRACE_DIALECT_SIFIVE_V0, with CKSRC and CKDATA0
 * @params: xlen, address_bits
 * @reference: address of the last program trace or InCircuitTrace message of this SRC that reported
 *             one; only TCODE 34 needs it
 * @address: set if the result is true; bits above XLEN are 0
 * @next_reference: set if the result is true: reference of the next relative address. Differs from
 *                  @address for a call with a known destination, which is the reference then
 *
 * CKDATA0 holds the address without bit 0: encoded like F-ADDR in TCODE 35 and like U-ADDR in TCODE
 * 34, as captures show. extend_address does not apply, since these encoders have no
 * trTeInstExtendAddrMSB.
 *
 * Return: true if the message reports an address. Messages with counters, with control and CKDF 0,
 * or with missing fields report none.
 */
NTRACE_API bool ntrace_message_circuit_address(const struct ntrace_message *message,
					       const struct ntrace_params *params,
					       uint64_t reference, uint64_t *address,
					       uint64_t *next_reference);

/**
 * ntrace_message_is_circuit - whether a message is a known InCircuitTrace or DataAcquisition
 * @message: a message
 *
 * Return: true for DataAcquisition, and for InCircuitTrace in NTRACE_DIALECT_SIFIVE_V0.
 */
static inline bool ntrace_message_is_circuit(const struct ntrace_message *message)
{
	return !(message->flags & NTRACE_MESSAGE_UNKNOWN) &&
	       (message->tcode == NTRACE_TCODE_DATA_ACQUISITION ||
		message->tcode == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE ||
		message->tcode == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE_SYNC);
}

/**
 * ntrace_message_is_beside - whether a message does not belong to the program flow
 * @message: a message
 *
 * Return: true as ntrace_message_is_circuit(), and for data trace: what code is executed, and where a sync
 * is due, does not depend on these messages.
 */
static inline bool ntrace_message_is_beside(const struct ntrace_message *message)
{
	return ntrace_message_is_circuit(message) || ntrace_message_has(message, NTRACE_FIELD_DSZ);
}

/**
 * ntrace_message_time_is_absolute - whether TSTAMP is an absolute time, not a difference
 * @message: a message, with or without TSTAMP
 *
 * N-Trace 1.0, "timestamps": true for every message with SYNC. No public document defines the
 * timestamp of SiFive's InCircuitTraceWS (TCODE 35); it counts as absolute, because this TCODE is
 * the sync form of its message. So does that of data trace with sync (TCODE 13 and 14).
 *
 * Return: true if TSTAMP of @message is an absolute time.
 */
static inline bool ntrace_message_time_is_absolute(const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_SYNC) ||
	       message->tcode == NTRACE_TCODE_DATA_WRITE_SYNC ||
	       message->tcode == NTRACE_TCODE_DATA_READ_SYNC ||
	       (message->tcode == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE_SYNC &&
		!(message->flags & NTRACE_MESSAGE_UNKNOWN));
}

/* Events of the reader; each is reported once, with its position. */
enum ntrace_wire_event {
	NTRACE_WIRE_MESSAGE,	/* a message */
	NTRACE_WIRE_ERROR,	/* reserved MSEO code: bytes from offset on are skipped up to a
				 * boundary */
};

/* Private: MDO bits of a message up to the end of a variable field. */
struct ntrace_reader_part {
	uint64_t value;		/* bits 0..63 */
	uint64_t high;		/* bits 64..127 */
	uint32_t bits;		/* number of bits, saturating */
	uint8_t last_mdo;	/* the last 6 bits */
	uint8_t dropped;	/* bits above 127 were set */
	uint8_t reserved[2];
};

/**
 * struct ntrace_reader - state of a message reader
 * @offset: readable: position of the next byte in the stream
 * @idles: readable: idle bytes so far
 * @errors: readable: NTRACE_WIRE_ERROR events so far
 *
 * Owned by the caller, set up by ntrace_reader_init(); fields not called readable are private.
 * Input comes in chunks of any size, and the result does not depend on the chunk boundaries. Needs
 * no heap.
 */
struct ntrace_reader {
	/* private: */
	const uint8_t *next;
	const uint8_t *end;
	/* public: */
	uint64_t offset;
	uint64_t idles;
	uint64_t errors;
	/* private: */
	uint64_t start;
	uint32_t state;
	uint32_t parts;
	uint32_t src_bits;
	uint32_t vendor_timed;
	/* Maximum number of variable fields of a message, plus TSTAMP, plus one excess field. */
	struct ntrace_reader_part part[5];
	const void *rows;
	uint64_t reserved[7];
};

/**
 * ntrace_reader_init - start reading a stream
 * @reader: memory owned by the caller
 * @params: src_bits, dialect and vendor_timestamps are used; copied
 * @aligned: true if the first byte starts a message or is idle; false for a wrapped buffer: bytes
 *           up to the first boundary are skipped
 *
 * Return: 0 or NTRACE_ERR_INVALID.
 */
NTRACE_API int ntrace_reader_init(struct ntrace_reader *reader, const struct ntrace_params *params,
				  bool aligned);

/**
 * ntrace_reader_feed - give the next chunk
 * @reader: reader set up by ntrace_reader_init()
 * @data: the next bytes of the stream; borrowed
 * @size: number of bytes at @data
 *
 * The previous chunk must have been read until NTRACE_ERR_AGAIN. @data must stay valid until then.
 */
NTRACE_API void ntrace_reader_feed(struct ntrace_reader *reader, const uint8_t *data, size_t size);

/**
 * ntrace_reader_next - the next message or error
 * @reader: reader set up by ntrace_reader_init()
 * @message: filled for NTRACE_WIRE_MESSAGE; for NTRACE_WIRE_ERROR only offset and length (bytes of
 *           the stray code seen so far, at least 1) are set
 *
 * Return: enum ntrace_wire_event, or NTRACE_ERR_AGAIN when the chunk is used up.
 */
NTRACE_API int ntrace_reader_next(struct ntrace_reader *reader, struct ntrace_message *message);

/**
 * ntrace_reader_pending - bytes of an unfinished message at the end of input
 * @reader: a reader whose chunk has been read until NTRACE_ERR_AGAIN
 *
 * Not 0 after the last chunk: the stream was cut inside a message.
 *
 * Return: number of bytes.
 */
NTRACE_API uint64_t ntrace_reader_pending(const struct ntrace_reader *reader);

/**
 * ntrace_reader_break - report missing bytes of the stream before the next byte
 * @reader: a reader whose chunk has been read until NTRACE_ERR_AGAIN
 *
 * Drops the message in progress without a report and skips all bytes up to and including the next
 * message end, as in a stream that is not aligned. Positions do not count the missing bytes.
 * N-Trace 1.0, chapter "message layout" (a message end is a boundary).
 *
 * Return: number of bytes dropped from the message in progress.
 */
NTRACE_API uint64_t ntrace_reader_break(struct ntrace_reader *reader);

/* Length of the longest message that ntrace_message_write() makes. */
#define NTRACE_MESSAGE_BYTES_MAX 64

/**
 * ntrace_message_write - fields to bytes, the exact inverse of the reader
 * @message: tcode, present and field are used; the fields of the TCODE's row in the message table
 *           must be present (SRC iff src_bits is not 0), TSTAMP may be. With params->extend_address
 *           an address field is shortened as N-Trace 1.0, "addresses", allows.
 * @params: src_bits, dialect, xlen, extend_address, address_bits
 * @data: at least NTRACE_MESSAGE_BYTES_MAX bytes
 *
 * F-ADDR and U-ADDR are given as 63-bit (RV32: 31-bit) values. If address_bytes is not 0, as in a
 * message from the reader, the address takes exactly that many bytes; else the fewest that the
 * parameters allow.
 *
 * Return: number of bytes, or NTRACE_ERR_INVALID.
 */
NTRACE_API int ntrace_message_write(const struct ntrace_message *message,
				    const struct ntrace_params *params, uint8_t *data);

/**
 * ntrace_message_write_sized - ntrace_message_write() with chosen sizes of variable fields
 * @message: as for ntrace_message_write(), but address_bytes is not used
 * @params: src_bits, dialect, xlen, extend_address
 * @sizes: NTRACE_FIELD_COUNT numbers: how many bytes hold bits of each variable field, including
 *         the byte that the first variable field shares with fixed fields; 0: the fewest possible
 * @data: at least NTRACE_MESSAGE_BYTES_MAX bytes
 *
 * The specification lets an encoder pad a variable field with zeros to any number of bytes (N-Trace
 * 1.0, "message framing"). With extend_address a sized address keeps exactly the given bits: the
 * reader extends it by the top bit of its last byte (N-Trace 1.0, "addresses").
 *
 * Return: number of bytes, or NTRACE_ERR_INVALID: also for a value that does not fit in its size, a
 * size of a field that is not variable or not in the message, and more than
 * NTRACE_MESSAGE_BYTES_MAX bytes in all.
 */
NTRACE_API int ntrace_message_write_sized(const struct ntrace_message *message,
					  const struct ntrace_params *params, const uint8_t *sizes,
					  uint8_t *data);

/**
 * struct ntrace_wire_sync - a message at which the decoding of one SRC can start
 * @offset: position of its first byte in the data
 * @length: bytes of the message
 * @address: F-ADDR as an address: the next instruction that the hart executes
 * @time: TSTAMP as sent, an absolute time in ticks of params.timestamp_hz modulo
 *        2^params.timestamp_bits; valid with @time_known
 * @src: SRC; 0 if src_bits is 0
 * @tcode: enum ntrace_tcode
 * @sync: SYNC, enum ntrace_sync or a reserved or vendor value
 * @time_known: the message has TSTAMP
 * @reserved: 0
 */
struct ntrace_wire_sync {
	uint64_t offset;
	uint64_t length;
	uint64_t address;
	uint64_t time;
	uint16_t src;
	uint8_t tcode;
	uint8_t sync;
	bool time_known;
	uint8_t reserved[3];
};

/**
 * ntrace_wire_sync_next - find the next message that synchronizes a SRC
 * @data: a stream, or a part of one; borrowed during the call
 * @size: number of bytes at @data
 * @from: the message found starts at this byte of @data or later; at most @size
 * @aligned: true if the first byte of @data starts a message or is idle; used only if @from is 0
 * @params: src_bits, dialect, xlen, extend_address and address_bits are used
 * @src: the SRC, or NTRACE_SRC_ANY; ignored if src_bits is 0
 * @sync: set to the message if the result is 0. If the result is NTRACE_ERR_AGAIN, only @offset is
 *        set: the value of @from with which to continue as soon as more bytes follow: @size, or the
 *        start of a message that @data does not hold as a whole. A caller that drops the bytes
 *        before it must keep the last one of them, which shows whether a message starts there
 *
 * Every message with SYNC has F-ADDR and synchronizes its SRC, also with a reserved SYNC value
 * (N-Trace 1.0, "synchronization"); damaged messages are passed over. At such a message the encoder
 * has reported all earlier execution, and an address reference, a return stack or a timestamp from
 * before it are no longer needed. (With keep_stack the return stack still counts at markers:
 * SYNC 0, 4 and 6.) Ownership follows the message if the encoder reports it.
 *
 * @from may be any byte: the search continues after the next end of a message, unless the byte
 * before @from is one. The bytes that it passes over are only split into messages, not read. It
 * finds the messages that a reader finds in the same bytes.
 *
 * Return: 0, NTRACE_ERR_AGAIN (no such message up to @size), NTRACE_ERR_INVALID (parameters out of
 * range, @from greater than @size).
 */
NTRACE_EXPERIMENTAL int ntrace_wire_sync_next(const uint8_t *data, size_t size, size_t from,
					      bool aligned, const struct ntrace_params *params,
					      unsigned int src, struct ntrace_wire_sync *sync);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_WIRE_H */
