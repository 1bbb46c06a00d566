"""Which bridges a node has."""

import re

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner

#: Seconds for a program that looks at interfaces or changes one.
COMMAND_TIMEOUT = 30.0
#: What the kernel takes as the name of an interface, without what `ip` could take for an option.
_LINK = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}")


async def shown_bridge(runner: IProcessRunner, link: str) -> str:
    """What the program ip shows of a bridge; empty when it is none. @raise HypervisorError: it could not be one."""
    if _LINK.fullmatch(link) is None:
        raise HypervisorError(f"not the name of a bridge: {link!r}")
    argv = ["ip", "-details", "link", "show", "dev", link, "type", "bridge"]
    result = await runner.run(argv, timeout=COMMAND_TIMEOUT)
    if result.status == NOT_FOUND:
        raise HypervisorError("the program ip is not on this node; install iproute2")
    return result.stdout.decode("utf-8", "replace").strip() if result.succeeded else ""
