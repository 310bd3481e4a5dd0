// SPDX-License-Identifier: GPL-2.0-only
/* ntrace ctr trace: functions in the BTF of the running kernel and its modules. */
#ifdef NTRACE_BPF
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "common/command.h"
#include "common/ui.h"
#include "trace_find.h"

#define SNAPSHOT "bpf_ctr_snapshot"

/**
 * struct search - state of ctr_trace_find()
 * @matches: for each pattern, the number of functions that match it
 */
struct search {
	const struct ctr_trace_request *request;
	struct ctr_trace_found *found;
	unsigned int *matches;
};

/* The type of the value that a function with prototype @id returns. */
static void describe_value(const struct btf *btf, uint32_t id, struct ctr_trace_function *function)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	type = type ? btf__type_by_id(btf, (uint32_t)btf__resolve_type(btf, type->type)) : NULL;
	function->value = CTR_TRACE_UNSIGNED;
	function->bits = 64;
	if (!type || btf_is_void(type)) {
		function->value = CTR_TRACE_VOID;
	} else if (btf_is_ptr(type)) {
		function->value = CTR_TRACE_POINTER;
	} else if (btf_is_int(type) || btf_is_any_enum(type)) {
		function->bits = type->size * 8;
		if (btf_is_any_enum(type) || btf_int_encoding(type) & BTF_INT_SIGNED)
			function->value = CTR_TRACE_SIGNED;
	}
}

static int add_function(struct search *search, const struct btf *btf, uint32_t id,
			const char *module, uint32_t object, bool named)
{
	struct ctr_trace_found *found = search->found;
	const struct btf_type *type = btf__type_by_id(btf, id);
	struct ctr_trace_function *function;

	if (found->count == CTR_TRACE_FUNCTIONS)
		return fail("more than %d functions match", CTR_TRACE_FUNCTIONS);
	function = &found->function[found->count];
	*function = (struct ctr_trace_function){
		.name = strdup(btf__name_by_offset(btf, type->name_off)),
		.module = strdup(module),
		.btf = object,
		.id = id,
		.named = named,
	};
	if (!function->name || !function->module) {
		free(function->name);
		free(function->module);
		return fail("out of memory");
	}
	found->count++;
	describe_value(btf, type->type, function);
	/* A function without a return value cannot return an error. */
	if (search->request->config.errors && function->value == CTR_TRACE_VOID) {
		free(function->name);
		free(function->module);
		found->count--;
	}
	return EXIT_OK;
}

/* Matches the functions of one BTF object, starting with type @first. */
static int search_object(struct search *search, const struct btf *btf, uint32_t first,
			 const char *module, uint32_t object)
{
	for (uint32_t id = first; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		bool wanted = false, named = false;
		const char *name;

		if (!btf_is_func(type))
			continue;
		name = btf__name_by_offset(btf, type->name_off);
		if (!strcmp(module, "riscv_ctr") && !strcmp(name, SNAPSHOT))
			search->found->snapshot = object;
		for (int i = 0; i < search->request->count; i++) {
			if (fnmatch(search->request->patterns[i], name, 0))
				continue;
			search->matches[i]++;
			wanted = true;
			named |= !strpbrk(search->request->patterns[i], "*?[\\");
		}
		if (wanted && add_function(search, btf, id, module, object, named))
			return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int search_modules(struct search *search, struct btf *kernel)
{
	uint32_t id = 0;
	int error = EXIT_OK;

	while (!error && !bpf_btf_get_next_id(id, &id)) {
		struct bpf_btf_info info;
		uint32_t size = sizeof(info);
		char name[64] = "";
		struct btf *btf;
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		info.name = (uintptr_t)name;
		info.name_len = sizeof(name);
		error = bpf_obj_get_info_by_fd(fd, &info, &size);
		close(fd);
		if (error || !info.kernel_btf || !strcmp(name, "vmlinux")) {
			error = EXIT_OK;
			continue;
		}
		btf = btf__load_from_kernel_by_id_split(id, kernel);
		if (!btf)
			continue;
		error = search_object(search, btf, btf__type_cnt(kernel), name, id);
		btf__free(btf);
	}
	return error;
}

static int check_found(const struct search *search)
{
	const struct ctr_trace_request *request = search->request;

	if (!search->found->snapshot)
		return fail("riscv_ctr has no " SNAPSHOT "(): is it loaded, and built with BTF?");
	for (int i = 0; i < request->count; i++) {
		if (!search->matches[i])
			return fail("%s: no such function in the BTF of the kernel and its modules",
				    request->patterns[i]);
	}
	if (!search->found->count)
		return fail("none of the matching functions returns a value (--errors)");
	return EXIT_OK;
}

static int search_all(struct search *search)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	int error;

	if (!kernel)
		return fail("the kernel has no BTF: %s", strerror(errno));
	error = search_object(search, kernel, 1, "", 0);
	if (!error)
		error = search_modules(search, kernel);
	btf__free(kernel);
	return error;
}

int ctr_trace_find(struct ctr_trace_found *found, const struct ctr_trace_request *request)
{
	struct search search = { .request = request, .found = found };
	int error;

	*found = (struct ctr_trace_found){ 0 };
	found->function = calloc(CTR_TRACE_FUNCTIONS, sizeof(*found->function));
	search.matches = calloc((size_t)request->count, sizeof(*search.matches));
	if (!found->function || !search.matches) {
		free(search.matches);
		return fail("out of memory");
	}
	error = search_all(&search);
	if (!error)
		error = check_found(&search);
	free(search.matches);
	return error;
}

void ctr_trace_found_free(struct ctr_trace_found *found)
{
	for (size_t i = 0; i < found->count; i++) {
		free(found->function[i].name);
		free(found->function[i].module);
	}
	free(found->function);
	*found = (struct ctr_trace_found){ 0 };
}
#endif /* NTRACE_BPF */
