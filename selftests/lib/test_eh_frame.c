// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function ranges of .eh_frame (LSB core specification, "Exception Frames"), from sections made byte
 * by byte. test_image_files has those of compilers.
 */
#include <stdlib.h>

#include "image/object.h"

#include "tap.h"

#define SECTION 0x20000	/* link address of the section */
#define CODE 0x10000

static uint8_t bytes[256];
static size_t used;

static void put(uint64_t value, size_t size)
{
	memcpy(bytes + used, &value, size);
	used += size;
}

/* Appends a CIE with this augmentation and its data, version 1. */
static void cie(const char *augmentation, const char *data, size_t size)
{
	size_t begin = used;

	put(0, 4);
	put(0, 4);
	put(1, 1);
	memcpy(bytes + used, augmentation, strlen(augmentation) + 1);
	used += strlen(augmentation) + 1;
	put(1, 1);    /* code alignment */
	put(0x7c, 1); /* data alignment */
	put(1, 1);    /* return address register */
	if (size) {
		put(size, 1);
		memcpy(bytes + used, data, size);
		used += size;
	}
	memcpy(bytes + begin, &(uint32_t){ (uint32_t)(used - begin - 4) }, 4);
}

/* Begins an FDE whose CIE is at @of. Return: its place, for end() */
static size_t fde(size_t of)
{
	size_t begin = used;

	put(0, 4);
	put(used - of, 4);
	return begin;
}

static void end(size_t begin)
{
	memcpy(bytes + begin, &(uint32_t){ (uint32_t)(used - begin - 4) }, 4);
}

/*
 * Ranges of the section's first @size bytes as text: "10000+20 ...". Memory of that size, for
 * sanitizers.
 */
static const char *ranges_of(size_t size, unsigned int xlen)
{
	static char text[200];
	struct ntrace_object *object;
	uint8_t *copy = malloc(size + 1);
	size_t at = 0;
	uint64_t address, last = 0;

	memcpy(copy, bytes, size);
	text[0] = '\0';
	ntrace_object_from_bytes(&object, "object", "\x13\0\0", 4, CODE);
	if (object_add_eh_frame(object, copy, size, SECTION, xlen))
		at += (size_t)sprintf(text, "error");
	for (address = CODE - 0x100; address < CODE + 0x1000; address += 2) {
		const struct symbol *symbol = symbol_table_find(&object->symbols, address);

		if (symbol && symbol->start != last) {
			at += (size_t)sprintf(text + at, "%s%s", at ? " " : "", symbol->name);
			last = symbol->start;
		}
		if (symbol && symbol->end == address + 2)
			at += (size_t)sprintf(text + at, "+%x",
					      (unsigned int)(symbol->end - symbol->start));
	}
	ntrace_object_put(object);
	free(copy);
	return text;
}

static const char *ranges(void)
{
	return ranges_of(used, 64);
}

/* Pointers of each encoding (DW_EH_PE_...). */
static void test_encodings(void)
{
	static const struct {
		unsigned int encoding, size;
		uint64_t start;
		const char *found;
	} cases[] = {
		{ 0x00, 8, CODE, "sub_10000+20" },
		{ 0x03, 4, CODE, "sub_10000+20" },
		{ 0x04, 8, CODE, "sub_10000+20" },
		{ 0x0b, 4, CODE, "sub_10000+20" },
		{ 0x0c, 8, CODE, "sub_10000+20" },
		{ 0x10, 8, 0, "sub_10000+20" },
		{ 0x1b, 4, 0, "sub_10000+20" },
		{ 0x13, 4, 0, "" },	/* unsigned: not downwards */
		{ 0x1c, 8, 0, "sub_10000+20" },
		{ 0x01, 4, CODE, "" },	/* uleb128 */
		{ 0x09, 4, CODE, "" },	/* sleb128 */
		{ 0x2b, 4, CODE, "" },	/* relative to text */
		{ 0x3b, 4, CODE, "" },	/* relative to data */
		{ 0x9b, 4, 0, "" },	/* indirect */
		{ 0xff, 0, 0, "" },	/* omitted */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char data[1] = { (char)cases[i].encoding };
		size_t begin;

		used = 0;
		cie("zR", data, 1);
		begin = fde(0);
		put(cases[i].start ? cases[i].start : CODE - (SECTION + used), cases[i].size);
		put(0x20, cases[i].size);
		end(begin);
		is_str(ranges(), cases[i].found, "encoding 0x%02x", cases[i].encoding);
	}
	/* 16 bits do not reach the code, but count from a section that is near. */
	for (unsigned int encoding = 0x02; encoding <= 0x0a; encoding += 8) {
		const char data[1] = { (char)encoding };
		size_t begin;

		used = 0;
		cie("zR", data, 1);
		begin = fde(0);
		put(0xfff0, 2);
		put(0x40, 2);
		end(begin);
		is_str(ranges(), encoding == 2 ? "sub_fff0+40" : "", "encoding 0x%02x", encoding);
	}
}

static void test_rv32(void)
{
	size_t begin;

	used = 0;
	cie("", "", 0);
	begin = fde(0);
	put(CODE, 4);
	put(0x20, 4);
	end(begin);
	is_str(ranges_of(used, 32), "sub_10000+20", "pointers of RV32 have 4 bytes");
	is_str(ranges_of(used, 64), "", "those of RV64 have not");
	used = 0;
	cie("zR", "\x1b", 1);
	begin = fde(0);
	put(CODE - (SECTION + used), 4);
	put(0x20, 4);
	end(begin);
	is_str(ranges_of(used, 32), "sub_10000+20", "addresses of RV32 wrap");
}

/* What a CIE may contain before its encoding. */
static void test_augmentations(void)
{
	static const struct {
		const char *augmentation, *data;
		size_t size;
		const char *found;
	} cases[] = {
		{ "", "", 0, "sub_10000+20" },
		{ "zR", "\x03", 1, "sub_10000+20" },
		{ "zPLR", "\x1b\1\2\3\4\x1b\x03", 7, "sub_10000+20" },
		{ "zPR", "\x00\1\2\3\4\5\6\7\x08\x03", 10, "sub_10000+20" },
		{ "zPR", "\x9b\1\2\3\4\x03", 6, "sub_10000+20" },
		{ "zPR", "\x01\1\2\3\4\x03", 6, "" },
		{ "zLR", "\x1b\x03", 2, "sub_10000+20" },
		{ "zSR", "\x03", 1, "sub_10000+20" },
		{ "zBR", "\x03", 1, "sub_10000+20" },
		{ "zL", "\x03", 1, "sub_10000+20" },
		{ "z", "\0", 1, "sub_10000+20" },
		{ "zXR", "\x03", 1, "" },
		{ "zXR", "\x04", 1, "" },
		{ "zPR", "\x00\x03", 2, "" },
		{ "eh", "", 0, "" },
		{ "R", "\x03", 1, "" },
	};
	size_t size;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_short = cases[i].size && cases[i].data[cases[i].size - 1] == 3 &&
				strchr(cases[i].augmentation, 'R');
		size_t begin, start;

		used = 0;
		cie(cases[i].augmentation, cases[i].data, cases[i].size);
		size = used;
		begin = fde(0);
		start = used;
		put(CODE, is_short ? 4 : 8);
		put(0x20, is_short ? 4 : 8);
		end(begin);
		is_str(ranges(), cases[i].found, "augmentation \"%s\", case %zu",
		       cases[i].augmentation, i);
		/* The same CIE cut after each byte: the FDE has no encoding, or the default one. */
		for (size_t length = 4; length < size - 4; length++) {
			const char *text;

			memcpy(bytes, &(uint32_t){ (uint32_t)length }, 4);
			text = ranges_of(start, 64);
			is_str(text, "", "without an FDE there is no range");
		}
	}
}

static void test_versions(void)
{
	static const struct {
		unsigned int version;
		const char *found;
	} cases[] = {
		{ 0, "" }, { 1, "sub_10000+20" }, { 2, "" }, { 3, "sub_10000+20" }, { 4, "" }
	};
	size_t begin;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		used = 0;
		cie("zR", "\x03", 1);
		bytes[8] = (uint8_t)cases[i].version;
		begin = fde(0);
		put(CODE, 4);
		put(0x20, 4);
		end(begin);
		is_str(ranges(), cases[i].found, "version %u", cases[i].version);
	}
	/* LEB128 numbers of two bytes: a return address register of version 3, not of version 1. */
	for (unsigned int version = 1; version <= 3; version += 2) {
		used = 0;
		put(0, 4);
		put(0, 4);
		put(version, 1);
		memcpy(bytes + used, "zR", 3);
		used += 3;
		put(0x0081, 2);
		put(0x7fff, 2);
		put(version == 1 ? 0x81 : 0x0081, version == 1 ? 1 : 2);
		put(0x0081, 2); /* size of the data */
		put(0x03, 1);
		end(0);
		begin = fde(0);
		put(CODE, 4);
		put(0x20, 4);
		end(begin);
		is_str(ranges(), "sub_10000+20", "long numbers, version %u", version);
	}
}

/* Lengths that leave the section, and entries that are no FDE. */
static void test_entries(void)
{
	size_t begin, second, third, size;
	uint8_t whole[sizeof(bytes)];

	used = 0;
	cie("zR", "\x03", 1);
	begin = fde(0);
	put(CODE, 4);
	put(0x20, 4);
	end(begin);
	second = fde(0);
	put(CODE + 0x100, 4);
	put(0, 4);
	end(second);
	third = fde(0);
	put(CODE + 0x200, 4);
	put(0x10, 4);
	end(third);
	put(0, 4);
	size = used;
	memcpy(whole, bytes, sizeof(bytes));
	is_str(ranges(), "sub_10000+20 sub_10200+10", "a range of no bytes is none");
	is_str(ranges_of(size - 5, 64), "sub_10000+20", "an entry that leaves the section ends it");
	is_str(ranges_of(size - 4, 64), "sub_10000+20 sub_10200+10", "the end may be missing");
	is_str(ranges_of(size - 1, 64), "sub_10000+20 sub_10200+10", "or be cut");
	memset(bytes + second, 0, 4);
	is_str(ranges(), "sub_10000+20", "a length of 0 ends the section");
	/* Distances to a CIE. */
	for (unsigned int back = 1; back < 40; back++) {
		memcpy(bytes, whole, sizeof(bytes));
		bytes[begin + 4] = (uint8_t)back;
		is_str(ranges(), back == begin + 4 ? "sub_10000+20 sub_10200+10" : "sub_10200+10",
		       "an FDE whose CIE is %u bytes before it", back);
	}
	memcpy(bytes, whole, sizeof(bytes));
	bytes[0] = 250;
	is_str(ranges_of(size, 64), "", "a CIE that leaves the section");
	/* A cut FDE. */
	for (unsigned int length = 1; length < 12; length++) {
		used = 0;
		cie("zR", "\x03", 1);
		begin = fde(0);
		put(CODE, 4);
		put(0x20, 4);
		used = begin + 4 + length;
		end(begin);
		is_str(ranges(), "", "an FDE of %u bytes", length);
	}
	is_str(ranges_of(0, 64), "", "an empty section");
}

/* A CIE that is cut after each byte of it; its FDE is whole, and follows where it did. */
static void test_cut_cies(void)
{
	static const struct {
		const char *augmentation, *data;
		size_t size;
	} cases[] = { { "zR", "\x04", 1 }, { "zPLR", "\x1b\1\2\3\4\x1b\x04", 7 } };
	size_t begin, length;

	for (size_t i = 0; i < 2; i++)
		for (unsigned int version = 1; version <= 3; version += 2) {
			/* An entry that reaches to the FDE, whose CIE would be before the section. */
			memset(bytes, 0, sizeof(bytes));
			used = 16;
			cie(cases[i].augmentation, cases[i].data, cases[i].size);
			bytes[24] = (uint8_t)version;
			length = used - 20;
			begin = fde(16);
			put(CODE, 8);
			put(0x20, 8);
			end(begin);
			bytes[0] = (uint8_t)(begin - 4);
			bytes[4] = 5;
			is_str(ranges(), "sub_10000+20", "a CIE of version %u", version);
			while (length) {
				bytes[16] = (uint8_t)--length;
				is_str(ranges(), "", "cut to %zu bytes", length);
			}
		}
}

int main(void)
{
	test_encodings();
	test_rv32();
	test_augmentations();
	test_versions();
	test_entries();
	test_cut_cies();
	return done_testing();
}
