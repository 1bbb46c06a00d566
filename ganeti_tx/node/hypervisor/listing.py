"""Lists of what runs, in which one instance that cannot be looked at hides no other."""

from collections.abc import Awaitable, Callable, Iterable

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo
from ganeti_tx.node.hypervisor.names import naming

log = Logger()

#: How one is looked at.
Look = Callable[[str], Awaitable[InstanceInfo | None]]


async def listed(names: Iterable[str], look: Look) -> list[InstanceInfo]:
    """Those of them that run; all are looked at at the same time."""
    looks = [Deferred.fromCoroutine(_info_or_none(name, look)) for name in names]
    found = [await each for each in looks]
    return [each for each in found if each is not None]


async def _info_or_none(name: str, look: Look) -> InstanceInfo | None:
    try:
        with naming(name):
            return await look(name)
    except HypervisorError as error:
        log.error("{error}", error=error)
        return None
