// SPDX-License-Identifier: GPL-2.0-only
// A trace encoder: its registers (RISC-V Trace Control Interface 1.0, chapter "Trace Encoder"), and the way from the
// instruction interface of a hart to bytes.
//
//	blocks -> fifo -> messages -> fifo -> packer -> bytes
//
// A block that finds its queue full is lost. From then on all blocks are dropped until half of the queue is free; the next
// one is marked, and messages.v sends Error and a synchronization. With trTeInstStallEna the hart waits instead: it must not
// present a block while `stall` is high.
//
// One filter matches privilege modes.
//
// Tracing ends with ProgTraceCorrelation after the queued blocks. trTeEmpty shows that the last byte has left.
module trace_encoder #(
	parameter BLOCKS = 16,		// lengths of the queues, powers of 2
	parameter MESSAGES = 16
) (
	input clk,
	input reset,

	input select,			// one access to a register in this cycle
	input write,
	input [11:0] offset,
	input [31:0] wdata,
	output reg [31:0] rdata,

	input block_valid,
	input [4:0] iretire,
	input [3:0] itype,
	input [2:0] priv,
	input [31:0] scontext,
	input [63:0] iaddr,
	input [47:0] now,
	output stall,			// the hart must wait
	output room,			// a block would be taken
	output active,			// blocks are wanted

	output out_valid,
	output [7:0] out,
	input out_ready,
	output idle
);
	localparam BLOCK = 1 + 1 + 5 + 4 + 3 + 32 + 63, MESSAGE = 24 + 5 + 40 + 1 + 63 + 1 + 32 + 48;
	localparam BTM = 3'd3, HTM = 3'd6;

	// trTeControl
	reg te_active, enable, tracing, send_context, overflow, stall_enable, inhibit_src;
	reg [2:0] mode;
	reg [1:0] sync_mode;
	reg [3:0] sync_max;
	// trTeInstFeatures
	reg extend_address;
	reg [11:0] src;
	reg [3:0] src_bits;
	// trTsControl
	reg timestamps, ts_external;
	// trTeInstFilters, trTeFilter0Control and trTeFilter0MatchInst
	reg filtered, filter_enable, match_privilege;
	reg [7:0] privileges;

	wire reset_all = reset || !te_active;

	// Blocks, from the hart and at the head of their queue
	reg was_active, stopping, losing, lost;
	wire [BLOCK-1:0] oldest;
	wire [$clog2(BLOCKS):0] blocks;
	wire pop, stopped;
	wire full = blocks[$clog2(BLOCKS)];
	wire given = block_valid && active && !stopping && (iretire != 0 || itype != 0);
	wire block_lost = given && (full || losing);
	wire traced = !filtered || (filter_enable && (!match_privilege || privileges[priv]));
	fifo #(.WIDTH(BLOCK), .DEPTH(BLOCKS)) block_queue(
		.clk(clk), .reset(reset_all), .push(given && !block_lost),
		.in({traced, lost, iretire, itype, priv, scontext, iaddr[63:1]}),
		.pop(pop), .head(oldest), .filled(blocks));
	wire oldest_traced, oldest_after_loss;
	wire [4:0] oldest_iretire;
	wire [3:0] oldest_itype;
	wire [2:0] oldest_priv;
	wire [31:0] oldest_scontext;
	wire [62:0] oldest_iaddr;
	assign {oldest_traced, oldest_after_loss, oldest_iretire, oldest_itype, oldest_priv, oldest_scontext, oldest_iaddr} =
		oldest;

	assign active = enable && tracing && mode != 0;
	assign stall = stall_enable && active && full;
	assign room = !full && !losing && !stopping;

	// Messages, new and at the head of their queue
	wire send, has_address, has_history, sent;
	wire [23:0] fixed;
	wire [4:0] fixed_bits;
	wire [39:0] count;
	wire [62:0] address;
	wire [31:0] history;
	wire [47:0] timestamp;
	wire [MESSAGE-1:0] first;
	wire [$clog2(MESSAGES):0] queued;
	messages maker(
		.clk(clk), .reset(reset_all),
		.history_mode(mode == HTM), .send_context(send_context), .sync_mode(sync_mode), .sync_max(sync_max),
		.src(src), .src_bits(inhibit_src ? 4'd0 : src_bits), .now(now),
		.valid(blocks != 0), .pop(pop), .after_loss(oldest_after_loss), .traced(oldest_traced),
		.iretire(oldest_iretire), .itype(oldest_itype), .priv(oldest_priv), .scontext(oldest_scontext),
		.iaddr(oldest_iaddr), .stop(stopping), .stop_after_loss(lost), .stopped(stopped),
		.room(!queued[$clog2(MESSAGES)]), .send(send), .fixed(fixed), .fixed_bits(fixed_bits), .count(count),
		.has_address(has_address), .address(address), .has_history(has_history), .history(history),
		.timestamp(timestamp));
	fifo #(.WIDTH(MESSAGE), .DEPTH(MESSAGES)) message_queue(
		.clk(clk), .reset(reset_all), .push(send),
		.in({fixed, fixed_bits, count, has_address, address, has_history, history, timestamp}),
		.pop(sent), .head(first), .filled(queued));
	wire first_has_address, first_has_history;
	wire [23:0] first_fixed;
	wire [4:0] first_fixed_bits;
	wire [39:0] first_count;
	wire [62:0] first_address;
	wire [31:0] first_history;
	wire [47:0] first_timestamp;
	assign {first_fixed, first_fixed_bits, first_count, first_has_address, first_address, first_has_history, first_history,
		first_timestamp} = first;
	packer bytes(
		.clk(clk), .reset(reset_all), .valid(queued != 0), .ready(sent),
		.fixed(first_fixed), .fixed_bits(first_fixed_bits), .count(first_count),
		.has_address(first_has_address), .address(first_address), .extend_address(extend_address),
		.has_history(first_has_history), .history(first_history),
		.has_timestamp(timestamps), .timestamp(first_timestamp),
		.out_valid(out_valid), .out(out), .out_ready(out_ready));

	assign idle = blocks == 0 && queued == 0 && !stopping && was_active == active;

	always @(posedge clk) begin
		if (reset_all) begin
			was_active <= 0;
			stopping <= 0;
			losing <= 0;
			lost <= 0;
		end else begin
			was_active <= active;
			if (was_active && !active)
				stopping <= 1;
			else if (stopped)
				stopping <= 0;
			if (block_lost)
				losing <= 1;
			else if (blocks <= BLOCKS / 2)
				losing <= 0;
			if (block_lost)
				lost <= 1;
			else if (given || stopped)
				lost <= 0;
		end
	end

	// Registers
	always @(posedge clk) begin
		if (reset) begin
			te_active <= 0;
		end else if (select && write && offset == 12'h000) begin
			te_active <= wdata[0];
		end
		if (reset_all) begin
			enable <= 0;
			tracing <= 0;
			send_context <= 0;
			overflow <= 0;
			stall_enable <= 0;
			inhibit_src <= 0;
			mode <= 0;
			sync_mode <= 0;
			sync_max <= 0;
			extend_address <= 0;
			src <= 0;
			src_bits <= 0;
			timestamps <= 0;
			ts_external <= 0;
			filtered <= 0;
			filter_enable <= 0;
			match_privilege <= 0;
			privileges <= 0;
		end else begin
			if (block_lost || stall)
				overflow <= 1;
			if (select && write) begin
				case (offset)
				12'h000: begin
					enable <= wdata[1];
					tracing <= wdata[2];
					// A mode that does not exist becomes one that does.
					mode <= wdata[6:4] == 0 || wdata[6:4] == BTM ? wdata[6:4] : HTM;
					send_context <= wdata[9];
					if (wdata[12] || (wdata[1] && !enable))
						overflow <= 0;
					stall_enable <= wdata[13];
					inhibit_src <= wdata[15];
					// 1: messages, 3: parcels; there is no counter of cycles.
					if (wdata[17:16] != 2)
						sync_mode <= wdata[17:16];
					sync_max <= wdata[23:20];
				end
				12'h008: begin
					extend_address <= wdata[10];
					src <= wdata[27:16];
					src_bits <= wdata[31:28] > 12 ? 4'd12 : wdata[31:28];
				end
				12'h00c: filtered <= wdata[0];
				12'h400: begin
					filter_enable <= wdata[0];
					match_privilege <= wdata[1];
				end
				12'h404: privileges <= wdata[7:0] & 8'h6b;	// U, S, M, VU, VS
				12'h040: begin
					timestamps <= wdata[15];
					ts_external <= wdata[6:4] == 1;
				end
				default: ;
				endcase
			end
		end
	end
	always @*
		case (offset)
		12'h000: rdata = {5'd0, 3'd1, sync_max, 2'd0, sync_mode, inhibit_src, 1'b0, stall_enable, overflow, 2'd0,
				  send_context, 2'd0, mode, idle, tracing, enable, te_active};
		12'h004: rdata = 32'h00010101;		// N-Trace 1.0, encoder, version 1.0
		12'h008: rdata = {src_bits, src, 5'd0, extend_address, 10'd0};
		12'h00c: rdata = {31'd0, filtered};
		12'h400: rdata = {30'd0, match_privilege, filter_enable};
		12'h404: rdata = {24'd0, privileges};
		12'h040: rdata = {2'd0, 6'd48, 8'd0, timestamps, 8'd0, 2'd0, ts_external, 3'd0, te_active};
		12'h048: rdata = now[31:0];
		12'h04c: rdata = {16'd0, now[47:32]};
		default: rdata = 0;
		endcase
endmodule
