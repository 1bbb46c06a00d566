"""Finding what nobody has, neither in the configuration nor reserved, and reserving it for an owner."""

from collections.abc import Callable, Container, Sequence

import attrs

from ganeti_tx.config.accounts import free_port
from ganeti_tx.config.address_pool import AddressPool
from ganeti_tx.config.claims import ADDRESS, MAC, MINOR, PORT, UUID, Claim, taken
from ganeti_tx.config.edit import stored
from ganeti_tx.config.faults import MAC as MAC_FORM
from ganeti_tx.config.new_cluster import random_uuid
from ganeti_tx.config.reservations import Owner, Reservations
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.errors import AddressPoolError, ConfigurationError, ReservationError
from ganeti_tx.model.network import Network

#: So often a random value is drawn before it is given up.
TRIES = 64
#: Of a mirror's secret (Ganeti 3.0 configuration table, limits); written as hexadecimal digits.
SECRET_BYTES = 20
#: The first minor that a node's kernel does not know any more.
MINORS = 1 << 20


@attrs.frozen(eq=False)
class Reserving:
    """For one owner. What is in the configuration includes changes that are not on disk yet."""

    _store: ConfigStore
    _reservations: Reservations
    _owner: Owner
    _entropy: Callable[[int], bytes]

    def mac(self, prefix: str | None) -> str:
        """A MAC address with the prefix (the cluster's by default)."""
        start = prefix or self._store.newest.cluster.mac_prefix

        def draw() -> str:
            return f"{start}:{self._entropy(3).hex(':')}".lower()

        return self._draw(MAC, draw)

    def given_mac(self, mac: str) -> None:
        """Claim it. @raise ReservationError: it is no MAC address, or somebody has it."""
        if not MAC_FORM.match(mac):
            raise ReservationError(f"{mac[:40]!r} is no MAC address as aa:00:00:12:34:56")
        self._claim(Claim(MAC, mac.lower()))

    def uuid(self) -> str:
        """A uuid."""
        return self._draw(UUID, lambda: random_uuid(self._entropy))

    def port(self) -> int:
        """A TCP port."""
        used = {*self._reservations.values(PORT), *taken(self._store.newest, PORT)}
        port = free_port(self._store.newest.cluster, {int(each) for each in used})
        self._reservations.reserve(self._owner, Claim(PORT, port))
        return port

    def address(self, network: Network) -> str:
        """An address of a network. @raise ReservationError: there is none left."""
        reserved = self._reservations.values(ADDRESS, network.uuid)
        try:
            address = AddressPool(self._present(network)).first_free({str(each) for each in reserved})
        except AddressPoolError as error:
            raise ReservationError(str(error)) from None
        self._reservations.reserve(self._owner, Claim(ADDRESS, address, network.uuid))
        return address

    def given_address(self, network: Network, address: str) -> None:
        """Claim it. @raise ReservationError: it is not in the network, or somebody has it."""
        try:
            AddressPool(self._present(network)).taking(address)
        except AddressPoolError as error:
            raise ReservationError(str(error)) from None
        self._reservations.reserve(self._owner, Claim(ADDRESS, address, network.uuid))

    def minors(self, nodes: Sequence[str]) -> list[int]:
        """The lowest free minors."""
        for node in nodes:
            stored("node", self._store.newest.nodes, node)
        minors = []
        for node in nodes:
            used = self._reservations.values(MINOR, node) | taken(self._store.newest, MINOR, node)
            minor = lowest(used)
            self._reservations.reserve(self._owner, Claim(MINOR, minor, node))
            minors.append(minor)
        return minors

    def secret(self) -> str:
        """A mirror's secret."""
        present = {secret for disk in self._store.newest.disks.values() for secret in disk.secrets}
        for _ in range(TRIES):
            secret = self._entropy(SECRET_BYTES).hex()
            if secret not in present:
                return secret
        raise ConfigurationError("the source of random numbers repeats itself")

    def _present(self, network: Network) -> Network:
        return self._store.newest.networks.get(network.uuid, network)

    def _claim(self, claim: Claim) -> None:
        if claim.value in taken(self._store.newest, claim.kind):
            raise ReservationError(f"{claim} is in use")
        self._reservations.reserve(self._owner, claim)

    def _draw(self, kind: str, draw: Callable[[], str]) -> str:
        used = taken(self._store.newest, kind) | self._reservations.values(kind)
        for _ in range(TRIES):
            value = draw()
            if value not in used:
                self._reservations.reserve(self._owner, Claim(kind, value))
                return value
        raise ReservationError(f"no free {kind} found in {TRIES} tries")


def lowest(used: Container[str | int]) -> int:
    """The lowest minor that is not in use. @raise ReservationError: there is none."""
    for minor in range(MINORS):
        if minor not in used:
            return minor
    raise ReservationError("no free DRBD minor")
