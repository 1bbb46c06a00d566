"""The collector "drbd": the state of this node's mirrors and whose they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define
from zope.interface import implementer

from ganeti_tx.mond.interfaces import Category, ICollector, IConfigFacts, Kind, NodeFacts
from ganeti_tx.mond.status import Status, StatusCode, worst
from ganeti_tx.node.storage.drbd.proc_drbd import UNCONFIGURED, DrbdStatus, parse_proc_drbd
from ganeti_tx.runtime.files import IFiles

PROC_DRBD = Path("/proc/drbd")
LIMIT = 4 << 20
#: Connection states that pass by themselves: a mirror that connects, or becomes whole.
PASSING = frozenset({
    "WFReportParams", "StartingSyncS", "StartingSyncT", "WFBitMapS", "WFBitMapT", "WFSyncUUID", "SyncSource",
    "SyncTarget", "PausedSyncS", "PausedSyncT", "Ahead", "Behind",
})  # fmt: skip
#: With these both sides are whole, if their disks are.
CONNECTED = frozenset({"Connected", "VerifyS", "VerifyT"})


@implementer(ICollector)
@define
class DrbdCollector:
    """Reads what the module says; a node without the module has no mirrors, which is bad if it should have some."""

    files: IFiles
    config: IConfigFacts
    name: str = "drbd"
    category: Category | None = Category.STORAGE
    kind: Kind = Kind.STATUS
    format_version: int = 1

    async def collect(self) -> dict[str, Any]:
        """See `ICollector`."""
        facts = self.config.facts()
        try:
            found = parse_proc_drbd(self.files.read(PROC_DRBD, LIMIT).decode("utf-8", "replace"))
        except FileNotFoundError:
            return _data(DrbdStatus({}, []), without_module(facts))
        for device in found.devices:
            if device["connectionState"] != UNCONFIGURED:
                device["instance"] = facts.minors.get(device["minor"])
        return _data(found, worst(judged(device) for device in found.devices))


def _data(found: DrbdStatus, status: Status) -> dict[str, Any]:
    return {"versionInfo": found.version, "deviceInfos": found.devices, "status": status}


def without_module(facts: NodeFacts) -> Status:
    """How well it is that DRBD is not loaded."""
    if not facts.heard:
        return Status(StatusCode.UNKNOWN, f"DRBD is not loaded; whether it should be is not known: {facts.fault}")
    if facts.minors:
        owners = ", ".join(sorted(set(facts.minors.values())))
        return Status(StatusCode.BAD, f"DRBD is not loaded, though this node has mirrors of {owners}")
    return Status()


def judged(device: Mapping[str, Any]) -> Status:
    """How well one mirror is."""
    connection = device["connectionState"]
    if connection == UNCONFIGURED:
        return Status()
    disks = f"{device['localState']}/{device['remoteState']}"
    text = f"minor {device['minor']} is {connection}, disks {disks}"
    if connection in PASSING:
        return Status(StatusCode.TEMPORARY, text)
    if connection in CONNECTED and disks == "UpToDate/UpToDate":
        return Status()
    return Status(StatusCode.BAD, text)
