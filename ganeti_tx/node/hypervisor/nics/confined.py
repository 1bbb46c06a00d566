"""Interfaces by which instances talk to their node, with what keeps them to that; whether a node can do it is seen before."""

import re

from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_communication import INTERFACE_PREFIX
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT
from ganeti_tx.node.hypervisor.nics.packets_to_node import filter_argvs
from ganeti_tx.runtime.process import IProcessRunner

#: In what `ip link show` says in lines; an end of a pair has the other one's name behind it.
_THERE = re.compile(rf"^\d+: ({re.escape(INTERFACE_PREFIX)}[^:@\s]+)[:@]", re.MULTILINE)

log = Logger()


async def confine(runner: IProcessRunner, interface: str) -> None:
    """Have it take what a guest may send its node, and nothing else; twice is fine.

    @raise HypervisorError: this node cannot do that, and what it needs for it.
    """
    for argv in filter_argvs(interface):
        result = await runner.run(argv, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            raise HypervisorError(
                f"cannot keep {interface} to packets for the node's metadata (tc {result.describe()}): a node needs tc of the"
                " package iproute2 for it, and cls_bpf and sch_ingress of its kernel"
            )


async def confine_those_there(runner: IProcessRunner) -> None:
    """The same for those that were connected when it was not done yet. What fails is only logged: their guests run."""
    shown = await runner.run(["ip", "-o", "link", "show"], timeout=COMMAND_TIMEOUT)
    if not shown.succeeded:
        log.error("which guests talk to this node is not known: ip {why}", why=shown.describe())
    for interface in _THERE.findall(shown.stdout.decode("utf-8", "replace")):
        try:
            await confine(runner, interface)
        except HypervisorError as error:
            log.error("{fault}; its guest reaches all services of this node", fault=str(error))
