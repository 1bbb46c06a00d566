"""What LVM allows for names of volume groups and of volumes (lvm(8), VALID NAMES)."""

import re

#: A hyphen at the beginning would be an option.
_VALID = re.compile(r"[A-Za-z0-9_+.][A-Za-z0-9_+.-]{0,126}")
ALLOWED = "letters, digits and _+.- are allowed, at most 127"


def is_volume_name(name: str) -> bool:
    """Whether there can be one of that name."""
    return _VALID.fullmatch(name) is not None and name not in (".", "..")


def volume_group_fault(what: str, name: str) -> str | None:
    """Why something cannot be the name of a volume group, if so. @param what: where it was given."""
    return None if is_volume_name(name) else f"{what}: {name!r:.200} is no name of a volume group; {ALLOWED}"
