"""--disk, --os-size and --net of gnt-instance add, to the lists of disks and NICs that the opcode takes."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.values import Identified, InvalidValue, is_natural, parse_int, parse_size
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.disk_templates import WITHOUT_DISKS

Device = dict[str, Any]

MAX_DEVICES = 1024
#: The size that the cluster has for new disks, as where none is given.
AUTO = "auto"
NIC_KEYS = ("bridge", "ip", "link", "mac", "mode", "name", "network", "vlan")
#: What design-2.0 wrote as access=w and access=r.
_ACCESS_MODES = {"w": "rw", "r": "ro", "rw": "rw", "ro": "ro"}


def disks_of(template: str | None, given: Sequence[Identified], os_size: int | None) -> list[Device]:
    """The disks in order.

    @raise OpPrereqError: no disks, disks of a diskless instance, both spellings at once, or a bad disk.
    """
    if template == WITHOUT_DISKS:
        if given or os_size is not None:
            raise _wrong("Diskless instance but disk information passed: leave out --disk and -s")
        return []
    if given and os_size is not None:
        raise _wrong("Please use either the '--disk' or '-s' option")
    if os_size is not None:
        return [{"size": os_size}]
    if not given:
        raise _wrong("No disk information specified: use --disk 0:size=SIZE or --os-size SIZE")
    return [_disk(index, settings) for index, settings in enumerate(_in_order("disk", given))]


def nics_of(given: Sequence[Identified], no_nics: bool) -> list[Device]:
    """The NICs in order; one with the cluster's defaults when nothing was said. --net counts above --no-nics.

    @raise OpPrereqError: a bad NIC.
    """
    if not given:
        return [] if no_nics else [{}]
    return [_nic(index, settings) for index, settings in enumerate(_in_order("net", given))]


def _in_order(what: str, given: Sequence[Identified]) -> list[Mapping[str, Any]]:
    """By index, of which the last one counts; one that is skipped is empty."""
    by_index: dict[int, Mapping[str, Any]] = {}
    for ident, settings in given:
        if not isinstance(settings, dict):
            raise _wrong(f"--{what} {ident}: a new instance has no device to remove")
        by_index[_index(what, ident)] = settings
    return [by_index.get(index, {}) for index in range(max(by_index) + 1)]


def _index(what: str, ident: str) -> int:
    if not is_natural(ident) or int(ident) >= MAX_DEVICES:
        raise _wrong(f"--{what} {ident!r}: give an index from 0 to {MAX_DEVICES - 1}, as in --{what} 0:KEY=VALUE")
    return int(ident)


def _disk(index: int, settings: Mapping[str, Any]) -> Device:
    disk = dict(settings)
    if "access" in disk and disk["access"] in _ACCESS_MODES:
        disk["mode"] = _ACCESS_MODES[disk.pop("access")]
    try:
        if "size" in disk and "adopt" in disk:
            raise _wrong(f"Disk {index}: size and adopt exclude each other; the size of what is adopted counts")
        if disk.get("size") == AUTO:
            del disk["size"]
        elif "size" in disk:
            disk["size"] = parse_size(str(disk["size"]))
        elif "adopt" in disk:
            disk["size"] = 0  # the size of what is adopted counts
        if "spindles" in disk:
            disk["spindles"] = parse_int(str(disk["spindles"]))
    except InvalidValue as error:
        raise _wrong(f"Disk {index}: {error}") from None
    return disk


def _nic(index: int, settings: Mapping[str, Any]) -> Device:
    for key, value in settings.items():
        if key not in NIC_KEYS:
            raise _wrong(f"NIC {index}: unknown parameter {key!r}; known are {', '.join(NIC_KEYS)}")
        if isinstance(value, bool):
            raise _wrong(f"NIC {index}: parameter {key!r} needs a value: {key}=VALUE")
    return {key: None if key == "ip" and value == "none" else value for key, value in settings.items()}


def _wrong(text: str) -> OpPrereqError:
    return OpPrereqError(text, ECode.INVAL)
