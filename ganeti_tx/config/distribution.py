"""The copies of the configuration on other nodes, as operations know them."""

from collections.abc import Awaitable, Callable

import attrs


async def nobody_else() -> None:
    """There are no other nodes to send anything to."""


@attrs.frozen(kw_only=True)
class Distribution:
    """What the daemon does about them; by default there are none."""

    _redistribute: Callable[[], Awaitable[None]] = nobody_else
    _when_distributed: Callable[[], Awaitable[None]] = nobody_else
    _undistributed: Callable[[], list[tuple[str, str]]] = list

    async def redistribute(self) -> None:
        """Begin to send everything to every node once more, key files too."""
        await self._redistribute()

    async def when_distributed(self) -> None:
        """Return when every reachable candidate and node has the present state or a newer one."""
        await self._when_distributed()

    async def undistributed(self) -> list[tuple[str, str]]:
        """The nodes that could not be given the present state, and why; it is tried again."""
        return self._undistributed()
