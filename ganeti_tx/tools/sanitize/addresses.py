"""Other IP addresses for those that there are, so that those of one network are in one network again."""

import hmac
import re
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

from attrs import frozen

from ganeti_tx.model.ip_address import parsed

Address: TypeAlias = IPv4Address | IPv6Address
#: What of an address is its own in its network, by family: these last bits stay as they are.
KEPT_BITS = {4: 8, 6: 64}
IPV4_PARTS = 4
#: What may be an address, in any text.
WRITTEN = re.compile(
    r"""(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{0,4})(?![0-9A-Za-z])
      | (?<![0-9])(?<![0-9]\.)[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?!\.?[0-9])""",
    re.VERBOSE | re.ASCII,
)


@frozen
class OtherAddresses:
    """By a key that nobody else has: each bit is turned or not by those before it, which keeps networks together."""

    key: bytes

    def of(self, address: Address) -> Address:
        """Always the same for one."""
        if isinstance(address, IPv6Address) and (inside := address.ipv4_mapped) is not None:
            return type(address)(int(address) ^ int(inside) ^ int(self.of(inside)))
        width, value = address.max_prefixlen, int(address)
        changed = value
        for place in range(width - 1, KEPT_BITS[address.version] - 1, -1):
            before = f"{address.version} {width - place} {value >> (place + 1)}".encode()
            changed ^= (hmac.digest(self.key, before, "sha256")[0] & 1) << place
        return type(address)(changed)

    def in_text(self, text: str) -> str:
        """The same for all addresses in a text."""
        return WRITTEN.sub(lambda found: self._of_written(found[0]), text)

    def _of_written(self, text: str) -> str:
        try:
            return str(self.of(parsed(text)))
        except ValueError:  # not all that looks like one is one; Python's reader wants no leading zeros
            parts = text.split(".")
            if len(parts) == IPV4_PARTS and all(part.isdecimal() and int(part) < 256 for part in parts):
                return str(self.of(parsed(".".join(str(int(part)) for part in parts))))
            return text
