"""The gate put together."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.rapi.access.gate import Gate
from ganeti_tx.rapi.access.ldap_settings import LdapSettings, parse_ldap_settings
from ganeti_tx.rapi.access.ldap_users import LdapUsers
from ganeti_tx.rapi.access.local_users import LocalUsers, Nobody
from ganeti_tx.rapi.access.memo import Memo
from ganeti_tx.rapi.access.passwords import Scheme
from ganeti_tx.rapi.access.rights import Rights, unknown_words
from ganeti_tx.rapi.access.roles import Roles, parse_roles
from ganeti_tx.rapi.access.slow_calls import SlowCalls
from ganeti_tx.rapi.access.throttle import Throttle
from ganeti_tx.rapi.access.tokens import StoredTokens, Token, parse_tokens
from ganeti_tx.rapi.access.users import Users, parse_users
from ganeti_tx.rapi.access.watched_file import WatchedFile
from ganeti_tx.rapi.operations.operation import Operation
from ganeti_tx.runtime.entropy import IEntropy
from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads

log = Logger()

#: Passwords checked at once, and waiting for it.
CHECKS_AT_ONCE, CHECKS_WAITING = 2, 32
#: Logins at a directory at once, and waiting for it; with the above fewer than the pool has threads.
LDAP_AT_ONCE, LDAP_WAITING = 4, 32


@frozen
class GateParts:
    """What the gate works with."""

    paths: Paths
    files: IFiles
    watch: IFileWatch
    threads: IThreads
    clock: IReactorTime
    entropy: IEntropy
    #: Seconds since the epoch.
    now: Callable[[], float]


def make_gate(parts: GateParts, operations: Iterable[Operation], require_authentication: bool = False) -> Gate:
    """The gate over the files of rapi/, which are read now and whenever they change.

    @param operations: all that there are, to tell mistyped permissions by.
    """
    resources = frozenset(operation.resource for operation in operations)
    checks = SlowCalls(threads=parts.threads, at_once=CHECKS_AT_ONCE, waiting=CHECKS_WAITING)
    roles: WatchedFile[Roles] = WatchedFile(parts.files, parts.paths.rapi_roles_file, parse_roles, {})

    def look_at(where: Path, each: Iterable[tuple[str, Rights]]) -> None:
        for name, rights in each:
            count = len(list(unknown_words(rights, resources, roles.content)))
            if count:  # they are not shown: one may be the end of a password with a space in it
                log.warn("{path}: {name} has {count} option(s) that nobody knows; they give nothing",
                         path=str(where), name=name, count=count)  # fmt: skip

    def users_changed(content: Users) -> None:
        look_at(parts.paths.rapi_users_file, ((user.name, user.rights) for user in content.values()))
        for user in content.values():
            if user.password.scheme is Scheme.UNKNOWN:
                log.warn("{path}: the password of {name} is kept in a way that nobody knows; it lets nobody in",
                         path=str(parts.paths.rapi_users_file), name=user.name)  # fmt: skip

    def tokens_changed(content: Mapping[str, Token]) -> None:
        look_at(parts.paths.rapi_tokens_file, ((token.name, token.rights) for token in content.values()))

    roles.changed = lambda content: look_at(parts.paths.rapi_roles_file, content.items())
    users: WatchedFile[Users] = WatchedFile(parts.files, parts.paths.rapi_users_file, parse_users, {}, users_changed)
    tokens: WatchedFile[Mapping[str, Token]] = WatchedFile(
        parts.files, parts.paths.rapi_tokens_file, parse_tokens, {}, tokens_changed
    )
    directory = directory_users(parts)
    ldap: WatchedFile[LdapSettings | None] = WatchedFile(
        parts.files, parts.paths.rapi_ldap_file, parse_ldap_settings, None, directory.use
    )
    watch_all(parts, [roles, users, tokens, ldap])
    memo: Memo[bool] = Memo(parts.clock, parts.entropy.random_bytes(32))
    sources = [LocalUsers(users, checks, memo), directory, Nobody(users, checks)]
    return Gate(
        sources, StoredTokens(tokens, parts.now), roles, Throttle(parts.clock), require_authentication, [users, tokens]
    )


def directory_users(parts: GateParts) -> LdapUsers:
    """Users of a directory, as soon as there are settings; they have threads of their own to wait in."""
    memo: Memo[Rights] = Memo(parts.clock, parts.entropy.random_bytes(32))
    return LdapUsers(
        parts.files, SlowCalls(threads=parts.threads, at_once=LDAP_AT_ONCE, waiting=LDAP_WAITING), memo, parts.clock
    )


def watch_all(parts: GateParts, watched: Iterable[WatchedFile[Any]]) -> None:
    """Read files of one directory now and at each change."""
    by_name = {file.path.name: file for file in watched}

    def changed(name: str) -> None:
        if name in by_name:
            by_name[name].read()

    parts.files.mkdir(parts.paths.rapi_dir)
    parts.watch.watch(parts.paths.rapi_dir, changed)
    for file in by_name.values():
        file.read()
