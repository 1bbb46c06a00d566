"""How a migration is, as nodes tell it."""

from enum import StrEnum

import msgspec

from ganeti_tx.model.remote_moves import KeyName


class MigrationState(StrEnum):
    """How a transfer is (Ganeti's words)."""

    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    POSTCOPY = "postcopy-active"
    #: The machine runs on its new node, and cannot fetch the rest of its memory: the connection is lost.
    PAUSED = "postcopy-paused"


class Side(StrEnum):
    """What a node has of an instance that is, or was, under way.

    Of two nodes with RUNS and INCOMING, with SENT and RUNS, or with FETCHED and FETCHING, only one has an instance that runs.
    """

    RUNS = "runs"
    #: It runs, and its memory is being sent.
    SENDING = "sending"
    #: All of it has been sent; it stands still.
    SENT = "sent"
    #: It waits for memory, and has never run here.
    INCOMING = "incoming"
    #: It stands still, and runs on its new node, which has not fetched all of its memory from here yet.
    FETCHED = "fetched"
    #: It runs, and some of its memory is still on its old node.
    FETCHING = "fetching"


class MigrationTls(msgspec.Struct, frozen=True):
    """By what one side of a migration knows the other.

    @ivar key: the name of this side's own key, on its node.
    @ivar peer: the certificate of the other side, PEM, and `peer_name` the name in it.
    """

    key: KeyName
    peer: str
    peer_name: str


class DiskCopyProgress(msgspec.Struct, frozen=True):
    """How far disks of a running instance are copied, in bytes, with what its guest writes meanwhile; `fault` is why one is not.

    @ivar whole: whether all are, and stay so.
    """

    whole: bool
    copied: int
    total: int
    fault: str = ""


class MigrationProgress(msgspec.Struct, frozen=True):
    """Memory in bytes; times in milliseconds, once they are known.

    @ivar remaining_ram: what is yet to be sent, with what the guest has written to since it was sent (None: not known).
    @ivar passes: how often the memory has been gone through, this time included (0: not known).
    @ivar speed, dirty_rate: bytes that are sent, and those that the guest writes to, in a second.
    """

    status: MigrationState
    transferred_ram: int | None = None
    total_ram: int | None = None
    total_time: int | None = None
    downtime: int | None = None
    reason: str = ""
    remaining_ram: int | None = None
    passes: int = 0
    speed: int = 0
    dirty_rate: int = 0
