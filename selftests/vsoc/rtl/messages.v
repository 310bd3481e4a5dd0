// SPDX-License-Identifier: GPL-2.0-only
// Instruction blocks to messages (N-Trace 1.0, chapters "N-Trace Messages" and "Encoder Operation"; trTeInstMode 3: Branch Trace
// Messaging, 6: History Trace Messaging).
//
// The address after an indirect jump or a trap is that of the next block, so its message waits for it (`pending`). A
// block goes through these steps, and each takes a cycle if it sends a message:
//
//	LOSS	Error, if blocks before this one were lost
//	PLACE	the address of the block: a first synchronization, the pending message, or a periodic synchronization
//	OWNER	Ownership, after a synchronization, and if privilege or scontext have changed
//	FULL	ResourceFull, if I-CNT cannot count the block
//	COUNT	I-CNT and HIST include the block; a taken branch (BTM) or a full HIST (HTM) is sent
//
// A block without a message takes one cycle. The steps before COUNT leave the block at the head of its queue. A block that the
// filters do not match ends the trace (PLACE, END) and is skipped.
module messages #(
	parameter ICNT_BITS = 12		// at most 22
) (
	input clk,
	input reset,

	// trTeControl and trTeInstFeatures
	input history_mode,
	input send_context,
	input [1:0] sync_mode,
	input [3:0] sync_max,
	input [11:0] src,
	input [3:0] src_bits,
	input [47:0] now,

	// The oldest block: signals of the instruction interface (E-Trace 2.0, "Instruction Trace Interface")
	input valid,
	output pop,
	input after_loss,
	input traced,			// the filters match
	input [4:0] iretire,
	input [3:0] itype,
	input [2:0] priv,
	input [31:0] scontext,
	input [62:0] iaddr,		// without bit 0

	// The end of tracing, after the last block
	input stop,
	input stop_after_loss,
	output stopped,

	input room,			// the queue of messages takes one
	output reg send,
	output reg [23:0] fixed,
	output reg [4:0] fixed_bits,
	output reg [39:0] count,
	output reg has_address,
	output reg [62:0] address,
	output reg has_history,
	output [31:0] history,
	output [47:0] timestamp
);
	// TCODE
	localparam OWNERSHIP = 2, DIRECT_BRANCH = 3, INDIRECT_BRANCH = 4, ERROR = 8, PROG_TRACE_SYNC = 9,
		   INDIRECT_BRANCH_SYNC = 12, RESOURCE_FULL = 27, INDIRECT_BRANCH_HIST = 28,
		   INDIRECT_BRANCH_HIST_SYNC = 29, CORRELATION = 33;
	// SYNC
	localparam PERIODIC = 4'd2, TRACE_ENABLE = 4'd5, AFTER_OVERRUN = 4'd7;
	// B-TYPE
	localparam JUMP = 2'd0, EXCEPTION = 2'd2, INTERRUPT = 2'd3;
	localparam [3:0] DISABLED = 4;		// EVCODE
	localparam [39:0] LOST = 40'h0c;	// ECODE: program trace and Ownership
	localparam LOSS = 0, PLACE = 1, OWNER = 2, FULL = 3, COUNT = 4, END = 5, SKIP = 6, WAIT = 7;

	reg started;			// a synchronization was sent
	reg loss_sent;			// Error was sent for the block
	reg [3:0] start_reason;		// SYNC of the next first synchronization
	reg pending;
	reg [1:0] pending_type;
	reg [ICNT_BITS-1:0] icnt;
	reg [31:0] hist;
	reg [62:0] reference;
	reg owner_due;
	reg [2:0] owner_priv;
	reg [31:0] owner_scontext;
	reg [19:0] sync_count;
	reg [47:0] last_time;

	wire sync_due = sync_mode != 0 && sync_count >> sync_max >= 16;	// 2^(trTeInstSyncMax + 4)
	wire owner_changed = owner_due || owner_priv != priv || owner_scontext != scontext;
	wire [ICNT_BITS:0] icnt_sum = {1'b0, icnt} + {{ICNT_BITS-4{1'b0}}, iretire};
	wire taken = itype == 5;
	wire branch = itype == 4 || taken;
	wire trap = itype == 1 || itype == 2;
	// Trap returns, and indirect jumps of every type
	wire indirect = itype == 3 || itype == 6 || itype == 8 || itype == 10 || itype == 12 || itype == 13 || itype == 14;
	wire [31:0] next_hist = history_mode && branch ? {hist[30:0], taken} : hist;
	wire hist_full = next_hist[31];

	reg [2:0] step;
	always @* begin
		if (!valid)
			step = stop && (started || stop_after_loss) ? END : WAIT;
		else if (after_loss && !loss_sent)
			step = LOSS;
		else if (!traced)
			step = !started ? SKIP : pending ? PLACE : END;
		else if (!started || pending || sync_due)
			step = PLACE;
		else if (send_context && owner_changed)
			step = OWNER;
		else if (icnt_sum[ICNT_BITS])
			step = FULL;
		else
			step = COUNT;
	end

	// The message of the step.
	reg [5:0] tcode;
	reg is_sync;
	reg [5:0] more;			// fixed fields after SRC
	reg [2:0] more_bits;
	always @* begin
		send = room && step < SKIP;
		tcode = RESOURCE_FULL;
		is_sync = 0;
		more = 0;
		more_bits = 4;
		count = {{40-ICNT_BITS{1'b0}}, icnt};
		has_address = 0;
		has_history = 0;
		case (step)
		LOSS: begin
			tcode = ERROR;
			count = LOST;
		end
		PLACE: begin
			has_address = 1;
			if (!started) begin
				tcode = PROG_TRACE_SYNC;
				is_sync = 1;
				more = {2'd0, start_reason};
			end else if (sync_due && traced) begin
				has_history = history_mode;
				is_sync = 1;
				more = {pending ? pending_type : JUMP, PERIODIC};
				more_bits = history_mode || pending ? 6 : 4;
				tcode = history_mode ? INDIRECT_BRANCH_HIST_SYNC :
					pending ? INDIRECT_BRANCH_SYNC : PROG_TRACE_SYNC;
			end else begin
				has_history = hist != 1;
				tcode = has_history ? INDIRECT_BRANCH_HIST : INDIRECT_BRANCH;
				more = {4'd0, pending_type};
				more_bits = 2;
			end
		end
		OWNER: begin
			// PROCESS: FORMAT 2 has scontext, FORMAT 0 has not; then PRV and V. priv: 5 and 6 are VU and VS.
			tcode = OWNERSHIP;
			more_bits = 0;
			count = {3'd0, owner_due || owner_scontext != scontext ? scontext : 32'd0, priv > 4,
				 priv > 4 ? {1'b0, priv[1]} : priv[1:0],
				 owner_due || owner_scontext != scontext ? 2'd2 : 2'd0};
		end
		COUNT:
			if (hist_full) begin
				more = 1;
				count = {8'd0, next_hist};
			end else if (taken && !history_mode) begin
				tcode = DIRECT_BRANCH;
				more_bits = 0;
				count = {{40-ICNT_BITS{1'b0}}, icnt_sum[ICNT_BITS-1:0]};
			end else begin
				send = 0;
			end
		END:
			if (!valid && stop_after_loss) begin
				tcode = ERROR;
				count = LOST;
			end else begin
				tcode = CORRELATION;
				has_history = history_mode;
				more = {1'b0, history_mode, DISABLED};
				more_bits = 6;
			end
		default: ;
		endcase
		address = is_sync ? iaddr : iaddr ^ reference;
		fixed = {18'd0, tcode} | {12'd0, src & ~(12'hfff << src_bits)} << 6 | {18'd0, more} << (6 + src_bits);
		fixed_bits = 6 + {1'b0, src_bits} + {2'd0, more_bits};
	end
	assign history = hist;
	// A synchronization has the time, another message the time since the message before it.
	assign timestamp = is_sync ? now : now - last_time;

	wire counts = step == COUNT && room;
	wire [19:0] sync_step = sync_mode == 1 ? {19'd0, send} : sync_mode == 3 && counts ? {15'd0, iretire} : 20'd0;
	assign pop = counts || step == SKIP;
	assign stopped = stop && !valid && (step == WAIT || send);

	always @(posedge clk) begin
		if (reset) begin
			started <= 0;
			loss_sent <= 0;
			start_reason <= TRACE_ENABLE;
			pending <= 0;
			pending_type <= JUMP;
			icnt <= 0;
			hist <= 1;
			reference <= 0;
			owner_due <= 0;
			owner_priv <= 0;
			owner_scontext <= 0;
			sync_count <= 0;
			last_time <= 0;
		end else begin
			if (send)
				last_time <= now;
			if (send && is_sync)
				sync_count <= 0;
			else if (!sync_due)
				sync_count <= sync_count + sync_step;
			if (send && has_address) begin
				reference <= iaddr;
				icnt <= 0;
				hist <= 1;
				pending <= 0;
				started <= 1;
				owner_due <= owner_due || is_sync;
			end
			if (send && step == LOSS) begin
				loss_sent <= 1;
				started <= 0;
				start_reason <= AFTER_OVERRUN;
			end
			if (send && step == OWNER) begin
				owner_due <= 0;
				owner_priv <= priv;
				owner_scontext <= scontext;
			end
			if (send && step == FULL)
				icnt <= 0;
			if (pop)
				loss_sent <= 0;
			if (counts) begin
				icnt <= send && !history_mode ? 0 : icnt_sum[ICNT_BITS-1:0];
				hist <= hist_full ? 1 : next_hist;
				pending <= trap || indirect;
				pending_type <= itype == 1 ? EXCEPTION : itype == 2 ? INTERRUPT : JUMP;
			end
			if (send && step == END) begin
				started <= 0;
				start_reason <= TRACE_ENABLE;
			end
			// What was counted before the first synchronization is unknown to the decoder.
			if (send && (step == LOSS || step == END)) begin
				icnt <= 0;
				hist <= 1;
				pending <= 0;
			end
		end
	end
endmodule
