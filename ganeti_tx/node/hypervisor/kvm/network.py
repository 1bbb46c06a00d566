"""The node's end of network interfaces: taps on bridges, switches or routes, or QEMU's own network stack."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT, shown_bridge
from ganeti_tx.node.hypervisor.nics.connecting import connect_argvs, mtu_of
from ganeti_tx.node.hypervisor.nics.script_environment import script_environment
from ganeti_tx.node.hypervisor.nics.vlan import parse_vlan
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import CLEAN_ENV, IProcessRunner

TUN_DEVICE = Path("/dev/net/tun")
#: When this file is there, a bridged interface without a bridge gets QEMU's own network stack. The guest then reaches
#: nobody, unless the file says "open".
USER_MODE_FILE = "user-mode-network"
#: An administrator's own script that connects a tap; named after Ganeti's habit.
CONNECT_SCRIPT = "kvm-vif-bridge"
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")

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

    async def plan(self, spec: InstanceSpec) -> list[NicState]:
        """Decide for each interface how it will be connected; nothing is changed.

        @raise HypervisorError: an interface cannot be connected on this node.
        """
        return [await self.plan_one(nic) for nic in spec.nics]

    async def connect(self, spec: InstanceSpec, nics: Sequence[NicState], options: TapOptions) -> None:
        """Make the taps and put them where they belong. @raise HypervisorError: some may be left; `release` them."""
        for number, (nic, state) in enumerate(zip(spec.nics, nics, strict=True)):
            await self.connect_one(spec, nic, number, state, options)

    async def connect_one(
        self, spec: InstanceSpec, nic: NicSpec, number: int, state: NicState, options: TapOptions
    ) -> None:
        """The same for the interface of that number. @raise HypervisorError: its tap may be left; `release` it."""
        if not state.tap:
            return
        await self._make_tap(state.tap, options)
        script = self.paths.conf_dir / CONNECT_SCRIPT
        why = f"cannot connect tap {state.tap} to {nic.mode} {nic.link}"
        if self.files.exists(script):
            environment = script_environment(spec, nic, number, state.tap)
            await self._run([str(script)], why, environment)
            return
        for argv in connect_argvs(nic, state.tap, state.mtu):
            await self._run(argv, why)

    async def release(self, nics: Sequence[NicState]) -> None:
        """Remove the taps; one that is not there is no error. @raise HypervisorError: one cannot be removed."""
        for nic in nics:
            if not nic.tap:
                continue
            if nic.mode == "openvswitch":
                await self._run(["ovs-vsctl", "--timeout=30", "--if-exists", "del-port", nic.tap], f"tap {nic.tap}")
            if await self._exists(nic.tap):
                await self._run(["ip", "link", "delete", "dev", nic.tap], f"cannot remove tap {nic.tap}")

    def tap_name(self, nic_uuid: str) -> str:
        """One name for each interface and node root, so that several nodes may share a machine."""
        return "tap" + hashlib.sha256(f"{self.paths.root}:{nic_uuid}".encode()).hexdigest()[:11]

    async def plan_one(self, nic: NicSpec) -> NicState:
        """The same for one interface."""
        if _MAC.fullmatch(nic.mac) is None:
            raise HypervisorError(f"not a MAC address: {nic.mac!r}")
        parse_vlan(nic.vlan)
        if nic.mode not in ("bridged", "openvswitch", "routed"):
            raise HypervisorError(f"network mode {nic.mode!r} is none of bridged, openvswitch, routed")
        bridge = (
            await shown_bridge(self.runner, nic.link) if nic.mode == "bridged" and self.files.exists(TUN_DEVICE) else ""
        )
        fault = await self._why_no_tap(nic, bridge)
        if fault is None:
            tap = self.tap_name(nic.uuid)
            return NicState(
                uuid=nic.uuid, mac=nic.mac, mode=nic.mode, link=nic.link, vlan=nic.vlan, tap=tap, mtu=mtu_of(bridge)
            )
        return self._fall_back(nic, fault)

    def _fall_back(self, nic: NicSpec, fault: str) -> NicState:
        permission = self.paths.conf_dir / USER_MODE_FILE
        if nic.mode != "bridged" or not self.files.exists(permission):
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

    async def _why_no_tap(self, nic: NicSpec, bridge: str) -> str | None:
        """What prevents a tap for this interface."""
        if not self.files.exists(TUN_DEVICE):
            return f"this node has no {TUN_DEVICE}, so nothing can be connected to {nic.link}"
        if nic.mode == "bridged" and not bridge:
            return f"bridge {nic.link} is not on this node; create it, or choose another link"
        probe = self.tap_name(f"probe:{nic.uuid}")
        made = await self.runner.run(["ip", "tuntap", "add", "dev", probe, "mode", "tap"], timeout=COMMAND_TIMEOUT)
        if not made.succeeded:
            return f"no right to make taps for {nic.mode} {nic.link} ({made.describe()})"
        await self._run(["ip", "link", "delete", "dev", probe], f"cannot remove tap {probe}")
        return None

    async def _exists(self, link: str) -> bool:
        result = await self.runner.run(["ip", "link", "show", "dev", link], timeout=COMMAND_TIMEOUT)
        return result.succeeded

    async def _make_tap(self, tap: str, options: TapOptions) -> None:
        argv = ["ip", "tuntap", "add", "dev", tap, "mode", "tap"]
        argv += ["user", options.owner] if options.owner else []
        argv += ["vnet_hdr"] if options.vnet_hdr else []
        argv += ["multi_queue"] if options.multi_queue else []
        await self._run(argv, f"cannot make tap {tap}")

    async def _run(self, argv: Sequence[str], why: str, environment: Mapping[str, str] = {}) -> None:
        result = await self.runner.run(argv, env={**CLEAN_ENV, **environment}, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            raise HypervisorError(f"{why}: {argv[0]} {result.describe()}")
