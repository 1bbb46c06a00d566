"""API tokens: secrets of 256 random bits, of which only hashes are kept.

The file has lines "NAME SHA256 EXPIRY [OPTION[,OPTION...]]", EXPIRY being "never" or a UTC time such as
2026-12-31T23:59:59Z, and options as in the users file. A fast hash will do: such a secret cannot be guessed.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping

from attrs import field, frozen

from ganeti_tx.model.expiry import is_past, read_expiry
from ganeti_tx.model.line_file import LineError, entries
from ganeti_tx.rapi.access.authorization import BasicLogin, BearerLogin
from ganeti_tx.rapi.access.rights import Rights, read_rights
from ganeti_tx.rapi.access.source import Identity
from ganeti_tx.rapi.access.watched_file import WatchedFile

#: Makes a token known as one, to people and to programs that look for leaked secrets.
PREFIX = "gnt_"
SECRET_BYTES = 32

_SECRET = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}")
_HASH = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9_.@+-]{1,100}")


@frozen(kw_only=True)
class Token:
    """What is kept of one token."""

    name: str
    sha256: str = field(repr=False)
    #: Seconds since the epoch; None for never.
    expires: int | None
    rights: Rights


def parse_tokens(data: bytes) -> Mapping[str, Token]:
    """Every token by its hash. @raise LineError: a line cannot be understood, or a name is there twice."""
    tokens: dict[str, Token] = {}
    for number, line in entries(data):
        try:
            token = parse_token(line)
            if any(token.name == other.name for other in tokens.values()):
                raise ValueError(f"token {token.name!r} is there already")
        except ValueError as error:
            raise LineError(f"line {number}: {error}") from None
        tokens[token.sha256] = token
    return tokens


def parse_token(line: str) -> Token:
    """One line. @raise ValueError: it cannot be understood."""
    words = line.split(None, 3)
    if len(words) < 3:
        raise ValueError("something is missing; a line is NAME SHA256 EXPIRY [OPTION[,OPTION...]]")
    if not _HASH.fullmatch(words[1]):
        raise ValueError("the second word is no SHA-256 hash of 64 hexadecimal digits")
    rights = read_rights(words[3] if len(words) > 3 else "")
    return Token(name=token_name(words[0]), sha256=words[1], expires=read_expiry(words[2]), rights=rights)


def token_name(text: str) -> str:
    """A name that a token may have. @raise ValueError: it may not."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no name for a token: up to 100 letters, digits and _ . @ + - are allowed")
    return text


def caller_of(token: str) -> str:
    """How somebody is called who shows a token of this name."""
    return f"token:{token}"


def new_secret(random_bytes: Callable[[int], bytes]) -> str:
    """A token that nobody has yet."""
    return PREFIX + base64.urlsafe_b64encode(random_bytes(SECRET_BYTES)).decode().rstrip("=")


def is_secret(text: str) -> bool:
    """Whether it has the form of a secret, though it may be of a token that is not there, or not any more."""
    return _SECRET.fullmatch(text) is not None


def hash_of(secret: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()


@frozen
class StoredTokens:
    """The tokens of the file, as credentials."""

    file: WatchedFile[Mapping[str, Token]]
    #: Seconds since the epoch.
    now: Callable[[], float]

    def find(self, login: BasicLogin | BearerLogin) -> Identity | None:
        """Who shows a token that is valid now; clients that know passwords only show it as one, with its name as user's.

        Finding it by its hash tells those who guess nothing.
        """
        secret = login.token if isinstance(login, BearerLogin) else login.password
        if not secret.startswith(PREFIX):
            return None
        token = self.file.content.get(hash_of(secret))
        if token is None or is_past(token.expires, self.now()):
            return None
        if isinstance(login, BasicLogin) and login.name != token.name:
            return None
        return Identity(caller_of(token.name), token.rights)
