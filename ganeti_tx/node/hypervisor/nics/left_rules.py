"""Rules for interfaces by which instances talked to their node, and which have gone without them: the kernel keeps those."""

import re

from twisted.logger import Logger

from ganeti_tx.model.instance_communication import INTERFACE_PREFIX
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT
from ganeti_tx.runtime.process import IProcessRunner

#: In what `ip rule show` says: its place, and the interface, which is not there.
_LEFT = re.compile(rf"^(\d{{1,10}}):.* iif ({re.escape(INTERFACE_PREFIX)}\S+) \[detached\]", re.MULTILINE)

log = Logger()


async def remove_left_rules(runner: IProcessRunner) -> None:
    """Remove them, as nobody may remember the interfaces any more; before calls can make new ones. What fails is only logged."""
    shown = await runner.run(["ip", "-4", "-o", "rule", "show"], timeout=COMMAND_TIMEOUT)
    for place, interface in _LEFT.findall(shown.stdout.decode("utf-8", "replace")):
        argv = ["ip", "-4", "rule", "del", "pref", place, "iif", interface]
        removed = await runner.run(argv, timeout=COMMAND_TIMEOUT)
        outcome = "was removed" if removed.succeeded else f"stays: ip {removed.describe()}"
        log.info("the rule for {interface}, which is gone, {outcome}", interface=interface, outcome=outcome)
