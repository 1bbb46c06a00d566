"""Where the Remote API is, who calls it, and how much of what it sends is taken."""

import base64
from typing import Any, TypeAlias

from attrs import field, frozen
from attrs.validators import optional

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.rapi_client.cache import SIZE
from ganeti_tx.rapi_client.course import RETRIES
from ganeti_tx.rapi_client.message import Message
from ganeti_tx.rapi_client.trust import SYSTEM, Trust

PORT = 5080
#: Bytes of one answer.
LARGEST_ANSWER = 64 * 1024 * 1024


def _user_name(instance: object, attribute: object, value: str) -> None:
    if ":" in value:
        raise OpPrereqError(f"A user name has no colon: {value[:100]!r}", ECode.INVAL)
    _text(instance, attribute, value)


def _text(instance: object, attribute: Any, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:  # which shows it
        raise OpPrereqError(f"The {attribute.name} has characters that are no text", ECode.INVAL) from None


@frozen
class Login:
    """A user of the Remote API with his password."""

    user: str = field(validator=_user_name)
    password: str = field(validator=_text, repr=False)

    @property
    def authorization(self) -> str:
        """The header's value."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")


@frozen
class Token:
    """A token in place of user and password."""

    token: str = field(repr=False)

    @property
    def authorization(self) -> str:
        """The header's value."""
        return f"Bearer {self.token}"


Credentials: TypeAlias = Login | Token


def _host(instance: object, attribute: object, value: str) -> None:
    labels = value.removesuffix(".").split(".")
    if not value.isascii() or not value.isprintable() or " " in value or not all(0 < len(each) < 64 for each in labels):
        raise OpPrereqError(f"Not a host name or address: {value[:100]!r}", ECode.INVAL)


def _port(instance: object, attribute: object, value: int) -> None:
    if not 0 < value < 65536:
        raise OpPrereqError(f"Not a port: {value}, allowed are 1 to 65535", ECode.INVAL)


def _not_negative(instance: object, attribute: Any, value: float) -> None:
    if not 0 <= value < float("inf"):
        raise OpPrereqError(f"{attribute.name} is {value}, allowed is 0 or more", ECode.INVAL)


@frozen
class Server:
    """One Remote API. Times are in seconds."""

    host: str = field(validator=_host)
    port: int = field(default=PORT, validator=_port)
    #: Which certificates are taken.
    trust: Trust = SYSTEM
    credentials: Credentials | None = None
    #: The name that the certificate must be for, where it is not the host.
    name: str | None = field(default=None, validator=optional(_host))
    connect_timeout: float = field(default=10.0, validator=_not_negative)
    #: For a whole answer, however steadily its bytes come.
    answer_timeout: float = field(default=90.0, validator=_not_negative)
    #: For the next sign of life while events are awaited.
    silence_timeout: float = field(default=90.0, validator=_not_negative)
    largest_answer: int = field(default=LARGEST_ANSWER, validator=_not_negative)
    #: How often safe requests are sent again when nothing comes back or the server is busy.
    retries: int = field(default=RETRIES, validator=_not_negative)
    #: Bytes of answers kept for as long as the server says that they are still true.
    cache_size: int = field(default=SIZE, validator=_not_negative)

    @property
    def verified_name(self) -> str:
        """The name that the certificate must be for."""
        return self.name or self.host

    @property
    def netloc(self) -> str:
        """Host and port as they stand in URLs."""
        return host_port(self.host, self.port)

    def headers(self, message: Message) -> list[tuple[str, str]]:
        """All headers of a message, save Host and those about its length and the connection."""
        found = [("Accept", "*/*"), ("User-Agent", "ganeti_tx"), *message.headers]
        if self.credentials is not None:
            found.append(("Authorization", self.credentials.authorization))
        for name, value in found:
            if not (value.isascii() and value.isprintable()):
                raise OpPrereqError(f"The value for the header {name} has characters that cannot be sent", ECode.INVAL)
        return found
