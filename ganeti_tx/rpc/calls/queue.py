"""Calls about the copies of the job queue."""

from typing import ClassVar

from ganeti_tx.rpc.calls.base import URGENT, MiB, NodeCall, Question


class JobqueueUpdate(NodeCall[None], frozen=True, kw_only=True):
    """Write files of the queue directory, by name; of each the one with the highest sequence number stays.

    `sequences` are those of the files in their order; they count within the stamp's term.
    """

    name: ClassVar[str] = "jobqueue_update"
    timeout: ClassVar[float] = URGENT
    max_request: ClassVar[int] = 128 * MiB
    files: list[tuple[str, str]]
    sequences: list[int] = []


class JobqueueRename(NodeCall[None], frozen=True, kw_only=True):
    """Rename files of the queue directory: [from, to], relative to it."""

    name: ClassVar[str] = "jobqueue_rename"
    timeout: ClassVar[float] = URGENT
    max_request: ClassVar[int] = 64 * MiB
    renames: list[tuple[str, str]]


class JobqueueSweep(NodeCall[None], frozen=True, kw_only=True):
    """Archive the copies of all jobs up to an id that are not among the live ones."""

    name: ClassVar[str] = "jobqueue_sweep"
    timeout: ClassVar[float] = URGENT
    max_request: ClassVar[int] = 64 * MiB
    live: list[int]
    up_to: int


class JobqueuePurge(NodeCall[None], frozen=True, kw_only=True):
    """Remove every job file and the archive; what was sent before it is not taken after it."""

    name: ClassVar[str] = "jobqueue_purge"


class JobqueueDigests(Question[dict[str, str]], frozen=True, kw_only=True):
    """The digests (`model.digest`) of these copies, by name; of those that are there."""

    name: ClassVar[str] = "jobqueue_digests"
    timeout: ClassVar[float] = URGENT
    names: list[str]


class JobqueueSetDrainFlag(NodeCall[None], frozen=True, kw_only=True):
    """Set or remove the drain flag."""

    name: ClassVar[str] = "jobqueue_set_drain_flag"
    timeout: ClassVar[float] = URGENT
    drained: bool
