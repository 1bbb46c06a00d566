"""What jobs have claimed and not yet put into the configuration: MAC addresses, ports, uuids, IP addresses, minors."""

from collections.abc import Callable, Iterable

import attrs
import msgspec

from ganeti_tx.config.claims import Claim
from ganeti_tx.errors import ConfigurationError, ReservationError

#: A job's number, and the livelock file that shows whether its process lives.
Owner = tuple[int, str]


class Reserved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One owner's reservations as they are kept on disk: kind, value, scope."""

    owner: Owner
    claims: list[tuple[str, str | int, str]]


def _nobody_listens() -> None:
    """The default listener."""


@attrs.define(eq=False)
class Reservations:
    """Each claim has one owner. The listener hears of each change."""

    on_change: Callable[[], None] = _nobody_listens
    _owners: dict[Claim, Owner] = attrs.field(factory=dict, init=False)

    def owners(self) -> set[Owner]:
        """Everybody who has reserved something."""
        return set(self._owners.values())

    def values(self, kind: str, scope: str = "") -> set[str | int]:
        """Everything of one kind and scope that somebody has reserved."""
        return {claim.value for claim in self._owners if claim.kind == kind and claim.scope == scope}

    def reserve(self, owner: Owner, claim: Claim) -> None:
        """Claim something; again by the same owner is no error. @raise ReservationError: another owner has it."""
        holder = self._owners.setdefault(claim, owner)
        if holder != owner:
            raise ReservationError(f"{claim} is reserved by job {holder[0]}")
        self.on_change()

    def keep(self, owner: Owner, claims: Iterable[Claim]) -> list[Claim]:
        """Reserve what nobody has; gives what that was."""
        kept = [claim for claim in claims if claim not in self._owners]
        for claim in kept:
            self.reserve(owner, claim)
        return kept

    def check(self, owner: Owner, claims: Iterable[Claim]) -> None:
        """@raise ReservationError: another owner has one of them."""
        for claim in claims:
            holder = self._owners.get(claim)
            if holder is not None and holder != owner:
                raise ReservationError(f"{claim} is reserved by job {holder[0]}")

    def used(self, owner: Owner, claims: Iterable[Claim]) -> None:
        """What the configuration holds by now need not be reserved any more."""
        self._forget([claim for claim in claims if self._owners.get(claim) == owner])

    def take_over(self, owner: Owner) -> None:
        """Give an owner what other processes of its job have reserved; a job has one that lives."""
        left = [claim for claim, (job_id, _) in self._owners.items() if job_id == owner[0]]
        self._owners.update(dict.fromkeys(left, owner))
        if left:
            self.on_change()

    def drop(self, owner: Owner) -> None:
        """Give back everything of an owner."""
        self._forget([claim for claim, holder in self._owners.items() if holder == owner])

    def _forget(self, claims: list[Claim]) -> None:
        for claim in claims:
            del self._owners[claim]
        if claims:
            self.on_change()

    def encode(self) -> bytes:
        """The content of tempres.data."""
        held: dict[Owner, list[tuple[str, str | int, str]]] = {}
        for claim, owner in self._owners.items():
            held.setdefault(owner, []).append((claim.kind, claim.value, claim.scope))
        return msgspec.json.encode([Reserved(owner, claims) for owner, claims in held.items()])

    def restore(self, data: bytes) -> None:
        """Take over the content of tempres.data. @raise ConfigurationError: it is damaged."""
        try:
            held = msgspec.json.decode(data, type=list[Reserved])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"cannot read the list of reservations: {error}") from None
        for each in held:
            for kind, value, scope in each.claims:
                self._owners.setdefault(Claim(kind, value, scope), each.owner)
