"""The interfaces of containers: pairs, of which one end is connected on the node."""

from collections.abc import Sequence

import msgspec
from attrs import field, frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.lxc.record import VethState
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT
from ganeti_tx.node.hypervisor.nics.names import interface_name
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd, script_environment
from ganeti_tx.node.hypervisor.nics.scripts import UserScripts
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

#: In the names of administrators' scripts.
KIND = "lxc"
OUTSIDE, INSIDE = "veth", "peer"


@frozen
class Veths:
    """Makes, connects and removes them."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner
    ends: NodeEnds = field(init=False)

    @ends.default
    def _own_ends(self) -> NodeEnds:
        return NodeEnds(self.runner, UserScripts(self.files, self.paths, KIND))

    async def plan(self, spec: InstanceSpec) -> list[VethState]:
        """What each will be; nothing is changed. @raise HypervisorError: one cannot be connected on this node."""
        return [await self._plan_one(spec, nic, number) for number, nic in enumerate(spec.nics)]

    async def _plan_one(self, spec: InstanceSpec, nic: NicSpec, number: int) -> VethState:
        try:
            await self.ends.check(nic)
        except HypervisorError as error:
            raise HypervisorError(f"network interface {nic.mac}: {error}") from None
        outside = interface_name(self.paths.root, nic, OUTSIDE)
        return VethState(
            uuid=nic.uuid,
            mac=nic.mac,
            mode=nic.mode,
            link=nic.link,
            vlan=nic.vlan,
            outside=outside,
            inside=interface_name(self.paths.root, msgspec.structs.replace(nic, communication=False), INSIDE),
            environment=script_environment(spec, nic, number, outside),
        )

    async def connect(self, veths: Sequence[VethState]) -> None:
        """Make them and put them where they belong. @raise HypervisorError: some may be left; `release` them."""
        for veth in veths:
            make = ["ip", "link", "add", "name", veth.outside, "type", "veth", "peer", "name", veth.inside]
            await self._run(make, f"cannot make interface {veth.outside}")
            await self.ends.connect(node_end(veth))

    async def release(self, veths: Sequence[VethState]) -> None:
        """Remove them with all that leads to them; one that is not there is no error.

        @raise HypervisorError: something is left.
        """
        for veth in veths:
            await self.ends.disconnect(node_end(veth), STOP)
            shown = await self.runner.run(["ip", "link", "show", "dev", veth.outside], timeout=COMMAND_TIMEOUT)
            if shown.succeeded:
                why = f"cannot remove interface {veth.outside}"
                await self._run(["ip", "link", "delete", "dev", veth.outside], why)

    async def _run(self, argv: Sequence[str], why: str) -> None:
        result = await self.runner.run(argv, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            raise HypervisorError(f"{why}: {argv[0]} {result.describe()}")


def node_end(veth: VethState) -> NodeEnd:
    """Of a pair; of one that an older version made not all is known."""
    known = {"INTERFACE": veth.outside, "MODE": veth.mode, "LINK": veth.link, "VLAN": veth.vlan, "MAC": veth.mac}
    return NodeEnd(veth.environment or known)
