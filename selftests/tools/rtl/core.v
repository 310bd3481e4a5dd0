// SPDX-License-Identifier: GPL-2.0-only
// A small RV64IA core with Zicsr and M-mode only, and its trace ingress port (E-Trace, chapter 4):
// one instruction in a cycle, one block group, one data access, unified and split.
//
// The memory of 64 KiB is at 0x80000000. A store to 0x100000 ends the simulation.
module core (
	input clk,
	input rst,
	input stall,		// nothing retires in this cycle
	input irq,		// machine external interrupt
	output reg done
);
	reg [7:0] mem [0:65535];
	reg [63:0] x [0:31];
	reg [63:0] pc;
	reg [63:0] mtvec, mepc, mcause, mtval, mscratch;
	reg mie, mpie, meie;
	reg [63:0] reserved_at;
	reg reserved;

	function [63:0] peek(input [63:0] a);
		peek = {mem[a[15:0] + 16'd7], mem[a[15:0] + 16'd6], mem[a[15:0] + 16'd5], mem[a[15:0] + 16'd4],
			mem[a[15:0] + 16'd3], mem[a[15:0] + 16'd2], mem[a[15:0] + 16'd1], mem[a[15:0]]};
	endfunction
	function mapped(input [63:0] a);
		mapped = a[63:16] == 48'h8000;
	endfunction
	function [63:0] sext32(input [63:0] v);
		sext32 = {{32{v[31]}}, v[31:0]};
	endfunction
	function link(input [4:0] r);
		link = r == 1 || r == 5;
	endfunction

	// ---- execution ----

	reg [63:0] word64;
	reg [31:0] insn;
	reg [4:0] rd, rs1, rs2;
	reg [2:0] f3;
	reg [63:0] a, b, imm_i, imm_s, imm_b, imm_j, addr, loaded, raw, stored, result, next, csr;
	reg [63:0] cause, tval;
	reg [2:0] size;
	reg trap, interrupt, writes, loads, stores, atomic, csr_op, csr_known, taken, sc_fails;
	reg [63:0] old, operand;

	always @* begin
		word64 = peek(pc);
		insn = word64[31:0];
		rd = insn[11:7];
		rs1 = insn[19:15];
		rs2 = insn[24:20];
		f3 = insn[14:12];
		a = rs1 ? x[rs1] : 64'd0;
		b = rs2 ? x[rs2] : 64'd0;
		imm_i = {{52{insn[31]}}, insn[31:20]};
		imm_s = {{52{insn[31]}}, insn[31:25], insn[11:7]};
		imm_b = {{52{insn[31]}}, insn[7], insn[30:25], insn[11:8], 1'b0};
		imm_j = {{44{insn[31]}}, insn[19:12], insn[20], insn[30:21], 1'b0};
		next = pc + 4;
		result = 0;
		writes = 0;
		loads = 0;
		stores = 0;
		atomic = 0;
		csr_op = 0;
		csr_known = 1;
		csr = 0;
		taken = 0;
		sc_fails = 0;
		trap = 0;
		cause = 0;
		tval = 0;
		addr = 0;
		stored = 0;
		operand = 0;
		size = f3[1:0];
		interrupt = irq && mie && meie;
		case (insn[6:0])
		7'h37: begin writes = 1; result = {{32{insn[31]}}, insn[31:12], 12'd0}; end
		7'h17: begin writes = 1; result = pc + {{32{insn[31]}}, insn[31:12], 12'd0}; end
		7'h6f: begin writes = 1; result = pc + 4; next = pc + imm_j; end
		7'h67: begin writes = 1; result = pc + 4; next = (a + imm_i) & ~64'd1; end
		7'h63: begin
			case (f3)
			3'd0: taken = a == b;
			3'd1: taken = a != b;
			3'd4: taken = $signed(a) < $signed(b);
			3'd5: taken = $signed(a) >= $signed(b);
			3'd6: taken = a < b;
			3'd7: taken = a >= b;
			default: trap = 1;
			endcase
			if (taken)
				next = pc + imm_b;
		end
		7'h03: begin
			loads = 1;
			writes = 1;
			addr = a + imm_i;
			trap = f3 == 7;
		end
		7'h23: begin
			stores = 1;
			addr = a + imm_s;
			stored = b;
			trap = f3 > 3;
		end
		7'h13: begin
			writes = 1;
			case (f3)
			3'd0: result = a + imm_i;
			3'd1: result = a << insn[25:20];
			3'd2: result = $signed(a) < $signed(imm_i);
			3'd3: result = a < imm_i;
			3'd4: result = a ^ imm_i;
			3'd5: if (insn[30]) result = $signed(a) >>> insn[25:20]; else result = a >> insn[25:20];
			3'd6: result = a | imm_i;
			3'd7: result = a & imm_i;
			endcase
		end
		7'h1b: begin
			writes = 1;
			case (f3)
			3'd0: result = sext32(a + imm_i);
			3'd1: result = sext32(a << insn[24:20]);
			3'd5: begin
				if (insn[30]) result = $signed(a[31:0]) >>> insn[24:20];
				else result = a[31:0] >> insn[24:20];
				result = sext32(result);
			end
			default: trap = 1;
			endcase
		end
		7'h33: begin
			writes = 1;
			case (f3)
			3'd0: result = insn[30] ? a - b : a + b;
			3'd1: result = a << b[5:0];
			3'd2: result = $signed(a) < $signed(b);
			3'd3: result = a < b;
			3'd4: result = a ^ b;
			3'd5: if (insn[30]) result = $signed(a) >>> b[5:0]; else result = a >> b[5:0];
			3'd6: result = a | b;
			3'd7: result = a & b;
			endcase
			trap = insn[25];
		end
		7'h3b: begin
			writes = 1;
			case (f3)
			3'd0: result = sext32(insn[30] ? a - b : a + b);
			3'd1: result = sext32(a << b[4:0]);
			3'd5: begin
				if (insn[30]) result = $signed(a[31:0]) >>> b[4:0];
				else result = a[31:0] >> b[4:0];
				result = sext32(result);
			end
			default: trap = 1;
			endcase
			trap = trap | insn[25];
		end
		7'h0f: ;
		7'h2f: begin
			atomic = 1;
			writes = 1;
			addr = a;
			operand = b;
			trap = f3 != 2 && f3 != 3;
		end
		7'h73: begin
			if (insn == 32'h00000073) begin
				trap = 1;
				cause = 11;
			end else if (insn == 32'h00100073) begin
				trap = 1;
				cause = 3;
				tval = pc;
			end else if (insn == 32'h30200073) begin
				next = mepc;
			end else begin
				csr_op = f3[1:0] != 0;
				writes = 1;
				size = 3;
				operand = f3[2] ? {59'd0, rs1} : a;
				case (insn[31:20])
				12'h300: csr = {51'd0, 2'd3, 3'd0, mpie, 3'd0, mie, 3'd0};
				12'h304: csr = {52'd0, meie, 11'd0};
				12'h305: csr = mtvec;
				12'h340: csr = mscratch;
				12'h341: csr = mepc;
				12'h342: csr = mcause;
				12'h343: csr = mtval;
				default: csr_known = 0;
				endcase
				result = csr;
				trap = !csr_op || !csr_known;
			end
		end
		default: trap = 1;
		endcase
		if (trap && cause == 0) begin
			cause = 2;
			tval = insn;
		end
		if (!trap && (loads || atomic) && !mapped(addr)) begin
			trap = 1;
			cause = loads ? 5 : 7;
			tval = addr;
		end
		if (!trap && stores && !mapped(addr) && addr != 64'h100000) begin
			trap = 1;
			cause = 7;
			tval = addr;
		end
		raw = peek(addr);
		case (size)
		3'd0: loaded = {{56{raw[7] & ~f3[2]}}, raw[7:0]};
		3'd1: loaded = {{48{raw[15] & ~f3[2]}}, raw[15:0]};
		3'd2: loaded = {{32{raw[31] & ~f3[2]}}, raw[31:0]};
		default: loaded = raw;
		endcase
		if (loads)
			result = loaded;
		if (atomic && !trap) begin
			result = loaded;
			old = f3 == 2 ? {{32{loaded[31]}}, loaded[31:0]} : loaded;
			if (f3 == 2)
				operand = sext32(operand);
			case (insn[31:27])
			5'h01: stored = operand;
			5'h00: stored = old + operand;
			5'h04: stored = old ^ operand;
			5'h0c: stored = old & operand;
			5'h08: stored = old | operand;
			5'h10: stored = $signed(old) < $signed(operand) ? old : operand;
			5'h14: stored = $signed(old) > $signed(operand) ? old : operand;
			5'h18: stored = old < operand ? old : operand;
			5'h1c: stored = old > operand ? old : operand;
			5'h02: stored = 0;
			5'h03: begin
				stored = operand;
				sc_fails = !reserved || reserved_at != addr;
				result = sc_fails;
			end
			default: begin trap = 1; cause = 2; tval = insn; end
			endcase
		end
	end

	wire retires = !rst && !stall && !done && !interrupt && !trap;
	wire traps = !rst && !stall && !done && (interrupt || trap);
	wire lr = atomic && insn[31:27] == 5'h02;
	wire sc = atomic && insn[31:27] == 5'h03;
	wire puts = stores || (atomic && !lr && !(sc && sc_fails));
	integer i;

	initial
		for (i = 0; i < 65536; i = i + 1)
			mem[i] = 0;

	always @(posedge clk) begin
		if (rst) begin
			pc <= 64'h80000000;
			for (i = 0; i < 32; i = i + 1)
				x[i] <= 0;
			mtvec <= 0;
			mepc <= 0;
			mcause <= 0;
			mtval <= 0;
			mscratch <= 0;
			mie <= 0;
			mpie <= 0;
			meie <= 0;
			reserved <= 0;
			reserved_at <= 0;
			done <= 0;
		end else if (traps) begin
			mepc <= pc;
			mcause <= interrupt ? 64'h800000000000000b : cause;
			mtval <= interrupt ? 64'd0 : tval;
			mpie <= mie;
			mie <= 0;
			reserved <= 0;
			pc <= mtvec;
			$display("T %h %0d %0d %h", pc, interrupt ? 64'd99 : cause, $time, interrupt ? 64'd0 : tval);
		end else if (retires) begin
			$display("R %h", pc);
			pc <= next;
			if (writes && rd != 0)
				x[rd] <= result;
			if (puts && mapped(addr)) begin
				for (i = 0; i < (1 << size); i = i + 1)
					mem[addr[15:0] + i[15:0]] <= stored[8 * i +: 8];
			end
			if (stores && addr == 64'h100000)
				done <= 1;
			if (lr) begin
				reserved <= 1;
				reserved_at <= addr;
			end
			if (sc)
				reserved <= 0;
			if (insn == 32'h30200073) begin
				mie <= mpie;
				mpie <= 1;
			end
			if (csr_op) begin
				case (insn[31:20])
				12'h300: begin mie <= new_csr[3]; mpie <= new_csr[7]; end
				12'h304: meie <= new_csr[11];
				12'h305: mtvec <= new_csr;
				12'h340: mscratch <= new_csr;
				12'h341: mepc <= new_csr;
				12'h342: mcause <= new_csr;
				12'h343: mtval <= new_csr;
				endcase
			end
			// What the hart did with memory and CSRs: kind, address, bytes, value.
			if (loads || lr)
				$display("L %h %0d %h", addr, 1 << size, loaded & size_mask);
			else if (stores || (sc && !sc_fails))
				$display("S %h %0d %h", addr, 1 << size, stored & size_mask);
			else if (sc)
				$display("F %h %0d", addr, 1 << size);
			else if (atomic)
				$display("A %h %0d %h %h", addr, 1 << size, loaded & size_mask, stored & size_mask);
			else if (csr_op)
				$display("C %h %h %h", insn[31:20], csr, operand);
		end
	end

	wire [63:0] size_mask = size == 3 ? ~64'd0 : (64'd1 << (8 << size)) - 1;
	wire [63:0] new_csr = f3[1:0] == 1 ? operand : f3[1:0] == 2 ? csr | operand : csr & ~operand;

	// ---- trace ingress port ----

	reg [3:0] kind;
	always @* begin
		kind = 0;
		case (insn[6:0])
		7'h63: kind = taken ? 5 : 4;
		7'h6f: kind = link(rd) ? 9 : rd == 0 ? 11 : 15;
		7'h67:
			if (link(rd))
				kind = link(rs1) && rd != rs1 ? 12 : 8;
			else if (link(rs1))
				kind = 13;
			else
				kind = rd == 0 ? 10 : 14;
		7'h73: if (insn == 32'h30200073) kind = 3;
		endcase
	end
	wire [3:0] itype = traps ? (interrupt ? 4'd2 : 4'd1) : retires ? kind : 4'd0;
	wire [1:0] iretire = retires ? 2'd2 : 2'd0;
	wire [63:0] iaddr = retires || traps ? pc : 64'bx;
	wire [1:0] ilastsize = 1;
	wire [2:0] priv = 3;
	wire [5:0] xcause = interrupt ? 6'd11 : cause[5:0];
	wire [63:0] xtval = tval;

	reg [3:0] amo;
	always @* begin
		case (insn[31:27])
		5'h00: amo = 9;
		5'h04: amo = 12;
		5'h0c: amo = 10;
		5'h08: amo = 11;
		5'h10, 5'h18: amo = 14;
		5'h14, 5'h1c: amo = 13;
		default: amo = 8;
		endcase
	end
	wire dretire = retires && (loads || stores || atomic || csr_op);
	wire [3:0] dtype = !dretire ? 4'bx : csr_op ? {2'b01, f3[1:0] - 2'd1} : loads || lr ? 4'd0 :
		stores ? 4'd1 : sc ? (sc_fails ? 4'd15 : 4'd1) : amo;
	wire [63:0] daddr = !dretire ? 64'bx : csr_op ? {52'd0, insn[31:20]} : addr;
	wire [1:0] dsize = size[1:0];
	// Loads and stores have their value in the lower half, the others two values.
	wire [63:0] data_low = loads || lr ? loaded : csr_op ? operand : stored;
	wire [63:0] data_high = csr_op ? csr : loaded;
	wire [127:0] data = !dretire ? 128'bx : {data_high, data_low};

	// The split port: the value of a load comes three cycles later. An access error answers every 16th
	// load, although it has retired with its value, so that both kinds of responses exist.
	wire has_response = dretire && !csr_op && (loads || (atomic && !sc));
	reg [1:0] lrid;
	reg [66:0] wait0, wait1, wait2;
	reg [3:0] errors;
	always @(posedge clk) begin
		if (rst) begin
			lrid <= 0;
			wait0 <= 0;
			wait1 <= 0;
			wait2 <= 0;
			errors <= 0;
		end else begin
			if (has_response) begin
				lrid <= lrid + 1;
				errors <= errors + 1;
			end
			wait0 <= {has_response, lrid, loaded & size_mask};
			wait1 <= wait0;
			wait2 <= wait1;
		end
	end
	reg [3:0] answered;
	always @(posedge clk)
		answered <= rst ? 4'd0 : answered + {3'd0, wait2[66]};
	wire [1:0] lresp = !wait2[66] ? 2'd0 : answered == 15 ? 2'd3 : 2'd2;
	wire [1:0] lid = wait2[65:64];
	wire [63:0] ldata = lresp == 2 ? wait2[63:0] : 64'bx;
	wire [63:0] sdata = stores || sc ? stored : operand;
endmodule
