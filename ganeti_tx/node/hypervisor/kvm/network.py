"""The node's end of network interfaces: taps on bridges, switches or routes, or QEMU's own network stack."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from attrs import field, frozen
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT
from ganeti_tx.node.hypervisor.nics.confined import confine
from ganeti_tx.node.hypervisor.nics.names import TAP_PREFIX, check_mac, interface_name
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, UNPLUG, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd, script_environment
from ganeti_tx.node.hypervisor.nics.scripts import UserScripts
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

TUN_DEVICE = Path("/dev/net/tun")
#: When this file is there, a bridged interface without a bridge gets QEMU's own network stack. The guest then reaches
#: nobody, unless the file says "open".
USER_MODE_FILE = "user-mode-network"
#: In the names of administrators' scripts.
KIND = "kvm"

log = Logger()


@frozen(kw_only=True)
class TapOptions:
    """How taps are made: for whom, and for how many queues."""

    vnet_hdr: bool = True
    multi_queue: bool = False
    owner: str = ""


@frozen
class Network:
    """Connects and releases the interfaces of instances."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner
    ends: NodeEnds = field(init=False)

    @ends.default
    def _own_ends(self) -> NodeEnds:
        return NodeEnds(self.runner, UserScripts(self.files, self.paths, KIND))

    async def plan(self, spec: InstanceSpec) -> list[NicState]:
        """Decide for each interface how it will be connected; nothing is changed.

        @raise HypervisorError: an interface cannot be connected on this node.
        """
        return [await self.plan_one(spec, nic, number) for number, nic in enumerate(spec.nics)]

    async def plan_one(self, spec: InstanceSpec, nic: NicSpec, number: int) -> NicState:
        """The same for the interface of that number."""
        check_mac(nic.mac)
        try:
            await self._check_taps(nic)
            await self.ends.check(nic)
            await self._check_right(nic)
        except HypervisorError as error:
            return self._fall_back(nic, error)
        tap = interface_name(self.paths.root, nic, TAP_PREFIX)
        environment = script_environment(spec, nic, number, tap)
        return NicState(
            uuid=nic.uuid, mac=nic.mac, mode=nic.mode, link=nic.link, vlan=nic.vlan, tap=tap, environment=environment
        )

    async def check_link(self, link: NicLink) -> None:
        """See `IPlugs`."""
        await self.ends.check_link(link)

    async def connect(self, nics: Sequence[NicState], options: TapOptions, *, incoming: bool = False) -> None:
        """Make the taps and put them where they belong. @raise HypervisorError: some may be left; `release` them.

        @param incoming: the guest runs elsewhere yet, where its neighbours find its routed interfaces until `connect_late`.
        """
        for state in nics:
            await self.connect_one(state, options, incoming=incoming)

    async def connect_one(self, state: NicState, options: TapOptions, *, incoming: bool = False) -> None:
        """The same for one interface."""
        if not state.tap:
            return
        await self._make_tap(state.tap, options)
        if not (incoming and is_late(state)):
            await self.ends.connect(node_end(state))

    async def connect_late(self, nics: Sequence[NicState]) -> None:
        """What waited until the guest runs here; twice is fine. @raise HypervisorError: it cannot be reached."""
        for state in nics:
            if state.tap and is_late(state):
                await self.ends.connect(node_end(state))

    async def release(self, nics: Sequence[NicState], *, unplugged: bool = False) -> None:
        """Remove the taps with all that leads to them; one that is not there is no error.

        @raise HypervisorError: something is left.
        """
        for nic in nics:
            if not nic.tap:
                continue
            await self.ends.disconnect(node_end(nic), UNPLUG if unplugged else STOP)
            if await self._exists(nic.tap):
                await self._run(["ip", "link", "delete", "dev", nic.tap], f"cannot remove tap {nic.tap}")

    def _fall_back(self, nic: NicSpec, fault: HypervisorError) -> NicState:
        permission = self.paths.conf_dir / USER_MODE_FILE
        if nic.mode != NicMode.BRIDGED or not self.files.exists(permission):
            raise HypervisorError(f"network interface {nic.mac}: {fault}")
        restricted = self.files.read(permission, 100).strip() != b"open"
        log.warn(
            "network interface {mac}: {fault}; it gets QEMU's own network ({extent}) as {file} allows",
            mac=nic.mac,
            fault=fault,
            extent="closed" if restricted else "open to the node's network",
            file=str(permission),
        )
        return NicState(uuid=nic.uuid, mac=nic.mac, mode=nic.mode, link=nic.link, vlan=nic.vlan, restricted=restricted)

    async def _check_taps(self, nic: NicSpec) -> None:
        if not self.files.exists(TUN_DEVICE):
            raise HypervisorError(f"this node has no {TUN_DEVICE}, so nothing can be connected to {nic.link}")

    async def _check_right(self, nic: NicSpec) -> None:
        probe = interface_name(self.paths.root, msgspec.structs.replace(nic, uuid=f"probe:{nic.uuid}"), TAP_PREFIX)
        made = await self.runner.run(["ip", "tuntap", "add", "dev", probe, "mode", "tap"], timeout=COMMAND_TIMEOUT)
        if not made.succeeded:
            raise HypervisorError(f"no right to make taps for {nic.mode} {nic.link} ({made.describe()})")
        try:
            if nic.communication:
                await confine(self.runner, probe)  # by `connect_late` a guest that has moved runs here already
        finally:
            await self._run(["ip", "link", "delete", "dev", probe], f"cannot remove tap {probe}")

    async def _exists(self, link: str) -> bool:
        result = await self.runner.run(["ip", "link", "show", "dev", link], timeout=COMMAND_TIMEOUT)
        return result.succeeded

    async def _make_tap(self, tap: str, options: TapOptions) -> None:
        argv = ["ip", "tuntap", "add", "dev", tap, "mode", "tap"]
        argv += ["user", options.owner] if options.owner else []
        argv += ["vnet_hdr"] if options.vnet_hdr else []
        argv += ["multi_queue"] if options.multi_queue else []
        await self._run(argv, f"cannot make tap {tap}")

    async def _run(self, argv: Sequence[str], why: str) -> None:
        result = await self.runner.run(argv, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            raise HypervisorError(f"{why}: {argv[0]} {result.describe()}")


def node_end(state: NicState) -> NodeEnd:
    """Of a tap; of one that an older version made not all is known."""
    known = {"INTERFACE": state.tap, "MODE": state.mode, "LINK": state.link, "VLAN": state.vlan, "MAC": state.mac}
    return NodeEnd(state.environment or known)


def is_late(state: NicState) -> bool:
    """Whether packets find the guest by the node that answers for it, so that only one node may."""
    return state.mode == NicMode.ROUTED
