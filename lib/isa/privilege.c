// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names of privileges, and sets of them as users write them. */
#include <string.h>

#include <ntrace/isa.h>

const char *ntrace_priv_name(unsigned int priv)
{
	switch (priv) {
	case NTRACE_PRIV_U:
		return "U";
	case NTRACE_PRIV_S:
		return "S";
	case NTRACE_PRIV_M:
		return "M";
	case NTRACE_PRIV_D:
		return "D";
	case NTRACE_PRIV_VU:
		return "VU";
	case NTRACE_PRIV_VS:
		return "VS";
	default:
		return "?";
	}
}

int ntrace_priv_parse(uint32_t *set, const char *text)
{
	static const char letters[] = "uUsSkKmM";
	static const uint8_t plain[] = { NTRACE_PRIV_U, NTRACE_PRIV_S, NTRACE_PRIV_S,
					 NTRACE_PRIV_M };
	uint32_t found = 0;

	do {
		bool guest = *text == 'v' || *text == 'V';
		const char *letter = guest ? text + 1 : text;
		const char *known = *letter ? strchr(letters, *letter) : NULL;
		unsigned int priv = known ? plain[(known - letters) / 2] : NTRACE_PRIV_M;

		/* A guest has no M-mode. */
		if (!known || (guest && priv == NTRACE_PRIV_M))
			return NTRACE_ERR_INVALID;
		found |= UINT32_C(1) << (guest ? priv + NTRACE_PRIV_VU : priv);
		text = letter + 1;
		if (*text == ',' && text[1])
			text++;
	} while (*text);
	*set = found;
	return 0;
}
