// SPDX-License-Identifier: GPL-2.0-only
// A queue. `head` is valid while `filled` is not 0. A push into a full queue is ignored, and so is a pop
// from an empty one.
module fifo #(
	parameter WIDTH = 8,
	parameter DEPTH = 16,
	parameter INDEX = $clog2(DEPTH)
) (
	input clk,
	input reset,
	input push,
	input [WIDTH-1:0] in,
	input pop,
	output [WIDTH-1:0] head,
	output reg [INDEX:0] filled
);
	reg [WIDTH-1:0] entries [0:DEPTH-1];
	reg [INDEX-1:0] first;
	wire [INDEX-1:0] next_free = first + filled[INDEX-1:0];
	wire pushes = push && !filled[INDEX];
	wire pops = pop && filled != 0;

	assign head = entries[first];

	always @(posedge clk) begin
		if (pushes)
			entries[next_free] <= in;
		if (reset) begin
			first <= 0;
			filled <= 0;
		end else begin
			if (pops)
				first <= first + 1;
			filled <= filled + {{INDEX{1'b0}}, pushes} - {{INDEX{1'b0}}, pops};
		end
	end
endmodule
