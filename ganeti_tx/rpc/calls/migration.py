"""Calls that bring a running instance to another node."""

from collections.abc import Iterable
from typing import Any, ClassVar

from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationProgress, MigrationTls, Side
from ganeti_tx.rpc.calls.base import SLOW, URGENT, NodeCall, Question
from ganeti_tx.rpc.calls.instance import instance_with_disks, named


class MigrationInfo(Question[dict[str, Any]], frozen=True, kw_only=True):
    """What another node must know to take over the running instance; the hypervisors there understand it."""

    name: ClassVar[str] = "migration_info"
    in_lines: ClassVar[bool] = False
    instance: InstanceSpec


class InstanceMigrationSide(Question[Side | None], frozen=True, kw_only=True):
    """What is here of an instance; nothing, or which side of a migration.

    @ivar instance_uuid: that of the instance; '': of whatever has its name.
    """

    name: ClassVar[str] = "instance_migration_side"
    timeout: ClassVar[float] = URGENT
    instance_name: str
    hypervisor: str
    instance_uuid: str = ""

    @classmethod
    def of(cls, instance: Instance) -> "InstanceMigrationSide":
        """Of this one."""
        return cls(instance_name=instance.name, hypervisor=instance.hypervisor.value, instance_uuid=instance.uuid)


class AcceptInstance(NodeCall[None], frozen=True, kw_only=True):
    """Prepare for an instance that comes to this node's address `target`; `info` as `migration_info` gave it.

    @ivar tls: by what this node and the one that sends know one another; None: whoever comes first is believed.
    @ivar disks_come: whether its disks, which are here already, are yet to be filled; see `disk_copies`.
    @ivar source: the address of the node that sends, from which it connects; an older master leaves it out.
    """

    name: ClassVar[str] = "accept_instance"
    instance: InstanceSpec
    info: dict[str, Any]
    target: str
    tls: MigrationTls | None = None
    disks_come: bool = False
    source: str = ""

    def reserves(self) -> Iterable[str]:
        """The instance and its disks."""
        return instance_with_disks(self.instance)


class InstanceMigrate(NodeCall[None], frozen=True, kw_only=True):
    """Begin to send an instance to another node; `instance_get_migration_status` tells how far it is.

    @ivar tls, source: see `AcceptInstance`.
    @ivar again: whether to go on with one that has lost its connection; see `InstanceAcceptAgain`.
    @ivar info: what the new node was told of it (`AcceptInstance`), and is still to be so; an older master leaves it out.
    """

    name: ClassVar[str] = "instance_migrate"
    timeout: ClassVar[float] = SLOW
    cluster_name: str
    instance: InstanceSpec
    target: str
    live: bool
    tls: MigrationTls | None = None
    again: bool = False
    source: str = ""
    info: dict[str, Any] | None = None

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceAcceptAgain(NodeCall[None], frozen=True, kw_only=True):
    """Wait once more for the rest of an instance that runs here, at this node's address; refused if there is no such instance."""

    name: ClassVar[str] = "instance_accept_again"
    instance: InstanceSpec
    target: str

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceGetMigrationStatus(Question[MigrationProgress], frozen=True, kw_only=True):
    """How far is it? It answers when it has ended, or after `wait` seconds; a node that does not may be gone, with the instance.

    The new node tells why the instance has not come, if it knows; an older one has an error for that.
    """

    name: ClassVar[str] = "instance_get_migration_status"
    timeout: ClassVar[float] = URGENT
    instance: InstanceSpec
    wait: float = 0.0


class InstanceFinalizeMigrationSrc(NodeCall[None], frozen=True, kw_only=True):
    """End it on the old node: nothing is left of the instance after success, else it goes on there.

    What was sent in full may run on the other node already: it goes on here only when `target_is_gone`. Where the other node has
    not fetched all of its memory, it goes away only then, and goes on never.
    """

    name: ClassVar[str] = "instance_finalize_migration_src"
    timeout: ClassVar[float] = SLOW
    instance: InstanceSpec
    success: bool
    live: bool
    target_is_gone: bool = False

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceFinalizeMigrationDst(NodeCall[str | None], frozen=True, kw_only=True):
    """End it on the new node: the instance runs after success, else nothing is left; refused if it has run already.

    Answers as InstanceStart does.

    @ivar goes_on_elsewhere: whether the old node has said that it goes on there; see `ILiveMigration.refuse`.
    """

    name: ClassVar[str] = "instance_finalize_migration_dst"
    in_lines: ClassVar[bool] = True
    instance: InstanceSpec
    info: dict[str, Any]
    success: bool
    goes_on_elsewhere: bool = False

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]
