// SPDX-License-Identifier: GPL-2.0-only
// Runs a program on the core, with timer interrupts. The signals of RVFI are in the waveform, and printed as text.
//   vvp testbench +program=BYTES.hex +wave=FILE.vcd [+log=FILE] [+timer=CYCLES] [+cycles=N] [+fault=N +at=ORDER]
`define CSR(NAME, RDATA, WMASK, WDATA) $fwrite(log, " rvfi_csr_%s_rmask=ffffffff rvfi_csr_%s_rdata=%h rvfi_csr_%s_wmask=%h rvfi_csr_%s_wdata=%h", \
	NAME, NAME, RDATA, NAME, WMASK, NAME, WMASK ? WDATA : 32'd0);

module testbench;
	reg clk = 0, rst = 1, timer = 0, finished = 0;
	wire done;
	reg [7:0] fault = 0;
	reg [31:0] at = 0;
	reg [8 * 1024 - 1:0] image, wave, name;
	integer period = 0, cycles = 0, after = 0, log = 0, limit = 400000, i;

	core core (.clk(clk), .rst(rst), .timer(timer), .fault(fault), .fault_at(at), .done(done));

	always #5 clk = ~clk;

	initial begin
		if (!$value$plusargs("program=%s", image) || !$value$plusargs("wave=%s", wave))
			$finish(2);
		if (!$value$plusargs("timer=%d", period))
			period = 0;
		if (!$value$plusargs("fault=%d", fault) || !$value$plusargs("at=%d", at))
			fault = 0;
		if (!$value$plusargs("cycles=%d", limit))
			limit = 400000;
		if ($value$plusargs("log=%s", name))
			log = $fopen(name, "w");
		for (i = 0; i < 65536; i = i + 1)
			core.mem[i] = 0;
		#1 $readmemh(image, core.mem);
		$dumpfile(wave);
		$dumpvars(1, testbench, core);
		#21 rst = 0;
	end

	// The line of an instruction, as a designer prints it.
	always @(posedge clk)
		if (core.rvfi_valid && log) begin
			$fwrite(log, "rvfi_order=%0h rvfi_insn=%h rvfi_trap=%b rvfi_intr=%b rvfi_halt=%b rvfi_mode=%h",
				core.rvfi_order, core.rvfi_insn, core.rvfi_trap, core.rvfi_intr, core.rvfi_halt, core.rvfi_mode);
			$fwrite(log, " rvfi_rs1_addr=%h rvfi_rs1_rdata=%h rvfi_rs2_addr=%h rvfi_rs2_rdata=%h", core.rvfi_rs1_addr,
				core.rvfi_rs1_rdata, core.rvfi_rs2_addr, core.rvfi_rs2_rdata);
			$fwrite(log, " rvfi_rd_addr=%h rvfi_rd_wdata=%h rvfi_pc_rdata=%h rvfi_pc_wdata=%h rvfi_mem_rmask=%h rvfi_mem_wmask=%h",
				core.rvfi_rd_addr, core.rvfi_rd_wdata, core.rvfi_pc_rdata, core.rvfi_pc_wdata, core.rvfi_mem_rmask,
				core.rvfi_mem_wmask);
			if (core.rvfi_mem_rmask || core.rvfi_mem_wmask)
				$fwrite(log, " rvfi_mem_addr=%h", core.rvfi_mem_addr);
			if (core.rvfi_mem_wmask)
				$fwrite(log, " rvfi_mem_wdata=%h", core.rvfi_mem_wdata);
			`CSR("mstatus", core.rvfi_csr_mstatus_rdata, core.rvfi_csr_mstatus_wmask, core.rvfi_csr_mstatus_wdata)
			`CSR("mie", core.rvfi_csr_mie_rdata, core.rvfi_csr_mie_wmask, core.rvfi_csr_mie_wdata)
			`CSR("mtvec", core.rvfi_csr_mtvec_rdata, core.rvfi_csr_mtvec_wmask, core.rvfi_csr_mtvec_wdata)
			`CSR("mscratch", core.rvfi_csr_mscratch_rdata, core.rvfi_csr_mscratch_wmask, core.rvfi_csr_mscratch_wdata)
			`CSR("mepc", core.rvfi_csr_mepc_rdata, core.rvfi_csr_mepc_wmask, core.rvfi_csr_mepc_wdata)
			`CSR("mcause", core.rvfi_csr_mcause_rdata, core.rvfi_csr_mcause_wmask, core.rvfi_csr_mcause_wdata)
			`CSR("mtval", core.rvfi_csr_mtval_rdata, core.rvfi_csr_mtval_wmask, core.rvfi_csr_mtval_wdata)
			`CSR("mip", core.rvfi_csr_mip_rdata, 32'd0, 32'd0)
			$fwrite(log, "\n");
		end

	always @(posedge clk) begin
		cycles <= cycles + 1;
		// Pending until the handler clears it with a store to 0x2000000.
		if (core.stores && core.addr == 32'h2000000)
			timer <= 0;
		else if (period != 0 && cycles % (period + 1) == period)
			timer <= 1;
		// What follows a mistake soon is enough.
		if (core.faulted)
			after <= after + 1;
		finished <= done || cycles > limit || after > 300;
	end

	// Between the edges, where no line is being written.
	always @(negedge clk)
		if (finished) begin
			if (log)
				$fclose(log);
			$finish(0);
		end
endmodule
