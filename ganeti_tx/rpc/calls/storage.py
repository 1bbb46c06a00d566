"""Calls about storage units: volume groups, physical volumes, directories."""

from collections.abc import Iterable
from typing import ClassVar

from ganeti_tx.model.storage_unit import UnitState, VolumePiece
from ganeti_tx.rpc.calls.base import FAST, NORMAL, NodeCall, Question


class StorageList(Question[list[UnitState]], frozen=True, kw_only=True):
    """The units of a type, or the one that is named; `places` are the cluster's directories, where units are such."""

    name: ClassVar[str] = "storage_list"
    timeout: ClassVar[float] = NORMAL
    storage_type: str
    places: list[str] = []
    unit: str | None = None


class StorageModify(NodeCall[None], frozen=True, kw_only=True):
    """Let new disks lie in a unit, or let none."""

    name: ClassVar[str] = "storage_modify"
    timeout: ClassVar[float] = NORMAL
    storage_type: str
    unit: str
    allocatable: bool

    def reserves(self) -> Iterable[str]:
        """The unit."""
        return (f"storage unit {self.storage_type} {self.unit}",)


class StorageExecute(NodeCall[None], frozen=True, kw_only=True):
    """Mend a unit."""

    name: ClassVar[str] = "storage_execute"
    timeout: ClassVar[float] = NORMAL
    storage_type: str
    unit: str
    operation: str

    def reserves(self) -> Iterable[str]:
        """The unit."""
        return (f"storage unit {self.storage_type} {self.unit}",)


class NodeVolumes(Question[list[VolumePiece]], frozen=True, kw_only=True):
    """All logical volumes of the node, whoever made them."""

    name: ClassVar[str] = "node_volumes"
    timeout: ClassVar[float] = FAST
