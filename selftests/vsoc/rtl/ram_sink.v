// SPDX-License-Identifier: GPL-2.0-only
// A RAM sink in system memory (RISC-V Trace Control Interface 1.0, chapter "Trace RAM Sink", SMEM mode). It writes 8 bytes at a
// time: trRamStart and trRamLimit are multiples of 8. Switching it off fills the last 8 bytes with idle bytes (0xff).
// While it is off it takes no bytes, so that what comes before it waits or loses trace.
module ram_sink (
	input clk,
	input reset,

	input select,
	input write,
	input [11:0] offset,
	input [31:0] wdata,
	output reg [31:0] rdata,

	input in_valid,
	input [7:0] in,
	output in_ready,

	// The write is done in the cycle in which both are high.
	output mem_valid,
	output [63:0] mem_address,
	output [63:0] mem_data,
	input mem_ready,
	output idle			// no write is left over
);
	reg active, enable, stop_on_wrap, wrapped;
	reg [60:0] start, limit, wp;	// in units of 8 bytes
	reg [3:0] filled;
	reg [63:0] data;

	wire reset_all = reset || !active;
	wire padding = !enable && filled != 0;
	wire writable = select && write && !enable && filled == 0;

	assign in_ready = enable && !filled[3];
	assign mem_valid = filled[3];
	assign mem_address = {wp, 3'd0};
	assign mem_data = data;
	assign idle = !filled[3] && !padding;

	always @(posedge clk) begin
		if (reset)
			active <= 0;
		else if (select && write && offset == 12'h000)
			active <= wdata[0];
		if (reset_all) begin
			enable <= 0;
			stop_on_wrap <= 0;
			wrapped <= 0;
			start <= 0;
			limit <= 0;
			wp <= 0;
			filled <= 0;
			data <= 0;
		end else begin
			if (select && write && offset == 12'h000) begin
				enable <= wdata[1];
				stop_on_wrap <= wdata[8];
			end
			if (writable)
				case (offset)
				12'h010: start[28:0] <= wdata[31:3];
				12'h014: start[60:29] <= wdata;
				12'h018: limit[28:0] <= wdata[31:3];
				12'h01c: limit[60:29] <= wdata;
				12'h020: begin
					wp[28:0] <= wdata[31:3];
					wrapped <= wdata[0];
				end
				12'h024: wp[60:29] <= wdata;
				default: ;
				endcase
			if (mem_valid && mem_ready) begin
				filled <= 0;
				wp <= wp == limit ? start : wp + 1;
				if (wp == limit) begin
					wrapped <= 1;
					if (stop_on_wrap)
						enable <= 0;
				end
			end else if (!filled[3] && (padding || (in_valid && in_ready))) begin
				data[filled[2:0] * 8 +: 8] <= padding ? 8'hff : in;
				filled <= filled + 1;
			end
		end
	end

	always @*
		case (offset)
		12'h000: rdata = {23'd0, stop_on_wrap, 3'd0, active, idle, 1'b0, enable, active};
		12'h004: rdata = 32'h00002901;		// SMEM, RAM sink, version 1.0
		12'h010: rdata = {start[28:0], 3'd0};
		12'h014: rdata = start[60:29];
		12'h018: rdata = {limit[28:0], 3'd0};
		12'h01c: rdata = limit[60:29];
		12'h020: rdata = {wp[28:0], 2'd0, wrapped};
		12'h024: rdata = wp[60:29];
		default: rdata = 0;
		endcase
endmodule
