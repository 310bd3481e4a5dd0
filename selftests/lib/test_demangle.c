// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mangled names. The expected names of Rust are those that `c++filt -i` of binutils 2.40 prints,
 * among them the examples of Rust RFC 2603, except for two: c++filt prints ''' and drops the first
 * digit of a number of 65 bits. Then damaged symbols, and symbols whose output would fill the
 * memory.
 */
#include <stdlib.h>
#include <time.h>

#include <ntrace/image.h>

#include "tap.h"

struct name {
	const char *symbol;
	const char *plain;
};

static const struct name rust[] = {
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNvNtC7mycrate3foo3bar", "mycrate::foo::bar" },
	{ "_RNCNvC7mycrate3foo0", "mycrate::foo::{closure#0}" },
	{ "_RNvMC7mycrateNtB2_3Foo3bar", "<mycrate::Foo>::bar" },
	{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
	{ "_RNvXs_C7mycrateNtB4_3FoofNtC3std5Clone5clone",
	  "_RNvXs_C7mycrateNtB4_3FoofNtC3std5Clone5clone" },
	{ "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
	  "<std::path::PathBuf>::new" },
	{ "_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example" },
	{ "_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_7Example3foo", "<mycrate::Example>::foo" },
	{ "_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo",
	  "<mycrate::Example as mycrate::Trait>::foo" },
	{ "_RNvXs2_Cs15kBYyAo9fc_7mycrateNtB5_7ExampleNtB5_5Trait3foo",
	  "<mycrate::Example as mycrate::Trait>::foo" },
	{ "_RNvNtNvCs15kBYyAo9fc_7mycrate4foo3bar3baz",
	  "_RNvNtNvCs15kBYyAo9fc_7mycrate4foo3bar3baz" },
	{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}" },
	{ "_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgBb_"
	  "4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
	  "_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgBb_"
	  "4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_" },
	{ "_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
	  "ECs1iopQbuBiw2_3std",
	  "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>" },
	{ "_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>" },
	{ "_RMC0INtC8arrayvec8ArrayVechKhffE", "_RMC0INtC8arrayvec8ArrayVechKhffE" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_8UnsignedKh0_E", "<const_generic::Unsigned<0>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKs98_E", "<const_generic::Signed<152>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E", "<const_generic::Signed<-11>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb0_E", "<const_generic::Bool<false>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb1_E", "<const_generic::Bool<true>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E", "<const_generic::Char<'v'>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKca_E", "<const_generic::Char<'\\n'>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc27_E", "<const_generic::Char<'\\''>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc2202_E",
	  "<const_generic::Char<'\\u{2202}'>>" },
	{ "_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO",
	  "<const_generic::Foo<_>>::foo::FOO" },
	{ "_RNvC6_123foo3bar.llvm.9D1C9369", "123foo::bar" },
	{ "_RNvC6utf8_u6idnaXu8d", "_RNvC6utf8_u6idnaXu8d" },
	{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	  "utf8_idents::საჭმელად_გემრიელი_სადილი" },
	{ "_RNCINvMs_NtCs1_4core3numNtB8_3u328from_strFKCTReEENtBa_3ErrE0Ba_",
	  "_RNCINvMs_NtCs1_4core3numNtB8_3u328from_strFKCTReEENtBa_3ErrE0Ba_" },
	{ "_RNvYNtC1a1AFG_RL0_hEuNtC1b1T1f", "_RNvYNtC1a1AFG_RL0_hEuNtC1b1T1f" },
	{ "_RINvC1a1fFUKC_hEuE", "_RINvC1a1fFUKC_hEuE" },
	{ "_RINvC1a1fFUKChEuE", "a::f::<unsafe extern \"C\" fn(u8)>" },
	{ "_RINvC1a1fFK6systemhtEbE", "a::f::<extern \"system\" fn(u8, u16) -> bool>" },
	{ "_RINvC1a1fDNtC1a1Tp4ItemhEL_E", "a::f::<dyn a::T<Item = u8>>" },
	{ "_RINvC1a1fDG_INtC1a1TL0_hEp4ItemRL0_hNtC1b1UEL_E",
	  "a::f::<dyn for<'a> a::T<'a, u8, Item = &'a u8> + b::U>" },
	{ "_RINvC1a1fTEThEThtEE", "a::f::<(), (u8,), (u8, u16)>" },
	{ "_RINvC1a1fAhj10_SmE", "a::f::<[u8; 16], [u32]>" },
	{ "_RINvC1a1fPhOtQmE", "a::f::<*const u8, *mut u16, &mut u32>" },
	{ "_RINvC1a1fKo123456789abcdef01_E", "a::f::<0x123456789abcdef01>" },
	{ "_RINvC1a1fINtC1b1SKhBf_EE", "_RINvC1a1fINtC1b1SKhBf_EE" },
	{ "_RNSNvC1a1f4name0", "_RNSNvC1a1f4name0" },
	{ "_RNHNvC1a1f4names_0", "_RNHNvC1a1f4names_0" },
	{ "_ZN4core3fmt9Formatter9write_str17h05af221e174051e9E",
	  "core::fmt::Formatter::write_str" },
	{ "_ZN54_$LT$I$u20$as$u20$core..iter..traits..IntoIterator$GT$9into_"
	  "iter17hc4fe5a53bfd25a4bE",
	  "<I as core::iter::traits::IntoIterator>::into_iter" },
	{ "_ZN68_$LT$I$u20$as$u20$core..iter..traits..collect..IntoIterator$GT$9into_"
	  "iter17hc4fe5a53bfd25a4bE",
	  "_ZN68_$LT$I$u20$as$u20$core..iter..traits..collect..IntoIterator$GT$9into_"
	  "iter17hc4fe5a53bfd25a4bE" },
	{ "_ZN4main4main17he714a2e23ed7db23E", "main::main" },
	{ "_ZN4main4main17h1e84398f0c6cb4b1E", "main::main" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
	  "3bar17h930b740aa94f1d3aE",
	  "<Test + 'static as foo::Bar<Test>>::bar" },
	{ "_ZN3foo4a.bc17h05af221e174051e9E", "foo::a.bc" },
	{ "_ZN3foo8a$uffff$17h05af221e174051e9E", "foo::a$uffff$" },
	{ "_ZN3foo5a$u7$17h05af221e174051e9E", "foo::a$u7$" },
	{ "_ZN3foo4a$QQ17h05af221e174051e9E", "foo::a$QQ" },
	{ "_ZN3foo17h05af221e174051e9E.llvm.123", "foo" },
	{ "_RC0", "_RC0" },
	{ "_R", "_R" },
	{ "_RNvC", "_RNvC" },
	{ "main", "main" },
	{ "_Z", "_Z" },
	{ "_ZN13test$u20$test4foob17h05af221e174051e9E", "test test::foob" },
	{ "_ZN4core9panicking5panic17h05af221e174051e9E.cold", "core::panicking::panic" },
	{ "_ZN4core9panicking5panic17h05af221e174051e9E@plt", "core::panicking::panic@plt" },
	{ "_RNvC7mycrate3foo [no size]", "mycrate::foo [no size]" },
	{ "_RNvNtNtNtNtCs92dm3009vxr_4rand4rngs7adapter9reseeding4fork23FORK_HANDLER_REGISTERED.0."
	  "0",
	  "rand::rngs::adapter::reseeding::fork::FORK_HANDLER_REGISTERED" },
};

static const struct name cxx[] = {
	{ "_ZN3foo17h0000000000000000E", "foo::h0000000000000000" },
	{ "_ZN3foo3barEv", "foo::bar()" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
	  "std::vector<int, std::allocator<int> >::push_back(int const&)" },
	{ "_Z3foov.cold", "foo() [clone .cold]" },
	/* As nm -C: a number of ThinLTO is no length, and the linker's versions are no part of a name. */
	{ "_ZN2ns3bazEi.llvm.12345678901234567", "ns::baz(int) [clone .llvm.12345678901234567]" },
	{ "_ZN2ns3bazEi.__uniq.17.llvm.12345678901234567.cold",
	  "ns::baz(int) [clone .__uniq.17] [clone .llvm.12345678901234567] [clone .cold]" },
	{ "_ZN2ns3bazEi@@V2", "ns::baz(int)@@V2" },
	{ "_ZN2ns3bazEi@V1", "ns::baz(int)@V1" },
	{ "_ZN2ns3bazEi@plt", "ns::baz(int)@plt" },
	{ "_ZN2ns3bazEi [no size]", "ns::baz(int) [no size]" },
	{ "_ZN2ns3bazEi [resolver]", "ns::baz(int) [resolver]" },
	{ "_ZN2ns3ba@plt", "_ZN2ns3ba@plt" },
	{ "_Z@plt", "_Z@plt" },
	{ "_ZN9wikipedia7article6formatEv", "wikipedia::article::format()" },
};

static void test_names(const struct name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *plain = ntrace_demangle(names[i].symbol);

		is_str(plain, names[i].plain, "%s", names[i].symbol);
		free(plain);
	}
}

/* @symbol is not changed. */
static void is_refused(const char *symbol, const char *what)
{
	char *plain = ntrace_demangle(symbol);

	ok(plain && !strcmp(plain, symbol), "%s", what);
	free(plain);
}

/* "_RINvC1a1f", @count times @part, "u", @count times @end, "E": nested types. */
static char *nested(unsigned int count, const char *part, const char *end)
{
	size_t size = 32 + count * (strlen(part) + strlen(end));
	char *symbol = malloc(size);
	size_t at = (size_t)snprintf(symbol, size, "_RINvC1a1f");

	for (unsigned int i = 0; i < count; i++)
		at += (size_t)snprintf(symbol + at, size - at, "%s", part);
	at += (size_t)snprintf(symbol + at, size - at, "u");
	for (unsigned int i = 0; i < count; i++)
		at += (size_t)snprintf(symbol + at, size - at, "%s", end);
	snprintf(symbol + at, size - at, "E");
	return symbol;
}

/* "<()>::g" in an impl of @parts parts: a tuple, which is not printed, and seven other parts. */
static char *hidden(unsigned int parts)
{
	static const char before[] = "_RNvMINvC1a1fT", after[] = "EEu1g";
	char *symbol = malloc(sizeof(before) + parts + sizeof(after));
	size_t at = sizeof(before) - 1;

	memcpy(symbol, before, at);
	memset(symbol + at, 'u', parts - 7);
	strcpy(symbol + at + parts - 7, after);
	return symbol;
}

static void test_limits(void)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *symbol = nested(100, "S", ""), *plain = ntrace_demangle(symbol);
	/* Each tuple contains the previous one twice. */
	char doubled[1024] = "_RINvC1a1fTuuE";
	unsigned int last = 8;

	ok(plain && !strncmp(plain, "a::f::<[[[", 10) && strstr(plain, "[()]]]"),
	   "a hundred nested types");
	free(plain);
	free(symbol);
	symbol = nested(100000, "S", "");
	is_refused(symbol, "a hundred thousand nested types are too many");
	free(symbol);
	symbol = nested(100000, "T", "E");
	is_refused(symbol, "a hundred thousand nested tuples too");
	free(symbol);
	for (unsigned int i = 0; i < 40; i++) {
		size_t at = strlen(doubled);
		char reference[8];

		if (last < 63)
			snprintf(reference, sizeof(reference), "B%c_", digits[last - 1]);
		else
			snprintf(reference, sizeof(reference), "B%c%c_", digits[(last - 1) / 62],
				 digits[(last - 1) % 62]);
		last = (unsigned int)at - 2;
		snprintf(doubled + at, sizeof(doubled) - at, "T%s%sE", reference, reference);
	}
	strcat(doubled, "E");
	is_refused(doubled, "a tuple of 2^40 elements");
	symbol = hidden(100000);
	plain = ntrace_demangle(symbol);
	is_str(plain, "<()>::g", "100,000 parts");
	free(plain);
	free(symbol);
	symbol = hidden(100001);
	is_refused(symbol, "one part more is too many");
	free(symbol);
	is_refused("_RINvC1a1fBa_E", "a reference to itself");
	is_refused("_RINvC1a1fBzzz_E", "a reference to the right");
	is_refused("_RNvC99999999999999999999999a1f", "a length that is too long");
	is_refused("_RNvC1a1fszzzzzzzzzzzzzzz_", "a number that has too many bits");
	is_refused("_RINvC1a1fFGzzzzzzz_EuE", "a million lifetimes");
	is_refused("_RINvC1a1fRL0_uE", "a lifetime that is not declared");
	is_refused("_RNvC1au8zzzzzzzz", "invalid punycode");
}

static uint64_t state = 1;

static unsigned int below(unsigned int limit)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned int)(state >> 33) % limit;
}

/* Damaged symbols: any result is allowed, but it must come fast and be text. */
static void test_damage(void)
{
	static const char letters[] = "_ABCEFIKLMNPQRSTUXYOGDBpsu0123456789hatn$.v";
	unsigned int changed = 0, long_ones = 0;
	clock_t start = clock();

	for (unsigned int round = 0; round < 50000; round++) {
		const char *from = rust[below(sizeof(rust) / sizeof(rust[0]))].symbol;
		char symbol[512], *plain;
		size_t size = strlen(from);

		memcpy(symbol, from, size + 1);
		for (unsigned int edits = 1 + below(4); edits && size > 3; edits--) {
			size_t at = 2 + below((unsigned int)size - 2);

			if (!below(3)) {
				memmove(symbol + at, symbol + at + 1, size - at);
				size--;
			} else {
				symbol[at] = letters[below(sizeof(letters) - 1)];
			}
		}
		plain = ntrace_demangle(symbol);
		if (!plain) {
			ok(false, "%s: no name", symbol);
			return;
		}
		changed += strcmp(plain, symbol) != 0;
		long_ones += strlen(plain) >= 64u << 10;
		free(plain);
	}
	ok(changed > 1000, "%u damaged symbols are names", changed);
	is_u64(long_ones, 0, "none is longer than 64 KiB");
	diag("%.2f s", (double)(clock() - start) / CLOCKS_PER_SEC);
}

/* Each level of "pair" has the one before twice: 255 bytes stand for a gigabyte of text. */
static void test_bombs(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (unsigned int levels = 8; levels <= 32; levels += 8) {
		char name[512] = "_Z1fSt4pairIiiE", *text;
		size_t at = strlen(name);

		for (unsigned int i = 0; i < levels; i++)
			at += (size_t)snprintf(name + at, sizeof(name) - at, "S_IS%c_S%c_E",
					       digits[i], digits[i]);
		text = ntrace_demangle(name);
		if (levels == 8)
			ok(text && !strncmp(text, "f(std::pair<int, int>", 21),
			   "8 levels are demangled");
		else
			ok(text && (!strcmp(text, name) || strlen(text) < (4u << 20)),
			   "%u levels: at most 4 MiB", levels);
		free(text);
	}
	for (unsigned int kind = 0; kind < 3; kind++) {
		static const char parts[] = { 'N', 'I', 'P' };
		char *name = malloc(100001), *text;

		memset(name, parts[kind], 100000);
		memcpy(name, "_Z1f", 4);
		name[100000] = '\0';
		text = ntrace_demangle(name);
		ok(text && !strcmp(text, name), "100,000 nested %c", parts[kind]);
		free(text);
		free(name);
	}
}

int main(void)
{
	test_names(rust, sizeof(rust) / sizeof(rust[0]));
	ok(ntrace_demangles_cxx(), "the machine has a C++ library");
	test_names(cxx, sizeof(cxx) / sizeof(cxx[0]));
	test_limits();
	test_bombs();
	test_damage();
	return done_testing();
}
