"""What the operations of one owner work on."""

from typing import TypeVar

import attrs

from ganeti_tx.config.distribution import Distribution
from ganeti_tx.config.edit import Change
from ganeti_tx.config.new_cluster import Entropy
from ganeti_tx.config.reader import Names, Reader
from ganeti_tx.config.reservations import Owner, Reservations
from ganeti_tx.config.reserving import Reserving
from ganeti_tx.config.store import ConfigStore

T = TypeVar("T")


@attrs.define(eq=False, kw_only=True)
class Session:
    """The one store, as one owner may use it; `names` are shared by all owners."""

    store: ConfigStore
    reservations: Reservations
    owner: Owner
    entropy: Entropy
    names: Names = attrs.field(factory=Names)
    distribution: Distribution = attrs.field(factory=Distribution)

    @property
    def reader(self) -> Reader:
        """What is on disk now."""
        return Reader(self.store.snapshot, self.names)

    @property
    def reserving(self) -> Reserving:
        """What can be had for this owner."""
        return Reserving(self.store, self.reader, self.reservations, self.owner, self.entropy)

    async def change(self, change: Change[T]) -> T:
        """Make it; what its owner had reserved and the change uses is reserved no longer.

        @raise ReservationError: another owner has reserved something that it uses.
        """
        self.reservations.check(self.owner, change.claims)
        changed = await self.store.change(change)
        self.reservations.used(self.owner, change.claims)
        return change.gives(changed)
