"""--disk and --net of gnt-instance modify, to the changes that the opcode takes."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.values import Identified, InvalidValue, parse_int, parse_size
from ganeti_tx.errors import ECode, OpPrereqError

#: [action, index or name or uuid, parameters].
Change = list[Any]

ADD, ATTACH, DETACH, MODIFY, REMOVE = ACTIONS = ("add", "attach", "detach", "modify", "remove")
#: The end of the list, where a change names no item.
END = -1
#: What design-2.0 wrote as access=w and access=r.
ACCESS_MODES = {"w": "rw", "r": "ro", "rw": "rw", "ro": "ro"}


def disk_changes(given: Sequence[Identified]) -> list[Change]:
    """The changes in the order of the line. @raise OpPrereqError: one that cannot be meant."""
    changes = [change("disk", ident, settings) for ident, settings in given]
    return [[action, item, disk_settings(item, params)] for action, item, params in changes]


def nic_changes(given: Sequence[Identified]) -> list[Change]:
    """As `disk_changes`."""
    changes = [change("net", ident, settings) for ident, settings in given]
    return [[action, item, nic_settings(item, params)] for action, item, params in changes]


def change(option: str, ident: str, settings: Any) -> Change:
    """One change: `add:...`, `N:add,...`, `ID:remove` and the like; without an action it modifies."""
    if not isinstance(settings, dict):
        raise _wrong(f"--{option} {ident}: write ID:remove to remove it")
    named = [word for word in ACTIONS if settings.get(word) is True]
    at_end = ident in ACTIONS and ident != MODIFY
    words = [ident, *named] if at_end else named
    if len(words) > 1:
        raise _wrong(f"--{option} {ident}: cannot {' and '.join(words)} at the same time; give one")
    action = words[0] if words else MODIFY
    item: int | str = END if at_end else ident
    params = {key: value for key, value in settings.items() if key not in named}
    if params and action in (REMOVE, DETACH):
        raise _wrong(f"--{option} {ident}: nothing can be said of what is to leave, but {', '.join(params)} is given")
    return [action, item, params]


def disk_settings(item: object, given: dict[str, Any]) -> dict[str, Any]:
    """What is said of a disk, sizes and numbers as numbers."""
    disk = dict(given)
    if disk.get("access") in ACCESS_MODES:
        disk["mode"] = ACCESS_MODES[disk.pop("access")]
    try:
        if "size" in disk:
            disk["size"] = parse_size(str(disk["size"]))
        if "spindles" in disk:
            disk["spindles"] = parse_int(str(disk["spindles"]))
    except InvalidValue as error:
        raise _wrong(f"--disk {item}: {error}") from None
    for key, value in disk.items():
        if value is None or isinstance(value, bool):
            raise _wrong(f"--disk {item}: parameter {key!r} needs a value: {key}=VALUE")
    return disk


def nic_settings(item: object, given: dict[str, Any]) -> dict[str, Any]:
    """What is said of a NIC; which names there are the master knows."""
    for key, value in given.items():
        if value is None or isinstance(value, bool):
            raise _wrong(f"--net {item}: parameter {key!r} needs a value: {key}=VALUE")
    return given


def _wrong(text: str) -> OpPrereqError:
    return OpPrereqError(text, ECode.INVAL)
