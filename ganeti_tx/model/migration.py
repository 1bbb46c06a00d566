"""How a migration is, as nodes tell it."""

from enum import StrEnum

import msgspec


class MigrationState(StrEnum):
    """How a transfer is (Ganeti's words)."""

    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    POSTCOPY = "postcopy-active"


class Side(StrEnum):
    """What a node has of an instance that is, or was, under way.

    Of two nodes with RUNS and INCOMING, or with SENT and RUNS, only one has an instance that runs.
    """

    RUNS = "runs"
    #: It runs, and its memory is being sent.
    SENDING = "sending"
    #: All of it has been sent; it stands still.
    SENT = "sent"
    #: It waits for memory, and has never run here.
    INCOMING = "incoming"


class MigrationProgress(msgspec.Struct, frozen=True):
    """Memory in bytes; times in milliseconds, once they are known."""

    status: MigrationState
    transferred_ram: int | None = None
    total_ram: int | None = None
    total_time: int | None = None
    downtime: int | None = None
    reason: str = ""
