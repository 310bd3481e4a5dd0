/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MINMAX_H
#define HOST_LINUX_MINMAX_H

#define min_t(type, a, b) ({ type a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define max_t(type, a, b) ({ type a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
#define min(a, b) min_t(__typeof__(a), a, b)
#define max(a, b) max_t(__typeof__(a), a, b)
#define clamp(value, low, high) ({ __typeof__(value) c_ = max(value, low); min(c_, high); })
#define min3(a, b, c) ({ __typeof__(a) m_ = min(a, b), c_ = (c); m_ < c_ ? m_ : c_; })

#endif /* HOST_LINUX_MINMAX_H */
