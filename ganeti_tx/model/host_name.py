"""What a host, and so a cluster, a node or an instance, can be called."""

import re

#: Words separated by dots, as RFC 1123 has host names, in lower case. None begins with a dash, so none is an option.
HOST_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
ALLOWED = "letters, digits, - and . between"
#: How much of what is none is shown.
SHOWN = 260


def is_host_name(name: str) -> bool:
    """Whether a host can be called so, in upper or lower case."""
    return HOST_NAME.fullmatch(name.lower()) is not None


def host_name_fault(name: str) -> str | None:
    """Why no host can be called so; None when one can."""
    return None if is_host_name(name) else f"not a host name: {name[:SHOWN]!r}; allowed are {ALLOWED}"
