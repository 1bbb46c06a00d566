"""As whom a daemon runs: root gives up what the daemon does not need, as Ganeti's own daemons do."""

import grp
import os
import pwd

from ganeti_tx.errors import GenericError
from ganeti_tx.runtime.capabilities import NET_BIND_SERVICE, keeping
from ganeti_tx.runtime.directories import ensure_directories
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.owner_repair import make_directories, repair_owners
from ganeti_tx.runtime.ownership import has_own_users
from ganeti_tx.runtime.path_modes import GROUPS, USERS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads

#: Rights of root that a daemon needs all the time: ports below 1024.
KEPT = {"metad": NET_BIND_SERVICE}


def part_of(daemon: str) -> str:
    """What the tables call a daemon such as "ganeti-master"."""
    name = daemon.removeprefix("ganeti-")
    return "masterd" if name == "master" else name


def check_user(daemon: str, paths: Paths) -> None:
    """@raise GenericError: this is neither root nor the user that the daemon has on this machine."""
    user = USERS[part_of(daemon)]
    if not has_own_users(paths) or os.geteuid() in (0, pwd.getpwnam(user).pw_uid):
        return
    present = pwd.getpwuid(os.geteuid()).pw_name
    raise GenericError(f"runs as {user}, or is started by root, but not by {present}; see also --no-user-checks")


def may_repair(paths: Paths) -> bool:
    """Whether files are different users', and this process may give them away."""
    return os.geteuid() == 0 and has_own_users(paths)


def prepare(paths: Paths) -> None:
    """Make all directories and mend the owners of what is in them; where daemons have users of their own, only root can.

    @raise OSError: one cannot be made.
    """
    if not has_own_users(paths):
        ensure_directories(paths, RealFiles(InlineThreads()))
    elif may_repair(paths):
        make_directories()
        repair_owners(paths)


def become_user(daemon: str, paths: Paths) -> None:
    """From root become the daemon's user, for good; nothing is done where it has none of its own."""
    part = part_of(daemon)
    if os.geteuid() != 0 or USERS[part] == "root" or not has_own_users(paths):
        return
    user, group = pwd.getpwnam(USERS[part]), grp.getgrnam(GROUPS[part]).gr_gid
    os.setgroups([*{*os.getgrouplist(user.pw_name, group), user.pw_gid}])
    os.setresgid(group, group, group)
    with keeping(KEPT.get(part)):
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    os.environ.update(HOME=user.pw_dir, USER=user.pw_name, LOGNAME=user.pw_name)
