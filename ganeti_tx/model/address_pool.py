"""The addresses of a network: which are taken, by instances or by others."""

from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network

import attrs
from msgspec.structs import replace

from ganeti_tx.errors import AddressPoolError
from ganeti_tx.model.network import Network

#: The largest pool: a /16; a bit an address.
MIN_PREFIX = 16
#: The smallest: a /30, of whose four addresses the first and the last are nobody's.
MAX_PREFIX = 30


@attrs.frozen
class AddressPool:
    """Reads a network's two bitmaps and makes networks with changed ones. @raise AddressPoolError: by all methods."""

    network: Network

    def range(self) -> IPv4Network:
        """The addresses."""
        try:
            addresses = IPv4Network(self.network.network)
        except ValueError:
            raise AddressPoolError(f"{self.network.network!r} is no IPv4 network as 192.0.2.0/24") from None
        if addresses.prefixlen < MIN_PREFIX:
            raise AddressPoolError(f"{addresses} is larger than a /{MIN_PREFIX}, the largest allowed")
        if addresses.prefixlen > MAX_PREFIX:
            raise AddressPoolError(f"{addresses} is smaller than a /{MAX_PREFIX}, the smallest allowed")
        return addresses

    def holds(self, address: str) -> bool:
        """Whether it is one of the addresses."""
        try:
            return IPv4Address(address) in self.range()
        except ValueError:
            return False

    def check(self) -> None:
        """The bitmaps fit the range, the gateway lies in it."""
        size = self.range().num_addresses
        for name in ("reservations", "ext_reservations"):
            bits = getattr(self.network, name)
            if bits and len(bits) != size:
                raise AddressPoolError(f"{name} has {len(bits)} bits for {size} addresses")
        if self.network.gateway is not None:
            self._place(self.network.gateway)

    def is_taken(self, address: str) -> bool:
        """Whether an instance or somebody else has the address."""
        return self.is_instances(address) or self.is_external(address)

    def is_instances(self, address: str) -> bool:
        """Whether an instance has the address."""
        return self._bits("reservations")[self._place(address)] == "1"

    def is_external(self, address: str) -> bool:
        """Whether somebody else has the address: a node, the gateway, whoever the administrator names."""
        return self._bits("ext_reservations")[self._place(address)] == "1"

    def is_end(self, address: str) -> bool:
        """Whether it is the first or the last address, which no host can have."""
        return self._place(address) in (0, self.range().num_addresses - 1)

    def check_taken(self, address: str) -> None:
        """An address that is used must be marked so."""
        if not self.is_taken(address):
            raise AddressPoolError(f"address {address} of network {self.network.name} is in use but not marked so")

    def first_free(self, reserved: Collection[str] = ()) -> str:
        """An address that nobody has, and that is not among the reserved."""
        own, others = self._bits("reservations"), self._bits("ext_reservations")
        addresses = self.range()
        for place, bits in enumerate(zip(own, others, strict=True)):
            if "1" not in bits and (address := str(addresses[place])) not in reserved:
                return address
        raise AddressPoolError(f"network {self.network.name} has no free address")

    def taking(self, address: str) -> Network:
        """The network with an address marked as an instance's; an external one is the caller's to refuse."""
        if self.is_instances(address):
            raise AddressPoolError(f"address {address} of network {self.network.name} is taken")
        return self._marked("reservations", address, "1")

    def releasing(self, address: str) -> Network:
        """The network with an instance's address given back."""
        return self._marked("reservations", address, "0")

    def reserving(self, address: str) -> Network:
        """The network with an address marked as somebody else's."""
        return self._marked("ext_reservations", address, "1")

    def unreserving(self, address: str) -> Network:
        """The network with an address that is nobody else's any more."""
        return self._marked("ext_reservations", address, "0")

    def with_own_addresses(self) -> Network:
        """The network with all its addresses free, but those of its ends and of its gateway."""
        size = self.range().num_addresses
        ends = f"1{'0' * (size - 2)}1"
        network = replace(self.network, reservations="0" * size, ext_reservations=ends)
        return network if network.gateway is None else AddressPool(network).reserving(network.gateway)

    def _marked(self, name: str, address: str, bit: str) -> Network:
        place, bits = self._place(address), self._bits(name)
        return replace(self.network, **{name: f"{bits[:place]}{bit}{bits[place + 1 :]}"})

    def _bits(self, name: str) -> str:
        bits: str | None = getattr(self.network, name)
        return bits or "0" * self.range().num_addresses

    def _place(self, address: str) -> int:
        addresses = self.range()
        try:
            place = int(IPv4Address(address)) - int(addresses.network_address)
        except ValueError:
            raise AddressPoolError(f"{address!r} is no IPv4 address") from None
        if not 0 <= place < addresses.num_addresses:
            raise AddressPoolError(f"address {address} is not in network {self.network.name} ({addresses})")
        return place
