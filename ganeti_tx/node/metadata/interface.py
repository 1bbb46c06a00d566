"""By which interface of the node an address of one of its instances is reached."""

import msgspec

from ganeti_tx.runtime.process import IProcessRunner

#: Seconds for a program that looks at routes.
LIMIT = 30.0


class _Route(msgspec.Struct):
    """As the program ip tells of one."""

    dst: str
    dev: str = ""
    type: str = "unicast"


async def interface_to(runner: IProcessRunner, address: str) -> str | None:
    """The interface of the route to this one address, in whichever table it stands; None if there is none.

    Only root makes such routes, when the instance's interface is connected, whatever the hypervisor is.
    """
    argv = ["ip", "-json", "route", "show", "table", "all", "exact", f"{address}/32"]
    result = await runner.run(argv, timeout=LIMIT)
    if not result.succeeded:
        return None
    try:
        routes = msgspec.json.decode(result.stdout or b"[]", type=list[_Route])
    except msgspec.DecodeError:
        return None
    return next((each.dev for each in routes if each.dst == address and each.dev and each.type == "unicast"), None)
