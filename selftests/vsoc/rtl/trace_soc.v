// SPDX-License-Identifier: GPL-2.0-only
// The trace components of a SoC: an encoder and a RAM sink for each hart.
//
//	bus_address	component
//	0x000000 + 0x1000 n	encoder of hart n
//	0x040000 + 0x1000 n	its RAM sink
//
// One hart retires at a time, so the harts share the signals of the instruction interface, and block_hart selects one.
module trace_soc #(
	parameter HARTS = 2
) (
	input clk,
	input reset,

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

	assign idle = &{encoder_idle, sink_idle};

	genvar n;
	generate
		for (n = 0; n < HARTS; n = n + 1) begin : hart
			wire byte_valid, byte_ready;
			wire [7:0] trace_byte;

			trace_encoder encoder(
				.clk(clk), .reset(reset), .select(bus_valid && bus_address[23:12] == n), .write(bus_write),
				.offset(bus_address[11:0]), .wdata(bus_wdata), .rdata(encoder_rdata[32*n +: 32]),
				.block_valid(block_valid && block_hart == n), .iretire(iretire), .itype(itype), .priv(priv),
				.scontext(scontext), .iaddr(iaddr), .now(now),
				.stall(stall[n]), .room(room[n]), .active(active[n]),
				.out_valid(byte_valid), .out(trace_byte), .out_ready(byte_ready), .idle(encoder_idle[n]));
			ram_sink sink(
				.clk(clk), .reset(reset), .select(bus_valid && bus_address[23:12] == 64 + n), .write(bus_write),
				.offset(bus_address[11:0]), .wdata(bus_wdata), .rdata(sink_rdata[32*n +: 32]),
				.in_valid(byte_valid), .in(trace_byte), .in_ready(byte_ready), .mem_valid(mem_valids[n]),
				.mem_address(mem_addresses[64*n +: 64]), .mem_data(mem_datas[64*n +: 64]),
				.mem_ready(mem_grant[n] && mem_ready), .idle(sink_idle[n]));
		end
	endgenerate

	integer i;
	always @* begin
		bus_rdata = 0;
		bus_error = 1;
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
