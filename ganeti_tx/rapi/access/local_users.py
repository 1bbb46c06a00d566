"""Users of the users file, and the one who is nobody."""

from attrs import define, field
from zope.interface import implementer

from ganeti_tx.rapi.access.authorization import BasicLogin
from ganeti_tx.rapi.access.memo import Memo
from ganeti_tx.rapi.access.passwords import Password, decoy_like, matches
from ganeti_tx.rapi.access.slow_calls import SlowCalls
from ganeti_tx.rapi.access.source import Identity, ISource
from ganeti_tx.rapi.access.users import User, Users
from ganeti_tx.rapi.access.watched_file import WatchedFile

#: Seconds that a right password is remembered; not after the file holds another for its user.
REMEMBER = 300.0


@implementer(ISource)
@define
class LocalUsers:
    """Those of the users file."""

    file: WatchedFile[Users]
    checks: SlowCalls
    memo: Memo[bool] = field(repr=False)

    def knows(self, name: str) -> bool:
        """See `ISource`."""
        return name in self.file.content

    def remembered(self, login: BasicLogin) -> Identity | None:
        """See `ISource`."""
        user = self.file.content.get(login.name)
        if user is None or not self.memo.get(self._key(user, login)):
            return None
        return Identity(user.name, user.rights)

    async def verify(self, login: BasicLogin) -> Identity | None:
        """See `ISource`."""
        user = self.file.content[login.name]
        if not await check(self.checks, user.password, login):
            if not user.password.is_slow:
                await pretend(self.checks, self.file.content, login)
            return None
        self.memo.remember(self._key(user, login), True, REMEMBER)
        return self.remembered(login)  # who has been removed meanwhile, or has another password, is not

    def _key(self, user: User, login: BasicLogin) -> bytes:
        return self.memo.key(user.password.scheme.value, user.password.stored, login.name, login.password)


@implementer(ISource)
@define
class Nobody:
    """All other names: refused, as slowly as the slowest of the users file are."""

    file: WatchedFile[Users]
    checks: SlowCalls

    def knows(self, name: str) -> bool:
        """See `ISource`."""
        return True

    def remembered(self, login: BasicLogin) -> Identity | None:
        """See `ISource`."""
        return None

    async def verify(self, login: BasicLogin) -> Identity | None:
        """See `ISource`."""
        await pretend(self.checks, self.file.content, login)
        return None


async def pretend(checks: SlowCalls, users: Users, login: BasicLogin) -> None:
    """Take as long as the slowest of the users would, so that time does not tell who is one."""
    await check(checks, decoy_like(user.password for user in users.values()), login)


async def check(checks: SlowCalls, password: Password, login: BasicLogin) -> bool:
    """Whether the password is right, worked out where it holds nobody up."""
    if password.is_slow:
        return await checks.run(matches, password, login.name, login.password)
    return matches(password, login.name, login.password)
