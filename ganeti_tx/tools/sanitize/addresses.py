"""Other IP addresses for those that there are, so that those of one network are in one network again."""

import hmac
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

from attrs import frozen

from ganeti_tx.model.ip_address import parsed

Address: TypeAlias = IPv4Address | IPv6Address
#: What of an address is its own in its network, by family: these last bits stay as they are.
KEPT_BITS = {4: 8, 6: 64}


@frozen
class OtherAddresses:
    """By a key that nobody else has: each bit is turned or not by those before it, which keeps networks together."""

    key: bytes

    def of(self, address: Address) -> Address:
        """Always the same for one."""
        width, value = address.max_prefixlen, int(address)
        changed = value
        for place in range(width - 1, KEPT_BITS[address.version] - 1, -1):
            before = f"{address.version} {width - place} {value >> (place + 1)}".encode()
            changed ^= (hmac.digest(self.key, before, "sha256")[0] & 1) << place
        return type(address)(changed)

    def in_text(self, text: str) -> str | None:
        """The same for an address or a network as they are written; None for anything else."""
        address, slash, length = text.partition("/")
        try:
            return f"{self.of(parsed(address))}{slash}{length}"
        except ValueError:
            return None
