"""The gate of the Remote API: who it is, then whether he may."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from attrs import define, field
from zope.interface import implementer

from ganeti_tx.rapi.access.authorization import BasicLogin, BearerLogin, read_authorization
from ganeti_tx.rapi.access.keyed_lock import KeyedLock
from ganeti_tx.rapi.access.passwords import REALM
from ganeti_tx.rapi.access.rights import Rights
from ganeti_tx.rapi.access.roles import Roles
from ganeti_tx.rapi.access.scoped_calls import can_be_judged
from ganeti_tx.rapi.access.source import Identity, ISource
from ganeti_tx.rapi.access.throttle import Throttle
from ganeti_tx.rapi.access.tokens import StoredTokens, is_secret
from ganeti_tx.rapi.access.watched_file import WatchedFile
from ganeti_tx.rapi.caller import ANONYMOUS, Caller, IGate
from ganeti_tx.rapi.http.http_errors import HttpError, forbidden
from ganeti_tx.rapi.operations.operation import Operation


@implementer(IGate)
@define
class Gate:
    """Asks the sources of users in their order, and counts failures."""

    sources: Sequence[ISource]
    tokens: StoredTokens
    roles: WatchedFile[Roles]
    throttle: Throttle
    require_authentication: bool = False
    #: Looked at before each login, so that whoever asks after a change of them has the rights of then.
    files: Sequence[WatchedFile[Any]] = ()
    _lock: KeyedLock = field(factory=KeyedLock, init=False)

    async def admit(self, authorization: str | None, peer: str, operation: Any, parts: Mapping[str, str]) -> Caller:
        """As IGate says; credentials that are sent are verified even where none are needed."""
        if authorization is None:
            if operation.access or self.require_authentication:
                raise unauthorized()
            return ANONYMOUS
        for file in self.files:
            file.look()
        login = read_authorization(authorization)
        identity = None if login is None else await self._identify(login, peer)
        if identity is None:
            raise unauthorized()
        rights = self._all_rights(identity)
        if not self._may(rights, operation):
            raise forbidden(f"{identity.name} may not {operation.method} {operation.resource}")
        if rights.scopes and not can_be_judged(operation):
            raise forbidden(f"{identity.name} is kept to some instances and may not see {operation.resource}")
        return Caller(identity.name, rights.scopes)

    def _all_rights(self, identity: Identity) -> Rights:
        """Roles included. @raise HttpError: 403, one is not defined, so nobody knows what it would keep him to"""
        defined = self.roles.content
        if identity.rights.undefined(defined):  # not shown: it may be the end of a password with a space in it
            raise forbidden(f"{identity.name} has a role that is not defined now, and may do nothing until it is")
        return identity.rights.with_roles(defined)

    def _may(self, rights: Rights, operation: Operation) -> bool:
        """What everybody may without a name, a list of permissions does not take away."""
        if not operation.access and not (self.require_authentication and rights.is_list):
            return True
        return rights.cover(operation)

    async def _identify(self, login: BasicLogin | BearerLogin, peer: str) -> Identity | None:
        """Who it is. @raise HttpError: 429, 503"""
        by_token = self.tokens.find(login)
        if by_token is not None:
            return by_token
        if isinstance(login, BearerLogin):
            if not is_secret(login.token):  # else it was one once: a program with an old token guesses nothing
                self.throttle.begin(peer, "")
            return None
        return self._source_of(login).remembered(login) or await self._verify_alone(login, peer)

    def _source_of(self, login: BasicLogin) -> ISource:
        return next(source for source in self.sources if source.knows(login.name))

    async def _verify_alone(self, login: BasicLogin, peer: str) -> Identity | None:
        """Of equal logins that come at once the first is verified; if it was right, the others are remembered."""
        async with self._lock.held(login):
            source = self._source_of(login)
            return source.remembered(login) or await self._verify(source, login, peer)

    async def _verify(self, source: ISource, login: BasicLogin, peer: str) -> Identity | None:
        attempt = self.throttle.begin(peer, login.name)
        try:
            identity = await source.verify(login)
        except HttpError:
            attempt.take_back()  # nobody could tell; who hangs up meanwhile has failed
            raise
        if identity is not None:
            attempt.take_back()
        return identity


def unauthorized() -> HttpError:
    """401: who it is, is not known (Ganeti 3.0 RAPI table, www_authenticate)."""
    return HttpError(HTTPStatus.UNAUTHORIZED, None, {"WWW-Authenticate": f'Basic realm="{REALM}"'})
