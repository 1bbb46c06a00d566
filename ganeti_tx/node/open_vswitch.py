"""The node's own switch, which a node gets when it is added (Ganeti 3.0 network table, ovs)."""

import json
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT, check_interface, run
from ganeti_tx.node.hypervisor.nics.links import NO_OPEN_VSWITCH
from ganeti_tx.node.hypervisor.nics.switches import ovs_argv
from ganeti_tx.rpc.calls.open_vswitch import CanConfigureOvs, NodeConfigureOvs
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner, ProcessResult


@frozen
class OwnSwitch:
    """What is there already is left as it is: a switch keeps its ports and settings."""

    runner: IProcessRunner

    @answers(CanConfigureOvs)
    async def check(self, call: CanConfigureOvs) -> None:
        """@raise HypervisorError: the node could not have it, and why."""
        check_interface("switch", call.ovs_name)
        if call.ovs_link:
            check_interface("device", call.ovs_link)
        await self._vsctl("show")
        if call.ovs_link:
            await self._check_device(call.ovs_name, call.ovs_link)

    @answers(NodeConfigureOvs)
    async def configure(self, call: NodeConfigureOvs) -> None:
        """Both at once, or nothing. @raise HypervisorError: why not."""
        await self.check(CanConfigureOvs(ovs_name=call.ovs_name, ovs_link=call.ovs_link))
        port = ["--", "--may-exist", "add-port", call.ovs_name, call.ovs_link] if call.ovs_link else []
        await self._vsctl("--may-exist", "add-br", call.ovs_name, *port)

    async def _check_device(self, switch: str, device: str) -> None:
        """What is on a device of a switch is heard by the switch alone: a node would lose the addresses that are there."""
        told = await run(self.runner, "ip", "-json", "address", "show", "dev", device)
        if not told.succeeded:
            raise HypervisorError(f"device {device} is not on this node; name another with ovs_link")
        has = await self._asked("port-to-br", device)
        if has.succeeded and (there := has.stdout.decode("utf-8", "replace").strip()) != switch:
            raise HypervisorError(f"device {device} is in switch {there} already; take it out there, or name another")
        addresses = global_addresses(json.loads(told.stdout or b"[]"))
        if addresses and not has.succeeded:
            raise HypervisorError(
                f"device {device} has the address {addresses[0]}, at which nobody would reach this node any more;"
                f" give the address to switch {switch} first, or name a device without one"
            )

    async def _asked(self, *words: str) -> ProcessResult:
        result = await self.runner.run(ovs_argv(*words), timeout=COMMAND_TIMEOUT)
        if result.status == NOT_FOUND:
            raise HypervisorError(NO_OPEN_VSWITCH)
        return result

    async def _vsctl(self, *words: str) -> None:
        result = await self._asked(*words)
        if not result.succeeded:
            raise HypervisorError(f"ovs-vsctl {words[0].removeprefix('--')} {result.describe()}")


def global_addresses(shown: Sequence[dict[str, Any]]) -> list[str]:
    """Those by which others know a node, in what the program ip tells of an interface."""
    told = [each for interface in shown for each in interface.get("addr_info", ())]
    return [str(each["local"]) for each in told if each.get("scope") == "global"]
