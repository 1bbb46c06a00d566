"""Connecting the node's ends of guests' interfaces, and leaving nothing of what was done for one that goes."""

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT, shown_bridge
from ganeti_tx.node.hypervisor.nics.communication import checksum_argv, communication_argvs
from ganeti_tx.node.hypervisor.nics.connecting import bridge_argvs, switch_argvs
from ganeti_tx.node.hypervisor.nics.links import check_link
from ganeti_tx.node.hypervisor.nics.names import check_mac
from ganeti_tx.node.hypervisor.nics.routing import RoutedEnd, routed_end
from ganeti_tx.node.hypervisor.nics.script_environment import NOT_KEPT, NodeEnd
from ganeti_tx.node.hypervisor.nics.scripts import Scripts
from ganeti_tx.node.hypervisor.nics.switches import unplug_argv
from ganeti_tx.runtime.process import CLEAN_ENV, NOT_FOUND, IProcessRunner

log = Logger()

#: Why an interface goes, as the administrator's script is told.
STOP, UNPLUG = "stop", "unplug"


@frozen
class NodeEnds:
    """Those of one hypervisor's guests. The interfaces themselves are made and removed by the drivers."""

    runner: IProcessRunner
    scripts: Scripts

    async def check(self, nic: NicSpec) -> None:
        """@raise HypervisorError: it cannot be connected on this node, and what to do about it."""
        check_mac(nic.mac)
        link = NicLink(mode=nic.mode, link=nic.link, vlan=nic.vlan)
        if nic.communication or nic.mode == NicMode.ROUTED:
            routed_end(NodeEnd({"INTERFACE": "", "MODE": nic.mode, "MAC": nic.mac, "IP": nic.ip or ""}))
        if not nic.communication:
            await self.check_link(link)

    async def check_link(self, link: NicLink) -> None:
        """@raise HypervisorError: nothing can be plugged in there; what a script of the administrator does is his business."""
        if link.mode == NicMode.BRIDGED or self.scripts.up is None:
            await check_link(self.runner, link)

    async def connect(self, end: NodeEnd) -> None:
        """@raise HypervisorError: it is not connected, but may be half; `disconnect` it."""
        script = self.scripts.up
        if script is not None and not end.communication:
            await self._run([str(script), end.interface], _failure(end), end.environment)
            return
        if end.communication:
            await self._connect_to_node(end)
        elif end.link.mode == NicMode.BRIDGED:
            await self._all(end, bridge_argvs(end, await shown_bridge(self.runner, end.link.link)))
        elif end.link.mode == NicMode.OPENVSWITCH:
            await self._all(end, switch_argvs(end))
        else:
            await self._route(end)

    async def _route(self, end: NodeEnd) -> None:
        routed = await self._prepared(end)
        outer = routed.outer_interface(await self._shown(routed.look_for_it()))
        await self._all(end, routed.argvs(outer))
        if outer:
            await self._try(routed.announcing(outer), "the neighbours are not told")

    async def _prepared(self, end: NodeEnd) -> RoutedEnd:
        routed = routed_end(end)
        await self._remove_rules(routed)  # of one before it that was called the same
        await self._try(routed.giving_mac(), "a guest that comes from another node looks for this one for some seconds")
        return routed

    async def _connect_to_node(self, end: NodeEnd) -> None:
        await self._prepared(end)
        await self._all(end, communication_argvs(end))
        await self._try(checksum_argv(end), "checksums stay as they are")
        if (script := self.scripts.communication) is not None:
            await self._run([str(script), end.interface], _failure(end), end.environment)

    async def disconnect(self, end: NodeEnd, occasion: str) -> None:
        """Leave nothing of it, whether the interface is there still or not; twice is fine.

        @raise HypervisorError: something is left.
        """
        if (script := self.scripts.down) is not None:
            kept = {name: value for name, value in end.environment.items() if name != NOT_KEPT}
            await self._tell(script=[str(script), end.interface, occasion], environment=kept)
        if end.link.mode == NicMode.OPENVSWITCH:
            await self._unplug(end)
        if end.link.mode == NicMode.ROUTED and end.ip:
            routed = routed_end(end)
            await self._remove_rules(routed)
            for argv in routed.answer_removals(await self._shown(routed.show_answers())):
                await self._run(argv, f"cannot stop answering for {end.ip}")

    async def _all(self, end: NodeEnd, argvs: Iterable[Sequence[str]]) -> None:
        for argv in argvs:
            await self._run(argv, _failure(end))

    async def _try(self, argv: Sequence[str], otherwise: str) -> None:
        """What a guest can do without."""
        result = await self.runner.run(argv, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            log.info("{otherwise}: {argv} {why}", otherwise=otherwise, argv=" ".join(argv), why=result.describe())

    async def _tell(self, script: Sequence[str], environment: Mapping[str, str]) -> None:
        """What the administrator's script makes of it keeps no instance from being stopped."""
        result = await self.runner.run(script, env={**CLEAN_ENV, **environment}, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            log.error("{script} {why}", script=" ".join(script), why=result.describe())

    async def _unplug(self, end: NodeEnd) -> None:
        """Where there is no Open vSwitch nothing is plugged into it."""
        result = await self.runner.run(unplug_argv(end.interface), timeout=COMMAND_TIMEOUT)
        if not result.succeeded and result.status != NOT_FOUND:
            raise HypervisorError(f"cannot take {end.interface} from its switch: ovs-vsctl {result.describe()}")

    async def _remove_rules(self, routed: RoutedEnd) -> None:
        for argv in routed.rule_removals(await self._shown(routed.show_rules())):
            await self._run(argv, f"cannot remove a routing rule for {routed.interface}")

    async def _shown(self, argv: Sequence[str]) -> str:
        """What a command shows; one that fails has nothing to show, such as for a family that the kernel lacks.

        @raise HypervisorError: it was cut off, so that nobody knows; what it would have shown is not to be left behind.
        """
        result = await self.runner.run(argv, timeout=COMMAND_TIMEOUT)
        if result.timed_out or result.status is None:
            raise HypervisorError(f"{' '.join(argv)} {result.describe()}")
        return result.stdout.decode("utf-8", "replace") if result.succeeded else ""

    async def _run(self, argv: Sequence[str], why: str, environment: Mapping[str, str] = {}) -> None:
        result = await self.runner.run(argv, env={**CLEAN_ENV, **environment}, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            raise HypervisorError(f"{why}: {argv[0]} {result.describe()}")


def _failure(end: NodeEnd) -> str:
    return f"cannot connect {end.interface} to {end.link.mode} {end.link.link}".rstrip()
