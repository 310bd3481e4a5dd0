// SPDX-License-Identifier: GPL-2.0-only
// Runs a program on the core: prints what retires, and dumps the signals of the trace ingress port.
//   vvp testbench +program=BYTES.hex +wave=FILE.vcd [+irq=CYCLES] [+stall]
module testbench;
	reg clk = 0, rst = 1, stall = 0, irq = 0;
	wire done;
	reg [8 * 1024 - 1:0] image, wave;
	reg [15:0] lfsr = 16'hace1;
	integer period = 0, cycles = 0;

	core core (.clk(clk), .rst(rst), .stall(stall), .irq(irq), .done(done));

	always #5 clk = ~clk;

	initial begin
		if (!$value$plusargs("program=%s", image) || !$value$plusargs("wave=%s", wave))
			$finish(2);
		if (!$value$plusargs("irq=%d", period))
			period = 0;
		#1 $readmemh(image, core.mem);
		$dumpfile(wave);
		$dumpvars(1, testbench);
		$dumpvars(1, core.itype, core.iretire, core.iaddr, core.ilastsize, core.priv, core.xcause, core.xtval);
		$dumpvars(1, core.dretire, core.dtype, core.daddr, core.dsize, core.data);
		$dumpvars(1, core.has_response, core.lrid, core.lresp, core.lid, core.ldata, core.sdata);
		#21 rst = 0;
	end

	always @(posedge clk) begin
		cycles <= cycles + 1;
		lfsr <= {lfsr[14:0], lfsr[15] ^ lfsr[13] ^ lfsr[12] ^ lfsr[10]};
		stall <= $test$plusargs("stall") && lfsr[1:0] == 0;
		irq <= period != 0 && cycles % (period + 1) == period;
		if (done || cycles > 400000)
			$finish(0);
	end
endmodule
