// SPDX-License-Identifier: GPL-2.0-only
// A trace funnel (RISC-V Trace Control Interface 1.0, chapter "Trace Funnel"): the messages of its inputs, one after the other.
// A byte with MSEO 11 ends a message, or is idle; only there may another input be chosen. The inputs have their turns.
// Messages of an input in trFunnelDisInput are taken and discarded.
module funnel #(
	parameter INPUTS = 2
) (
	input clk,
	input reset,

	input select,
	input write,
	input [11:0] offset,
	input [31:0] wdata,
	output reg [31:0] rdata,

	input [INPUTS-1:0] in_valid,
	input [8*INPUTS-1:0] in,
	output [INPUTS-1:0] in_ready,

	output out_valid,
	output [7:0] out,
	input out_ready
);
	reg active, enable, mid_message, discarding;
	reg [INPUTS-1:0] disabled;
	reg [3:0] last;			// the input that sent the last byte

	wire reset_all = reset || !active;

	// Within a message its input goes on, else the next input with a byte is chosen.
	reg [3:0] chosen;
	integer i, n;
	always @* begin
		chosen = last;
		n = 0;
		if (!mid_message)
			for (i = INPUTS; i > 0; i = i - 1) begin
				n = ({28'd0, last} + i) % INPUTS;
				if (in_valid[n[$clog2(INPUTS)-1:0]])
					chosen = n[3:0];
			end
	end
	wire [INPUTS-1:0] grant = {{INPUTS-1{1'b0}}, 1'b1} << chosen;
	wire discards = mid_message ? discarding : |(grant & disabled);

	assign out = in[chosen * 8 +: 8];
	assign out_valid = enable && |(in_valid & grant) && !discards;
	assign in_ready = enable && (out_ready || discards) ? grant : 0;

	always @(posedge clk) begin
		if (reset)
			active <= 0;
		else if (select && write && offset == 12'h000)
			active <= wdata[0];
		if (reset_all) begin
			enable <= 0;
			disabled <= 0;
			mid_message <= 0;
			discarding <= 0;
			last <= 0;
		end else begin
			if (|(in_valid & in_ready)) begin
				mid_message <= out[1:0] != 3;
				last <= chosen;
				discarding <= discards;
			end
			if (select && write && offset == 12'h000)
				enable <= wdata[1];
			if (select && write && offset == 12'h008)
				disabled <= wdata[INPUTS-1:0];
		end
	end

	always @*
		case (offset)
		12'h000: rdata = {28'd0, 1'b1, 1'b0, enable, active};	// nothing is kept: always empty
		12'h004: rdata = 32'h00000801;		// funnel, version 1.0
		12'h008: rdata = {{32-INPUTS{1'b0}}, disabled};
		default: rdata = 0;
		endcase
endmodule
