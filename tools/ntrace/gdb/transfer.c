// SPDX-License-Identifier: GPL-2.0-only
/* Documents that the debugger reads with qXfer ("GDB Remote Serial Protocol", General Query Packets). */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/text.h>

#include "remote_parts.h"

typedef bool make_document(struct remote *remote, const char *annex,
			   struct packet_output *document);

static void append_xml(struct packet_output *document, const char *text)
{
	char *room;

	/* XML 1.0 has no other control characters. */
	for (text = ntrace_text_clean(text, &room); *text; text++) {
		if (strchr("<>&\"'", *text))
			packet_append_format(document, "&#%d;", *text);
		else
			packet_append(document, text, 1);
	}
	free(room);
}

/* The debugger compares the size of these registers with the ABI of the program. */
static void append_float_registers(struct packet_output *document, unsigned int size)
{
	static const char *const control[] = { "fflags", "frm", "fcsr" };
	static const char *const names[] = {
		"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6",  "ft7",  "fs0", "fs1", "fa0",
		"fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7",  "fs2",  "fs3", "fs4", "fs5",
		"fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
	};

	packet_append_format(document, "<feature name=\"org.gnu.gdb.riscv.fpu\">");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		packet_append_format(document, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"/>",
				     names[i], 8 * size, size == 8 ? "ieee_double" : "ieee_single");
	for (size_t i = 0; i < sizeof(control) / sizeof(control[0]); i++)
		packet_append_format(document, "<reg name=\"%s\" bitsize=\"32\" type=\"int\"/>",
				     control[i]);
	packet_append_format(document, "</feature>");
}

static bool make_features(struct remote *remote, const char *annex, struct packet_output *document)
{
	static const char *const names[] = {
		"zero", "ra", "sp", "gp", "tp",	 "t0",	"t1", "t2", "fp", "s1", "a0",
		"a1",	"a2", "a3", "a4", "a5",	 "a6",	"a7", "s2", "s3", "s4", "s5",
		"s6",	"s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
	};
	const struct target *target = remote->target;

	if (strcmp(annex, "target.xml"))
		return false;
	packet_append_format(
		document,
		"<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
		"<target version=\"1.0\"><architecture>riscv:rv%u</architecture><osabi>%s</osabi>"
		"<feature name=\"org.gnu.gdb.riscv.cpu\">",
		target->xlen, target->process ? "GNU/Linux" : "none");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		packet_append_format(document, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"%s/>",
				     names[i], target->xlen,
				     i == 1			     ? "code_ptr" :
				     i == 2 || i == 3 || i == 4 || i == 8 ? "data_ptr" :
									    "int",
				     i == 1 ? " generic=\"ra\"" :
				     i == 2 ? " generic=\"sp\"" :
				     i == 8 ? " generic=\"fp\"" :
					      "");
	/* LLDB 14 does not know RISC-V: it finds pc by the attribute, which GDB ignores. */
	packet_append_format(
		document,
		"<reg name=\"pc\" bitsize=\"%u\" type=\"code_ptr\" generic=\"pc\"/></feature>",
		target->xlen);
	if (target_float_size(target))
		append_float_registers(document, target_float_size(target));
	if (target->history->replay)
		packet_append_format(document,
				     "<feature name=\"org.gnu.gdb.riscv.virtual\">"
				     "<reg name=\"priv\" bitsize=\"%u\"/></feature>",
				     target->xlen);
	return packet_append_format(document, "</target>");
}

static bool make_threads(struct remote *remote, const char *annex, struct packet_output *document)
{
	const struct history *history = remote->target->history;

	(void)annex;
	packet_append_format(document, "<?xml version=\"1.0\"?><threads>");
	for (size_t i = 0; i < remote->target->threads; i++) {
		packet_append_format(document, "<thread id=\"%" PRIx64 "\" core=\"%u\" name=\"",
				     target_tid(remote->target, i),
				     remote->thread[i].placed ?
					     history_at(history, &remote->thread[i].place)->cpu :
					     remote_thread_history(remote, i)->cpu);
		append_xml(document, remote_thread_history(remote, i)->name);
		packet_append_format(document, "\"/>");
	}
	return packet_append_format(document, "</threads>");
}

static bool make_exec(struct remote *remote, const char *annex, struct packet_output *document)
{
	const struct target *target = remote->target;
	char *name;
	bool fits;

	(void)annex;
	if (target->exec < 0)
		return false;
	name = target_file_name(target, target->module[target->exec].file);
	fits = name && packet_append(document, name, strlen(name));
	free(name);
	return fits;
}

/* ---- processes of Linux ---- */

static void append_library(struct packet_output *document, const struct target *target,
			   size_t module)
{
	char *name = target_file_name(target, target->module[module].file);

	packet_append_format(document, "<library name=\"");
	append_xml(document, name ? name : "?");
	packet_append_format(document, "\"");
	free(name);
}

/* Libraries of the process with their place. Return: NULL after the last */
static const struct elf_file *next_library(const struct target *target, size_t *index)
{
	for (; *index < target->modules; ++*index) {
		const struct elf_file *elf = target->file[target->module[*index].file].elf;

		if ((int64_t)*index != target->exec && elf && !elf->program && elf->dynamic)
			return elf;
	}
	return NULL;
}

/*
 * For `set osabi none`: with GNU/Linux, GDB does not step forwards with the target, but computes
 * the next address from registers. Each section has moved by the same number of bytes.
 */
static bool make_sections(struct remote *remote, const char *annex, struct packet_output *document)
{
	const struct target *target = remote->target;
	const struct elf_file *elf;

	(void)annex;
	packet_append_format(document, "<library-list>");
	for (size_t i = 0; (elf = next_library(target, &i)); i++) {
		append_library(document, target, i);
		packet_append_format(document, ">");
		for (unsigned int k = 0; k < elf->sections; k++)
			packet_append_format(document, "<section address=\"0x%" PRIx64 "\"/>",
					     target->module[i].bias);
		packet_append_format(document, "</library>");
	}
	return packet_append_format(document, "</library-list>");
}

static bool make_libraries(struct remote *remote, const char *annex, struct packet_output *document)
{
	const struct target *target = remote->target;
	const struct elf_file *elf;

	(void)annex;
	/* The program has a link map, too, which names no file; any address serves as its lm. */
	packet_append_format(document, "<library-list-svr4 version=\"1.0\" main-lm=\"0x1\">");
	for (size_t i = 0; (elf = next_library(target, &i)); i++) {
		const struct target_module *module = &target->module[i];

		append_library(document, target, i);
		packet_append_format(document,
				     " lm=\"0x%zx\" l_addr=\"0x%" PRIx64 "\" l_ld=\"0x%" PRIx64
				     "\" lmid=\"0x0\"/>",
				     i + 2, module->bias, module->bias + elf->dynamic);
	}
	return packet_append_format(document, "</library-list-svr4>");
}

static void append_auxv(struct packet_output *document, unsigned int xlen, uint64_t type,
			uint64_t value)
{
	uint8_t bytes[8];

	for (unsigned int part = 0; part < 2; part++) {
		for (unsigned int i = 0; i < 8; i++)
			bytes[i] = (uint8_t)((part ? value : type) >> 8 * i);
		packet_append(document, bytes, xlen / 8);
	}
}

/* The debugger finds the place of a position-independent program by its entry point. */
static bool make_auxv(struct remote *remote, const char *annex, struct packet_output *document)
{
	const struct target *target = remote->target;
	const struct target_module *exec;
	const struct elf_file *elf;
	int64_t interpreter = target_interpreter(target);

	(void)annex;
	if (target->exec < 0)
		return false;
	exec = &target->module[target->exec];
	elf = target->file[exec->file].elf;
	if (elf->headers) {
		append_auxv(document, target->xlen, AT_PHDR, elf->headers + exec->bias);
		append_auxv(document, target->xlen, AT_PHENT, elf->header_size);
		append_auxv(document, target->xlen, AT_PHNUM, elf->header_count);
	}
	append_auxv(document, target->xlen, AT_PAGESZ, 4096);
	if (interpreter >= 0)
		append_auxv(document, target->xlen, AT_BASE, target->module[interpreter].bias);
	append_auxv(document, target->xlen, AT_ENTRY, elf->entry + exec->bias);
	append_auxv(document, target->xlen, AT_NULL, 0);
	return true;
}

/* ---- branch trace ---- */

static bool make_branches(struct remote *remote, const char *annex, struct packet_output *document)
{
	return remote_branches_document(remote, remote->current, annex, document);
}

/* Before `record btrace` it is empty; otherwise the debugger would start recording by itself. */
static bool make_branch_settings(struct remote *remote, const char *annex,
				 struct packet_output *document)
{
	(void)annex;
	return packet_append_format(
		document, "<btrace-conf version=\"1.0\">%s</btrace-conf>",
		remote->thread[remote->current].branches ? "<bts size=\"0x0\"/>" : "");
}

/* ---- parts ---- */

static const struct {
	const char *object;
	make_document *make;
} documents[] = {
	{ "features", make_features },	      { "threads", make_threads },
	{ "exec-file", make_exec },	      { "libraries", make_sections },
	{ "libraries-svr4", make_libraries }, { "auxv", make_auxv },
	{ "btrace", make_branches },	      { "btrace-conf", make_branch_settings },
};

/* Makes the document when its first part is read. */
static bool find_document(struct remote *remote, const char *object, const char *annex,
			  uint64_t offset)
{
	char name[sizeof(remote->document_name)];
	size_t i;

	for (i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
		if (!strcmp(documents[i].object, object))
			break;
	if (i == sizeof(documents) / sizeof(documents[0]))
		return false;
	if ((size_t)snprintf(name, sizeof(name), "%s:%s", object, annex) >= sizeof(name))
		return false;
	if (offset && !strcmp(name, remote->document_name))
		return true;
	remote->document.size = 0;
	remote->document.failed = false;
	*remote->document_name = '\0';
	if (!documents[i].make(remote, annex, &remote->document) || remote->document.failed)
		return false;
	memcpy(remote->document_name, name, sizeof(name));
	return true;
}

void remote_transfer(struct remote *remote, char *text)
{
	char *object = strsep(&text, ":"), *operation = strsep(&text, ":");
	char *annex = strsep(&text, ":");
	const struct packet_output *document = &remote->document;
	const char *at = text;
	uint64_t offset, length;

	if (!object || !operation || strcmp(operation, "read"))
		return;
	if (!annex || !at || !remote_hex(&at, &offset) || *at++ != ',' ||
	    !remote_hex(&at, &length)) {
		packet_text(&remote->packets, "E01");
		return;
	}
	if (!find_document(remote, object, annex, offset)) {
		packet_text(&remote->packets, "E00");
		return;
	}
	if (offset >= document->size) {
		packet_text(&remote->packets, "l");
		return;
	}
	/* An escaped byte takes two. */
	if (length > PACKET_MAX / 2 - 2)
		length = PACKET_MAX / 2 - 2;
	if (length > document->size - offset)
		length = document->size - offset;
	packet_text(&remote->packets, offset + length < document->size ? "m" : "l");
	packet_binary(&remote->packets, document->bytes + offset, length);
}
