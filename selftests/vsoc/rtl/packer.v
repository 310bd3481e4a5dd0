// SPDX-License-Identifier: GPL-2.0-only
// Messages to bytes (N-Trace 1.0, chapter "N-Trace Messages": MDO and MSEO). A byte has 6 bits of the message in
// bits 7:2, and MSEO in bits 1:0: 00 within a field, 01 at the end of a variable field, 11 at the end of the message.
//
//	| fixed ... | count        | address     | history     | timestamp    |
//	|  00 |  00 |  00 |  01    |  00 |  01   |  00 |  01   |  00 |  11    |
//
// The first variable field begins in the bit after the fixed fields. Each variable field ends with a byte; zeros above its most
// significant 1 are left out, but it has at least one bit. An extended address may leave out all upper bits that equal the
// last bit sent ("trTeInstExtendAddrMSB").
//
// `ready` is high in the cycle that sends the last byte of a message.
module packer (
	input clk,
	input reset,

	input valid,
	output ready,
	input [23:0] fixed,		// TCODE, SRC, and the fields of fixed width, from bit 0
	input [4:0] fixed_bits,
	input [39:0] count,		// I-CNT, PROCESS, ECODE or RDATA
	input has_address,
	input [62:0] address,		// F-ADDR or U-ADDR: without bit 0
	input extend_address,
	input has_history,
	input [31:0] history,
	input has_timestamp,
	input [47:0] timestamp,

	output out_valid,
	output [7:0] out,
	input out_ready
);
	localparam NOTHING = 0, COUNT = 1, ADDRESS = 2, HISTORY = 3, TIMESTAMP = 4;

	reg [2:0] field;		// the field that is sent
	reg [65:0] value;		// what remains of it
	reg [4:0] least;		// bits that must be sent of it

	wire extended = field == ADDRESS && extend_address;
	wire [59:0] upper = value[65:6];
	wire zeros = upper == 0 && !(extended && value[5]);
	wire ones = extended && &upper && value[5];
	wire ends = least <= 6 && (zeros || ones);

	wire [2:0] following = field < ADDRESS && has_address ? ADDRESS :
			       field < HISTORY && has_history ? HISTORY :
			       field < TIMESTAMP && has_timestamp ? TIMESTAMP : NOTHING;
	wire sends = out_valid && out_ready;

	assign out_valid = field != NOTHING;
	assign out = {value[5:0], !ends ? 2'b00 : following == NOTHING ? 2'b11 : 2'b01};
	assign ready = sends && ends && following == NOTHING;

	always @(posedge clk) begin
		if (reset) begin
			field <= NOTHING;
			value <= 0;
			least <= 0;
		end else if (field == NOTHING) begin
			if (valid) begin
				field <= COUNT;
				value <= {42'd0, fixed} | {26'd0, count} << fixed_bits;
				least <= fixed_bits + 1;
			end
		end else if (sends && ends) begin
			field <= following;
			least <= 1;
			case (following)
			ADDRESS: value <= {{3{extend_address && address[62]}}, address};
			HISTORY: value <= {34'd0, history};
			default: value <= {18'd0, timestamp};
			endcase
		end else if (sends) begin
			value <= {{6{extended && value[65]}}, upper};
			least <= least > 6 ? least - 6 : 0;
		end
	end
endmodule
