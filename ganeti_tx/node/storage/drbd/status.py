"""Reads what `drbdsetup status --verbose --statistics` prints of one resource with one volume."""

import re

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.mirror_state import LOST, UP_TO_DATE
from ganeti_tx.model.status import LocalDiskStatus

_WORD = re.compile(r"([a-z-]+):(\S+)")
INCONSISTENT = "Inconsistent"
PRIMARY = "Primary"
CONNECTED = "Connected"
ALONE = "StandAlone"
#: The other side is looked for, or was just found.
CONNECTING = frozenset(
    {"Unconnected", "Connecting", "Timeout", "BrokenPipe", "NetworkFailure", "ProtocolError", "TearDown"}
)
#: What is to be done is worked out, or is about to begin.
NEGOTIATING = frozenset({"StartingSyncS", "StartingSyncT", "WFBitMapS", "WFBitMapT", "WFSyncUUID"})
TARGET = frozenset({"SyncTarget", "PausedSyncT", "StartingSyncT", "WFBitMapT", "WFSyncUUID"})
SOURCE = frozenset({"SyncSource", "PausedSyncS", "StartingSyncS", "WFBitMapS"})


@frozen(kw_only=True)
class MirrorStatus:
    """DRBD's own words; `size` and `out_of_sync` are KiB. Without a connection the other side's are those for "unknown"."""

    role: str
    disk: str
    size: int
    connection: str = ALONE
    peer_role: str = "Unknown"
    replication: str = "Off"
    peer_disk: str = "DUnknown"
    out_of_sync: int = 0

    @property
    def is_primary(self) -> bool:
        """Whether it may be written to here."""
        return self.role == PRIMARY

    @property
    def is_good(self) -> bool:
        """Whether the data here are the latest."""
        return self.disk == UP_TO_DATE

    @property
    def has_good_peer(self) -> bool:
        """Whether the other side is there and has them."""
        return self.connection == CONNECTED and self.peer_disk == UP_TO_DATE

    @property
    def is_settling(self) -> bool:
        """Whether it becomes something else by itself soon, if the other side is there."""
        negotiating = self.connection == CONNECTED and (self.replication in NEGOTIATING or self.disk == "Negotiating")
        return self.connection in CONNECTING or negotiating or self.disk == "Attaching"

    @property
    def is_syncing(self) -> bool:
        """Whether one side is filled from the other, even if that is held up."""
        return self.replication in SOURCE | TARGET

    @property
    def percent(self) -> float | None:
        """What both sides have, while one is filled."""
        if not self.is_syncing:
            return None
        return 100.0 * (1 - min(self.out_of_sync, self.size) / self.size) if self.size else 0.0

    @property
    def local(self) -> LocalDiskStatus:
        """How its own part is."""
        if self.is_good:
            return LocalDiskStatus.OK
        if self.disk in LOST:
            return LocalDiskStatus.FAULTY
        return LocalDiskStatus.SYNC if self.replication in TARGET else LocalDiskStatus.UNKNOWN


def parse_status(text: str) -> MirrorStatus:
    """@raise BlockDeviceError: it is not what drbdsetup prints."""
    here, _, there = text.partition("\n  peer ")
    mine, its = dict(_WORD.findall(here)), dict(_WORD.findall(there))
    try:
        return MirrorStatus(
            role=mine["role"],
            disk=mine["disk"],
            size=int(mine["size"]),
            connection=its.get("connection", ALONE),
            peer_role=its.get("role", "Unknown"),
            replication=its.get("replication", "Off"),
            peer_disk=its.get("peer-disk", "DUnknown"),
            out_of_sync=int(its.get("out-of-sync", 0)),
        )
    except (KeyError, ValueError):
        raise BlockDeviceError(f"cannot read what drbdsetup status prints: {text[:100]!r}") from None
