// SPDX-License-Identifier: GPL-2.0-only
// The trace components of a SoC: an encoder and a RAM sink for each hart. With `funnelled`, which does not change, the
// encoders share the sink of hart 0 through a funnel.
//
//	bus_address	component
//	0x000000 + 0x1000 n	encoder of hart n
//	0x020000		funnel
//	0x040000 + 0x1000 n	RAM sink of hart n
//
// One hart retires at a time, so the harts share the signals of the instruction interface, and block_hart selects one.
module trace_soc #(
	parameter HARTS = 2
) (
	input clk,
	input reset,
	input funnelled,

	// One access in a cycle
	input bus_valid,
	input bus_write,
	input [23:0] bus_address,
	input [31:0] bus_wdata,
	output reg [31:0] bus_rdata,
	output reg bus_error,

	input block_valid,
	input [3:0] block_hart,
	input [4:0] iretire,
	input [3:0] itype,
	input [2:0] priv,
	input [31:0] scontext,
	input [63:0] iaddr,
	input [47:0] now,
	output [HARTS-1:0] stall,
	output [HARTS-1:0] room,
	output [HARTS-1:0] active,

	// One write to memory in a cycle
	output reg mem_valid,
	output reg [63:0] mem_address,
	output reg [63:0] mem_data,
	input mem_ready,

	output idle
);
	wire [HARTS-1:0] encoder_idle, sink_idle, mem_valids;
	wire [32*HARTS-1:0] encoder_rdata, sink_rdata;
	wire [64*HARTS-1:0] mem_addresses, mem_datas;
	reg [HARTS-1:0] mem_grant;
	wire [HARTS-1:0] byte_valid, to_funnel, to_sink;
	wire [8*HARTS-1:0] bytes;
	wire funnel_valid;
	wire [7:0] funnel_byte;
	wire [31:0] funnel_rdata;

	assign idle = &{encoder_idle, sink_idle};

	funnel #(.INPUTS(HARTS)) the_funnel(
		.clk(clk), .reset(reset), .select(bus_valid && bus_address[23:12] == 32), .write(bus_write),
		.offset(bus_address[11:0]), .wdata(bus_wdata), .rdata(funnel_rdata),
		.in_valid(byte_valid & {HARTS{funnelled}}), .in(bytes), .in_ready(to_funnel),
		.out_valid(funnel_valid), .out(funnel_byte), .out_ready(to_sink[0]));

	genvar n;
	generate
		for (n = 0; n < HARTS; n = n + 1) begin : hart
			trace_encoder encoder(
				.clk(clk), .reset(reset), .select(bus_valid && bus_address[23:12] == n), .write(bus_write),
				.offset(bus_address[11:0]), .wdata(bus_wdata), .rdata(encoder_rdata[32*n +: 32]),
				.block_valid(block_valid && block_hart == n), .iretire(iretire), .itype(itype), .priv(priv),
				.scontext(scontext), .iaddr(iaddr), .now(now),
				.stall(stall[n]), .room(room[n]), .active(active[n]),
				.out_valid(byte_valid[n]), .out(bytes[8*n +: 8]),
				.out_ready(funnelled ? to_funnel[n] : to_sink[n]), .idle(encoder_idle[n]));
			ram_sink sink(
				.clk(clk), .reset(reset), .select(bus_valid && bus_address[23:12] == 64 + n), .write(bus_write),
				.offset(bus_address[11:0]), .wdata(bus_wdata), .rdata(sink_rdata[32*n +: 32]),
				.in_valid(!funnelled ? byte_valid[n] : n == 0 && funnel_valid),
				.in(funnelled ? funnel_byte : bytes[8*n +: 8]), .in_ready(to_sink[n]), .mem_valid(mem_valids[n]),
				.mem_address(mem_addresses[64*n +: 64]), .mem_data(mem_datas[64*n +: 64]),
				.mem_ready(mem_grant[n] && mem_ready), .idle(sink_idle[n]));
		end
	endgenerate

	integer i;
	always @* begin
		bus_rdata = funnel_rdata;
		bus_error = bus_address[23:12] != 32;
		mem_valid = 0;
		mem_address = 0;
		mem_data = 0;
		mem_grant = 0;
		for (i = 0; i < HARTS; i = i + 1) begin
			if ({20'd0, bus_address[23:12]} == i) begin
				bus_rdata = encoder_rdata[32*i +: 32];
				bus_error = 0;
			end
			if ({20'd0, bus_address[23:12]} == 64 + i) begin
				bus_rdata = sink_rdata[32*i +: 32];
				bus_error = 0;
			end
			if (mem_valids[i] && !mem_valid) begin
				mem_valid = 1;
				mem_address = mem_addresses[64*i +: 64];
				mem_data = mem_datas[64*i +: 64];
				mem_grant[i] = 1;
			end
		end
	end
endmodule
