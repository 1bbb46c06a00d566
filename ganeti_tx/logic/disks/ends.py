"""Where data come from and where they go: the two ends of what is carried."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevShutdown
from ganeti_tx.rpc.calls.transfer import ExportStart, ImportStart

SENDING, RECEIVING = "sending", "receiving"


class End(Protocol):
    """One side of all disks that are carried."""

    @property
    def does(self) -> str:
        """Whether it is sending or receiving."""

    @property
    def node(self) -> Node:
        """Where it is."""

    def calls(self, index: int, told: Mapping[str, Any]) -> Sequence[NodeCall[Any]]:
        """What begins with one disk. @param told: the arguments that all calls have which begin with an end."""

    def undos(self, index: int) -> Sequence[Undo]:
        """What puts away what these made ready, once the end is stopped."""


@frozen
class DiskEnd:
    """The bytes of disks. @ivar aside: whether they are without their stable names, as others have them."""

    does: str
    view: InstanceView
    aside: bool = False

    @property
    def node(self) -> Node:
        """See `End`."""
        return self.view.primary

    def _spec(self, index: int) -> DiskSpec:
        spec = self.view.disk_specs()[index]
        return replace(spec, index=-1) if self.aside else spec

    def calls(self, index: int, told: Mapping[str, Any]) -> Sequence[NodeCall[Any]]:
        """See `End`: the disk is made ready before."""
        instance, spec = self.view.instance, self._spec(index)
        ready = BlockdevAssemble(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value)
        start = ExportStart if self.does == SENDING else ImportStart
        return [ready, start(disk=spec, **told)]

    def undos(self, index: int) -> Sequence[Undo]:
        """See `End`."""
        owner = self.view.instance.name
        down = BlockdevShutdown(disk=without_secret(self._spec(index)), owner=owner)
        return [on_node(f"shut down disk/{index} of instance {owner}", self.node, down)]
