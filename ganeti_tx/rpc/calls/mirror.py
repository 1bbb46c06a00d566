"""Calls about disks that have a copy on another node, and about what only some disks can do."""

from typing import Any, ClassVar

import msgspec

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.rpc.calls.base import SLOW, Question
from ganeti_tx.rpc.calls.disk import DiskCall, DisksCall


class BlockdevOpen(DisksCall[None], frozen=True, kw_only=True):
    """Let disks be written to here: mirrors become primary, alone if `exclusive`. Others need nothing for it."""

    name: ClassVar[str] = "blockdev_open"
    instance_name: str
    exclusive: bool = True


class BlockdevClose(DisksCall[None], frozen=True, kw_only=True):
    """Undo `blockdev_open`; the stable names of the disks go, too."""

    name: ClassVar[str] = "blockdev_close"
    instance_name: str


class DrbdDisconnectNet(DisksCall[None], frozen=True, kw_only=True):
    """Let mirrors go on without their other sides."""

    name: ClassVar[str] = "drbd_disconnect_net"


class DrbdAttachNet(DisksCall[None], frozen=True, kw_only=True):
    """Let mirrors look for their other sides again; with `multimaster` both may be primary, for a migration.

    With `discard` what only this side has is given up: that is how one of two sides that both went on alone is filled again.
    """

    name: ClassVar[str] = "drbd_attach_net"
    needs_secrets: ClassVar[bool] = True
    multimaster: bool
    discard: bool = False


class SyncProgress(msgspec.Struct, frozen=True):
    """Whether all of some mirrors are alike on both sides, and what the one that is furthest behind has, in percent."""

    done: bool
    percent: float


class DrbdWaitSync(Question[SyncProgress], frozen=True, kw_only=True):
    """How far are mirrors? It answers at once; who waits asks again."""

    name: ClassVar[str] = "drbd_wait_sync"
    timeout: ClassVar[float] = SLOW
    disks: list[DiskSpec]


class DrbdNeedsActivation(Question[list[str]], frozen=True, kw_only=True):
    """Which of these disks, by uuid, have to be assembled again?"""

    name: ClassVar[str] = "drbd_needs_activation"
    disks: list[DiskSpec]


class BlockdevGetmirrorstatus(Question[list[BlockDevStatus]], frozen=True, kw_only=True):
    """The states of disks that are there."""

    name: ClassVar[str] = "blockdev_getmirrorstatus"
    disks: list[DiskSpec]


class BlockdevPauseResumeSync(DisksCall[None], frozen=True, kw_only=True):
    """Hold the synchronisation of mirrors up, or let it go on."""

    name: ClassVar[str] = "blockdev_pause_resume_sync"
    pause: bool


class BlockdevAddchildren(DiskCall[None], frozen=True, kw_only=True):
    """Give a mirror that has to do without its own part its children for one; they are made ready first."""

    name: ClassVar[str] = "blockdev_addchildren"


class BlockdevRemovechildren(DiskCall[None], frozen=True, kw_only=True):
    """Let a mirror go on without its own part; its children are taken down and stay."""

    name: ClassVar[str] = "blockdev_removechildren"


class BlockdevSnapshot(DiskCall[list[Any]], frozen=True, kw_only=True):
    """Keep the present state of a disk, or of its data volume; answers the snapshot's logical id. `size` is MiB."""

    name: ClassVar[str] = "blockdev_snapshot"
    in_lines: ClassVar[bool] = False
    snap_name: str
    snap_size: int


class BlockdevSnapshotFaults(Question[list[str]], frozen=True, kw_only=True):
    """Why can these disks have no snapshot now? An empty line for each that can."""

    name: ClassVar[str] = "blockdev_snapshot_faults"
    disks: list[DiskSpec]


class BlockdevSetinfo(DiskCall[None], frozen=True, kw_only=True):
    """Mark a disk, and what it is made of, as an instance's; kinds of storage that cannot be marked stay as they are."""

    name: ClassVar[str] = "blockdev_setinfo"
    owner: str
