/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory, programming, start and stop of one configured path. */
#ifndef NTRACE_CAPTURE_H
#define NTRACE_CAPTURE_H

struct file;
struct ntrace_capture;
struct ntrace_client;
struct ntrace_config;
struct ntrace_path;

struct ntrace_capture *ntrace_capture_alloc(struct ntrace_path *path,
					    const struct ntrace_config *config);
struct ntrace_capture *ntrace_capture_alloc_perf(struct ntrace_path *path,
						 const struct ntrace_config *config,
						 const struct ntrace_client *client);
void ntrace_capture_get(struct ntrace_capture *capture);
void ntrace_capture_put(struct ntrace_capture *capture);
int ntrace_capture_attach(struct ntrace_path *path, struct ntrace_capture *capture,
			  struct file *owner);
void ntrace_capture_detach(struct ntrace_path *path);
int ntrace_capture_revive(struct ntrace_capture *capture);
int ntrace_capture_start(struct ntrace_capture *capture);
int ntrace_capture_stop(struct ntrace_capture *capture);

#endif /* NTRACE_CAPTURE_H */
