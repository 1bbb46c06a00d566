"""What the daemon does of what it is told on its socket."""

from typing import cast

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.metad.guests import Guest, Guests
from ganeti_tx.metad.protocol import ECHO, FORGET, READ, UPDATE
from ganeti_tx.metad.talk import Full
from ganeti_tx.model.guest_facts import GuestFacts


@frozen
class Control:
    """Whoever may use the socket may do all of it."""

    guests: Guests

    async def __call__(self, method: str, args: list[object], peer: Peer | None) -> object:
        """The result of a request whose arguments have been checked. @raise GanetiError: it was refused."""
        if method == ECHO:
            return args[0]
        name = str(args[0])
        if method == READ:
            return self._guest(name).talk.to_node.read().decode("utf-8", "replace")
        if method == UPDATE:
            self.guests.update(cast(GuestFacts, args[0]))
        elif method == FORGET:
            self.guests.forget(name)
        else:
            self._write(name, str(args[1]))
        return None

    def _guest(self, name: str) -> Guest:
        guest = self.guests.named(name)
        if guest is None:
            raise OpPrereqError(f"the metadata daemon knows no instance {name}", ECode.NOENT)
        return guest

    def _write(self, name: str, text: str) -> None:
        try:
            self._guest(name).talk.to_guest.write(text.encode())
        except Full:
            raise OpPrereqError(f"instance {name} has not read what was written before", ECode.NORES) from None
