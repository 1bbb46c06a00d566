"""Calls that bring the disks of a running instance to another node, whose hypervisor waits for it already."""

from collections.abc import Iterable
from typing import Any, ClassVar

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import DiskCopyProgress, MigrationTls
from ganeti_tx.rpc.calls.base import SLOW, URGENT, NodeCall, Question
from ganeti_tx.rpc.calls.instance import named


class InstanceOfferDisks(NodeCall[int], frozen=True, kw_only=True):
    """Let the disks of an instance that is accepted here be written from its old node, at this node's address; answers the port.

    @ivar source: see `AcceptInstance`.
    """

    name: ClassVar[str] = "instance_offer_disks"
    instance: InstanceSpec
    target: str
    source: str = ""

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceCopyDisks(NodeCall[None], frozen=True, kw_only=True):
    """Begin to copy all disks of a running instance there, and all that its guest writes from now on.

    @ivar source: see `AcceptInstance`. @ivar info: see `InstanceMigrate`.

    What ends it is the end of the migration (`instance_finalize_migration_src`).
    """

    name: ClassVar[str] = "instance_copy_disks"
    timeout: ClassVar[float] = SLOW
    instance: InstanceSpec
    target: str
    port: int
    tls: MigrationTls | None = None
    source: str = ""
    info: dict[str, Any] | None = None

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceCopyStatus(Question[DiskCopyProgress], frozen=True, kw_only=True):
    """How far is that?"""

    name: ClassVar[str] = "instance_copy_status"
    timeout: ClassVar[float] = URGENT
    instance: InstanceSpec
