"""Logging in at a directory: who somebody is, and the rights of his groups. Everything here blocks."""

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from attrs import define, field

from ganeti_tx.rapi.access.ldap_connection import (
    FAULTS,
    NO_ATTRIBUTES,
    Account,
    DirectoryAway,
    DirectoryFault,
    Entry,
    LdapConnection,
    connect,
    reason_of,
)
from ganeti_tx.rapi.access.ldap_escape import in_dn, in_filter, is_usable
from ganeti_tx.rapi.access.ldap_settings import LdapSettings, ServerUrl
from ganeti_tx.rapi.access.rights import NOTHING, Rights

T = TypeVar("T")

#: Connections of the search account that are kept.
MAX_IDLE = 4
MAX_PASSWORD_FILE = 4096


@define
class Directory:
    """The servers of one file of settings.

    @ivar read_file: the content of a file, with a limit on its size.
    """

    settings: LdapSettings
    read_file: Callable[[str, int], bytes]
    _urls: list[ServerUrl] = field(init=False)
    _idle: list[LdapConnection] = field(factory=list, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def __attrs_post_init__(self) -> None:
        self._urls = list(dict.fromkeys(self.settings.urls))

    def login(self, name: str, password: str) -> Rights | None:
        """The rights of somebody; None if the password is wrong, or he is in no group that gives any.

        The first server that can tell decides; one that did not answer is asked last from then on. @raise DirectoryFault: none can
        """
        if not password or not is_usable(name):  # without a password a server lets everybody in as nobody
            return None
        faults: list[str] = []
        answered = False
        for url in list(self._urls):
            try:
                return self._login_at(url, name, password)
            except DirectoryFault as error:
                answered = answered or not isinstance(error, DirectoryAway)
                faults.append(str(error))
            except FAULTS as error:
                faults.append(f"{url}: {reason_of(error)}")
                self._put_last(url)
        raise (DirectoryFault if answered else DirectoryAway)("; ".join(faults))

    def close(self) -> None:
        """End the connections that are kept."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _put_last(self, url: ServerUrl) -> None:
        with self._lock:
            self._urls.remove(url)
            self._urls.append(url)

    def _login_at(self, url: ServerUrl, name: str, password: str) -> Rights | None:
        dn = self._dn_of(url, name)
        if not dn:
            return None
        own = connect(self.settings, url, Account(dn=dn, password=password))
        try:
            if not own.bind():
                return None
            if self.settings.search_base is None:
                return self._rights(self._groups_by(own, name, dn))
        finally:
            own.close()
        return self._rights(self._by_account(url, lambda account: self._groups_by(account, name, dn)))

    def _dn_of(self, url: ServerUrl, name: str) -> str | None:
        """Where somebody is; None if nobody is there."""
        settings = self.settings
        if settings.user_dn is not None:
            return settings.user_dn.replace("{user}", in_dn(name))
        base, wanted = settings.search_base or "", settings.search_filter.replace("{user}", in_filter(name))
        found = self._by_account(url, lambda account: account.search(base, wanted, NO_ATTRIBUTES, 2))
        if len(found) > 1:
            raise DirectoryFault(f"{url}: {len(found)} entries below {base!r} pass {wanted!r}")
        return found[0].dn if found else None

    def _groups_by(self, connection: LdapConnection, name: str, dn: str) -> list[Entry]:
        settings = self.settings
        wanted = settings.group_filter.replace("{user}", in_filter(name)).replace("{dn}", in_filter(dn))
        return connection.search(settings.group_base, wanted, settings.group_attribute, settings.size_limit)

    def _rights(self, groups: list[Entry]) -> Rights | None:
        """All that the groups give."""
        rights = [self.settings.groups.get(name.lower()) for group in groups for name in group.values]
        given = [each for each in rights if each is not None]
        return sum_of(given) if given else None

    def _by_account(self, url: ServerUrl, work: Callable[[LdapConnection], T]) -> T:
        """Do something as the search account; a kept connection that the server has closed meanwhile is no fault."""
        kept = self._take(url)
        if kept is not None:
            try:
                return self._use(kept, work)
            except FAULTS:
                pass
        return self._use(self._bound(url), work)

    def _use(self, connection: LdapConnection, work: Callable[[LdapConnection], T]) -> T:
        try:
            result = work(connection)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return result
        connection.close()
        return result

    def _take(self, url: ServerUrl) -> LdapConnection | None:
        with self._lock:
            for connection in reversed(self._idle):
                if connection.url == url:
                    self._idle.remove(connection)
                    return connection
        return None

    def _bound(self, url: ServerUrl) -> LdapConnection:
        settings = self.settings
        password = read_bind_password(settings, self.read_file)
        connection = connect(settings, url, Account(dn=settings.bind_dn, password=password))
        if not connection.bind():
            connection.close()
            raise DirectoryFault(f"{url}: the password of {settings.bind_dn or 'nobody'} is wrong")
        return connection


def read_bind_password(settings: LdapSettings, read_file: Callable[[str, int], bytes]) -> str | None:
    """The search account's; None without one. @raise OSError: the file cannot be read. @raise DirectoryFault: it is empty"""
    if settings.bind_password_file is None:
        return None
    password = read_file(str(settings.bind_password_file), MAX_PASSWORD_FILE).decode(errors="replace").rstrip("\r\n")
    if not password:
        raise DirectoryFault(f"{settings.bind_password_file} holds no password")
    return password


def sum_of(rights: list[Rights]) -> Rights:
    """All of them together."""
    total = NOTHING
    for each in rights:
        total |= each
    return total
