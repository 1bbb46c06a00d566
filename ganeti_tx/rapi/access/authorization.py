"""The Authorization header: who somebody says to be, and the proof."""

import base64
import binascii

from attrs import field, frozen

#: Longer ones are not looked at.
MAX_LENGTH = 4096


@frozen(kw_only=True)
class BasicLogin:
    """A user name and a password."""

    name: str
    password: str = field(repr=False)


@frozen
class BearerLogin:
    """A token that speaks for itself."""

    token: str = field(repr=False)


def read_authorization(header: str) -> BasicLogin | BearerLogin | None:
    """What a header says; None when it says nothing that anybody could be known by."""
    scheme, _, rest = header.strip().partition(" ")
    rest = rest.strip()
    if not rest or len(header) > MAX_LENGTH:
        return None
    if scheme.upper() == "BEARER":
        return BearerLogin(rest)
    return _read_basic(rest) if scheme.upper() == "BASIC" else None


def _read_basic(encoded: str) -> BasicLogin | None:
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    name, colon, password = text.partition(":")
    return BasicLogin(name=name, password=password) if colon and name else None
