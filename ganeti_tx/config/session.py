"""What the operations of one owner work on."""

from typing import TypeVar

import attrs

from ganeti_tx.config.claims import Claim, given_up
from ganeti_tx.config.distribution import Distribution
from ganeti_tx.config.edit import Change
from ganeti_tx.config.new_cluster import Entropy
from ganeti_tx.config.reader import Names, Reader
from ganeti_tx.config.reservations import Owner, Reservations
from ganeti_tx.config.reserving import Reserving
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import ConfigData

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

        Minors and ports that disks give up are the owner's until it ends: it may not have taken down yet what has them.

        @raise ReservationError: another owner has reserved something that it uses.
        """
        self.reservations.check(self.owner, change.claims)
        kept: list[Claim] = []

        def edit(config: ConfigData, now: float) -> ConfigData:
            after = change(config, now)
            kept.extend(self.reservations.keep(self.owner, given_up(config, after)))
            return after

        try:
            changed = await self.store.change(edit)
        except ConfigurationError:
            self.reservations.used(self.owner, kept)
            raise
        self.reservations.used(self.owner, change.claims)
        return change.gives(changed)
