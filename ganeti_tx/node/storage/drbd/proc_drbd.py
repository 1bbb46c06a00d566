"""Reads /proc/drbd of DRBD 8."""

import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError

#: The figures of a device by the kernel's letters, in its order, with the report's names (drbd.conf(5), drbdsetup(8)).
FIGURES = {
    "ns": "networkSend", "nr": "networkReceive", "dw": "diskWrite", "dr": "diskRead", "al": "activityLog",
    "bm": "bitMap", "lo": "localCount", "pe": "pending", "ua": "unacknowledged", "ap": "applicationPending",
    "ep": "epochs", "wo": "writeOrder", "oos": "outOfSync",
}  # fmt: skip
#: The state of a minor that is there and has nothing.
UNCONFIGURED = "Unconfigured"
_VERSION = re.compile(r"version: (\S+) \(api:([^/)]+)/proto:([^)]+)\)")
_DEVICE = re.compile(r"\s*(\d+): cs:(\w+)(?: ro:(\w+)/(\w+) ds:(\w+)/(\w+) (\S| ) (\S+))?\s*")
_PROGRESS = re.compile(r"(?:sync'ed|verified):\s*([\d.]+)%\s*\((\d+)/(\d+)\)\s*(\w+)")
_SPEED = re.compile(
    r"finish:\s*(\S+)\s+speed:\s*([\d,]+)\s*(?:\([\d,]+(?:\s*--\s*[\d,]+)*\))?(?:\s*want:\s*([\d,]+))?\s*(\S+/sec)"
)


@frozen
class DrbdStatus:
    """What the module says: of itself, and of each minor."""

    version: dict[str, str]
    devices: list[dict[str, Any]]


def parse_proc_drbd(text: str) -> DrbdStatus:
    """The file's whole content. @raise BlockDeviceError: it is none of DRBD 8."""
    lines = text.splitlines()
    if not lines or _VERSION.match(lines[0]) is None:
        raise BlockDeviceError(f"/proc/drbd begins with {(lines or [''])[0][:100]!r}, not with DRBD's version")
    version: dict[str, str] = {}
    devices: list[dict[str, Any]] = []
    for line in lines:
        if (match := _DEVICE.fullmatch(line)) is not None:
            devices.append(_device(match))
        elif " cs:" in line:
            raise BlockDeviceError(f"cannot read this line of /proc/drbd: {line[:200]!r}")
        elif devices:
            _add(devices[-1], line)
        else:
            version.update(_of_version(line))
    return DrbdStatus(version, devices)


def _of_version(line: str) -> Iterator[tuple[str, str]]:
    """What a line above the devices tells."""
    if (match := _VERSION.match(line)) is not None:
        yield from zip(("version", "api", "proto"), match.groups(), strict=True)
    elif (match := re.match(r"srcversion:\s*(\S+)", line)) is not None:
        yield "srcversion", match[1]
    elif (match := re.match(r"GIT-hash:\s*(\S+)(?:\s+build by (.+))?", line)) is not None:
        yield "gitHash", match[1]
        if match[2]:
            yield "buildBy", match[2].strip()


def _device(match: re.Match[str]) -> dict[str, Any]:
    """An unconfigured minor has only its number and that state; one that stands alone has no protocol."""
    minor, connection, local, remote, local_disk, remote_disk, protocol, flags = match.groups()
    found: dict[str, Any] = {"minor": int(minor), "connectionState": connection}
    if local is not None:
        found |= {"localRole": local, "remoteRole": remote, "localState": local_disk, "remoteState": remote_disk}
        found |= {"replicationProtocol": protocol.strip() or None, "ioFlags": flags}
    return found


def _add(device: dict[str, Any], line: str) -> None:
    """One of the lines below a device's first."""
    words = dict(word.split(":", 1) for word in line.split() if ":" in word)
    if "ns" in words:
        device["perfIndicators"] = {
            name: words[key] if key == "wo" else int(words[key]) for key, name in FIGURES.items() if key in words
        }
    elif (match := _PROGRESS.search(line)) is not None:
        left, whole = int(match[2]), int(match[3])
        device["syncStatus"] = {
            "percentage": float(match[1]),
            "progress": f"{whole - left}/{whole}",
            "progressUnit": {"K": "KiB", "M": "MiB"}.get(match[4], match[4]),
        }
    elif (match := _SPEED.search(line)) is not None and "syncStatus" in device:
        finish, speed, want, unit = match.groups()
        device["syncStatus"] |= {
            "timeToFinish": finish,
            "speed": _number(speed),
            "speedUnit": unit.replace("K/", "KiB/"),
        }
        if want is not None:
            device["syncStatus"]["want"] = _number(want)


def _number(text: str) -> int:
    return int(text.replace(",", ""))
