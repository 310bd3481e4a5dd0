// SPDX-License-Identifier: GPL-2.0-only
// A small RV32I core with Zicsr, M and U mode, and the RISC-V Formal Interface: one instruction in a cycle. The memory of
// 64 KiB is at 0x80000000. A store to 0x100000 ends the simulation.
//
// `fault` selects a mistake, which is made once: at the first instruction from order `fault_at` on to which it applies.
module core (
	input clk,
	input rst,
	input timer,			// machine timer interrupt
	input [7:0] fault,
	input [31:0] fault_at,
	output reg done,
	output reg rvfi_valid,
	output reg [63:0] rvfi_order,
	output reg [31:0] rvfi_insn,
	output reg rvfi_trap, rvfi_halt, rvfi_intr,
	output reg [1:0] rvfi_mode, rvfi_ixl,
	output reg [4:0] rvfi_rs1_addr, rvfi_rs2_addr, rvfi_rd_addr,
	output reg [31:0] rvfi_rs1_rdata, rvfi_rs2_rdata, rvfi_rd_wdata,
	output reg [31:0] rvfi_pc_rdata, rvfi_pc_wdata,
	output reg [31:0] rvfi_mem_addr, rvfi_mem_rdata, rvfi_mem_wdata,
	output reg [3:0] rvfi_mem_rmask, rvfi_mem_wmask,
	output reg [31:0] rvfi_csr_mstatus_rmask, rvfi_csr_mstatus_wmask, rvfi_csr_mstatus_rdata, rvfi_csr_mstatus_wdata,
	output reg [31:0] rvfi_csr_mie_rmask, rvfi_csr_mie_wmask, rvfi_csr_mie_rdata, rvfi_csr_mie_wdata,
	output reg [31:0] rvfi_csr_mip_rmask, rvfi_csr_mip_wmask, rvfi_csr_mip_rdata, rvfi_csr_mip_wdata,
	output reg [31:0] rvfi_csr_mtvec_rmask, rvfi_csr_mtvec_wmask, rvfi_csr_mtvec_rdata, rvfi_csr_mtvec_wdata,
	output reg [31:0] rvfi_csr_mscratch_rmask, rvfi_csr_mscratch_wmask, rvfi_csr_mscratch_rdata, rvfi_csr_mscratch_wdata,
	output reg [31:0] rvfi_csr_mepc_rmask, rvfi_csr_mepc_wmask, rvfi_csr_mepc_rdata, rvfi_csr_mepc_wdata,
	output reg [31:0] rvfi_csr_mcause_rmask, rvfi_csr_mcause_wmask, rvfi_csr_mcause_rdata, rvfi_csr_mcause_wdata,
	output reg [31:0] rvfi_csr_mtval_rmask, rvfi_csr_mtval_wmask, rvfi_csr_mtval_rdata, rvfi_csr_mtval_wdata
);
	localparam FAULT_RESULT = 1, FAULT_OPERAND = 2, FAULT_BRANCH = 3, FAULT_LOAD = 4, FAULT_STORE_DATA = 5,
		FAULT_STORE_WIDTH = 6, FAULT_STORE_LOST = 7, FAULT_RD_LOST = 8, FAULT_MEPC = 9, FAULT_MCAUSE = 10,
		FAULT_MPIE = 11, FAULT_MASKED = 12, FAULT_MODE = 13, FAULT_CSR = 14, FAULT_VECTOR = 15, FAULT_ORDER = 16,
		FAULT_SIGN = 17, FAULT_MRET = 18, FAULT_X0 = 19;

	reg [7:0] mem [0:65535];
	reg [31:0] x [0:31];
	reg [31:0] pc, mtvec, mscratch, mepc, mcause, mtval;
	reg mie, mpie, mtie, user, previous_user, handler, faulted;
	reg [63:0] order;

	// ---- decoding ----

	reg [31:0] insn, a, b, imm_i, imm_s, imm_b, imm_j, addr, word, loaded, result, next, csr, operand, cause, tval, vector;
	reg [31:0] csr_new, mstatus, mip;
	reg [4:0] rd, rs1, rs2;
	reg [2:0] f3;
	reg [3:0] mask;
	reg uses_rs1, uses_rs2, writes, loads, stores, taken, trap, interrupt, csr_op, csr_known, csr_writes, is_mret, known;
	reg inject;

	function [31:0] peek(input [31:0] at);
		peek = {mem[at[15:0] + 16'd3], mem[at[15:0] + 16'd2], mem[at[15:0] + 16'd1], mem[at[15:0]]};
	endfunction

	always @* begin
		insn = peek(pc);
		rd = insn[11:7];
		rs1 = insn[19:15];
		rs2 = insn[24:20];
		f3 = insn[14:12];
		a = rs1 ? x[rs1] : 0;
		b = rs2 ? x[rs2] : 0;
		imm_i = {{20{insn[31]}}, insn[31:20]};
		imm_s = {{20{insn[31]}}, insn[31:25], insn[11:7]};
		imm_b = {{20{insn[31]}}, insn[7], insn[30:25], insn[11:8], 1'b0};
		imm_j = {{12{insn[31]}}, insn[19:12], insn[20], insn[30:21], 1'b0};
		mstatus = {19'd0, {2{!previous_user}}, 3'd0, mpie, 3'd0, mie, 3'd0};
		mip = timer ? 32'h80 : 0;
		inject = fault != 0 && !faulted && order >= fault_at;
		next = pc + 4;
		{result, addr, cause, tval, csr, operand, loaded, csr_new} = 0;
		{uses_rs1, uses_rs2, writes, loads, stores, taken, trap, csr_op, csr_writes, is_mret} = 0;
		csr_known = 1;
		known = 1;
		mask = f3[1:0] == 0 ? 4'h1 : f3[1:0] == 1 ? 4'h3 : 4'hf;
		// A mistake of the bypass: the operand is the address of the register.
		if (inject && fault == FAULT_OPERAND && insn[6:0] == 7'h33)
			a = rs1;
		case (insn[6:0])
		7'h37: begin writes = 1; result = {insn[31:12], 12'd0}; end
		7'h17: begin writes = 1; result = pc + {insn[31:12], 12'd0}; end
		7'h6f: begin writes = 1; result = pc + 4; next = pc + imm_j; end
		7'h67: begin uses_rs1 = 1; writes = 1; result = pc + 4; next = (a + imm_i) & ~32'd1; end
		7'h63: begin
			uses_rs1 = 1;
			uses_rs2 = 1;
			case (f3)
			0: taken = a == b;
			1: taken = a != b;
			4: taken = $signed(a) < $signed(b);
			5: taken = $signed(a) >= $signed(b);
			6: taken = a < b;
			7: taken = a >= b;
			default: known = 0;
			endcase
			if (inject && fault == FAULT_BRANCH)
				taken = !taken;
			if (taken)
				next = pc + imm_b;
		end
		7'h03: begin
			uses_rs1 = 1;
			loads = 1;
			writes = 1;
			addr = a + imm_i + (inject && fault == FAULT_LOAD ? 4 : 0);
			word = peek(addr);
			case (f3)
			0: result = {{24{word[7]}}, word[7:0]};
			1: result = {{16{word[15]}}, word[15:0]};
			2: result = word;
			4: result = {24'd0, word[7:0]};
			5: result = {16'd0, word[15:0]};
			default: known = 0;
			endcase
			if (inject && fault == FAULT_SIGN && f3 == 0 && word[7])
				result = {24'd0, word[7:0]};
		end
		7'h23: begin
			uses_rs1 = 1;
			uses_rs2 = 1;
			stores = 1;
			addr = a + imm_s;
			known = f3 < 3;
			if (inject && fault == FAULT_STORE_WIDTH && f3 == 2)
				mask = 4'h3;
			if (inject && fault == FAULT_STORE_DATA)
				b = b ^ 32'h10;
		end
		7'h13, 7'h33: begin
			uses_rs1 = 1;
			uses_rs2 = insn[5];
			writes = 1;
			operand = insn[5] ? b : imm_i;
			case (f3)
			0: result = insn[5] && insn[30] ? a - operand : a + operand;
			1: result = a << operand[4:0];
			2: result = $signed(a) < $signed(operand);
			3: result = a < operand;
			4: result = a ^ operand;
			5: if (insn[30])
				result = $signed(a) >>> operand[4:0];
			else
				result = a >> operand[4:0];
			6: result = a | operand;
			7: result = a & operand;
			endcase
			if (insn[5] && insn[25])
				known = 0;
		end
		7'h0f: ;
		7'h73: case (f3)
			0: if (insn == 32'h30200073 && !user) begin
				is_mret = 1;
				next = mepc;
			end else if (insn == 32'h00000073) begin
				trap = 1;
				cause = user ? 8 : 11;
			end else
				known = 0;
			default: begin
				csr_op = 1;
				writes = 1;
				uses_rs1 = !f3[2];
				operand = f3[2] ? rs1 : a;
				case (insn[31:20])
				12'h300: csr = mstatus;
				12'h304: csr = mtie ? 32'h80 : 0;
				12'h305: csr = mtvec;
				12'h340: csr = mscratch;
				12'h341: csr = mepc;
				12'h342: csr = mcause;
				12'h343: csr = mtval;
				12'h344: csr = mip;
				default: csr_known = 0;
				endcase
				known = csr_known && !user && f3 != 4;
				csr_writes = f3[1:0] == 1 || rs1 != 0;
				csr_new = f3[1:0] == 1 ? operand : f3[1:0] == 2 ? csr | operand : csr & ~operand;
				result = csr;
				if (inject && fault == FAULT_CSR && csr_writes && insn[31:20] == 12'h340)
					csr_new = csr_new ^ 32'h4;
			end
		endcase
		default: known = 0;
		endcase
		if (!known) begin
			trap = 1;
			cause = 2;
			tval = insn;
			writes = 0;
			loads = 0;
			stores = 0;
		end
		if (writes && inject && fault == FAULT_RESULT && insn[6:0] == 7'h13)
			result = result + 1;
		interrupt = timer && mtie && (mie || user);
		// An interrupt that is not enabled.
		if (inject && fault == FAULT_MASKED && !handler && !user && !mie)
			interrupt = 1;
		vector = {mtvec[31:2], 2'd0};
	end

	// Whether the mistake has been made, and is not made again.
	wire applies = inject && (
		fault == FAULT_RESULT ? insn[6:0] == 7'h13 && writes && rd != 0 :
		fault == FAULT_OPERAND ? insn[6:0] == 7'h33 && rd != 0 && rs1 != 0 :
		fault == FAULT_BRANCH ? insn[6:0] == 7'h63 :
		fault == FAULT_LOAD ? loads :
		fault == FAULT_STORE_DATA || fault == FAULT_STORE_LOST ? stores :
		fault == FAULT_STORE_WIDTH ? stores && f3 == 2 :
		fault == FAULT_RD_LOST ? insn[6:0] == 7'h33 && rd != 0 && result != x[rd] :
		fault == FAULT_MEPC || fault == FAULT_MCAUSE || fault == FAULT_MPIE || fault == FAULT_MODE || fault == FAULT_VECTOR ?
			trap || interrupt :
		fault == FAULT_MASKED ? interrupt && !(timer && mtie && (mie || user)) :
		fault == FAULT_CSR ? csr_op && csr_writes && insn[31:20] == 12'h340 && !trap :
		fault == FAULT_SIGN ? loads && f3 == 0 && word[7] :
		fault == FAULT_MRET ? is_mret :
		fault == FAULT_X0 ? writes && rd == 0 && insn[6:0] == 7'h6f :
		fault == FAULT_ORDER);
	wire lost = applies && fault == FAULT_STORE_LOST;
	wire lost_rd = applies && fault == FAULT_RD_LOST;

	// ---- one cycle ----

	integer i;
	wire retires = !interrupt && !trap;
	// The CSR that the instruction writes. What a trap writes is told by what the handler finds.
	wire [11:0] written = csr_op && csr_writes && retires ? insn[31:20] : 12'd0;

	task put_csrs;
		begin
			{rvfi_csr_mstatus_rmask, rvfi_csr_mie_rmask, rvfi_csr_mip_rmask, rvfi_csr_mtvec_rmask, rvfi_csr_mscratch_rmask,
			 rvfi_csr_mepc_rmask, rvfi_csr_mcause_rmask, rvfi_csr_mtval_rmask} <= {256{1'b1}};
			rvfi_csr_mstatus_rdata <= mstatus;
			rvfi_csr_mie_rdata <= mtie ? 32'h80 : 0;
			rvfi_csr_mip_rdata <= mip;
			rvfi_csr_mtvec_rdata <= mtvec;
			rvfi_csr_mscratch_rdata <= mscratch;
			rvfi_csr_mepc_rdata <= mepc;
			rvfi_csr_mcause_rdata <= mcause;
			rvfi_csr_mtval_rdata <= mtval;
			rvfi_csr_mstatus_wmask <= {32{written == 12'h300 || is_mret}};
			rvfi_csr_mstatus_wdata <= is_mret ? {24'h18, !(applies && fault == FAULT_MRET), 3'd0, mpie, 3'd0} & ~32'h1800 :
				{19'd0, {2{csr_new[12:11] == 3}}, 3'd0, csr_new[7], 3'd0, csr_new[3], 3'd0};
			rvfi_csr_mie_wmask <= {32{written == 12'h304}};
			rvfi_csr_mie_wdata <= csr_new & 32'h80;
			rvfi_csr_mip_wmask <= 0;
			rvfi_csr_mtvec_wmask <= {32{written == 12'h305}};
			rvfi_csr_mtvec_wdata <= csr_new & ~32'd2;
			rvfi_csr_mscratch_wmask <= {32{written == 12'h340}};
			rvfi_csr_mscratch_wdata <= csr_new;
			rvfi_csr_mepc_wmask <= {32{written == 12'h341}};
			rvfi_csr_mepc_wdata <= csr_new & ~32'd3;
			rvfi_csr_mcause_wmask <= {32{written == 12'h342}};
			rvfi_csr_mcause_wdata <= csr_new;
			rvfi_csr_mtval_wmask <= {32{written == 12'h343}};
			rvfi_csr_mtval_wdata <= csr_new;
		end
	endtask

	task write_csr;
		case (insn[31:20])
		12'h300: begin mie <= csr_new[3]; mpie <= csr_new[7]; previous_user <= csr_new[12:11] != 3; end
		12'h304: mtie <= csr_new[7];
		12'h305: mtvec <= csr_new & ~32'd2;
		12'h340: mscratch <= csr_new;
		12'h341: mepc <= csr_new & ~32'd3;
		12'h342: mcause <= csr_new;
		12'h343: mtval <= csr_new;
		endcase
	endtask

	always @(posedge clk) begin
		rvfi_valid <= 0;
		done <= 0;
		if (rst) begin
			pc <= 32'h80000000;
			order <= 0;
			{mie, mpie, mtie, user, previous_user, handler, faulted} <= 7'b0000100;
			{mtvec, mscratch, mepc, mcause, mtval} <= 0;
			for (i = 0; i < 32; i = i + 1)
				x[i] <= 0;
		end else begin
			if (applies) begin
				faulted <= 1;
				$display("fault at order %0d, pc %h", order, pc);
			end
			if (interrupt || trap) begin
				mepc <= pc + (applies && fault == FAULT_MEPC ? 4 : 0);
				mcause <= (interrupt ? 32'h80000007 : cause) ^ (applies && fault == FAULT_MCAUSE ? 1 : 0);
				mtval <= interrupt ? 0 : tval;
				mpie <= applies && fault == FAULT_MPIE ? !mie : mie;
				mie <= 0;
				previous_user <= applies && fault == FAULT_MODE ? !user : user;
				user <= 0;
				handler <= 1;
				pc <= vector + (interrupt && mtvec[0] ? 28 : 0) + (applies && fault == FAULT_VECTOR ? 4 : 0);
			end
			if (!interrupt) begin
				rvfi_valid <= 1;
				rvfi_order <= order + (applies && fault == FAULT_ORDER ? 1 : 0);
				order <= order + 1 + (applies && fault == FAULT_ORDER ? 1 : 0);
				rvfi_insn <= insn;
				rvfi_trap <= trap;
				rvfi_halt <= 0;
				rvfi_intr <= handler;
				rvfi_mode <= user ? 0 : 3;
				rvfi_ixl <= 1;
				rvfi_rs1_addr <= uses_rs1 && known ? rs1 : 0;
				rvfi_rs2_addr <= uses_rs2 && known ? rs2 : 0;
				rvfi_rs1_rdata <= uses_rs1 && known ? a : 0;
				rvfi_rs2_rdata <= uses_rs2 && known ? b : 0;
				rvfi_rd_addr <= writes && retires && !lost_rd ? rd : 0;
				rvfi_rd_wdata <= applies && fault == FAULT_X0 ? 5 : writes && retires && rd != 0 && !lost_rd ? result : 0;
				rvfi_pc_rdata <= pc;
				rvfi_pc_wdata <= trap ? vector : next;
				rvfi_mem_addr <= loads || stores ? addr : 32'dx;
				rvfi_mem_rmask <= loads ? mask : 0;
				rvfi_mem_wmask <= stores && !lost ? mask : 0;
				rvfi_mem_rdata <= loads ? word : 32'dx;
				rvfi_mem_wdata <= stores ? b : 32'dx;
				put_csrs;
			end
			if (retires) begin
				handler <= 0;
				pc <= next;
				if (writes && rd != 0 && !lost_rd)
					x[rd] <= result;
				if (stores && !lost)
					for (i = 0; i < 4; i = i + 1)
						if (mask[i] && addr[31:16] == 16'h8000)
							mem[addr[15:0] + i] <= b[8 * i +: 8];
				if (stores && addr == 32'h100000) begin
					rvfi_halt <= 1;
					done <= 1;
				end
				if (csr_op && csr_writes)
					write_csr;
				if (is_mret) begin
					mie <= mpie;
					mpie <= applies && fault == FAULT_MRET ? 0 : 1;
					user <= previous_user;
					previous_user <= 1;
				end
			end
		end
	end
endmodule
