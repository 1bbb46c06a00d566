"""Calls about the bytes of disks on their way from one node to another (reference: noderpc.json, import-export-daemon.json).

A transfer has an end on each node, with a name that the master gives, so that it can be stopped whatever becomes of an answer.
"""

from collections.abc import Iterable
from typing import Annotated, ClassVar

import msgspec

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.remote_moves import KeyName
from ganeti_tx.rpc.calls.base import FAST, NodeCall, Question, R
from ganeti_tx.rpc.calls.disk import disk_tree

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
#: Names are directories on the nodes.
TransferName = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$")]


class TransferCall(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes one end of a transfer."""

    transfer: TransferName

    def reserves(self) -> Iterable[str]:
        """That end."""
        return [f"transfer {self.transfer}"]


class RemotePeer(msgspec.Struct, frozen=True):
    """The other end is in another cluster.

    @ivar key: by which this end shows itself, instead of the node's own certificate.
    @ivar certificate: the only one that the other end may show (PEM).
    """

    key: KeyName
    certificate: str


class TransferStart(TransferCall[R], frozen=True, kw_only=True):
    """Begin with one end. What it sends or receives, and whether it connects or listens, says the class.

    @ivar magic: what comes before the bytes, and is not in any log.
    @ivar peer: the name of the other node, which its certificate must carry.
    @ivar address: where one end listens, and the other connects to.
    @ivar compress: the compression tool, or "none".
    @ivar connect_limit: seconds within which the other end must be there.
    @ivar remote: how the ends know one another if they are not of one cluster.
    @ivar holds: whether the end that receives says its farewell only when it is told to (`ImpexpRelease`).
    """

    magic: str
    peer: str
    address: str
    compress: str
    connect_limit: float
    remote: RemotePeer | None = None
    holds: bool = False


class DiskTransferStart(TransferStart[R], frozen=True, kw_only=True):
    """At a disk that is ready here."""

    disk: DiskSpec

    def reserves(self) -> Iterable[str]:
        """The end, and the disk as long as it begins."""
        return [*super().reserves(), *disk_tree(self.disk)]


class ImportStart(DiskTransferStart[None], frozen=True, kw_only=True):
    """Listen at an own address, and fill the disk with what comes."""

    name: ClassVar[str] = "import_start"


class ExportStart(DiskTransferStart[None], frozen=True, kw_only=True):
    """Connect to the end that listens, and send the disk."""

    name: ClassVar[str] = "export_start"
    port: Port


class TransferProgress(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far one end is: sizes in MiB, times in seconds.

    @ivar port: where it listens, once it does.
    @ivar ended: whether it is over; `error` says why it failed, and is empty when it did not.
    @ivar said: the last lines that its programs have printed.
    @ivar sha256: of what has come, where it was to be told.
    @ivar filled: whether an end that holds its farewell has all, and waits.
    """

    port: int | None = None
    connected: bool = False
    done: int | None = None
    percent: float | None = None
    throughput: float | None = None
    left: float | None = None
    ended: bool = False
    error: str = ""
    said: list[str] = []
    sha256: str = ""
    filled: bool = False


class ImpexpStatus(Question[list[TransferProgress | None]], frozen=True, kw_only=True):
    """How far are these ends? None for one that has not said anything yet, or is not there."""

    name: ClassVar[str] = "impexp_status"
    timeout: ClassVar[float] = FAST
    transfers: list[TransferName]


class ImpexpCleanup(TransferCall[None], frozen=True, kw_only=True):
    """Stop an end, and forget all about it; one that is not there is no error."""

    name: ClassVar[str] = "impexp_cleanup"


class ImpexpRelease(TransferCall[None], frozen=True, kw_only=True):
    """Let an end that holds its farewell say it; one that is not there is no error."""

    name: ClassVar[str] = "impexp_release"
    timeout: ClassVar[float] = FAST
