"""To whom a node's files are given: the users of Ganeti's daemons, on a machine that has them.

Only below "/": a cluster in a directory of its own belongs to whoever runs it.
"""

import grp
import os
import pwd
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from ganeti_tx.runtime.path_modes import GROUPS, USERS, mode_of
from ganeti_tx.runtime.paths import Paths

#: (uid, gid) of a user and a group by their system names, or None where they cannot be given.
Owners = Callable[[str, str], tuple[int, int] | None]


def no_owners(_user: str, _group: str) -> None:
    """`Owners` of a process that may not give files away, or shall not."""


def system_owners(user: str, group: str) -> tuple[int, int] | None:
    """`Owners` of a process that runs as root: None on a machine that has not all users and groups."""
    return (pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid) if have_accounts() else None


def have_accounts() -> bool:
    """Whether this machine has every user and group of the table; with some only, one daemon could not read another's."""
    try:
        _look_up_all()
    except KeyError:
        return False
    return True


@lru_cache(maxsize=1)  # an exception is not kept: who is missing may be made later
def _look_up_all() -> dict[str, int]:
    """The ids, groups behind an @. @raise KeyError: one is missing"""
    users = {user: pwd.getpwnam(user).pw_uid for user in set(USERS.values())}
    return users | {f"@{group}": grp.getgrnam(group).gr_gid for group in set(GROUPS.values())}


def owners_at(paths: Paths) -> Owners:
    """The `Owners` of this process for a node's files."""
    return system_owners if os.geteuid() == 0 and paths.root == Path("/") else no_owners


def has_own_users(paths: Paths) -> bool:
    """Whether the daemons of a node are to run as users of their own."""
    return paths.root == Path("/") and have_accounts()


def users_at(paths: Paths) -> dict[str, int] | None:
    """The ids of the daemons' users by name; None where all files of a node are one user's."""
    return {user: _look_up_all()[user] for user in set(USERS.values())} if has_own_users(paths) else None


def give(target: int | Path, path: Path) -> None:
    """Give what lies, or is going to lie, at a path to whom it belongs by the table.

    Who is not root can give its own file to a group that it is in, and leaves everything else as it is.

    @param target: the open file, or where it lies now; a link there is not followed.
    """
    wanted = mode_of(str(path))
    if wanted is None or not have_accounts():
        return
    ids = _look_up_all()
    owner, group = ids[USERS[wanted.owner]], ids["@" + GROUPS[wanted.group]]
    if os.geteuid() == 0:
        found = os.fstat(target) if isinstance(target, int) else os.lstat(target)
        if (found.st_uid, found.st_gid) != (owner, group):
            os.chown(target, owner, group, follow_symlinks=isinstance(target, int))
    elif os.geteuid() == owner and group != os.getegid() and group in os.getgroups():
        with suppress(PermissionError):  # a walled-in daemon may not even that
            os.chown(target, -1, group)
