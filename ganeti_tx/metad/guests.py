"""The guests that the daemon knows, found by where a request comes from."""

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


@define(eq=False)
class Guests:
    """All of them; no two have one address."""

    _by_name: dict[str, Guest] = field(factory=dict)
    _by_address: dict[str, Guest] = field(factory=dict)

    def update(self, facts: GuestFacts) -> None:
        """Know this of an instance from now on; what others had of its address is void."""
        known = self._by_name.get(facts.name)
        self.forget(facts.name)
        if (former := self._by_address.get(facts.address)) is not None:
            self.forget(former.facts.name)
        guest = Guest(facts) if known is None else known
        guest.facts = facts
        self._by_name[facts.name] = self._by_address[facts.address] = guest

    def forget(self, name: str) -> None:
        """Know nothing of it any more."""
        guest = self._by_name.pop(name, None)
        if guest is not None:
            del self._by_address[guest.facts.address]

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
