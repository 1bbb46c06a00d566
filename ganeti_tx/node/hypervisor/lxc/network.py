"""The interfaces of containers: pairs, of which one end is connected on the node."""

import hashlib
import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.lxc.record import VethState
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT, shown_bridge
from ganeti_tx.node.hypervisor.nics.connecting import connect_argvs, mtu_of
from ganeti_tx.node.hypervisor.nics.script_environment import script_environment
from ganeti_tx.node.hypervisor.nics.vlan import parse_vlan
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import CLEAN_ENV, IProcessRunner

#: An administrator's own script that connects an interface, in the place of everything that we do.
CONNECT_SCRIPT = "lxc-vif-bridge"
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


@frozen
class Veths:
    """Makes, connects and removes them."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner

    async def plan(self, spec: InstanceSpec) -> list[VethState]:
        """What each will be; nothing is changed. @raise HypervisorError: one cannot be connected on this node."""
        return [await self._plan_one(nic) for nic in spec.nics]

    async def _plan_one(self, nic: NicSpec) -> VethState:
        if _MAC.fullmatch(nic.mac) is None:
            raise HypervisorError(f"not a MAC address: {nic.mac!r}")
        parse_vlan(nic.vlan)
        shown = ""
        if nic.mode == "bridged" and not (shown := await shown_bridge(self.runner, nic.link)):
            raise HypervisorError(
                f"network interface {nic.mac}: bridge {nic.link} is not on this node; create it, or choose another link"
            )
        words = f"{self.paths.root}:{nic.uuid}"
        number = hashlib.sha256(words.encode()).hexdigest()[:10]
        return VethState(
            uuid=nic.uuid,
            mac=nic.mac,
            mode=nic.mode,
            link=nic.link,
            vlan=nic.vlan,
            outside=f"veth{number}",
            inside=f"peer{number}",
            mtu=mtu_of(shown),
        )

    async def connect(self, spec: InstanceSpec, veths: Sequence[VethState]) -> None:
        """Make them and put them where they belong. @raise HypervisorError: some may be left; `release` them."""
        for number, (nic, veth) in enumerate(zip(spec.nics, veths, strict=True)):
            make = ["ip", "link", "add", "name", veth.outside, "type", "veth", "peer", "name", veth.inside]
            await self._run(make, f"cannot make interface {veth.outside}")
            why = f"cannot connect {veth.outside} to {nic.mode} {nic.link}"
            script = self.paths.conf_dir / CONNECT_SCRIPT
            if self.files.exists(script):
                await self._run([str(script)], why, script_environment(spec, nic, number, veth.outside))
                continue
            for argv in connect_argvs(nic, veth.outside, veth.mtu):
                await self._run(argv, why)

    async def release(self, veths: Sequence[VethState]) -> None:
        """Remove them; one that is not there is no error. @raise HypervisorError: one cannot be removed."""
        for veth in veths:
            if veth.mode == "openvswitch":
                argv = ["ovs-vsctl", "--timeout=30", "--if-exists", "del-port", veth.outside]
                await self._run(argv, f"cannot take {veth.outside} from its switch")
            shown = await self.runner.run(["ip", "link", "show", "dev", veth.outside], timeout=COMMAND_TIMEOUT)
            if shown.succeeded:
                why = f"cannot remove interface {veth.outside}"
                await self._run(["ip", "link", "delete", "dev", veth.outside], why)

    async def _run(self, argv: Sequence[str], why: str, environment: Mapping[str, str] = {}) -> None:
        result = await self.runner.run(argv, env={**CLEAN_ENV, **environment}, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            raise HypervisorError(f"{why}: {argv[0]} {result.describe()}")
