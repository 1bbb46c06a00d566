"""Users of a directory."""

from pathlib import Path

from attrs import define, field
from twisted.internet.defer import TimeoutError as DeferredTimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.rapi.access.authorization import BasicLogin
from ganeti_tx.rapi.access.ldap_connection import DirectoryAway, DirectoryFault
from ganeti_tx.rapi.access.ldap_directory import Directory
from ganeti_tx.rapi.access.ldap_settings import LdapSettings
from ganeti_tx.rapi.access.memo import Memo
from ganeti_tx.rapi.access.rights import Rights
from ganeti_tx.rapi.access.slow_calls import SlowCalls
from ganeti_tx.rapi.access.source import Identity, ISource
from ganeti_tx.rapi.http.http_errors import HttpError, unavailable
from ganeti_tx.runtime.files import IFiles

log = Logger()

#: Seconds during which nobody is sent to a directory that was away.
HOLD_OFF = 3.0
#: Seconds after which a fault of single logins is logged again.
TELL_AGAIN = 60.0


@implementer(ISource)
@define
class LdapUsers:
    """Everybody whom no other source knows, once there are settings."""

    files: IFiles
    checks: SlowCalls
    memo: Memo[Rights] = field(repr=False)
    clock: IReactorTime
    _directory: Directory | None = field(default=None, init=False)
    _away_until: float | None = field(default=None, init=False)
    _told_at: float = field(default=-1e9, init=False)

    def use(self, settings: LdapSettings | None) -> None:
        """From now on it is this directory, or none; nothing is remembered of another."""
        old = self._directory
        self._directory = None if settings is None else Directory(settings, self._read)
        self._away_until = None
        self.memo.clear()
        if old is not None:
            self.checks.threads.run(old.close)

    def knows(self, name: str) -> bool:
        """See `ISource`."""
        return self._directory is not None

    def remembered(self, login: BasicLogin) -> Identity | None:
        """See `ISource`."""
        rights = self.memo.get(self._key(login))
        return None if rights is None else identity_of(login, rights)

    async def verify(self, login: BasicLogin) -> Identity | None:
        """See `ISource`."""
        directory = self._directory
        if directory is None:
            return None
        if self._away_until is not None and self.clock.seconds() < self._away_until:
            raise away()
        rights = await self._ask(directory, login)
        if rights is None:
            return None
        if directory is self._directory:
            self.memo.remember(self._key(login), rights, directory.settings.cache_seconds)
        return identity_of(login, rights)

    async def _ask(self, directory: Directory, login: BasicLogin) -> Rights | None:
        """As Directory.login says, in a thread and within its time. @raise HttpError: 503"""
        asking = self.checks.run(directory.login, login.name, login.password)
        asking.addTimeout(directory.settings.longest, self.clock)
        try:
            rights = await asking
        except DirectoryAway as error:
            raise self._is_away(str(error)) from None
        except DirectoryFault as error:
            self._tell(str(error))
            raise away() from None
        except DeferredTimeoutError:
            raise self._is_away(f"no answer within {directory.settings.longest:.0f} seconds") from None
        if self._away_until is not None:
            log.info("the LDAP directory answers again")
            self._away_until = None
        return rights

    def _tell(self, reason: str) -> None:
        """What is wrong with one login, which others need not have; not so often that it fills the log."""
        now = self.clock.seconds()
        if now >= self._told_at + TELL_AGAIN:
            self._told_at = now
            log.error("the LDAP directory could not tell who somebody is: {reason}", reason=reason)

    def _is_away(self, reason: str) -> HttpError:
        if self._away_until is None:
            log.error("the LDAP directory cannot be asked, users of the users file and tokens still get in: {reason}",
                      reason=reason)  # fmt: skip
        self._away_until = self.clock.seconds() + HOLD_OFF
        return away()

    def _key(self, login: BasicLogin) -> bytes:
        return self.memo.key("ldap", login.name, login.password)

    def _read(self, path: str, limit: int) -> bytes:
        return self.files.read(Path(path), limit)


def identity_of(login: BasicLogin, rights: Rights) -> Identity:
    """Somebody of the directory; nobody of the users file has such a name."""
    return Identity(f"ldap:{login.name}", rights)


def away() -> HttpError:
    """503: nobody can say now who that is."""
    error = unavailable("the LDAP directory cannot be asked now; try again soon")
    return HttpError(error.status, error.message, {"Retry-After": str(int(HOLD_OFF) + 1)})
