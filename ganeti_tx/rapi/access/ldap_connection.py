"""Connections to a directory server: verified, with limits. Everything here blocks, so it runs in threads only."""

import ssl
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen
from ldap3 import DEREF_NEVER, NONE, SIMPLE, SUBTREE, SYNC, Connection, Server, Tls
from ldap3.core.exceptions import LDAPException

from ganeti_tx.errors import one_line
from ganeti_tx.rapi.access.ldap_settings import LdapSettings, ServerUrl

#: What can go wrong with a server.
FAULTS = (LDAPException, OSError)

SUCCESS = 0
#: Results of a bind that say something about who wants to bind; all others are about the server.
REFUSED = frozenset({19, 32, 34, 48, 49, 50, 53})
SIZE_LIMIT_EXCEEDED = 4
NO_ATTRIBUTES = "1.1"
#: Of messages of libraries.
MAX_REASON = 300


class DirectoryFault(Exception):
    """The directory cannot say who somebody is; the text says why, in one line."""


class DirectoryAway(DirectoryFault):
    """It cannot say it of anybody: no server answers."""


@frozen
class Entry:
    """What was found: its name, and the texts of the attribute that was asked for."""

    dn: str
    values: Sequence[str]


class VerifiedTls(Tls):  # type: ignore[misc]  # ldap3 has no types
    """TLS 1.2 and up, with the certificate and the name in it verified by the TLS library itself."""

    def __init__(self, ca_file: str | None) -> None:
        """@raise OSError: the CA file cannot be read, or is none."""
        super().__init__(validate=ssl.CERT_REQUIRED)
        self._context = ssl.create_default_context(cafile=ca_file)
        self._context.minimum_version = ssl.TLSVersion.TLSv1_2

    def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:
        """Called by ldap3 for both kinds of TLS."""
        connection.socket = self._context.wrap_socket(connection.socket, server_hostname=connection.server.host)


@frozen(kw_only=True)
class Account:
    """Who binds; nobody in particular without a name."""

    dn: str | None = None
    password: str | None = field(default=None, repr=False)


@frozen
class LdapConnection:
    """An open connection."""

    url: ServerUrl
    connection: Any
    time_limit: int

    def bind(self) -> bool:
        """Whether the account is who it says. @raise DirectoryFault: the server cannot tell"""
        self.connection.bind(read_server_info=False)
        code = self.connection.result["result"]
        if code != SUCCESS and code not in REFUSED:
            raise DirectoryFault(f"{self.url}: bind: {self._said()}")
        return bool(code == SUCCESS)

    def search(self, base: str, filter_text: str, attribute: str, size_limit: int) -> list[Entry]:
        """Every entry found. @raise DirectoryFault: not all could be"""
        self.connection.search(
            base, filter_text, SUBTREE, DEREF_NEVER, attributes=[attribute], size_limit=size_limit,
            time_limit=self.time_limit,
        )  # fmt: skip
        code = self.connection.result["result"]
        if code == SIZE_LIMIT_EXCEEDED:
            raise DirectoryFault(f"{self.url}: more than {size_limit} entries below {base!r} pass {filter_text!r}")
        if code != SUCCESS:
            raise DirectoryFault(f"{self.url}: search below {base!r}: {self._said()}")
        return [
            Entry(found["dn"], texts_of(found["raw_attributes"], attribute))
            for found in self.connection.response or ()
            if found["type"] == "searchResEntry"
        ]

    def close(self) -> None:
        """End it; one that is broken is as good as ended."""
        try:
            self.connection.unbind()
        except FAULTS:
            pass

    def _said(self) -> str:
        result = self.connection.result
        return one_line(f"{result['description']} {result['message']}".strip())[:MAX_REASON]


def texts_of(attributes: Mapping[str, Sequence[bytes]], name: str) -> list[str]:
    """The values of one attribute, whose name servers spell as they like."""
    return [
        value.decode(errors="replace") for key, values in attributes.items() if key.lower() == name.lower()
        for value in values
    ]  # fmt: skip


def reason_of(error: BaseException) -> str:
    """What went wrong, on one line; the directory's library wraps texts in texts."""
    return one_line(str(error)).strip("()'\",\\ ")[:MAX_REASON] or type(error).__name__


def tls_of(settings: LdapSettings) -> VerifiedTls:
    """How servers are verified. @raise DirectoryAway: the CA file cannot be read, or is none"""
    try:
        return VerifiedTls(settings.ca_file)
    except OSError as error:
        raise DirectoryAway(f"ca_file {settings.ca_file}: {reason_of(error)}") from None


def connect(settings: LdapSettings, url: ServerUrl, account: Account) -> LdapConnection:
    """Open a connection that is safe to send a password over. @raise DirectoryFault, LDAPException, OSError"""
    tls = tls_of(settings) if url.is_tls or settings.start_tls else None
    server = Server(
        url.host, url.port, use_ssl=url.is_tls, tls=tls, get_info=NONE, connect_timeout=settings.connect_timeout,
        allowed_referral_hosts=[],
    )  # fmt: skip
    connection = Connection(
        server, account.dn, account.password, authentication=SIMPLE if account.dn else None, client_strategy=SYNC,
        auto_referrals=False, check_names=False, read_only=True, receive_timeout=settings.timeout,
    )  # fmt: skip
    connection.open(read_server_info=False)
    if settings.start_tls and not connection.start_tls(read_server_info=False):
        connection.unbind()
        raise DirectoryFault(f"{url}: StartTLS was refused")
    return LdapConnection(url, connection, settings.timeout)
