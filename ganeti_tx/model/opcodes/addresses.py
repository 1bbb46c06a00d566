"""Text that is an IP address or network, checked when it is made and otherwise a plain string."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import ClassVar, Self

from ganeti_tx.model.ip_address import parsed_range6, parsed_v6


class AddressText(str):
    """The text as it was given. @raise ValueError: it is not of its kind."""

    __slots__ = ()
    kind: ClassVar[str]

    def __new__(cls, text: str) -> Self:
        try:
            if not isinstance(text, str):  # ipaddress would take a number
                raise ValueError("not text")
            cls.parse(text)
        except ValueError:
            raise ValueError(f"expected {cls.kind}, got {text!r:.60}") from None
        return super().__new__(cls, text)

    @staticmethod
    def parse(text: str) -> object:
        """@raise ValueError: the text is not of this kind."""
        raise NotImplementedError(f"no address is of no kind: {text!r}")


class Ip4Address(AddressText):
    """Such as 192.0.2.1."""

    __slots__ = ()
    kind = "an IPv4 address"

    @staticmethod
    def parse(text: str) -> IPv4Address:
        return IPv4Address(text)


class Ip6Address(AddressText):
    """Such as 2001:db8::1."""

    __slots__ = ()
    kind = "an IPv6 address"

    @staticmethod
    def parse(text: str) -> IPv6Address:
        return parsed_v6(text)


class Ip4Network(AddressText):
    """Such as 192.0.2.0/24."""

    __slots__ = ()
    kind = "an IPv4 network such as 192.0.2.0/24"

    @staticmethod
    def parse(text: str) -> IPv4Network:
        return IPv4Network(with_prefix(text), strict=False)


class Ip6Network(AddressText):
    """Such as 2001:db8::/64."""

    __slots__ = ()
    kind = "an IPv6 network such as 2001:db8::/64"

    @staticmethod
    def parse(text: str) -> IPv6Network:
        return parsed_range6(with_prefix(text), strict=False)


def with_prefix(text: str) -> str:
    """The text, if it tells the length of the network's prefix; host bits may be set."""
    if "/" not in text:
        raise ValueError("no prefix length")
    return text
