// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares lib/image with binutils: programs made by the cross compiler, symbols by nm, build-ids
 * and attributes by readelf. Compares spaces with a model of one byte per address.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/image.h>

#include "scratch.h"
#include "tap.h"

static const char source[] =
	"__attribute__((noinline)) int alpha(int x) { asm volatile(\"\"); return x * 3; }\n"
	"static __attribute__((noinline)) int beta(int x) { asm volatile(\"\"); return x + 7; }\n"
	"__attribute__((noinline)) int _zeta(int x) { asm volatile(\"\"); return beta(x) - 1; }\n"
	"int zeta(int x) __attribute__((weak, alias(\"_zeta\")));\n"
	"__attribute__((noinline)) int eta(int x) { asm volatile(\"\"); return x + 2; }\n"
	"int __eta(int x) __attribute__((alias(\"eta\")));\n"
	"int entry(int x) { return eta(x) + alpha(x) + zeta(x) + beta(x); }\n"
	"asm(\".text\\nouter: .globl outer\\n.type outer,@function\\nnop\\n\"\n"
	"    \"inner: .type inner,@function\\nnop\\n.size inner,2\\n\"\n"
	"    \"label: nop\\n.size outer,.-outer\\n\"\n"
	"    \"bare: nop\\n.Lhidden: nop\\nnop\\n.globl last\\n.type last,@function\\nlast: "
	"ret\\n.size "
	"last,2\\n\");\n";

/* The first line of a command's output. */
static const char *output(const char *format, ...)
{
	static char line[512];
	char command[2048];
	va_list args;
	FILE *pipe;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	line[0] = 0;
	pipe = popen(command, "r");
	if (pipe) {
		if (!fgets(line, sizeof(line), pipe))
			line[0] = 0;
		pclose(pipe);
	}
	line[strcspn(line, "\n")] = 0;
	return line;
}

static uint64_t nm(const char *file, const char *symbol)
{
	return strtoull(
		output("riscv64-linux-gnu-nm --special-syms %s | awk '$3 == \"%s\" { print $1 }'",
		       in(file), symbol),
		NULL, 16);
}

static void is_at(const struct ntrace_space *space, uint64_t address, const char *symbol,
		  const char *what)
{
	struct ntrace_location location;

	ntrace_space_locate(space, address, &location);
	is_str(location.symbol ? location.symbol : "-", symbol, "%s at %" PRIx64, what, address);
}

static struct ntrace_object *open_object(const char *file)
{
	struct ntrace_object *object = NULL;
	int error = ntrace_object_open_elf(&object, in(file));

	if (!ok(!error, "opens %s", file)) {
		diag("%s", ntrace_strerror(error));
		exit(done_testing());
	}
	return object;
}

static void test_program(const char *file, uint64_t bias)
{
	struct ntrace_object *object = open_object(file);
	struct ntrace_location location;
	struct ntrace_space *space;
	const uint8_t *data, *build_id;
	char text[64] = "";
	uint64_t alpha = nm(file, "alpha"), beta = nm(file, "beta");
	size_t size, i;

	ok(alpha && beta, "nm knows the symbols of %s", file);
	ntrace_space_new(&space, "test", NULL);
	is_u64(ntrace_space_map_linked(space, object, bias), 0, "maps %s", file);
	is_at(space, alpha + bias, "alpha", file);
	is_at(space, beta + bias + 2, "beta", file);
	is_at(space, nm(file, "_zeta") + bias, "_zeta", "global before weak, though shorter:");
	is_at(space, nm(file, "outer") + bias, "outer", "enclosing function");
	is_at(space, nm(file, "inner") + bias, "inner", "nested function");
	is_at(space, nm(file, "label") + bias, "outer",
	      "after the nested, a label does not count:");
	is_at(space, nm(file, "bare") + bias + 2, "bare", "label outside functions");
	is_at(space, nm(file, "eta") + bias, "eta", "fewer underscores before longer:");
	ok(nm(file, ".Lhidden") == nm(file, "bare") + 2, "%s has a local label", file);
	is_at(space, nm(file, "last") + bias, "last", "function after a label");
	is_u64(ntrace_space_locate(space, alpha + bias + 2, &location), 0, "locates alpha");
	is_hex(location.link_address, alpha + 2, "link address");
	is_hex(location.symbol_start, alpha, "start of the symbol");
	is_hex(location.symbol_size,
	       strtoull(output("riscv64-linux-gnu-nm -S %s | "
			       "awk '$4 == \"alpha\" { print $2 }'",
			       in(file)),
			NULL, 16),
	       "size as nm -S says");
	ok(!ntrace_space_read(space, alpha + bias, &data, &size) && size >= 4, "reads alpha");
	snprintf(text, sizeof(text), "%02x%02x", data[1], data[0]);
	is_str(output("riscv64-linux-gnu-objdump -d %s | awk '/<alpha>:/ { getline; print "
		      "substr($2, length($2) - 3) }'",
		      in(file)),
	       text, "first parcel as objdump shows it");
	build_id = ntrace_object_build_id(object, &size);
	for (i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", build_id[i]);
	is_str(text,
	       output("riscv64-linux-gnu-readelf -n %s | sed -n 's/.*Build ID: //p'", in(file)),
	       "build-id of %s", file);
	is_u64(ntrace_object_isa(object)->xlen, 64, "XLEN");
	ok(ntrace_object_isa(object)->compressed, "has C");
	ntrace_space_put(space);
	ntrace_object_put(object);
}

/* Maps like the kernel: pages of the executable segment by file offset. */
static void test_map_by_offset(const char *file)
{
	struct ntrace_object *object = open_object(file);
	uint64_t alpha = nm(file, "alpha"), offset, address, base = 0x3f80000000;
	struct ntrace_location location;
	struct ntrace_space *space;
	const char *line;

	line = output("riscv64-linux-gnu-readelf -lW %s | awk '/LOAD.*R.E/ { print $2, $3 }'",
		      in(file));
	ok(sscanf(line, "%" SCNx64 " %" SCNx64, &offset, &address) == 2, "readelf shows the text");
	ntrace_space_new(&space, "mmap", NULL);
	ntrace_space_map(space, object, base, 0x4000, offset & ~UINT64_C(0xfff));
	is_u64(ntrace_space_locate(space, base + (alpha - address) + (offset & 0xfff), &location),
	       0, "%s mapped by offset", file);
	is_hex(location.link_address, alpha, "link address from the file offset");
	is_str(location.symbol, "alpha", "symbol");
	ntrace_space_put(space);
	ntrace_object_put(object);
}

static void test_stripped(const char *whole, const char *stripped)
{
	struct ntrace_object *object = open_object(stripped);
	uint64_t alpha = nm(whole, "alpha"), beta = nm(whole, "beta");
	struct ntrace_location location;
	struct ntrace_space *space;
	char name[64];

	ntrace_space_new(&space, "stripped", NULL);
	ntrace_space_map_linked(space, object, 0);
	is_at(space, alpha, "alpha", "exported name from .dynsym");
	snprintf(name, sizeof(name), "sub_%" PRIx64, beta);
	is_at(space, beta + 2, name, "static function from .eh_frame");
	ntrace_space_locate(space, beta, &location);
	is_hex(location.symbol_size,
	       strtoull(output("riscv64-linux-gnu-nm -S %s | "
			       "awk '$4 == \"beta\" { print $2 }'",
			       in(whole)),
			NULL, 16),
	       "its range as nm -S says");
	ntrace_space_put(space);
	ntrace_object_put(object);
}

static void test_refused(void)
{
	struct ntrace_object *object;

	is_u64(ntrace_object_open_elf(&object, "/bin/sh"), NTRACE_ERR_NOTRISCV, "another machine");
	is_u64(ntrace_object_open_elf(&object, "/etc/passwd"), NTRACE_ERR_FORMAT, "no ELF");
	is_u64(ntrace_object_open_elf(&object, "/dev/null"), NTRACE_ERR_FORMAT, "no regular file");
	is_u64(ntrace_object_open_elf(&object, directory), NTRACE_ERR_FORMAT, "a directory");
	is_u64(ntrace_object_open_elf(&object, "/nowhere/at/all"), NTRACE_ERR_IO, "no file");
	run(": > %s; head -c 40 %s > %s", in("empty"), in("static"), in("head"));
	is_u64(ntrace_object_open_elf(&object, in("empty")), NTRACE_ERR_FORMAT, "an empty file");
	is_u64(ntrace_object_open_elf(&object, in("head")), NTRACE_ERR_FORMAT, "a cut ELF header");
}

/* ---- spaces against a byte model ---- */

#define MODEL_SIZE 512
#define MODEL_BASE (UINT64_MAX - MODEL_SIZE + 1)

static uint64_t random_state = 0x2545f4914f6cdd1d;

static unsigned int random_below(unsigned int limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)((random_state >> 20) % limit);
}

static bool agrees(const struct ntrace_space *space, const int *model)
{
	unsigned int i;

	for (i = 0; i < MODEL_SIZE; i++) {
		struct ntrace_location location;
		const uint8_t *data;
		size_t available;
		int got = -1;

		if (!ntrace_space_read(space, MODEL_BASE + i, &data, &available)) {
			got = data[0];
			if (available > MODEL_SIZE - i)
				return false;
			/* Link addresses begin at 0, and byte values equal them. */
			if (ntrace_space_locate(space, MODEL_BASE + i, &location) ||
			    location.link_address != (uint64_t)got)
				return false;
		}
		if (got != model[i])
			return false;
	}
	return true;
}

static void test_space_model(void)
{
	struct ntrace_space *space, *copy;
	struct ntrace_object *object;
	int model[MODEL_SIZE], copied[MODEL_SIZE];
	uint8_t bytes[256];
	bool good = true, versions = true;
	unsigned int i, round;

	for (i = 0; i < 256; i++)
		bytes[i] = (uint8_t)i;
	for (i = 0; i < MODEL_SIZE; i++)
		model[i] = -1;
	ntrace_object_from_bytes(&object, "ramp", bytes, sizeof(bytes), 0);
	ntrace_space_new(&space, "model", NULL);
	ntrace_space_clone(&copy, "copy", space);
	memcpy(copied, model, sizeof(model));
	for (round = 0; round < 3000 && good; round++) {
		unsigned int at = random_below(MODEL_SIZE);
		unsigned int size = 1 + random_below(MODEL_SIZE - at < 64 ? MODEL_SIZE - at : 64);
		unsigned int offset = random_below(256 - size);
		uint64_t version = ntrace_space_version(space);
		bool map = random_below(3);

		if (map)
			ntrace_space_map(space, object, MODEL_BASE + at, size, offset);
		else
			ntrace_space_unmap(space, MODEL_BASE + at, size);
		for (i = 0; i < size; i++)
			model[at + i] = map ? (int)(offset + i) : -1;
		versions = versions && ntrace_space_version(space) > version;
		good = agrees(space, model);
		if (round % 500 == 250) {
			good = good && agrees(copy, copied);
			ntrace_space_put(copy);
			ntrace_space_clone(&copy, "copy", space);
			memcpy(copied, model, sizeof(model));
		}
	}
	ok(good, "3000 random maps and unmaps at the top of the address space agree byte for byte");
	diag("%u rounds", round);
	ok(versions, "each changes the version");
	ok(agrees(copy, copied), "a clone does not follow its original");
	is_u64(ntrace_space_map(space, object, UINT64_MAX - 3, 8, 0), NTRACE_ERR_INVALID,
	       "wrapping round is refused");
	is_u64(ntrace_space_map(space, object, 16, 0, 0), NTRACE_ERR_INVALID, "size 0 is refused");
	ntrace_space_put(copy);
	ntrace_space_put(space);
	ntrace_object_put(object);
}

static void test_parent(void)
{
	struct ntrace_space *kernel, *user;
	struct ntrace_object *high, *low;
	struct ntrace_location location;
	uint64_t version;

	ntrace_object_from_bytes(&high, "kernel", "abcdefgh", 8, 0xffffffff80000000);
	ntrace_object_from_bytes(&low, "user", "ABCDEFGH", 8, 0x10000);
	ntrace_space_new(&kernel, "kernel", NULL);
	ntrace_space_new(&user, "user", kernel);
	ntrace_space_map_linked(user, low, 0);
	version = ntrace_space_version(user);
	ntrace_space_map_linked(kernel, high, 0);
	ok(ntrace_space_version(user) != version, "a change of the parent changes the version");
	ntrace_space_put(kernel); /* the user's space keeps a reference */
	ok(!ntrace_space_locate(user, 0xffffffff80000004, &location) && location.object == high,
	   "the parent supplies unmapped addresses");
	ok(ntrace_space_locate(user, 0xffffffff80000008, &location) == NTRACE_ERR_NOMAP &&
		   !location.object,
	   "nothing there");
	ntrace_object_add_symbol(high, "first", 0xffffffff80000000, 0);
	ntrace_object_add_symbol(high, "second", 0xffffffff80000004, 2);
	is_at(user, 0xffffffff80000003, "first", "symbol without size reaches up to the next");
	is_at(user, 0xffffffff80000005, "second", "symbol with a size");
	is_at(user, 0xffffffff80000006, "-", "and not beyond");
	ntrace_object_add_symbol(high, "third", 0xffffffff80000002, 0);
	is_at(user, 0xffffffff80000003, "third", "symbol added after a look-up");
	is_at(user, 0xffffffff80000006, "-", "only up to the next");
	ntrace_space_put(user);
	ntrace_object_put(high);
	ntrace_object_put(low);
}

static void test_bytes(void)
{
	struct ntrace_object *object;
	struct ntrace_space *space;
	const uint8_t *data;
	size_t size = 0;

	is_u64(ntrace_object_from_bytes(&object, "x", "abcd", 0, 0x1000), NTRACE_ERR_INVALID,
	       "no bytes");
	is_u64(ntrace_object_from_bytes(&object, "x", "abcd", 4, UINT64_MAX - 2),
	       NTRACE_ERR_INVALID, "bytes that wrap round");
	if (!ok(!ntrace_object_from_bytes(&object, "x", "abcd", 4, UINT64_MAX - 3),
		"bytes up to the top of the address space"))
		return;
	ntrace_space_new(&space, "top", NULL);
	is_u64(ntrace_space_map_linked(space, object, 0), 0, "mapped there");
	ok(!ntrace_space_read(space, UINT64_MAX, &data, &size) && data[0] == 'd' && size == 1,
	   "the last byte is read");
	is_u64(ntrace_space_map_linked(space, object, 1), NTRACE_ERR_INVALID, "moved over the top");
	ntrace_space_unmap(space, UINT64_MAX - 1, 100);
	ok(ntrace_space_read(space, UINT64_MAX, &data, &size) == NTRACE_ERR_NOMAP &&
		   ntrace_space_read(space, UINT64_MAX - 1, &data, &size) == NTRACE_ERR_NOMAP &&
		   !ntrace_space_read(space, UINT64_MAX - 2, &data, &size) && size == 1,
	   "unmapping over the top ends there");
	/* A page of a file of 4 bytes */
	is_u64(ntrace_space_map(space, object, 0x1000, 0x1000, 0), 0, "mapped as a page");
	ok(!ntrace_space_read(space, 0x1001, &data, &size) && data[0] == 'b' && size == 3,
	   "bytes up to the end of the object are readable");
	ok(ntrace_space_read(space, 0x1004, &data, &size) == NTRACE_ERR_NOMAP &&
		   ntrace_space_read(space, 0x1fff, &data, &size) == NTRACE_ERR_NOMAP,
	   "and no byte after it");
	is_u64(ntrace_space_map(space, object, 0x1000, 0x1000, UINT64_MAX - 0xfff + 1),
	       NTRACE_ERR_INVALID, "an offset that wraps round");
	ntrace_space_put(space);
	ntrace_object_put(object);
}

static void test_uncertain(void)
{
	struct ntrace_object *object;
	struct ntrace_space *space;
	bool model[64] = { false }, good = true;
	struct ntrace_location location;
	unsigned int i, round;

	ntrace_object_from_bytes(&object, "bytes", model, 64, 0x1000);
	ntrace_space_new(&space, "uncertain", NULL);
	ntrace_space_map_linked(space, object, 0x100000);
	for (round = 0; round < 24; round++) {
		unsigned int at = random_below(62);

		ntrace_object_mark_uncertain(object, 0x1000 + at, 2);
		model[at] = true;
		model[at + 1] = true;
		for (i = 0; i < 64; i++) {
			ntrace_space_locate(space, 0x101000 + i, &location);
			good = good && location.uncertain == model[i];
		}
	}
	ok(good, "uncertain bytes are the marked ones");
	ntrace_space_put(space);
	ntrace_object_put(object);
}

static void test_reference_programs(void)
{
	const char *shared = getenv("NTRACE_SHARED");
	struct ntrace_object *object;
	char path[512];

	snprintf(path, sizeof(path), "%s/data/refcode/xrle.elf", shared ? shared : "../shared");
	if (access(path, R_OK)) {
		skip("RV32 reference program", "no shared data: set NTRACE_SHARED");
		return;
	}
	is_u64(ntrace_object_open_elf(&object, path), 0, "opens an RV32 program");
	is_u64(ntrace_object_isa(object)->xlen, 32, "XLEN 32");
	ntrace_object_put(object);
}

static bool build(void)
{
	static const char cc[] =
		"riscv64-linux-gnu-gcc -O2 -g0 -fno-optimize-sibling-calls "
		"-fno-toplevel-reorder -Wa,--keep-locals "
		"-fasynchronous-unwind-tables -nostdlib -Wl,--build-id,--discard-none";
	FILE *file = fopen(in("a.c"), "w");

	if (!file)
		return false;
	fputs(source, file);
	fclose(file);
	return !run("%s -static -Wl,-e,entry %s -o %s", cc, in("a.c"), in("static")) &&
	       !run("%s -fPIE -pie -Wl,-e,entry %s -o %s", cc, in("a.c"), in("pie")) &&
	       !run("%s -fPIC -shared %s -o %s", cc, in("a.c"), in("lib.so")) &&
	       !run("%s -fPIC -shared -Wl,-z,separate-code %s -o %s", cc, in("a.c"),
		    in("sep.so")) &&
	       !run("riscv64-linux-gnu-strip %s -o %s", in("lib.so"), in("stripped.so"));
}

int main(void)
{
	test_space_model();
	test_parent();
	test_bytes();
	test_uncertain();
	test_reference_programs();
	if (!scratch_make()) {
		ok(false, "temporary directory");
	} else if (run("command -v riscv64-linux-gnu-gcc > /dev/null")) {
		skip("ELF files", "riscv64-linux-gnu-gcc is not installed");
	} else if (ok(build(), "cross compiler makes the test programs")) {
		test_program("static", 0);
		test_program("pie", 0x2aaaaaa000);
		test_program("lib.so", 0x3f00000000);
		test_map_by_offset("lib.so");
		test_map_by_offset("sep.so");
		test_stripped("lib.so", "stripped.so");
		test_refused();
	}
	scratch_remove();
	return done_testing();
}
