"""Passwords as a users file holds them (Ganeti 3.0 RAPI table, "password_schemes"; bcrypt is ours)."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from enum import Enum

import bcrypt
from attrs import field, frozen

#: What clients show to people who are asked for a password, and a part of each {HA1} hash.
REALM = "Ganeti Remote API"
#: bcrypt takes twice as long for each step: this one takes some seconds already.
MAX_BCRYPT_COST = 15
#: bcrypt reads no more bytes than these.
MAX_BCRYPT_BYTES = 72

_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")
_SCHEME = re.compile(r"\{([A-Za-z0-9_-]*)\}(.*)", re.DOTALL)


class Scheme(Enum):
    """How a password is kept."""

    CLEAR = "clear"
    HA1 = "{HA1}"
    BCRYPT = "{BCRYPT}"
    #: Nobody gets in with it.
    UNKNOWN = "unknown"


@frozen
class Password:
    """One stored password."""

    scheme: Scheme
    stored: str = field(repr=False)

    @property
    def is_slow(self) -> bool:
        """Whether checking it takes so long that the reactor must not do it."""
        return self.scheme is Scheme.BCRYPT


#: Fits nobody: where there is no user, the same work is done with it as with one.
DECOY = Password(Scheme.UNKNOWN, "")


def decoy_like(passwords: Iterable[Password]) -> Password:
    """One that takes as long to check as the slowest of some, and that nobody's password fits."""
    costs = [int(password.stored[4:6]) for password in passwords if password.is_slow]
    return Password(Scheme.BCRYPT, f"$2b${max(costs):02d}$" + "." * 53) if costs else DECOY


def read_password(word: str) -> Password:
    """A password from its column. @raise ValueError: a bcrypt hash that is none, or costs too much."""
    if _BCRYPT.fullmatch(word):
        return _bcrypt_hash(word)
    match = _SCHEME.fullmatch(word)
    if match is None:
        return Password(Scheme.CLEAR, word)
    name, rest = match[1].upper(), match[2]
    if name == "CLEARTEXT" and rest:
        return Password(Scheme.CLEAR, rest)
    if name == "HA1":
        return Password(Scheme.HA1, rest.lower())
    if name == "BCRYPT":
        return _bcrypt_hash(rest)
    return Password(Scheme.UNKNOWN, name)


def _bcrypt_hash(text: str) -> Password:
    match = _BCRYPT.fullmatch(text)
    if match is None:
        raise ValueError("not a bcrypt hash: it starts with $2b$ and has 60 characters")
    if not 4 <= int(match[1]) <= MAX_BCRYPT_COST:
        raise ValueError(f"bcrypt cost {match[1]} is not between 4 and {MAX_BCRYPT_COST}")
    return Password(Scheme.BCRYPT, text)


def matches(password: Password, user: str, given: str) -> bool:
    """Whether the given password is right; how long it takes tells nothing of how much of it is."""
    if password.scheme is Scheme.CLEAR:
        return _equal(password.stored, given)
    if password.scheme is Scheme.HA1:
        return _equal(password.stored, ha1(user, given))
    if password.scheme is Scheme.BCRYPT:
        return _matches_bcrypt(password.stored, given)
    return False


def ha1(user: str, given: str) -> str:
    """The hash of HTTP digest authentication, which {HA1} keeps."""
    return hashlib.md5(f"{user}:{REALM}:{given}".encode(), usedforsecurity=False).hexdigest()


def _matches_bcrypt(stored: str, given: str) -> bool:
    data = given.encode()
    try:
        return bcrypt.checkpw(data[:MAX_BCRYPT_BYTES], stored.encode())
    except ValueError:  # a zero byte, say, which no password that was hashed has
        return False


def _equal(one: str, other: str) -> bool:
    """Digests have one length, so not even that of the password shows."""
    return hmac.compare_digest(hashlib.sha256(one.encode()).digest(), hashlib.sha256(other.encode()).digest())
