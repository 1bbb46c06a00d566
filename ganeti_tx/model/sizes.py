"""How a size is written (Ganeti 3.0 command line table, types): the one rule for command lines, LUXI and the Remote API."""

import re

#: A size that was written is a multiple of this, in MiB.
STEP = 4
#: What is allowed, for errors.
WANTED = "a number with an optional unit m, g or t, such as 512m or 10g"

_MEBIBYTES = {"": 1, "m": 1, "g": 1024, "t": 1024 * 1024}
#: Compiled when first used: most commands read no sizes.
_WRITTEN = r"([0-9]{1,15})(?:\.([0-9]{1,15}))?[ \t]*([a-z]*)"


def parse_size(text: str) -> int | None:
    """MiB of a text such as "512", "1.5g" or "10 GiB", rounded up to a multiple of 4; None when it is none.

    The arithmetic is exact, so that no size is smaller than asked for.
    """
    match = re.fullmatch(_WRITTEN, text.strip().lower(), re.ASCII)
    mebibytes = _MEBIBYTES.get(_letter(match[3])) if match else None
    if match is None or mebibytes is None:
        return None
    fraction = match[2] or ""
    parts: int = 10 ** len(fraction) * STEP
    return -(-int(match[1] + fraction) * mebibytes // parts) * STEP


def _letter(unit: str) -> str:
    """The unit without the "b" or "ib" that may follow its letter."""
    for suffix in ("ib", "b"):
        if len(unit) > len(suffix) and unit.endswith(suffix):
            return unit.removesuffix(suffix)
    return unit


def shown(mebibytes: float) -> str:
    """A size for people, such as 512M or 1.5G."""
    if mebibytes < 1024:
        return f"{mebibytes:.0f}M"
    gibibytes = mebibytes / 1024
    return f"{gibibytes:.1f}G" if gibibytes < 1024 else f"{gibibytes / 1024:.1f}T"
