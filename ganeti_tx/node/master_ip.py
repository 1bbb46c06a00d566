"""The cluster's address on this node: a set-up script takes it and gives it up, between the hooks for that."""

from collections.abc import Callable, Mapping
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any

from attrs import define

from ganeti_tx.errors import OpExecError
from ganeti_tx.model.hooks import HookPhase
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.model.master_network import MasterNetworkParameters
from ganeti_tx.model.settings.services import IP_VERSIONS
from ganeti_tx.node.answers import answers
from ganeti_tx.node.local_hooks import LocalHooks
from ganeti_tx.node.neighbours import say_nothing
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeChangeMasterNetmask, NodeDeactivateMasterIp
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import CLEAN_ENV, IProcessRunner
from ganeti_tx.runtime.shipped import shipped

#: Seconds that the script may take.
SCRIPT_LIMIT = 60.0
TURN_UP, TURN_DOWN = "master-ip-turnup", "master-ip-turndown"


@define
class MasterIp:
    """Runs the set-up script: the administrator's own if the cluster says so, else the one that comes with us."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    hooks: LocalHooks
    #: Tells the neighbours that an interface has an IPv6 address.
    announce: Callable[[str, str], None] = say_nothing

    @answers(NodeActivateMasterIp)
    async def activate(self, call: NodeActivateMasterIp) -> None:
        """Take the address; to have it already is fine. @raise OpExecError: the script failed."""
        values = environment(call.master_params)
        await self.hooks.run(TURN_UP, HookPhase.PRE, "OP_CLUSTER_ACTIVATE_MASTER_IP", values)
        await self._run("start", values, call.use_external_mip_script)
        if family_of(call.master_params.ip) == AF_INET6 and not call.use_external_mip_script:
            self.announce(call.master_params.ip, call.master_params.netdev)
        await self.hooks.run(TURN_UP, HookPhase.POST, "OP_CLUSTER_ACTIVATE_MASTER_IP", values)

    @answers(NodeDeactivateMasterIp)
    async def deactivate(self, call: NodeDeactivateMasterIp) -> None:
        """Give the address up; not to have it is fine. @raise OpExecError: the script failed."""
        values = environment(call.master_params)
        await self.hooks.run(TURN_DOWN, HookPhase.PRE, "OP_CLUSTER_DEACTIVATE_MASTER_IP", values)
        await self._run("stop", values, call.use_external_mip_script)
        await self.hooks.run(TURN_DOWN, HookPhase.POST, "OP_CLUSTER_DEACTIVATE_MASTER_IP", values)

    @answers(NodeChangeMasterNetmask)
    async def change_netmask(self, call: NodeChangeMasterNetmask) -> None:
        """Have the address with another netmask: the new one is there before the old one goes, with IPv4.

        An interface cannot have an IPv6 address twice, so the old one goes first, and comes back when the new one is refused.
        """
        if call.old_netmask == call.netmask:
            return
        family: Any = int(family_of(call.master_ip))
        old, new = (
            environment(
                MasterNetworkParameters(
                    uuid="", ip=call.master_ip, netmask=netmask, netdev=call.master_netdev, ip_family=family
                )
            )
            for netmask in (call.old_netmask, call.netmask)
        )
        if family == AF_INET:
            await self._run("start", new, external=False)
            await self._run("stop", old, external=False)
            return
        await self._run("stop", old, external=False)
        try:
            await self._run("start", new, external=False)
        except OpExecError:
            await self._run("start", old, external=False)
            raise

    async def _run(self, verb: str, values: Mapping[str, str], external: bool) -> None:
        script = self._script(external)
        if external and not self.files.exists(script):
            raise OpExecError(
                f"there is no set-up script for the cluster's address at {script}; the cluster is set to use one of its own"
            )
        result = await self.runner.run([str(script), verb], env={**CLEAN_ENV, **values}, timeout=SCRIPT_LIMIT)
        if not result.succeeded:
            raise OpExecError(
                f"cannot {verb} the cluster's address {values['MASTER_IP']} on {values['MASTER_NETDEV']}: {script} "
                f"{result.describe()}"
            )

    def _script(self, external: bool) -> Path:
        if external:
            return self.paths.external_master_setup_script
        installed: Path = self.paths.default_master_setup_script
        return installed if self.files.exists(installed) else shipped("tools/master-ip-setup")


def environment(parameters: MasterNetworkParameters) -> dict[str, str]:
    """What the script and the hooks are told (Ganeti 3.0 command line table, master-ip-setup)."""
    return {
        "MASTER_IP": parameters.ip,
        "MASTER_NETDEV": parameters.netdev,
        "MASTER_NETMASK": str(parameters.netmask),
        "CLUSTER_IP_VERSION": str(IP_VERSIONS[parameters.ip_family]),
    }
