"""Which bridges a node has, and what they are like."""

import re

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner, ProcessResult

#: Seconds for a program that looks at interfaces or changes one.
COMMAND_TIMEOUT = 30.0
#: What the kernel takes as the name of an interface, without what `ip` could take for an option.
_INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}")
_MTU = re.compile(r"\bmtu (\d{1,9})\b")
_DEFAULT_VLAN = re.compile(r"\bvlan_default_pvid (\d{1,4})\b")
#: The VLAN of a bridge's ports, unless it says otherwise.
USUAL_VLAN = 1


async def run(runner: IProcessRunner, *argv: str) -> ProcessResult:
    """A program of iproute2. @raise HypervisorError: it is not on this node."""
    result = await runner.run(argv, timeout=COMMAND_TIMEOUT)
    if result.status == NOT_FOUND:
        raise HypervisorError(f"the program {argv[0]} is not on this node; install iproute2")
    return result


def check_interface(kind: str, name: str) -> None:
    """@raise HypervisorError: nothing can be called so."""
    if _INTERFACE.fullmatch(name) is None:
        raise HypervisorError(f"not the name of a {kind}: {name!r:.60}")


async def shown_bridge(runner: IProcessRunner, link: str) -> str:
    """What the program ip shows of a bridge; empty when it is none. @raise HypervisorError: it could not be one."""
    check_interface("bridge", link)
    result = await run(runner, "ip", "-details", "link", "show", "dev", link, "type", "bridge")
    return result.stdout.decode("utf-8", "replace").strip() if result.succeeded else ""


def mtu_of(shown: str) -> int | None:
    """The largest packet of an interface, in what the program ip shows of it."""
    found = _MTU.search(shown)
    return int(found[1]) if found else None


def default_vlan_of(shown: str) -> int:
    """The VLAN that new ports of a bridge are in."""
    found = _DEFAULT_VLAN.search(shown)
    return int(found[1]) if found else USUAL_VLAN


def keeps_vlans_apart(shown: str) -> bool:
    """Whether a bridge does."""
    return "vlan_filtering 1" in shown
