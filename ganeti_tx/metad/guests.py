"""The guests that the daemon knows, found by where a request comes from."""

from typing import Protocol

from attrs import define, field

from ganeti_tx.metad.bucket import Bucket
from ganeti_tx.metad.talk import Talk
from ganeti_tx.model.guest_facts import GuestFacts


@define(eq=False)
class Guest:
    """One instance: its facts, how much it may still ask, and what it and its node have to tell each other."""

    facts: GuestFacts
    bucket: Bucket = field(factory=Bucket)
    talk: Talk = field(factory=Talk)


class Served(Protocol):
    """Who has something to do at the interface of each guest."""

    def serve(self, guest: Guest) -> None:
        """It is there now, or still."""

    def leave(self, interface: str) -> None:
        """It is there no more."""


class NotServed:
    """Nobody."""

    def serve(self, guest: Guest) -> None:
        """See Served."""

    def leave(self, interface: str) -> None:
        """See Served."""


@define(eq=False)
class Guests:
    """All of them; no two have one address."""

    served: Served = field(factory=NotServed)
    _by_name: dict[str, Guest] = field(factory=dict)
    _by_address: dict[str, Guest] = field(factory=dict)

    def update(self, facts: GuestFacts) -> None:
        """Know this of an instance from now on; what others had of its address is void."""
        former = self._by_address.get(facts.address)
        if former is not None and former.facts.name != facts.name:
            self.forget(former.facts.name)
        guest = self._by_name.get(facts.name) or Guest(facts)
        self._by_address.pop(guest.facts.address, None)
        if guest.facts.interface != facts.interface:
            self.served.leave(guest.facts.interface)
        guest.facts = facts
        self._by_name[facts.name] = self._by_address[facts.address] = guest
        self.served.serve(guest)

    def forget(self, name: str) -> None:
        """Know nothing of it any more."""
        guest = self._by_name.pop(name, None)
        if guest is not None:
            del self._by_address[guest.facts.address]
            self.served.leave(guest.facts.interface)

    def named(self, name: str) -> Guest | None:
        """Of this name."""
        return self._by_name.get(name)

    def at(self, address: str, interface: str | None) -> Guest | None:
        """Whose address this is, if the request came in by its own interface: addresses alone can be made up."""
        guest = self._by_address.get(address)
        return guest if guest is not None and guest.facts.interface and guest.facts.interface == interface else None

    @property
    def names(self) -> list[str]:
        """Of all, sorted."""
        return sorted(self._by_name)
