/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Contexts: which address space a hart is in. Ownership messages (N-Trace 1.0, Ownership) choose
 * one of the spaces registered here.
 */
#ifndef NTRACE_CONTEXT_H
#define NTRACE_CONTEXT_H

#include <ntrace/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ntrace_context - the known state of a hart
 * @scontext: CSR scontext, valid with @scontext_known
 * @hcontext: CSR hcontext, valid with @hcontext_known
 * @prv: privilege: 0 U, 1 S, 3 M, valid with @prv_known
 * @v: virtual: VU, VS; false while @prv_known is false
 * @scontext_known: an Ownership message of FORMAT 2 has set @scontext
 * @hcontext_known: an Ownership message of FORMAT 3 has set @hcontext
 * @prv_known: any Ownership message has set @prv and @v
 */
struct ntrace_context {
	uint64_t scontext;
	uint64_t hcontext;
	uint8_t prv;
	bool v;
	bool scontext_known;
	bool hcontext_known;
	bool prv_known;
};

/**
 * ntrace_context_privilege - name of the privilege (N-Trace 1.0, Ownership)
 * @context: with @prv_known
 *
 * Return: "U", "S", "M", "VU", "VS", or "reserved"; static.
 */
NTRACE_API const char *ntrace_context_privilege(const struct ntrace_context *context);

/**
 * struct ntrace_context_match - contexts that a space belongs to
 * @size: sizeof(struct ntrace_context_match) of the caller
 * @scontext: compared in the bits of @scontext_mask
 * @scontext_mask: 0 = any scontext, known or not; else an unknown scontext does not match
 * @hcontext: compared in the bits of @hcontext_mask
 * @hcontext_mask: as @scontext_mask
 * @prv: compared in the bits of @prv_mask
 * @prv_mask: 0 = any, 3 = exactly @prv, 2 with @prv 0 = U and S
 * @v: a space of a guest (VU, VS) or of the host. There is no wildcard, since an address of a guest
 *     means nothing in a space of the host
 *
 * M-mode has no contexts: a match that compares scontext or hcontext but not the privilege never
 * matches M-mode.
 */
struct ntrace_context_match {
	size_t size;
	uint64_t scontext;
	uint64_t scontext_mask;
	uint64_t hcontext;
	uint64_t hcontext_mask;
	uint8_t prv;
	uint8_t prv_mask;
	bool v;
};

struct ntrace_contexts;

/**
 * ntrace_contexts_new - an empty registry
 * @contexts: the new registry, to be freed with ntrace_contexts_free(); NULL on error
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_contexts_new(struct ntrace_contexts **contexts);

/**
 * ntrace_contexts_free - free a registry and release its spaces
 * @contexts: registry made by ntrace_contexts_new(); NULL is allowed
 */
NTRACE_API void ntrace_contexts_free(struct ntrace_contexts *contexts);

/**
 * ntrace_contexts_add - register the contexts of a space
 * @contexts: registry made by ntrace_contexts_new()
 * @space: space, referenced by the registry
 * @match: its contexts, copied
 *
 * Return: 0, NTRACE_ERR_INVALID (@space is NULL, @match has another size, a value has bits outside
 * its mask, a guest in M-mode), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_contexts_add(struct ntrace_contexts *contexts, struct ntrace_space *space,
				   const struct ntrace_context_match *match);

/**
 * ntrace_contexts_find - the space of a context
 * @contexts: registry made by ntrace_contexts_new()
 * @context: state of the hart; an unknown part matches only a mask of 0
 *
 * Of all matches the one that compares the most bits (over all masks) wins, among equal ones the
 * one added last.
 *
 * Return: the space, owned by the registry; NULL if none matches.
 */
NTRACE_API struct ntrace_space *ntrace_contexts_find(const struct ntrace_contexts *contexts,
						     const struct ntrace_context *context);

/**
 * ntrace_contexts_version - changes with every ntrace_contexts_add()
 * @contexts: registry made by ntrace_contexts_new()
 *
 * For callers that cache results of ntrace_contexts_find().
 *
 * Return: the number of registered matches, which only grows.
 */
NTRACE_API uint64_t ntrace_contexts_version(const struct ntrace_contexts *contexts);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_CONTEXT_H */
