"""Calls that bring a running instance to another node."""

from collections.abc import Iterable
from typing import Any, ClassVar

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationProgress, Side
from ganeti_tx.rpc.calls.base import SLOW, URGENT, NodeCall, Question
from ganeti_tx.rpc.calls.instance import instance_with_disks, named


class MigrationInfo(Question[dict[str, Any]], frozen=True, kw_only=True):
    """What another node must know to take over the running instance; the hypervisors there understand it."""

    name: ClassVar[str] = "migration_info"
    instance: InstanceSpec


class InstanceMigrationSide(Question[Side | None], frozen=True, kw_only=True):
    """What is here of an instance; nothing, or which side of a migration."""

    name: ClassVar[str] = "instance_migration_side"
    timeout: ClassVar[float] = URGENT
    instance_name: str
    hypervisor: str


class AcceptInstance(NodeCall[None], frozen=True, kw_only=True):
    """Prepare for an instance that comes to this node's address `target`; `info` as `migration_info` gave it."""

    name: ClassVar[str] = "accept_instance"
    instance: InstanceSpec
    info: dict[str, Any]
    target: str

    def reserves(self) -> Iterable[str]:
        """The instance and its disks."""
        return instance_with_disks(self.instance)


class InstanceMigrate(NodeCall[None], frozen=True, kw_only=True):
    """Begin to send an instance to another node; `instance_get_migration_status` tells how far it is."""

    name: ClassVar[str] = "instance_migrate"
    timeout: ClassVar[float] = SLOW
    cluster_name: str
    instance: InstanceSpec
    target: str
    live: bool

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceGetMigrationStatus(Question[MigrationProgress], frozen=True, kw_only=True):
    """How far is it? It answers when it has ended, or after `wait` seconds; a node that does not may be gone, with the instance."""

    name: ClassVar[str] = "instance_get_migration_status"
    timeout: ClassVar[float] = URGENT
    instance: InstanceSpec
    wait: float = 0.0


class InstanceFinalizeMigrationSrc(NodeCall[None], frozen=True, kw_only=True):
    """End it on the old node: nothing is left of the instance after success, else it goes on there.

    What was sent in full may run on the other node already: it goes on here only when `target_is_gone`.
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


class InstanceFinalizeMigrationDst(NodeCall[None], frozen=True, kw_only=True):
    """End it on the new node: the instance runs after success, else nothing is left; refused if it has run already."""

    name: ClassVar[str] = "instance_finalize_migration_dst"
    instance: InstanceSpec
    info: dict[str, Any]
    success: bool

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]
