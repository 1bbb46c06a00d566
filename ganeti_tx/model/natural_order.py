"""Natural order: "web2" stands before "web10"."""

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural(text: str) -> list[str | int]:
    """A sort key; texts and numbers take turns in it, so that like always meets like."""
    parts: list[str | int] = list(_DIGITS.split(text))
    parts[1::2] = [int(part) for part in parts[1::2]]
    return parts
