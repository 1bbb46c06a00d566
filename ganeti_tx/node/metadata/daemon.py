"""The metadata daemon, as its node daemon has it."""

from typing import Protocol

from attrs import define

from ganeti_tx.luxi.on_twisted import client
from ganeti_tx.metad.protocol import DAEMON, FORGET, READ, UPDATE, sent
from ganeti_tx.model.guest_facts import GuestFacts
from ganeti_tx.node.local_daemons import LocalDaemons
from ganeti_tx.runtime.daemon_names import METADATA
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import ISocketReactor

#: Seconds for an answer; all is in memory there.
ANSWER = 10.0


class MetadataDaemon(Protocol):
    """What is asked of it. Every method may raise GanetiError: it does not run, or does not answer."""

    def runs(self) -> bool:
        """Whether it is there."""

    async def start(self) -> None:
        """Have it there."""

    async def update(self, facts: GuestFacts) -> None:
        """Tell it of an instance."""

    async def forget(self, name: str) -> None:
        """An instance is here no more."""

    async def read(self, name: str) -> str:
        """What the guest has written since the last time. @raise GanetiError: it knows no such instance, too."""


@define
class OwnMetadataDaemon:
    """The one of this machine, started when it is needed."""

    paths: Paths
    reactor: ISocketReactor
    daemons: LocalDaemons

    def runs(self) -> bool:
        """See MetadataDaemon."""
        return bool(self.daemons.run([METADATA]))

    async def start(self) -> None:
        """See MetadataDaemon."""
        if not self.runs():
            await self.daemons.start(METADATA)

    async def update(self, facts: GuestFacts) -> None:
        """See MetadataDaemon."""
        await self._call(UPDATE, sent(facts))

    async def forget(self, name: str) -> None:
        """See MetadataDaemon."""
        await self._call(FORGET, name)

    async def read(self, name: str) -> str:
        """See MetadataDaemon."""
        return str(await self._call(READ, name))

    async def _call(self, method: str, argument: object) -> object:
        asking = client(self.reactor, str(self.paths.metad_socket), daemon=DAEMON, answer_timeout=ANSWER)
        try:
            return await asking.call(method, [argument])
        finally:
            asking.close()
