"""Calls about what instances are told of themselves."""

from collections.abc import Iterable
from typing import ClassVar

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.rpc.calls.base import URGENT, NodeCall
from ganeti_tx.rpc.calls.instance import named


class InstanceMetadataModify(NodeCall[None], frozen=True, kw_only=True):
    """Tell an instance that runs there what it is now. One without a communication NIC can be told nothing."""

    name: ClassVar[str] = "instance_metadata_modify"
    timeout: ClassVar[float] = URGENT
    instance: InstanceSpec

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceMetadataRead(NodeCall[str], frozen=True, kw_only=True):
    """What the guest has written to its node since the last time; each byte is read once."""

    name: ClassVar[str] = "instance_metadata_read"
    in_lines: ClassVar[bool] = False
    timeout: ClassVar[float] = URGENT
    instance_name: str

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance_name)]
