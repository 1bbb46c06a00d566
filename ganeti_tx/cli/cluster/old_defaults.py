"""`--defaults KEY=VALUE,...`, as design-2.0 has it (cluster defaults), in the words of today's settings."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.cli.options import Option
from ganeti_tx.cli.parsing import UsageError
from ganeti_tx.cli.values import InvalidValue, parse_size

KNOWN = ("bridge", "disksize", "hypervisor")
DEFAULTS = Option(
    ("--defaults",),
    "old_defaults",
    "old spelling: defaults as hypervisor=NAME,bridge=NAME,disksize=SIZE",
    "keyval",
    own=True,
)


def with_old_defaults(
    settings: Mapping[str, Any], old: Mapping[str, Any] | None, hypervisors: list[str]
) -> dict[str, Any]:
    """The settings with those that the old spelling says.

    @param hypervisors: those that are enabled.
    @raise UsageError: there is no such default, or its value cannot be read.
    """
    given = check(old or {})
    found = dict(settings)
    if "hypervisor" in given:
        found["enabled_hypervisors"] = with_first(given["hypervisor"], found.get("enabled_hypervisors") or hypervisors)
    if "bridge" in given:
        found["nicparams"] = {"mode": "bridged", "link": given["bridge"], **(found.get("nicparams") or {})}
    if "disksize" in given:
        found["default_disk_size"] = size_of(given["disksize"])
    return found


def check(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """@raise UsageError: something else is given."""
    for key, value in given.items():
        if key not in KNOWN:
            raise UsageError(f"option --defaults: {key!r} has no default; known are {', '.join(KNOWN)}")
        if not isinstance(value, str) or not value:
            raise UsageError(f"option --defaults: {key} needs a value: {key}=VALUE")
    return given


def size_of(text: str) -> int:
    """MiB. @raise UsageError: it is no size."""
    try:
        return parse_size(text)
    except InvalidValue as error:
        raise UsageError(f"option --defaults: disksize: {error}") from None


def with_first(first: str, names: list[str]) -> list[str]:
    """The first one is the default for new instances, so an old default goes there."""
    return [first, *(name for name in names if name != first)]
