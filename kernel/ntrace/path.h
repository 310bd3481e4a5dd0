/* SPDX-License-Identifier: GPL-2.0-only */
/* Switches all components of a path in the right order. */
#ifndef NTRACE_PATH_H
#define NTRACE_PATH_H

#include <linux/types.h>

struct ntrace_capture;
struct ntrace_config;
struct ntrace_path;

int ntrace_path_may_join(struct ntrace_path *path, const struct ntrace_capture *capture,
			 const struct ntrace_config *config);
int ntrace_path_attach(struct ntrace_path *path, struct ntrace_capture *capture);
void ntrace_path_detach(struct ntrace_path *path, struct ntrace_capture *capture);
int ntrace_path_program(struct ntrace_path *path, const struct ntrace_config *config);
int ntrace_path_enable(struct ntrace_path *path);
int ntrace_path_disable(struct ntrace_capture *capture, u32 control);
int ntrace_path_enable_atomic(struct ntrace_path *path);
int ntrace_path_disable_atomic(struct ntrace_capture *capture, u32 control);

#endif /* NTRACE_PATH_H */
