"""Node calls about the node itself: what it has, what is wrong with it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import BlockDeviceError, GanetiError, HypervisorError
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION, RELEASE_VERSION
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.interfaces import IHypervisor
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.interfaces import IPools
from ganeti_tx.rpc.calls.node import (
    BridgesExist,
    NodeFacts,
    NodeHasIpAddress,
    NodeInfo,
    NodeVerify,
    StorageSpace,
    StorageUnit,
    TestDelay,
    Version,
)
from ganeti_tx.runtime.files import IFiles

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
SYS_NET = Path("/sys/class/net")
#: The checks of pools, by the storage type that each is about.
POOL_CHECKS = {each.check.name: each.storage for each in TEMPLATES.values() if each.check is not None}

#: One check of `node_verify`: takes the check's own argument.
Check = Callable[[Any], Any]


@define
class Facts:
    """What this node says of itself. `owns_address` tells whether an IP address is the node's.

    Where the administrator made the file `user_mode_marker`, machines get user-mode networking for lack of a bridge."""

    files: IFiles
    clock: IReactorTime
    now: Callable[[], float]
    hypervisors: Mapping[str, IHypervisor]
    pools: Mapping[str, IPools]
    owns_address: Callable[[str], bool]
    user_mode_marker: Path
    allowed_paths: AllowedPaths

    @answers(Version)
    async def version(self, call: Version) -> int:
        """The protocol's version."""
        return NODE_PROTOCOL_VERSION

    @answers(TestDelay)
    async def delay(self, call: TestDelay) -> None:
        """Wait."""
        await deferLater(self.clock, call.duration)

    @answers(NodeInfo)
    async def info(self, call: NodeInfo) -> NodeFacts:
        """Memory and CPUs by the hypervisors, room by the storages; what fails is left out, not fatal."""
        return NodeFacts(
            boot_id=self.files.read(BOOT_ID, 100).decode().strip() if self.files.exists(BOOT_ID) else "",
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

    @answers(NodeVerify)
    async def verify(self, call: NodeVerify) -> dict[str, Any]:
        """The checks asked for, of those that this node knows."""
        result: dict[str, Any] = {}
        for name, argument in call.checks.items():
            if name == "version":
                result[name] = [NODE_PROTOCOL_VERSION, RELEASE_VERSION]
            elif name == "time":
                result[name] = self.now()
            elif name == "hypervisor":
                result[name] = {hypervisor: await self._verify_hypervisor(hypervisor) for hypervisor in argument}
            elif name == "bridges":
                result[name] = self._missing_bridges(argument)
            elif name == "allowed-file-storage-paths":
                result[name] = self.allowed_paths.faults()
            elif name in POOL_CHECKS:
                result[name] = await self._pool_fault(POOL_CHECKS[name], argument)
        return result

    async def _pool_fault(self, storage_type: str, name: str) -> str | None:
        """Why disks cannot be kept in a pool; None when they can."""
        pools = self.pools.get(storage_type)
        if pools is None:
            return f"this node has no storage of type {storage_type}"
        return await pools.fault(name)

    async def _verify_hypervisor(self, name: str) -> str | None:
        """What is wrong with a hypervisor, in one text; None when nothing is."""
        hypervisor = self.hypervisors.get(name)
        if hypervisor is None:
            return f"hypervisor {name} is not available on this node"
        return "; ".join(await hypervisor.verify()) or None

    @answers(NodeHasIpAddress)
    async def has_address(self, call: NodeHasIpAddress) -> bool:
        """Whether the address is one of the node's."""
        return self.owns_address(call.address)

    @answers(BridgesExist)
    async def bridges(self, call: BridgesExist) -> None:
        """@raise GanetiError: one is missing."""
        if missing := self._missing_bridges(call.bridges):
            raise GanetiError(
                f"bridges missing on this node: {', '.join(missing)}; make them there, or name others with "
                "'--net 0:link=BRIDGE' or, for all instances, 'gnt-cluster modify --nic-parameters link=BRIDGE'"
            )

    def _missing_bridges(self, names: list[str]) -> list[str]:
        if self.files.exists(self.user_mode_marker):
            return []
        return [name for name in names if "/" in name or not self.files.exists(SYS_NET / name / "bridge")]
