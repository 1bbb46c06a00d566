"""What a node remembers of its domains: which are ours, and what a restarted daemon must know of them."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from ganeti_tx.node.hypervisor.instance_record import load, read
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.runtime.files import IFiles


class DomainRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One instance from just before its start until everything of it is gone.

    @ivar uuid: the domain's; a domain of the same name with another one is somebody else's.
    @ivar memory: MiB that it was started with.
    @ivar stays: whether its domain is kept when its guest has powered itself off.
    @ivar exits_on_reboot: whether it ends when its guest asks for a reboot.
    @ivar disks: where they are on this node.
    """

    uuid: str
    memory: int
    vcpus: int
    stays: bool = False
    exits_on_reboot: bool = False
    disks: Sequence[str] = ()


class Role(StrEnum):
    """Which end of a migration is here."""

    SENDING = "sending"
    INCOMING = "incoming"


class MoveRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A migration that was begun: the process that does it, and when that was, in seconds since the epoch."""

    role: Role
    pid: int
    started: float


def load_domain(files: IFiles, layout: DomainLayout) -> DomainRecord | None:
    """None when nothing is remembered. @raise HypervisorError: it cannot be read."""
    return load(files, layout, DomainRecord)


def load_move(files: IFiles, layout: DomainLayout) -> MoveRecord | None:
    """None when there is no migration. @raise HypervisorError: it cannot be read."""
    layout.check_own(files)
    return read(files, layout.move, MoveRecord)
