"""The VLANs of a network interface, as its parameter `vlan` spells them."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import ParameterError

MAX_VLAN = 4094


@frozen
class Vlan:
    """An untagged VLAN (or None) and tagged ones."""

    untagged: int | None = None
    tagged: Sequence[int] = ()


def parse_vlan(text: str) -> Vlan:
    """ ".5" is untagged, ":5:6" tagged, ".5:6" both, "5" untagged, empty none. @raise ParameterError: none of these."""
    if not text:
        return Vlan()
    first, *tagged = text.split(":")
    try:
        untagged = _number(first.removeprefix(".")) if first else None
        return Vlan(untagged, tuple(_number(each) for each in tagged))
    except ValueError:
        raise ParameterError(
            f"vlan {text[:40]!r} is not like .5, :5:6 or .5:6 with numbers from 1 to {MAX_VLAN}"
        ) from None


def _number(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
    if not 1 <= number <= MAX_VLAN:
        raise ValueError(text)
    return number
