// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all CoreSight components of Arm have in common: the lock, and claim tags, by which a
 * debugger and software on this machine agree who uses a component (CoreSight Architecture, "Claim
 * tags").
 */
#include <linux/device.h>

#include <ntrace/coresight.h>

#include "component.h"

/* Tags that may say who uses a component; others have no agreed meaning. */
#define NTRACE_CLAIM_TAGS	(CS_CLAIM_EXTERNAL | CS_CLAIM_SELF_HOSTED)

/** ntrace_coresight_unlock - let a component accept writes; without a lock nothing happens */
void ntrace_coresight_unlock(struct ntrace_component *component)
{
	ntrace_write(component, CS_LAR, CS_LAR_UNLOCK);
}

/** ntrace_coresight_is_external - tell whether a debugger has claimed a component */
bool ntrace_coresight_is_external(const struct ntrace_component *component)
{
	return ntrace_read(component, CS_CLAIMCLR) & CS_CLAIM_EXTERNAL;
}

/*
 * Unlocks a component and sets the tag of self-hosted use. A tag that was set before is that of an
 * earlier kernel. A debugger may set its tag at the same time, so the tags are read again.
 * Return: 0, or -EBUSY if a debugger has claimed the component.
 */
int ntrace_coresight_claim(struct ntrace_component *component)
{
	u32 tags;

	ntrace_coresight_unlock(component);
	if (!ntrace_coresight_is_external(component)) {
		ntrace_write(component, CS_CLAIMSET, CS_CLAIM_SELF_HOSTED);
		if (!ntrace_coresight_is_external(component))
			return 0;
	}
	tags = ntrace_read(component, CS_CLAIMCLR);
	ntrace_write(component, CS_CLAIMCLR, CS_CLAIM_SELF_HOSTED);
	dev_err_ratelimited(component->dev, "a debugger uses it (claim tags 0x%x)\n",
			    tags & NTRACE_CLAIM_TAGS);
	return -EBUSY;
}

/** ntrace_coresight_release - undo ntrace_coresight_claim() */
void ntrace_coresight_release(struct ntrace_component *component)
{
	ntrace_write(component, CS_CLAIMCLR, CS_CLAIM_SELF_HOSTED);
	ntrace_write(component, CS_LAR, 0);
}
