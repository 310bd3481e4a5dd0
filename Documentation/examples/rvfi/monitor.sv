// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Verifies a core of RV32 or RV64 while it is simulated (monitor.c), and ends the simulation at the first difference. Instantiate it
// beside the core, or bind it. The model is that of libntrace, or with +model=ADDRESS the one behind a GDB stub. A CSR is a line of its
// own below. Define RVFI_WITHOUT_CSRS for a core that has no rvfi_csr_* signals: its traps are verified by their pc alone.
// With Verilator: --binary monitor.sv monitor.c, and the flags of `pkg-config --cflags --libs libntrace`.
module rvfi_monitor #(
	parameter XLEN = 32,
	parameter longint DEVICE_FIRST = 0,
	parameter longint DEVICE_LAST = 0
) (
	input clk,
	input rvfi_valid,
	input [63:0] rvfi_order,
	input [31:0] rvfi_insn,
	input rvfi_trap, rvfi_halt, rvfi_intr,
	input [1:0] rvfi_mode,
	input [4:0] rvfi_rs1_addr, rvfi_rs2_addr, rvfi_rd_addr,
	input [XLEN-1:0] rvfi_rs1_rdata, rvfi_rs2_rdata, rvfi_rd_wdata,
	input [XLEN-1:0] rvfi_pc_rdata, rvfi_pc_wdata,
`ifndef RVFI_WITHOUT_CSRS
	input [XLEN-1:0] rvfi_csr_mstatus_rmask, rvfi_csr_mstatus_wmask, rvfi_csr_mstatus_rdata, rvfi_csr_mstatus_wdata,
	input [XLEN-1:0] rvfi_csr_mie_rmask, rvfi_csr_mie_wmask, rvfi_csr_mie_rdata, rvfi_csr_mie_wdata,
	input [XLEN-1:0] rvfi_csr_mip_rmask, rvfi_csr_mip_wmask, rvfi_csr_mip_rdata, rvfi_csr_mip_wdata,
	input [XLEN-1:0] rvfi_csr_mtvec_rmask, rvfi_csr_mtvec_wmask, rvfi_csr_mtvec_rdata, rvfi_csr_mtvec_wdata,
	input [XLEN-1:0] rvfi_csr_mepc_rmask, rvfi_csr_mepc_wmask, rvfi_csr_mepc_rdata, rvfi_csr_mepc_wdata,
	input [XLEN-1:0] rvfi_csr_mcause_rmask, rvfi_csr_mcause_wmask, rvfi_csr_mcause_rdata, rvfi_csr_mcause_wdata,
	input [XLEN-1:0] rvfi_csr_mtval_rmask, rvfi_csr_mtval_wmask, rvfi_csr_mtval_rdata, rvfi_csr_mtval_wdata,
`endif
	input [XLEN-1:0] rvfi_mem_addr, rvfi_mem_wdata,
	input [XLEN/8-1:0] rvfi_mem_rmask, rvfi_mem_wmask
);
	import "DPI-C" function int ntrace_monitor_open(input string address, input int xlen, input longint device_first,
		input longint device_last);
	import "DPI-C" function void ntrace_monitor_csr(input int number, input longint rmask, input longint wmask, input longint rdata,
		input longint wdata);
	import "DPI-C" function int ntrace_monitor_retire(input longint order, input longint insn, input int trap, input int halt,
		input int intr, input int mode, input int rs1_addr, input longint rs1_rdata, input int rs2_addr, input longint rs2_rdata,
		input int rd_addr, input longint rd_wdata, input longint pc_rdata, input longint pc_wdata, input longint mem_addr,
		input int mem_rmask, input int mem_wmask, input longint mem_wdata);
	import "DPI-C" function void ntrace_monitor_close();

	`define MONITOR_CSR(NUMBER, NAME) ntrace_monitor_csr(NUMBER, 64'(rvfi_csr_``NAME``_rmask), 64'(rvfi_csr_``NAME``_wmask), \
		64'(rvfi_csr_``NAME``_rdata), 64'(rvfi_csr_``NAME``_wdata));

	string address;
	bit ended = 0;

	initial begin
		if (!$value$plusargs("model=%s", address))
			address = "";
		if (ntrace_monitor_open(address, XLEN, DEVICE_FIRST, DEVICE_LAST) != 0)
			$fatal(1, "no model");
	end

	always @(posedge clk)
		if (rvfi_valid && !ended) begin
`ifndef RVFI_WITHOUT_CSRS
			`MONITOR_CSR(12'h300, mstatus)
			`MONITOR_CSR(12'h304, mie)
			`MONITOR_CSR(12'h305, mtvec)
			`MONITOR_CSR(12'h341, mepc)
			`MONITOR_CSR(12'h342, mcause)
			`MONITOR_CSR(12'h343, mtval)
			`MONITOR_CSR(12'h344, mip)
`endif
			if (ntrace_monitor_retire(rvfi_order, 64'(rvfi_insn), 32'(rvfi_trap), 32'(rvfi_halt), 32'(rvfi_intr), 32'(rvfi_mode),
				32'(rvfi_rs1_addr), 64'(rvfi_rs1_rdata), 32'(rvfi_rs2_addr), 64'(rvfi_rs2_rdata), 32'(rvfi_rd_addr),
				64'(rvfi_rd_wdata), 64'(rvfi_pc_rdata), 64'(rvfi_pc_wdata), 64'(rvfi_mem_addr), 32'(rvfi_mem_rmask),
				32'(rvfi_mem_wmask), 64'(rvfi_mem_wdata)) != 0) begin
				$display("ntrace: the simulation ends after the instruction %0d", rvfi_order);
				ended <= 1;
				$finish;
			end
		end

	final
		ntrace_monitor_close();
endmodule
