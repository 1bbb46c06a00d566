"""How bytes are packed while they travel, by the name of a compression tool (reference: export.json, compression)."""

from collections.abc import Sequence

#: No tool at all.
NONE = "none"
#: What those tools are called with that are more than a program's name; others pack without an argument.
PACKING = {
    NONE: (),
    "gzip": ("gzip", "-1", "-c"),
    "gzip-fast": ("gzip", "-1", "-c"),
    "gzip-slow": ("gzip", "-c"),
    "lzop": ("lzop", "-c"),
}
UNPACKING = {
    NONE: (),
    "gzip": ("gzip", "-d", "-c"),
    "gzip-fast": ("gzip", "-d", "-c"),
    "gzip-slow": ("gzip", "-d", "-c"),
    "lzop": ("lzop", "-d", "-c"),
}


def packing(tool: str) -> Sequence[str]:
    """What packs its input; empty if nothing does."""
    return PACKING.get(tool, (tool,))


def unpacking(tool: str) -> Sequence[str]:
    """What unpacks its input; empty if nothing does."""
    return UNPACKING.get(tool, (tool, "-d"))


def is_allowed(tool: str, tools: Sequence[str]) -> bool:
    """Whether disks may travel so. @param tools: the cluster's; gzip can always be had."""
    return tool in (NONE, "gzip", *tools)
