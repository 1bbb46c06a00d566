"""The options of a connection of DRBD 8.4 (drbdsetup(8), linux/drbd_genl.h): how they are written, and how the module has them."""

import re
import shlex
from collections.abc import Mapping, Sequence

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError

#: Attribute number, form, value: as `connect.py` takes them.
Wire = tuple[int, str, str | int]

YES_OR_NO: Mapping[str, int] = {"no": 0, "yes": 1}
PROTOCOLS = {"A": 1, "B": 2, "C": 3}
AFTER_SPLIT_BRAIN = {
    "disconnect": 0,
    "discard-younger-primary": 1,
    "discard-older-primary": 2,
    "discard-zero-changes": 3,
    "discard-least-changes": 4,
    "discard-local": 5,
    "discard-remote": 6,
    "consensus": 7,
    "discard-secondary": 8,
    "call-pri-lost-after-sb": 9,
    "violently-as0p": 10,
}
ROLE_CONFLICT = {"disconnect": 0, "call-pri-lost": 9, "violently": 10}
CONGESTION = {"block": 0, "pull-ahead": 1, "disconnect": 2}
#: What a number may end with, in KiB; without it the option has its own unit.
UNITS = {"s": 0.5, "k": 1, "m": 1 << 10, "g": 1 << 20}
_NUMBER = re.compile(r"(\d{1,12})([skmg]?)", re.IGNORECASE)


@frozen
class Option:
    """One: its number in the module, its form, the words it takes if it takes words, bytes in one of its own unit."""

    number: int
    form: str = "number"
    words: Mapping[str, int] | None = None
    unit: int = 1

    def wire(self, name: str, value: str) -> Wire:
        """@raise BlockDeviceError: it does not take that."""
        if self.form == "text":
            return self.number, self.form, value
        if self.words is not None:
            if value not in self.words:
                raise BlockDeviceError(f"DRBD's option {name} takes {', '.join(self.words)}, not {value[:100]!r}")
            return self.number, self.form, self.words[value]
        if (match := _NUMBER.fullmatch(value)) is None:
            raise BlockDeviceError(f"DRBD's option {name} takes a number, not {value[:100]!r}")
        factor = UNITS[match[2].lower()] * 1024 / self.unit if match[2] else 1
        return self.number, self.form, int(int(match[1]) * factor)


SECRET = "shared-secret"
#: This side gives up what the other has not. It holds for one connection, so no operator's options have it.
DISCARD_MY_DATA: Wire = (25, "flag", 1)
OPTIONS: Mapping[str, Option] = {
    SECRET: Option(1, "text"),
    "cram-hmac-alg": Option(2, "text"),
    "data-integrity-alg": Option(3, "text"),
    "verify-alg": Option(4, "text"),
    "csums-alg": Option(5, "text"),
    "protocol": Option(6, words=PROTOCOLS),
    "connect-int": Option(7),
    "timeout": Option(8),
    "ping-int": Option(9),
    "ping-timeout": Option(10),
    "sndbuf-size": Option(11),
    "rcvbuf-size": Option(12),
    "ko-count": Option(13),
    "max-buffers": Option(14),
    "max-epoch-size": Option(15),
    "unplug-watermark": Option(16),
    "after-sb-0pri": Option(17, words=AFTER_SPLIT_BRAIN),
    "after-sb-1pri": Option(18, words=AFTER_SPLIT_BRAIN),
    "after-sb-2pri": Option(19, words=AFTER_SPLIT_BRAIN),
    "rr-conflict": Option(20, words=ROLE_CONFLICT),
    "on-congestion": Option(21, words=CONGESTION),
    "congestion-fill": Option(22, unit=512),
    "congestion-extents": Option(23),
    "allow-two-primaries": Option(24, "flag", YES_OR_NO),
    "tcp-cork": Option(26, "flag", YES_OR_NO),
    "always-asbp": Option(27, "flag", YES_OR_NO),
    "use-rle": Option(29, "flag", YES_OR_NO),
    "csums-after-crash-only": Option(33, "flag", YES_OR_NO),
    "socket-check-timeout": Option(34),
}


def wire(options: Mapping[str, str]) -> list[Wire]:
    """Options as the module has them. @raise BlockDeviceError: one is not known, or does not take its value."""
    if unknown := [name for name in options if name not in OPTIONS]:
        raise BlockDeviceError(f"DRBD has no connection option {unknown[0][:100]!r}; it has {', '.join(OPTIONS)}")
    return [OPTIONS[name].wire(name, value) for name, value in options.items()]


def custom(words: str) -> dict[str, str]:
    """An operator's own options: "--max-buffers=8000", or the two words. @raise BlockDeviceError: it cannot be read."""
    given = iter(split_words("net-custom", words))
    options: dict[str, str] = {}
    for word in given:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name == SECRET:
            raise BlockDeviceError(f"net-custom takes options such as --max-buffers=8000, not {name[:100]!r}")
        options[name] = value if equals else next(given, "yes")
    return options


def split_words(parameter: str, words: str) -> Sequence[str]:
    """As a shell would. @raise BlockDeviceError: a quote is missing."""
    try:
        return shlex.split(words)
    except ValueError as error:
        raise BlockDeviceError(f"disk parameter {parameter} cannot be split into words: {error}") from None
