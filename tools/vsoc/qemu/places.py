# SPDX-License-Identifier: GPL-2.0-or-later
"""What the files with PLACES of `apply` have in common."""


def literal(text):
    """Replacements are format strings."""
    return text.replace("{", "{{").replace("}", "}}")
