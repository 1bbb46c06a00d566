"""A running guest stands still while snapshots of its disks are made, if it has an agent; it goes on whatever happens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from attrs import frozen

from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.guest import InstanceFreeze, InstanceThaw
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds after which the node lets the guest go on by itself.
LIMIT = 60.0
ATTEMPTS = 3
AS_AFTER_A_CRASH = "the export is as after a power failure"


@frozen
class Stillness:
    """Of one instance, on its primary node."""

    parts: Parts
    target: InstanceView

    def undos(self) -> list[Undo]:
        """For who finds that nobody has let it go."""
        name = self.target.instance.name
        return [on_node(f"let the file systems of instance {name} go on", self.target.primary, self._thaw)]

    @property
    def _thaw(self) -> InstanceThaw:
        instance = self.target.instance
        return InstanceThaw(instance_name=instance.name, hypervisor=instance.hypervisor.value)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """For as long as this lasts, if it can be; if not the operator is told why."""
        name = self.target.instance.name
        frozen = await self._begin()
        try:
            yield
        finally:
            stood_still = await self._end()
        if frozen and not stood_still:
            self.parts.warn(
                f"the file systems of instance {name} did not stand still for so long as all snapshots needed:"
                f" {AS_AFTER_A_CRASH}"
            )

    async def _begin(self) -> bool:
        instance = self.target.instance
        call = InstanceFreeze(instance_name=instance.name, hypervisor=instance.hypervisor.value, limit=LIMIT)
        try:
            why_not = await self.parts.nodes.call(self.target.primary, call)
        except RpcError as error:
            why_not = error.reason
        if why_not:
            self.parts.info(
                f"The file systems of instance {instance.name} are not frozen, {AS_AFTER_A_CRASH}: {why_not}"
            )
        return not why_not

    async def _end(self) -> bool:
        """Whether it has stood still. What a node has not heard is sent again; then its own limit holds."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self.parts.nodes.call(self.target.primary, self._thaw)
            except RpcError as error:
                if attempt == ATTEMPTS or not error.may_be_done:
                    self.parts.warn(f"could not let the file systems of the instance go on: {error}")
                    return False
        return False
