"""The users and groups of the daemons, made from a sysusers file also where systemd is not."""

import grp
import pwd
import shlex
from collections.abc import Iterator

NO_SHELL = "/usr/sbin/nologin"


def commands(sysusers: str) -> Iterator[list[str]]:
    """What makes the users, groups and memberships of a sysusers file that this machine lacks, in order."""
    for line in sysusers.splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        kind, name = words[:2]
        if kind == "g" and not _is_group(name):
            yield ["groupadd", "--system", name]
        elif kind == "u" and not _is_user(name):
            group = ["--gid", name] if _is_group(name) else ["--user-group"]
            home = ["--home-dir", words[4], "--no-create-home", "--shell", NO_SHELL]
            yield ["useradd", "--system", *group, *home, "--comment", words[3], name]
        elif kind == "m" and not _is_member(name, words[2]):
            yield ["usermod", "--append", "--groups", words[2], name]


def _is_group(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _is_member(user: str, group: str) -> bool:
    return _is_group(group) and user in grp.getgrnam(group).gr_mem
