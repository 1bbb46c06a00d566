"""Finding what nobody has, neither in the configuration nor reserved, and reserving it for an owner."""

from collections.abc import Callable, Container, Sequence

import attrs

from ganeti_tx.config.accounts import free_port
from ganeti_tx.config.claims import ADDRESS, MAC, MINOR, PORT, STORAGE, UUID, Claim, taken
from ganeti_tx.config.edit import stored
from ganeti_tx.config.faults import MAC as MAC_FORM
from ganeti_tx.config.new_cluster import random_uuid
from ganeti_tx.config.reader import Reader
from ganeti_tx.config.reservations import Owner, Reservations
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.errors import AddressPoolError, ConfigurationError, ReservationError
from ganeti_tx.model.address_pool import AddressPool
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
    _reader: Reader
    _reservations: Reservations
    _owner: Owner
    _entropy: Callable[[int], bytes]

    def generate_mac(self, network: str | None) -> str:
        """A MAC address that nobody has, with the network's prefix or the cluster's; reserved for this owner until it ends."""
        prefix = None if network is None else self._reader.network(network).mac_prefix
        start = prefix or self._store.newest.cluster.mac_prefix

        def draw() -> str:
            return f"{start}:{self._entropy(3).hex(':')}".lower()

        return self._draw(MAC, draw)

    def reserve_mac(self, mac: str) -> None:
        """Claim a given MAC address. @raise ReservationError: it is none, or somebody has it."""
        if not MAC_FORM.match(mac):
            raise ReservationError(f"{mac[:40]!r} is no MAC address as aa:00:00:12:34:56")
        claim = Claim(MAC, mac.lower())
        if claim.value in taken(self._store.newest, MAC):
            raise ReservationError(f"{claim} already in use in cluster")
        self._reservations.reserve(self._owner, claim)

    def reserve_storage(self, name: str) -> None:
        """Claim storage that is there already, by a name of it. @raise ReservationError: another owner has claimed it.

        No configuration has such names: whose disks are on it is for the owner to look up, afterwards.
        """
        self._reservations.reserve(self._owner, Claim(STORAGE, name))

    def generate_uuid(self) -> str:
        """A uuid that no object of the configuration has."""
        return self._draw(UUID, lambda: random_uuid(self._entropy))

    def allocate_port(self) -> int:
        """A TCP port of the cluster's pool for a console; reserved for this owner until the instance is added."""
        used = {*self._reservations.values(PORT), *taken(self._store.newest, PORT)}
        port = free_port(self._store.newest.cluster, {int(each) for each in used})
        self._reservations.reserve(self._owner, Claim(PORT, port))
        return port

    def generate_ip(self, network: str) -> str:
        """An address of the network that nobody has; reserved for this owner. @raise ReservationError: it is full."""
        wanted = self._network(network)
        reserved = self._reservations.values(ADDRESS, wanted.uuid)
        try:
            address = AddressPool(wanted).first_free({str(each) for each in reserved})
        except AddressPoolError as error:
            raise ReservationError(str(error)) from None
        self._reservations.reserve(self._owner, Claim(ADDRESS, address, wanted.uuid))
        return address

    def reserve_ip(self, network: str, address: str, external: bool = False) -> None:
        """Claim a given address of a network; one that is reserved for somebody else only where `external` allows it.

        @raise ReservationError: it is not in the network, or somebody has it.
        """
        wanted = self._network(network)
        pool = AddressPool(wanted)
        try:
            pool.taking(address)
            if pool.is_end(address):
                raise AddressPoolError(f"no host can have {address}, an end of network {wanted.name}")
            if not external and pool.is_external(address):
                raise AddressPoolError(f"address {address} of network {wanted.name} is reserved for others")
        except AddressPoolError as error:
            raise ReservationError(str(error)) from None
        self._reservations.reserve(self._owner, Claim(ADDRESS, address, wanted.uuid))

    def allocate_minors(self, nodes: Sequence[str]) -> list[int]:
        """A free DRBD minor for each node (a uuid) in the list, reserved for this owner; a node may occur repeatedly."""
        for node in nodes:
            stored("node", self._store.newest.nodes, node)
        minors = []
        for node in nodes:
            used = self._reservations.values(MINOR, node) | taken(self._store.newest, MINOR, node)
            minor = lowest(used)
            self._reservations.reserve(self._owner, Claim(MINOR, minor, node))
            minors.append(minor)
        return minors

    def generate_secret(self) -> str:
        """A secret for a mirrored disk that no other disk has."""
        present = {secret for disk in self._store.newest.disks.values() for secret in disk.secrets}
        for _ in range(TRIES):
            secret = self._entropy(SECRET_BYTES).hex()
            if secret not in present:
                return secret
        raise ConfigurationError("the source of random numbers repeats itself")

    def take_over_reservations(self) -> None:
        """Have what the job's processes that died had reserved."""
        self._reservations.take_over(self._owner)

    def drop_reservations(self) -> None:
        """Give back what this owner reserved and did not use."""
        self._reservations.drop(self._owner)

    def _network(self, identifier: str) -> Network:
        network = self._reader.network(identifier)
        return self._store.newest.networks.get(network.uuid, network)

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
