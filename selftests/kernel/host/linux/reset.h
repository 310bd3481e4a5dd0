/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_RESET_H
#define HOST_LINUX_RESET_H

struct device;
struct reset_control;

/* Defined by the test, which has resets. */
struct reset_control *devm_reset_control_array_get_optional_shared(struct device *dev);
int reset_control_deassert(struct reset_control *resets);
int reset_control_assert(struct reset_control *resets);

#endif /* HOST_LINUX_RESET_H */
