/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Verifies a core while it is simulated: monitor.sv calls these functions through the DPI for each
 * instruction that retires, and a model executes the same one: that of libntrace, or one behind a GDB
 * stub. The simulation ends at the first difference.
 *
 * An instruction is judged when the next one retires, which tells what it left.
 */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/tandem_rvfi.h>
#include <ntrace/tandem_verify.h>

#define DIFFERENT 1

static struct ntrace_tandem_rvfi *rvfi;
static struct ntrace_tandem_verifier *verifier;
static struct ntrace_tandem_gdb *gdb;
static struct ntrace_tandem_builtin *builtin;
static struct ntrace_rvfi_change changes[NTRACE_RVFI_CHANGES_MAX];
static size_t change_count;

static int on_mismatch(void *user, const struct ntrace_tandem_mismatch *mismatch)
{
	const struct ntrace_tandem_rule_info *rule = ntrace_tandem_rule_info(mismatch->rule);
	char name[NTRACE_TANDEM_NAME_MAX] = "";

	(void)user;
	if (mismatch->kind == NTRACE_TANDEM_DIFFERENT_REGISTER ||
	    mismatch->kind == NTRACE_TANDEM_DIFFERENT_TRAP)
		ntrace_tandem_register_name(mismatch->id, name);
	printf("ntrace: pc 0x%" PRIx64 ", instruction %08" PRIx64 ": %s: %s 0x%" PRIx64
	       ", expected 0x%" PRIx64 "\n",
	       mismatch->pc, mismatch->insn, rule->text, name, mismatch->seen, mismatch->expected);
	return DIFFERENT;
}

static int on_problem(void *user, const struct ntrace_rvfi_problem *problem)
{
	(void)user;
	printf("ntrace: pc 0x%" PRIx64 ": %s: 0x%" PRIx64 ", expected 0x%" PRIx64 "\n", problem->pc,
	       problem->text, problem->seen, problem->expected);
	return DIFFERENT;
}

/* The model of libntrace knows of memory what the core has told. */
static int on_group(void *user, const struct ntrace_tandem_state *state)
{
	(void)user;
	if (builtin)
		ntrace_tandem_builtin_group(builtin, state);
	return 0;
}

static int on_field(void *user, const struct ntrace_tandem_field *field)
{
	(void)user;
	return ntrace_tandem_verifier_field(verifier, field);
}

/* Makes the model, or connects to that at @address, if there is one. @device_first, @device_last: addresses whose loads the core decides. Return: 0 or an error */
int ntrace_monitor_open(const char *address, int xlen, uint64_t device_first, uint64_t device_last)
{
	static struct ntrace_tandem_range device;
	struct ntrace_tandem_verify_config verify;
	struct ntrace_tandem_rvfi_config convert = { .size = sizeof(convert),
						     .field = on_field,
						     .problem = on_problem };
	int error;

	ntrace_tandem_verify_config_init(&verify);
	verify.params.xlen = (unsigned int)xlen;
	verify.params.mlen = (unsigned int)xlen;
	convert.params = verify.params;
	device = (struct ntrace_tandem_range){ device_first, device_last };
	verify.devices = &device;
	verify.device_count = 1;
	verify.mismatch = on_mismatch;
	verify.group = on_group;
	if (*address)
		error = ntrace_tandem_gdb_open(&gdb, address, &verify.model);
	else
		error = ntrace_tandem_builtin_new(&builtin, &verify.params, NULL, false,
						  &verify.model);
	if (!error)
		error = ntrace_tandem_verifier_new(&verifier, &verify);
	if (!error)
		error = ntrace_tandem_rvfi_new(&rvfi, &convert);
	if (error)
		fprintf(stderr, "ntrace: %s: %s\n", address, ntrace_strerror(error));
	return error;
}

/* A CSR that the next instruction tells: rvfi_csr_*. */
void ntrace_monitor_csr(int number, uint64_t rmask, uint64_t wmask, uint64_t rdata, uint64_t wdata)
{
	if (change_count < NTRACE_RVFI_CHANGES_MAX)
		changes[change_count++] =
			(struct ntrace_rvfi_change){ (uint16_t)number, rmask, wmask, rdata, wdata };
}

/* The signals of an instruction. Return: 0, or 1: there is a difference, or the model has failed */
int ntrace_monitor_retire(uint64_t order, uint64_t insn, int trap, int halt, int intr, int mode,
			  int rs1_addr, uint64_t rs1_rdata, int rs2_addr, uint64_t rs2_rdata,
			  int rd_addr, uint64_t rd_wdata, uint64_t pc_rdata, uint64_t pc_wdata,
			  uint64_t mem_addr, int mem_rmask, int mem_wmask, uint64_t mem_wdata)
{
	struct ntrace_rvfi retired = {
		.size = sizeof(retired),
		.has = NTRACE_RVFI_HAS_ORDER | NTRACE_RVFI_HAS_NEXT_PC | NTRACE_RVFI_HAS_INTR |
		       NTRACE_RVFI_HAS_MODE | NTRACE_RVFI_HAS_SOURCES | NTRACE_RVFI_HAS_MASKS,
		.trap = trap,
		.halt = halt,
		.intr = intr,
		.mode = (uint8_t)mode,
		.rs1_addr = (uint8_t)rs1_addr,
		.rs2_addr = (uint8_t)rs2_addr,
		.rd_addr = (uint8_t)rd_addr,
		.mem_rmask = (uint32_t)mem_rmask,
		.mem_wmask = (uint32_t)mem_wmask,
		.order = order,
		.insn = insn,
		.rs1_rdata = rs1_rdata,
		.rs2_rdata = rs2_rdata,
		.rd_wdata = rd_wdata,
		.pc_rdata = pc_rdata,
		.pc_wdata = pc_wdata,
		.mem_addr = mem_addr,
		.mem_wdata = mem_wdata,
		.changes = changes,
		.change_count = change_count,
	};
	int result = ntrace_tandem_rvfi_retire(rvfi, &retired);

	change_count = 0;
	if (result < 0)
		fprintf(stderr, "ntrace: the model: %s\n", ntrace_strerror(result));
	return result != 0;
}

/* Prints how many instructions were verified. */
void ntrace_monitor_close(void)
{
	struct ntrace_tandem_verify_stats stats;

	ntrace_tandem_verifier_stats(verifier, &stats);
	printf("ntrace: %" PRIu64 " instructions verified, %" PRIu64 " interrupts, %" PRIu64
	       " differences\n",
	       stats.steps, stats.interrupts, stats.differences);
	ntrace_tandem_rvfi_free(rvfi);
	ntrace_tandem_verifier_free(verifier);
	ntrace_tandem_gdb_close(gdb);
	ntrace_tandem_builtin_free(builtin);
}
