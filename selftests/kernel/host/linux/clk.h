/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CLK_H
#define HOST_LINUX_CLK_H

struct clk_bulk_data;
struct device;

/* Defined by the test, which has clocks. */
int devm_clk_bulk_get_all(struct device *dev, struct clk_bulk_data **clocks);
int clk_bulk_prepare_enable(int count, const struct clk_bulk_data *clocks);
void clk_bulk_disable_unprepare(int count, const struct clk_bulk_data *clocks);

#endif /* HOST_LINUX_CLK_H */
