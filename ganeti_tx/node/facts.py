"""Node calls about the node itself: what it has, what is wrong with it."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import BlockDeviceError, GanetiError, HypervisorError
from ganeti_tx.model.enums import NicMode
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.interfaces import IHypervisor, IPlugs
from ganeti_tx.node.storage.interfaces import IPools
from ganeti_tx.rpc.calls.node import (
    BridgesExist,
    NodeFacts,
    NodeHasIpAddress,
    NodeInfo,
    StorageSpace,
    StorageUnit,
    TestDelay,
    Version,
)
from ganeti_tx.runtime.boot_id import boot_id
from ganeti_tx.runtime.files import IFiles

SYS_NET = Path("/sys/class/net")


@define
class Facts:
    """What this node says of itself. `owns_address` tells whether an IP address is the node's.

    Where the administrator made the file `user_mode_marker`, machines get user-mode networking for lack of a bridge."""

    files: IFiles
    clock: IReactorTime
    hypervisors: Mapping[str, IHypervisor]
    pools: Mapping[str, IPools]
    owns_address: Callable[[str], bool]
    user_mode_marker: Path
    protocol: int

    @answers(Version)
    async def version(self, call: Version) -> int:
        """The protocol's version."""
        return self.protocol

    @answers(TestDelay)
    async def delay(self, call: TestDelay) -> None:
        """Wait."""
        await deferLater(self.clock, call.duration)

    @answers(NodeInfo)
    async def info(self, call: NodeInfo) -> NodeFacts:
        """Memory and CPUs by the hypervisors, room by the storages; what fails is left out, not fatal."""
        return NodeFacts(
            boot_id=boot_id(self.files),
            storage=[await self._space(unit) for unit in call.storage_units],
            hypervisors={name: await self._node_info(name) for name in call.hypervisors if name in self.hypervisors},
        )

    async def _node_info(self, name: str) -> dict[str, Any]:
        try:
            return dict(await self.hypervisors[name].node_info())
        except HypervisorError:
            return {}

    async def _space(self, unit: StorageUnit) -> StorageSpace:
        pools = self.pools.get(unit.type)
        if pools is None:
            return StorageSpace(unit.type, unit.name)
        try:
            space = await pools.space(unit.name, unit.params)
        except BlockDeviceError:
            return StorageSpace(unit.type, unit.name)
        return StorageSpace(unit.type, unit.name, space.size, space.free)

    @answers(NodeHasIpAddress)
    async def has_address(self, call: NodeHasIpAddress) -> bool:
        """Whether the address is one of the node's."""
        return self.owns_address(call.address)

    @answers(BridgesExist)
    async def bridges(self, call: BridgesExist) -> None:
        """@raise GanetiError: one is missing. What a hypervisor does not plug in itself is not looked for."""
        if missing := missing_bridges(self.files, self.user_mode_marker, call.bridges):
            raise GanetiError(
                f"Missing bridges {', '.join(missing)}; make them there, or name others with "
                "'--net 0:link=BRIDGE' or, for all instances, 'gnt-cluster modify --nic-parameters link=BRIDGE'"
            )
        hypervisor = self.hypervisors.get(call.hypervisor)
        without_bridges = self.files.exists(self.user_mode_marker)
        for link in call.links:
            if IPlugs.providedBy(hypervisor) and not (link.mode == NicMode.BRIDGED and without_bridges):
                await IPlugs(hypervisor).check_link(link)


def missing_bridges(files: IFiles, user_mode_marker: Path, names: Iterable[str]) -> list[str]:
    """Those that are not there, on a node that does not do without."""
    if files.exists(user_mode_marker):
        return []
    return [name for name in names if "/" in name or not files.exists(SYS_NET / name / "bridge")]


def missing_interfaces(files: IFiles, names: Iterable[str]) -> list[str]:
    """Those network interfaces that are not there."""
    return [name for name in names if "/" in name or not files.exists(SYS_NET / name)]
