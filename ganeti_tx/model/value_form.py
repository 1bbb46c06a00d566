"""What the values of a parameter are like, whatever else is set: told without asking a node."""

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from ganeti_tx.model.ip_family import is_address

#: One of digits and dots, maybe with a port, was meant to be an address.
_INTERFACE = re.compile(r"(?![0-9.]+(?::[0-9]*)?$)[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}")


class TextForm(msgspec.Struct, frozen=True):
    """Of texts; an empty one always is of it.

    @ivar fits: whether a text is of it, as a match of a regular expression tells that, too.
    @ivar wanted: what the text would be then.
    @ivar items: how a text that lists some is taken apart.
    """

    fits: Callable[[str], object]
    wanted: str
    items: Callable[[str], Iterable[str]] = lambda text: (text,)

    def misfits(self, text: str) -> Iterator[str]:
        """Those of a text that are not of the form."""
        return (item for item in self.items(text) if item and not self.fits(item))


def listed(text: str) -> list[str]:
    """What a parameter lists between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def is_interface(text: str) -> bool:
    """Whether an interface of a node may have that name."""
    return _INTERFACE.fullmatch(text) is not None


def is_bind(text: str) -> bool:
    """Whether a server may listen there: at an IP address, or at that of an interface."""
    return is_address(text) or is_interface(text)


def is_absolute(text: str) -> bool:
    """Whether it may be the path of a file, from the root on."""
    return text.startswith("/") and text.isprintable()
