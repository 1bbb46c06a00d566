"""The metadata daemon of a node, in this process."""

from attrs import define, field

from ganeti_tx.errors import OpExecError
from ganeti_tx.metad.control import Control
from ganeti_tx.metad.guests import Guests
from ganeti_tx.metad.protocol import FORGET, READ, UPDATE
from ganeti_tx.model.guest_facts import GuestFacts


@define(eq=False)
class FakeMetadataDaemon:
    """Knows what the real one would. @ivar fault: why it does not start."""

    up: bool = False
    fault: str = ""
    guests: Guests = field(factory=Guests)

    def runs(self) -> bool:
        """See MetadataDaemon."""
        return self.up

    async def start(self) -> None:
        """See MetadataDaemon."""
        if self.fault:
            raise OpExecError(self.fault)
        self.up = True

    async def update(self, facts: GuestFacts) -> None:
        """See MetadataDaemon."""
        await Control(self.guests)(UPDATE, [facts], None)

    async def forget(self, name: str) -> None:
        """See MetadataDaemon."""
        await Control(self.guests)(FORGET, [name], None)

    async def read(self, name: str) -> str:
        """See MetadataDaemon."""
        return str(await Control(self.guests)(READ, [name], None))
