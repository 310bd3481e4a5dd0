/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that ramsink.c calls: memory, the device tree, WARL registers. */
#ifndef HOST_PLATFORM_H
#define HOST_PLATFORM_H

#include <linux/iopoll.h>

int host_allocations = -1;

/*
 * Memory for sinks: its address, the amount in use, and the permitted
 * addresses.
 */
static struct {
	dma_addr_t dma;
	u64 mask;
	unsigned int allocated;
	bool refuse_mask;
	/* the device tree's memory-region */
	bool region, region_unusable;
	struct reserved_mem reserved;
	unsigned int nodes;
	u32 write_bytes; /* the device tree's riscv,write-bytes, 0: absent */
	void (*release)(void *data);
	void *release_data;
} platform;

int dma_set_mask_and_coherent(struct device *dev, u64 mask)
{
	platform.mask = mask;
	return platform.refuse_mask ? -EIO : 0;
}

void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *dma, gfp_t flags)
{
	void *memory = kzalloc(size, flags);

	*dma = platform.dma;
	platform.allocated += !!memory;
	return memory;
}

void dma_free_coherent(struct device *dev, size_t size, void *memory, dma_addr_t dma)
{
	platform.allocated--;
	free(memory);
}

struct device_node *of_parse_phandle(const struct device_node *node, const char *name, int index)
{
	if (!platform.region || strcmp(name, "memory-region") || index)
		return NULL;
	platform.nodes++;
	return (struct device_node *)&platform;
}

void of_node_put(struct device_node *node)
{
	platform.nodes--;
}

int of_property_read_u32(const struct device_node *node, const char *name, u32 *value)
{
	if (!platform.write_bytes || strcmp(name, "riscv,write-bytes"))
		return -EINVAL;
	*value = platform.write_bytes;
	return 0;
}

struct reserved_mem *of_reserved_mem_lookup(struct device_node *node)
{
	return platform.reserved.size ? &platform.reserved : NULL;
}

int of_reserved_mem_device_init(struct device *dev)
{
	return platform.region_unusable ? -ENODEV : 0;
}

void of_reserved_mem_device_release(struct device *dev)
{
}

int devm_add_action_or_reset(struct device *dev, void (*action)(void *), void *data)
{
	platform.release = action;
	platform.release_data = data;
	return 0;
}

u32 ntrace_component_warl(struct ntrace_component *component, u32 offset, u32 value)
{
	ntrace_write(component, offset, value);
	return ntrace_read(component, offset);
}

int ntrace_component_poll(const struct ntrace_component *component, u32 offset, u32 mask, u32 want,
			  bool atomic, u32 *value)
{
	u32 now;
	int ret = read_poll_timeout(ntrace_read, now, (now & mask) == want, 0, 0, false, component,
				    offset);

	if (value)
		*value = now;
	return ret;
}

int ntrace_component_wait_enabled(struct ntrace_component *component, bool atomic)
{
	return ntrace_read(component, TR_CONTROL) & TR_CONTROL_ENABLE ? 0 : -ETIMEDOUT;
}

int ntrace_component_wait_disabled(struct ntrace_component *component, bool atomic, u32 *control)
{
	u32 value = ntrace_read(component, TR_CONTROL);

	if (control)
		*control = value;
	return value & TR_CONTROL_ENABLE ? -ETIMEDOUT : 0;
}

int ntrace_component_start(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, TR_CONTROL,
		     TR_CONTROL_ACTIVE | component->fixed | TR_CONTROL_ENABLE);
	return ntrace_component_wait_enabled(component, atomic);
}

void ntrace_component_halt(struct ntrace_component *component)
{
	ntrace_write(component, TR_CONTROL, TR_CONTROL_ACTIVE | component->fixed);
}

int ntrace_component_stop(struct ntrace_component *component, bool atomic)
{
	ntrace_component_halt(component);
	return ntrace_component_wait_disabled(component, atomic, NULL);
}

int ntrace_component_refuse(struct ntrace_component *component, const char *why)
{
	host_log(component->dev, "%s", why);
	return -EOPNOTSUPP;
}

#endif /* HOST_PLATFORM_H */
